//! Calls of handlers on a simulated NIC, in simulated time.

use anyhow::{Result, anyhow, ensure};
use serde::{Serialize, Serializer};
use spinneret_host::{Nic, Options, Program, Rule, Ruleset};
use spinneret_nic::nic::NicConfig;
use spinneret_nic::services::{ServiceTimes, TimedServices};
use spinneret_nic::{Simulated, installed, run};
use spinneret_packets::udp;
use spinneret_rpc::clib::Config;
use spinneret_rpc::nic::Window;
use spinneret_rpc::{Copies, Libc, Offer, Server, Services, TestCalls, Version, opcode};
use spinneret_table::bench::Bars;
use spinneret_table::{figures, say};
use std::rc::Rc;

/// Port of the packets, and offset of their payload.
const PORT: u16 = 9000;
const PAYLOAD: usize = 42;
/// Words of a request of `runtime/tests/rpc`. They come back with the clocks in the second word.
const WORDS: usize = 16;
const CLOCKS: usize = 2;
/// Clocks of the cluster in a second.
const HERTZ: f64 = 40e6;
/// Warm-up calls of each HPU: enough that no HPU finishes before the last one gets its packet.
const WARM_CALLS: u32 = 50;
/// Longest that a measurement takes on the NIC.
const LIMIT_PS: u64 = 1_000_000_000_000;

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Call {
    /// A call without data or reply; the handler waits for its end.
    Noop,
    /// The same with a number.
    Tell,
    /// A number there and the next one back.
    Increment,
    /// A call without data; the handler does not wait.
    Asynchronous,
    /// The same with a number.
    Post,
    /// `printf` of a number and a string.
    Printf,
    /// `puts` of 20 bytes.
    Puts,
}

impl Call {
    /// A request's kind, as `enum kind` of `runtime/tests/rpc/rpc.c`, and its second number.
    fn request(self) -> (u32, u32) {
        match self {
            Self::Noop => (0, 0),
            Self::Tell => (0, 1),
            Self::Increment => (1, 0),
            Self::Asynchronous => (2, 0),
            Self::Post => (2, 1),
            Self::Printf => (17, 0),
            Self::Puts => (18, 0),
        }
    }

    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// One measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Row {
    call: Call,
    /// Where handlers see that they are answered.
    #[serde(serialize_with = "by_name")]
    copies: Copies,
    ports_per_hpu: u32,
    /// HPUs that call at once.
    hpus: u32,
    /// Clocks of the cluster from one call to the next of the same HPU, on average.
    clocks: f64,
    /// Calls in a second, of all.
    rate: f64,
}

fn by_name<S: Serializer>(copies: &Copies, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{copies:?}"))
}

/// The bar of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bar {
    /// At most this many clocks.
    Clocks(f64),
    /// At least this many calls per second.
    Rate(f64),
    /// None.
    Free,
}

impl Bar {
    pub(super) fn is_kept(self, row: &Row) -> bool {
        match self {
            Self::Clocks(most) => row.clocks <= most,
            Self::Rate(least) => row.rate >= least,
            Self::Free => true,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::Clocks(most) => format!("<= {most} clocks"),
            Self::Rate(least) => format!(">= {:.1} M/s", least / 1e6),
            Self::Free => String::new(),
        }
    }
}

use Bar::{Clocks, Free, Rate};
use Copies::{Bits, Host, Words};

/// The call, where handlers wait, ports of an HPU, HPUs, and the bar.
const ROWS: [(Call, Copies, u32, u32, Bar); 30] = [
    (Call::Noop, Words, 1, 1, Clocks(150.0)),
    (Call::Noop, Host, 1, 1, Clocks(200.0)),
    (Call::Tell, Words, 1, 1, Free),
    (Call::Tell, Host, 1, 1, Free),
    (Call::Increment, Words, 1, 1, Free),
    (Call::Increment, Host, 1, 1, Free),
    (Call::Increment, Bits, 1, 1, Free),
    (Call::Noop, Bits, 1, 1, Clocks(150.0)),
    (Call::Noop, Words, 1, 16, Free),
    (Call::Noop, Host, 1, 16, Rate(3.5e6)),
    (Call::Noop, Bits, 1, 16, Rate(3.5e6)),
    (Call::Increment, Words, 1, 16, Free),
    (Call::Increment, Host, 1, 16, Free),
    (Call::Increment, Bits, 1, 16, Free),
    (Call::Asynchronous, Words, 1, 1, Free),
    (Call::Asynchronous, Words, 2, 1, Free),
    (Call::Asynchronous, Host, 2, 1, Free),
    (Call::Asynchronous, Words, 2, 16, Free),
    (Call::Asynchronous, Host, 2, 16, Free),
    (Call::Asynchronous, Bits, 2, 1, Free),
    (Call::Asynchronous, Bits, 2, 16, Rate(6e6)),
    (Call::Post, Words, 2, 1, Free),
    (Call::Post, Words, 2, 16, Free),
    (Call::Post, Host, 2, 16, Free),
    (Call::Post, Bits, 2, 16, Free),
    (Call::Puts, Words, 1, 1, Free),
    (Call::Printf, Words, 1, 1, Free),
    (Call::Printf, Host, 1, 1, Free),
    (Call::Puts, Words, 1, 16, Free),
    (Call::Printf, Words, 1, 16, Free),
];

