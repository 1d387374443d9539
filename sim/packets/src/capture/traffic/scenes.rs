//! What happens in each capture.

use super::encode::{Format, encode};
use super::flows::{Acknowledge, connection, datagrams, look_up, ping, resolve, slmp_message};
use super::frames::{Host, MIN_FRAME_BYTES, Route, Tags};
use super::shipped::{ShippedCapture, TrafficError};
use super::trace::{MICROSECOND, Trace};

/// All captures.
pub(super) const ALL: &[Scene] = &[
    Scene {
        name: "lan.pcap",
        contents: "ARP, ICMP echo, DNS, TCP and ICMPv6 of five hosts, IPv4 and IPv6; microseconds",
        format: Format::Micro,
        seed: 1,
        flows: &[lan],
    },
    Scene {
        name: "vlan.pcap",
        contents: "the same kinds of traffic with one and two VLAN tags; microseconds",
        format: Format::Micro,
        seed: 2,
        flows: &[vlan],
    },
    Scene {
        name: "slmp.pcap",
        contents: "SLMP messages of three senders with and without acknowledgements; nanoseconds",
        format: Format::Nano,
        seed: 3,
        flows: &[slmp],
    },
    Scene {
        name: "sizes.pcapng",
        contents: "UDP frames of 60 to 9000 bytes, around every multiple of 64 up to 1514",
        format: Format::NextGeneration,
        seed: 4,
        flows: &[sizes],
    },
    Scene {
        name: "mixed.pcapng",
        contents: "all of the above at once, on an access and a trunk interface",
        format: Format::NextGeneration,
        seed: 5,
        flows: &[lan, vlan, slmp, jumbo],
    },
];

/// Adds its flows to a trace.
type Flows = fn(&mut Trace) -> Result<(), TrafficError>;

/// A capture before it is made.
#[derive(Debug)]
pub(super) struct Scene {
    name: &'static str,
    contents: &'static str,
    format: Format,
    seed: u64,
    flows: &'static [Flows],
}

impl Scene {
    /// Makes the capture.
    pub(super) fn play(&self) -> Result<ShippedCapture, TrafficError> {
        let mut trace = Trace::new(self.seed);
        for flows in self.flows {
            flows(&mut trace)?;
        }
        let bytes = encode(self.format, &trace.finish())?;
        Ok(ShippedCapture {
            name: self.name,
            contents: self.contents,
            bytes,
        })
    }
}

const ROUTER: Host = Host::new(1);
const SERVER: Host = Host::new(2);
const NIC: Host = Host::new(10);
const ALICE: Host = Host::new(21);
const BOB: Host = Host::new(22);
const CAROL: Host = Host::new(23);

/// TCP ports of the servers in the scenes.
const HTTP: u16 = 80;
const HTTPS: u16 = 443;
const SSH: u16 = 22;

fn lan(trace: &mut Trace) -> Result<(), TrafficError> {
    let names: [&[&str]; 3] = [
        &["www", "example", "org"],
        &["time", "example", "net"],
        &["files", "lab", "example", "org"],
    ];
    for (number, host) in [ALICE, BOB, CAROL].into_iter().enumerate() {
        let begin = number as u64 * 1700 * MICROSECOND;
        let (router, server) = (Route::v4(host, ROUTER), Route::v4(host, SERVER));
        resolve(trace, begin, router)?;
        look_up(trace, begin + 300 * MICROSECOND, router, names[number])?;
        connection(
            trace,
            begin + 1500 * MICROSECOND,
            server,
            HTTP,
            (420, 9000 + 2500 * number),
        )?;
        ping(trace, begin + 900 * MICROSECOND, router, 4, 56)?;
    }
    resolve(trace, 2000 * MICROSECOND, Route::v6(BOB, SERVER))?;
    connection(
        trace,
        2500 * MICROSECOND,
        Route::v6(BOB, SERVER),
        HTTPS,
        (1900, 12_000),
    )?;
    ping(trace, 2200 * MICROSECOND, Route::v6(CAROL, ROUTER), 4, 56)?;
    look_up(trace, 3100 * MICROSECOND, Route::v6(CAROL, ROUTER), names[0])?;
    datagrams(
        trace,
        2600 * MICROSECOND,
        Route::v6(ALICE, BOB),
        5004,
        [90, 214, 1294, 1514],
    )?;
    ping(trace, 2800 * MICROSECOND, Route::v4(BOB, ALICE), 2, 1472)
}

