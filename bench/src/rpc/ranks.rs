//! MPI ranks whose handlers send and receive messages, each with its own simulated NIC.

use serde::Serialize;
use spinneret_cluster::{Ending, Event};
use spinneret_host::{Nic, Options, Program, Rule, Ruleset};
use spinneret_mpi_sys::{Comm, Error, Mpi};
use spinneret_nic::installed::runtime;
use spinneret_nic::nic::NicConfig;
use spinneret_nic::services::{ServiceTimes, TimedServices};
use spinneret_nic::{Simulated, run};
use spinneret_packets::udp;
use spinneret_rpc::{Emissary, Offer, Services, opcode};
use spinneret_rpc_mpi::{EmissaryMpi, Ranks, offer};
use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;
use std::time::Instant;

/// Port of the packets, and offset of their payload.
const PORT: u16 = 9000;
const PAYLOAD: usize = 42;
/// Words of a payload of `runtime/tests/mpi_calls`, and of its reply.
const WORDS: usize = 16;
const STATUS: usize = 4;
const RIGHT: usize = 5;
const CLOCKS: usize = 6;
const COPY: usize = 7;
/// Sends of one packet of [`Kind::Timed`].
const ROUNDS: usize = 8;
/// Packets in flight: one for each HPU, and some that wait.
pub(crate) const WINDOW: u32 = 32;

/// Kinds of work: `enum kind` of `runtime/tests/mpi_calls`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Send = 0,
    Ssend = 1,
    Receive = 2,
    Wrong = 3,
    Fault = 4,
    Requests = 5,
    Together = 6,
    Timed = 7,
    Named = 8,
    NamedRequests = 9,
    NamedErrors = 10,
    NamedTogether = 11,
}

/// How the messages go from rank 0 to rank 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Variant {
    /// One word each, in order.
    Plain,
    /// Rank 1 asks for them in another order.
    Shuffled,
    /// 64 KiB each.
    Long,
    /// The same, eight by each handler, so that the later ones find the program in the cache.
    Timed,
    /// By MPI_Ssend.
    Synchronous,
    /// Every second message goes the other way.
    BothWays,
    /// Some handlers die in the middle of a call.
    Faults,
    /// Some handlers pass wrong handles and ranks.
    Wrong,
    /// Messages to itself by MPI_Isend, MPI_Irecv and MPI_Test.
    Requests,
    /// MPI_Barrier, MPI_Bcast and MPI_Allreduce, one after the other.
    Together,
    /// One word each by an Emissary API, under MPI's own names.
    Named,
    /// The same by MPI_Isend, MPI_Irecv, MPI_Wait and MPI_Test, and calls that MPI refuses.
    NamedRequests,
    /// The same for collective functions, MPI_Sendrecv and MPI_Probe.
    NamedTogether,
}

impl Variant {
    /// Words of a message.
    fn words(self) -> u32 {
        match self {
            Self::Long | Self::Timed => 16384,
            Self::Together => 12,
            _ => 1,
        }
    }

    /// Requests of a rank's packets, each with the number of its message.
    fn packets(self, rank: usize, messages: u32) -> Vec<(Kind, u32)> {
        let sends = rank == 0;
        let plain = |i: u32| match (sends, self) {
            (true, Self::Synchronous) => (Kind::Ssend, i),
            (true, _) => (Kind::Send, i),
            (false, _) => (Kind::Receive, i),
        };
        let all = 0..messages;
        match self {
            // Shuffle groups of eight only: if all HPUs waited for the last of many messages, they would deadlock.
            Self::Shuffled if !sends => all
                .map(|i| match i | 7 {
                    last if last < messages => (Kind::Receive, i ^ 7),
                    _ => (Kind::Receive, i),
                })
                .collect(),
            Self::BothWays => all
                .map(|i| match (i % 2 == 0) == sends {
                    true => (Kind::Send, i),
                    false => (Kind::Receive, i),
                })
                .collect(),
            Self::Faults => all
                .flat_map(|i| {
                    (i % 50 == 7)
                        .then_some((Kind::Fault, i))
                        .into_iter()
                        .chain([plain(i)])
                })
                .collect(),
            Self::Wrong => all
                .flat_map(|i| {
                    (i % 10 == 7)
                        .then_some((Kind::Wrong, i))
                        .into_iter()
                        .chain([plain(i)])
                })
                .collect(),
            Self::Timed if sends => all.map(|i| (Kind::Timed, i)).collect(),
            Self::Timed => all.flat_map(|i| [(Kind::Receive, i); ROUNDS]).collect(),
            Self::Requests => all.map(|i| (Kind::Requests, i)).collect(),
            Self::Together => all.map(|i| (Kind::Together, i)).collect(),
            Self::Named => all.map(|i| (Kind::Named, i)).collect(),
            Self::NamedRequests => all
                .map(|i| match i % 4 {
                    3 => (Kind::NamedErrors, i),
                    _ => (Kind::NamedRequests, i),
                })
                .collect(),
            Self::NamedTogether => all.map(|i| (Kind::NamedTogether, i)).collect(),
            _ => all.map(plain).collect(),
        }
    }
}

