//! Packets for the example handlers, and the results to compare.

use crate::bench::{Bench, Handlers};
use anyhow::{Result, bail, ensure};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_host::slmp::{Event, MessageReceiver};
use spinneret_nic::Simulated;
use spinneret_nic::device::HOST_BASE;
use spinneret_nic::run::HostPing;
use spinneret_regmap::{egress, ingress, stats};
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{Flags, Header};
use spinneret_slmp::{Confirm, ReceiverConfig};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

/// Clocks of the cluster that a batch of packets may take.
const PATIENCE: u64 = 400_000;
/// Interval in clocks at which the host polls its memory.
const LOOK_CLOCKS: u64 = 40;
/// Bytes of host memory to compare.
const COMPARED_BYTES: usize = 1 << 16;
/// Packets of a message. The public scheduler joins messages that meet in one of the four queues of a context, so few
/// messages are in flight at once, in different queues.
const MESSAGE_PACKETS: u32 = 16;
/// Packets of a burst.
const BURST: usize = 20;
/// Messages that the receiver of files holds at once: those of a burst, and more.
const PLACES: usize = 6;
/// Time after which it gives up a message.
const IDLE: Duration = Duration::from_secs(100);

/// A workload: packets one by one, or in bursts.
#[derive(Clone, Debug)]
pub struct Load {
    /// Folder of the handlers below `runtime/`.
    pub handlers: &'static str,
    /// Batches of frames; each is sent when the NIC is idle.
    pub batches: Vec<Vec<Vec<u8>>>,
}

/// The examples, in the order of the run; those of pings as they were when their traces were recorded.
pub const EXAMPLES: &[&str] = &[
    "tests/recorded/icmp_ping",
    "tests/recorded/udp_ping",
    "examples/filter",
    "examples/aggregate",
    "examples/histogram",
    "examples/copy_to_host",
    "examples/host_ping",
    "examples/slmp",
];

/// Results of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Packets that were sent.
    pub packets: usize,
    /// Frames that came back, sorted because HPUs answer in any order.
    pub replies: Vec<Vec<u8>>,
    /// Messages that the receiver of files has, sorted.
    pub messages: Vec<Vec<u8>>,
    /// Counters of the NIC, by name.
    pub counters: Vec<(String, u64)>,
    /// The beginning of the context's host memory.
    pub host: Vec<u8>,
}

impl Load {
    /// Creates packets of all sizes for an example: first one by one, then in bursts.
    pub fn mixed(handlers: &'static str, alone: usize, in_bursts: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64((alone + in_bursts) as u64);
        // Packets of a message have one size.
        let sizes: Vec<usize> = (0..alone + in_bursts)
            .map(|_| rng.random_range(60..=1458))
            .collect();
        let frames: Vec<_> = (0..alone + in_bursts)
            .map(|number| {
                let packets = MESSAGE_PACKETS as usize;
                let size = sizes[number / packets * packets];
                frame(handlers, number as u32, size)
            })
            .collect();
        let (alone, bursts) = frames.split_at(alone);
        let one = alone.iter().map(|frame| vec![frame.clone()]);
        let batches = one.chain(bursts.chunks(BURST).map(<[_]>::to_vec)).collect();
        Self { handlers, batches }
    }

    /// Packets of one size for an example.
    pub(crate) fn frames(handlers: &'static str, packets: usize, size: usize) -> Vec<Vec<u8>> {
        (0..packets as u32)
            .map(|number| frame(handlers, number, size))
            .collect()
    }

    /// Runs it on handlers that wait for packets.
    ///
    /// # Errors
    /// If the hardware fails, or packets stay on their way.
    pub(crate) fn run(
        &self,
        bench: &mut Bench,
        host: &mut Host,
        tell: &mut dyn FnMut(usize),
    ) -> Result<Outcome> {
        let (mut packets, mut replies, mut messages) = (0, Vec::new(), Vec::new());
        for batch in &self.batches {
            packets += batch.len();
            bench.send(batch.iter().cloned());
            host.settle(bench)?;
            host.take(&mut messages)?;
            replies.extend(bench.wire().into_iter().map(|out| out.bytes));
            tell(packets);
        }
        messages.sort();
        replies.sort();
        let mut nic = bench.nic.borrow_mut();
        let mut counters = Vec::new();
        for name in COUNTERS {
            let Some(register) = offset(name) else {
                bail!("there is no counter {name}")
            };
            counters.push(((*name).to_owned(), u64::from(nic.get(register)?)));
        }
        counters.push(("stats.busy".to_owned(), u64::from(nic.get(BUSY)?)));
        let host = nic.host_memory().read(HOST_BASE, COMPARED_BYTES);
        Ok(Outcome {
            packets,
            replies,
            messages,
            counters,
            host,
        })
    }
}