/// Measures all rows whose names contain a text.
///
/// # Errors
/// If handlers cannot be built, or return wrong results.
pub(super) fn rows(only: &str, calls: u32) -> Result<Vec<(Row, Bar)>> {
    let rows = ROWS.into_iter().filter(|row| row.0.name().contains(only));
    rows.map(|(call, copies, ports_per_hpu, hpus, bar)| {
        let offer = Offer {
            copies,
            ports_per_hpu,
            ..Offer::default()
        };
        Ok((measure(call, &offer, hpus, calls)?, bar))
    })
    .collect()
}

/// Prints them.
pub(super) fn show(rows: &[(Row, Bar)], bars: &mut Bars) {
    let headings = [
        "simulated",
        "waits at",
        "ports of an HPU",
        "HPUs",
        "clocks a call",
        "M calls/s",
        "bar",
        "",
    ];
    let mut table = figures(headings, &[0, 1, 7]);
    for (row, bar) in rows {
        let place = match row.copies {
            Host => "host memory",
            Words => "NIC, words",
            Bits => "NIC, bits",
        };
        let cells = [
            row.call.name(),
            place.to_owned(),
            row.ports_per_hpu.to_string(),
            row.hpus.to_string(),
            format!("{:.1}", row.clocks),
            format!("{:.2}", row.rate / 1e6),
            bar.text(),
        ];
        match bar {
            Free => table.add_row(cells),
            _ => table.add_row(bars.row(cells, bar.is_kept(row))),
        };
    }
    println!("{table}");
    let pace = ServiceTimes::default();
    say(format_args!(
        "All of it is simulated: clusters at 40 MHz, 450 ns to host memory and back. The host looks at all mailboxes in {} ns \
         and works {} ns for each port that has something to do, one after the other; its caches and other work of its processor \
         are left out.",
        pace.look_ps / 1000,
        pace.work_ps / 1000
    ));
}

/// Lets HPUs make calls at the same time, after a warm-up.
fn measure(call: Call, offer: &Offer, hpus: u32, calls: u32) -> Result<Row> {
    let mut config = NicConfig::default();
    // The watchdog would terminate handlers that call this often.
    config.cluster.watchdog = u64::MAX / 2;
    let folder = installed::runtime()?.join("tests/rpc");
    let program = Program::open(&run::program(&folder, config.cluster.clusters)?)?;
    let simulated = Simulated::new(config)?;
    let nic = Nic::new(simulated.clone())?;
    let rules = Ruleset::all()
        .rule(Rule::udp_destination_port(PORT, PORT))
        .end_of_message(Rule::NEVER);
    let context = nic.open_context(&program, "rpc", &rules, &Options::default())?;
    let services = Services::open(context, offer, add)?;
    let mut paced = TimedServices::new(vec![services], ServiceTimes::default());
    // The first round loads the program into the caches and tells HPUs their ports.
    let mut took = Vec::new();
    for count in [WARM_CALLS, calls] {
        let mut nic = simulated.borrow_mut();
        for number in 0..hpus {
            // The message's number selects the cluster, which takes more packets than it has HPUs.
            let (kind, second) = call.request();
            let words = [kind | (number & 1) << 16, count, second];
            let mut payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            payload.resize(4 * WORDS, 0);
            nic.receive(udp(PORT, &payload));
        }
        drop(nic);
        took = round(&simulated, &mut paced, hpus)?;
    }
    let clocks = took.iter().map(|clocks| f64::from(*clocks) / f64::from(calls));
    Ok(Row {
        call,
        copies: offer.copies,
        ports_per_hpu: offer.ports_per_hpu,
        hpus,
        clocks: clocks.clone().sum::<f64>() / f64::from(hpus),
        rate: clocks.map(|clocks| HERTZ / clocks).sum(),
    })
}

fn add(server: &mut Server<Window>) {
    let config = Config {
        output: Box::new(std::io::sink()),
        ..Config::default()
    };
    // Without a folder nothing can fail.
    if let Ok(libc) = Libc::new(Version::V23, config) {
        let libc = Rc::new(libc);
        server.add(opcode::LIBC, libc.clone());
        server.add(opcode::SPINNERET, libc);
    }
    server.add(opcode::LIBC, Rc::new(TestCalls));
}

/// Runs until all packets have come back; returns the clocks of each handler.
fn round(simulated: &Simulated, paced: &mut TimedServices, hpus: u32) -> Result<Vec<u32>> {
    let end_ps = simulated.borrow().now_ps() + LIMIT_PS;
    let (mut clocks, mut seen) = (Vec::new(), Vec::new());
    while clocks.len() < hpus as usize {
        let now_ps = simulated.borrow().now_ps();
        ensure!(now_ps <= end_ps, "{} of {hpus} handlers have ended", clocks.len());
        let next_ps = paced.poll(now_ps)?;
        let mut nic = simulated.borrow_mut();
        nic.run_until(next_ps)?;
        while let Some(frame) = nic.take_wire() {
            let payload = frame.bytes.get(PAYLOAD..PAYLOAD + 4 * WORDS);
            let words = payload.unwrap_or_default().as_chunks().0;
            let word = |number: usize| words.get(number).map(|word| u32::from_le_bytes(*word));
            let (hpu, took) = word(0)
                .zip(word(CLOCKS))
                .ok_or_else(|| anyhow!("a packet of {} bytes came back", frame.bytes.len()))?;
            seen.push(hpu);
            clocks.push(took);
        }
    }
    seen.sort_unstable();
    seen.dedup();
    ensure!(
        seen.len() == hpus as usize,
        "{hpus} packets were handled by {} HPUs",
        seen.len()
    );
    Ok(clocks)
}