/// Results of a rank's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Report {
    /// The rank.
    pub(crate) rank: usize,
    /// Packets whose handlers found everything correct.
    pub(crate) right: u32,
    /// Packets whose handlers found an error.
    pub(crate) wrong: u32,
    /// The status of the last of these.
    pub(crate) status: u32,
    /// Handlers that died.
    pub(crate) dead: u32,
    /// Calls that the host answered.
    pub(crate) calls: u64,
    /// Rejected requests.
    pub(crate) refused: u64,
    /// Clocks of the quickest call that sends or receives.
    pub(crate) least_clocks: Option<u32>,
    /// Of [`Variant::Timed`], clocks of the quickest copy of the same data without a call.
    pub(crate) least_copy_clocks: Option<u32>,
    /// From the first packet to the last answer, in the NIC's simulated time.
    pub(crate) simulated_ns: u64,
    /// Of [`Variant::Plain`], [`Variant::Long`] and [`Variant::Timed`]: the same messages by a loop of MPI_Send and MPI_Recv
    /// without any NIC, on this machine; 0 for other variants.
    pub(crate) plain_ns: u64,
}

/// Runs all packets of this rank, at most `window` at a time, and leaves every port idle.
///
/// # Errors
/// If the handlers cannot be built, or the NIC or MPI fail.
pub(crate) fn run(mpi: &Mpi, variant: Variant, messages: u32, window: u32) -> anyhow::Result<Report> {
    fn failed(error: impl Display) -> anyhow::Error {
        anyhow::anyhow!("{error}")
    }
    let mut config = NicConfig::default();
    // A rank waits as long as the other one's simulation takes.
    config.cluster.watchdog = u64::MAX / 2;
    if variant.words() > 1024 {
        config.cluster.clusters = 1;
    }
    let folder = runtime().map_err(failed)?.join("tests/mpi_calls");
    let elf = run::program(&folder, config.cluster.clusters).map_err(failed)?;
    let program = Program::open(&elf).map_err(failed)?;
    let simulated = Simulated::new(config).map_err(failed)?;
    let nic = Nic::new(simulated.clone()).map_err(failed)?;
    let rules = Ruleset::all()
        .rule(Rule::udp_destination_port(PORT, PORT))
        .end_of_message(Rule::NEVER);
    let options = Options {
        host_bytes: 2 << 20,
        ..Options::default()
    };
    let context = nic
        .open_context(&program, "mpi_calls", &rules, &options)
        .map_err(failed)?;
    let world = Rc::new(mpi.world().dup().map_err(failed)?);
    let alone = Rc::new(mpi.alone().dup().map_err(failed)?);
    let peer = 1 - world.rank() as u32;
    let ranks: Rc<RefCell<Option<Rc<Ranks>>>> = Rc::default();
    let services = Services::open(context, &Offer::default(), |server| {
        let offered = offer(server, Rc::clone(&world), alone);
        let emissary = Emissary::default();
        if let Ok(()) = emissary.register(opcode::emissary::MPI, Rc::new(EmissaryMpi(Rc::clone(&offered)))) {
            server.add(opcode::EMISSARY, Rc::new(emissary));
        }
        *ranks.borrow_mut() = Some(offered);
    });
    let mut paced = TimedServices::new(vec![services.map_err(failed)?], ServiceTimes::default());
    let mut report = Report {
        rank: world.rank(),
        ..Report::default()
    };
    let packets = variant.packets(world.rank(), messages);
    let same = match variant {
        Variant::Plain | Variant::Long => messages,
        Variant::Timed => messages * ROUNDS as u32,
        _ => 0,
    };
    if same > 0 {
        report.plain_ns = plain(&world, variant.words(), same).map_err(failed)?;
    }
    let start_ps = simulated.borrow().now_ps();
    // Collective operations must have one order.
    let is_together = matches!(variant, Variant::Together | Variant::NamedTogether);
    let window = if is_together { 1 } else { window };
    let mut waiting = packets.iter();
    let mut inside = 0;
    loop {
        let mut device = simulated.borrow_mut();
        while inside < window
            && let Some((kind, i)) = waiting.next()
        {
            // The message's number chooses the cluster.
            let words = [*kind as u32 | (*i & 1) << 16, *i, variant.words(), peer];
            let mut payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            payload.resize(4 * WORDS, 0);
            device.receive(udp(PORT, &payload));
            inside += 1;
        }
        drop(device);
        if inside == 0 {
            break;
        }
        let now_ps = simulated.borrow().now_ps();
        let next_ps = paced.poll(now_ps).map_err(failed)?;
        let mut device = simulated.borrow_mut();
        device.run_until(next_ps).map_err(failed)?;
        while let Some(frame) = device.take_wire() {
            report.take(&frame.bytes);
            inside -= 1;
        }
        let died: Vec<u32> = device.take_events().iter().filter_map(port_of_the_dead).collect();
        drop(device);
        for port in died {
            inside -= 1;
            report.dead += 1;
            paced.abandon(0, port).map_err(failed)?;
        }
    }
    report.simulated_ns = (simulated.borrow().now_ps() - start_ps) / 1000;
    for services in paced.into_services() {
        let (counts, _) = services.close().map_err(failed)?;
        report.calls = counts.calls;
        report.refused = counts.refusals.values().sum();
    }
    // Stay until the other rank is finished.
    world.barrier().map_err(failed)?;
    match ranks.take().is_none_or(|ranks| ranks.is_idle()) {
        true => Ok(report),
        false => Err(failed("MPI still works on something that nobody waits for")),
    }
}