/// Counters that do not depend on time, as the [library](spinneret_host::Counters) names them.
const COUNTERS: &[&str] = &[
    "ingress.matched",
    "ingress.bypassed",
    "ingress.hers",
    "ingress.dropped_no_slot",
    "ingress.dropped_oversize",
    "ingress.dropped_no_context",
    "ingress.refused_not_out",
    "ingress.large_used",
    "ingress.small_used",
    "egress.frames",
    "egress.refused",
];
/// Busy clusters, one bit each.
const BUSY: u32 = stats::CLUSTER.offset + 4;

fn offset(counter: &str) -> Option<u32> {
    match counter.split_once('.')? {
        ("ingress", name) => ingress::offset(name),
        ("egress", name) => egress::offset(name),
        _ => None,
    }
}

/// Whether a counter, such as `ingress.matched`, does not depend on time.
pub(crate) fn is_compared(name: &str) -> bool {
    COUNTERS.contains(&name)
}

/// The host program of an example.
#[derive(Debug)]
pub(crate) enum Host {
    /// No host program.
    Nobody,
    /// It answers pings.
    Ping(HostPing),
    /// It receives files.
    Files(Box<MessageReceiver<Simulated>>),
}

impl Host {
    /// Starts handlers and their host program.
    pub(crate) fn start(example: &str, nic: Simulated, handlers: &Handlers) -> Result<(Bench, Self)> {
        if example.ends_with("/slmp") {
            let config = ReceiverConfig {
                places: PLACES,
                capacity_bytes: 32768,
                confirm: Confirm::Memory,
            };
            let host = spinneret_host::Nic::new(nic.clone())?;
            let receiver = MessageReceiver::open(&host, &handlers.program, config, IDLE)?;
            let mut bench = Bench { nic };
            bench.wait_for_handlers(handlers)?;
            return Ok((bench, Self::Files(Box::new(receiver))));
        }
        let bench = Bench::start(nic, handlers)?;
        let ping =
            HostPing::new(&handlers.program, &bench.nic, 1).filter(|_| example.ends_with("/host_ping"));
        Ok((bench, ping.map_or(Self::Nobody, Self::Ping)))
    }

    /// Runs until the NIC is idle; a host that answers polls its memory meanwhile.
    pub(crate) fn settle(&mut self, bench: &mut Bench) -> Result<()> {
        let Self::Ping(host) = self else {
            ensure!(
                bench.settle(PATIENCE)?,
                "packets stay on their way for {PATIENCE} clocks of the cluster"
            );
            return Ok(());
        };
        for _ in 0..PATIENCE / LOOK_CLOCKS {
            bench.run(LOOK_CLOCKS)?;
            let mut nic = bench.nic.borrow_mut();
            host.answer(&mut nic)?;
            if nic.is_idle() {
                return Ok(());
            }
        }
        bail!("packets stay on their way for {PATIENCE} clocks of the cluster");
    }

    /// Collects complete messages.
    pub(crate) fn take(&mut self, messages: &mut Vec<Vec<u8>>) -> Result<()> {
        if let Self::Files(receiver) = self {
            while let Some(Event::Complete(received)) = receiver.poll()? {
                messages.push(received.data);
            }
        }
        Ok(())
    }
}

fn frame(handlers: &str, number: u32, size: usize) -> Vec<u8> {
    let name = handlers.rsplit('/').next().unwrap_or(handlers);
    match name {
        "icmp_ping" | "host_ping" => generated("icmp", number, size),
        "udp_ping" => generated("udp", number, size),
        // Every fourth packet has a blocked port.
        "filter" if number % 4 == 3 => generated("udp,dport=389", number, size),
        "filter" => generated("udp", number, size),
        _ => segment(number, size),
    }
}

/// A frame of `spinneret run --generate`.
fn generated(what: &str, number: u32, size: usize) -> Vec<u8> {
    let recipe: spinneret_nic::net::Recipe = format!("{what},size={size}")
        .parse()
        .unwrap_or_else(|error| unreachable!("{error}"));
    recipe.frame(number)
}

/// Builds an SLMP packet; all packets of a message ask for an acknowledgement.
///
/// The highest byte of the message id selects the queue; the size is part of the id, so that ids differ between
/// sizes.
fn segment(number: u32, size: usize) -> Vec<u8> {
    let (message, place) = (number / MESSAGE_PACKETS, number % MESSAGE_PACKETS);
    let payload = size.saturating_sub(spinneret_slmp::frame::HEADERS_BYTES);
    let bytes: Vec<u8> = (0..payload).map(|at| (number as usize + 7 * at) as u8).collect();
    let end = |last| Endpoint {
        mac: [2, 0, 0, 0, 0, last],
        socket: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, last), 9330),
    };
    let mut flags = Flags::SYN;
    if place == MESSAGE_PACKETS - 1 {
        flags |= Flags::EOM;
    }
    let frame = Frame {
        from: end(2),
        to: end(1),
        header: Header {
            flags,
            message_id: message.rotate_right(8) | size as u32,
            offset: place * payload as u32,
        },
        payload: &bytes,
    };
    frame
        .build(number as u16, UdpChecksum::Computed)
        .unwrap_or_else(|error| unreachable!("{error}"))
}