fn vlan(trace: &mut Trace) -> Result<(), TrafficError> {
    let tags = [
        Tags::Single(100),
        Tags::Double {
            outer: 200,
            inner: 30,
        },
    ];
    for (number, tags) in tags.into_iter().enumerate() {
        let begin = number as u64 * 700 * MICROSECOND;
        let route = Route::v4(ALICE, SERVER).tagged(tags);
        resolve(trace, begin, route)?;
        ping(trace, begin + 150 * MICROSECOND, route, 3, 56)?;
        connection(trace, begin + 400 * MICROSECOND, route, SSH, (900, 5000))?;
        datagrams(
            trace,
            begin + 500 * MICROSECOND,
            route,
            9330,
            [64, 128, 700, 1518],
        )?;
        connection(
            trace,
            begin + 800 * MICROSECOND,
            Route::v6(BOB, SERVER).tagged(tags),
            HTTPS,
            (600, 4000),
        )?;
    }
    datagrams(
        trace,
        600 * MICROSECOND,
        Route::v4(CAROL, SERVER),
        5000,
        [60, 300, 1514],
    )
}

fn slmp(trace: &mut Trace) -> Result<(), TrafficError> {
    let to_nic = |host| Route::v4(host, NIC);
    for host in [ALICE, BOB, CAROL] {
        resolve(trace, 0, to_nic(host))?;
    }
    let every = Acknowledge::EveryPacket;
    slmp_message(
        trace,
        200 * MICROSECOND,
        to_nic(ALICE),
        (0x0101, 16_000),
        Acknowledge::Nothing,
    )?;
    slmp_message(
        trace,
        220 * MICROSECOND,
        to_nic(BOB),
        (0x0202, 14_620),
        Acknowledge::FirstAndLast,
    )?;
    slmp_message(trace, 235 * MICROSECOND, to_nic(CAROL), (0x0303, 7_000), every)?;
    for (number, bytes) in [1, 8, 32, 64, 500, 1462, 1463].into_iter().enumerate() {
        let number = number as u32;
        let at = (300 + 90 * u64::from(number)) * MICROSECOND;
        slmp_message(trace, at, to_nic(BOB), (0x1000 + number, bytes), every)?;
    }
    datagrams(trace, 250 * MICROSECOND, to_nic(ALICE), 9331, [60, 200, 1000])?;
    ping(trace, 210 * MICROSECOND, to_nic(CAROL), 3, 400)
}

fn sizes(trace: &mut Trace) -> Result<(), TrafficError> {
    let around = |multiple: usize| [multiple - 1, multiple, multiple + 1];
    let sizes = (MIN_FRAME_BYTES..=132)
        .chain((192..=1472).step_by(64).flat_map(around))
        .chain([1499, 1500, 1501, 1513, 1514])
        .chain([2048, 3000, 4095, 4096, 4097, 4284, 6000, 8192, 8999, 9000]);
    let (even, odd): (Vec<usize>, Vec<usize>) = sizes.partition(|size| size % 2 == 0);
    // Two flows at once: the sizes of one go up while those of the other go down.
    datagrams(trace, 0, Route::v4(ALICE, NIC), 9330, even)?;
    datagrams(
        trace,
        3 * MICROSECOND,
        Route::v4(BOB, NIC),
        5001,
        odd.into_iter().rev(),
    )
}

fn jumbo(trace: &mut Trace) -> Result<(), TrafficError> {
    datagrams(
        trace,
        100 * MICROSECOND,
        Route::v4(ALICE, SERVER),
        2049,
        [9000, 60, 8192, 4284],
    )?;
    datagrams(
        trace,
        130 * MICROSECOND,
        Route::v6(BOB, SERVER),
        2049,
        [9000, 1514, 90],
    )
}