/// Messages from one process to the other without handlers: nanoseconds of this rank.
fn plain(world: &Comm, words: u32, messages: u32) -> Result<u64, Error> {
    let mut bytes = vec![0; 4 * words as usize];
    world.barrier()?;
    let start = Instant::now();
    for tag in 0..messages {
        match world.rank() {
            0 => world.send(&bytes, 1, tag)?,
            _ => {
                world.recv(&mut bytes, Some(0), Some(tag))?;
            }
        }
    }
    world.barrier()?;
    Ok(start.elapsed().as_nanos() as u64)
}

/// The port of a terminated handler.
fn port_of_the_dead(event: &Event) -> Option<u32> {
    match event {
        Event::Finished(run) if run.ending != Ending::Done => {
            Some(8 * run.hpu.cluster as u32 + run.hpu.core as u32)
        }
        _ => None,
    }
}

impl Report {
    fn take(&mut self, frame: &[u8]) {
        let payload = frame.get(PAYLOAD..PAYLOAD + 4 * WORDS).unwrap_or_default();
        let word = |number: usize| {
            let words: &[[u8; 4]] = payload.as_chunks().0;
            words.get(number).map_or(0, |word| u32::from_le_bytes(*word))
        };
        match word(RIGHT) {
            1 => self.right += 1,
            _ => {
                self.wrong += 1;
                self.status = word(STATUS);
            }
        }
        for (least, place) in [
            (&mut self.least_clocks, CLOCKS),
            (&mut self.least_copy_clocks, COPY),
        ] {
            let clocks = Some(word(place)).filter(|clocks| *clocks != 0);
            *least = (*least).into_iter().chain(clocks).min();
        }
    }
}
