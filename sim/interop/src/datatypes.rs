//! The public example `datatypes` and spinneret's own engine for MPI datatypes, with the same messages from one NIC to another.
//!
//! ```text
//! NIC 0: all messages at once,                 NIC 1: contexts of the public handlers, four messages each;
//!        a segment of each in flight  ==cable==>      the host describes the type, and answers at the end of a message
//! ```
//!
//! The public engine keeps its state by `flow_id`, the queue of the message, of which a context has four.

use crate::bench::root;
use anyhow::{Context as _, Result, bail, ensure};
use clap::{Parser, ValueEnum as _};
use spinneret_cluster::Event;
use spinneret_fabric::Faults;
use spinneret_fabric::topology::Simple;
use spinneret_host::{Context, Nic, Options, Rule, Ruleset};
use spinneret_nic::Simulated;
use spinneret_nic::fabric::Signal;
use spinneret_nic::mpi::{
    Constructor, Exchange, ExchangeError, FILL, GUARD, PaperType, Step, Work, exchange, ranks_on,
};
use spinneret_nic::nic::{Backend, NicConfig};
use spinneret_program::Program;
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{Flags, Header, PORT};
use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Runs the public example `datatypes` of your checkout of FPsPIN, and compares host memory with MPI_Unpack
#[derive(Debug, Parser)]
#[command(name = "datatypes", bin_name = "./dev interop datatypes", version)]
pub struct Arguments {
    /// Checkout of FPsPIN
    #[arg(long, value_name = "DIR")]
    pub fpspin_dir: PathBuf,
    /// Clusters [default: all]
    #[arg(long = "cluster", value_enum, value_name = "WHICH")]
    pub clusters: Vec<Backend>,
    /// Elements of the type in a message
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub elements: u32,
    /// Concurrent messages; may be repeated [default: 1 and 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub messages: Vec<u8>,
}

/// Messages of a context, by the lowest bits of the id's first byte.
const QUEUES: usize = 4;
/// Pages of requests in host memory, one for each HPU, and bytes for each queue after them (`SIZE_MSG`).
const PAGE: u32 = 4096;
const HPUS: u32 = 16;
const MESSAGE_BYTES: u32 = 8 << 20;
/// Payload of a segment: the public sender aligns to words, and fills packets otherwise.
const SEGMENT_BYTES: usize = 1460;
/// A round that warms the caches, and one that is measured.
const ROUNDS: usize = 2;
/// Interval of the host's polls, and simulated time for a round.
const LOOK_PS: u64 = 1_000_000;
const LIMIT_PS: u64 = 10_000_000_000_000;
/// NICs that are simulated in parallel.
const THREADS: usize = 1;
/// Word of a frame with the message id, whose first byte comes first.
const ID_WORD: u32 = 11;

/// The example, compiled.
struct Public {
    folder: tempfile::TempDir,
    program: Program,
}

impl Public {
    fn build(fpspin: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a folder for the public example")?;
        let out = folder.path().join("out");
        let mut script = Command::new(root().join("runtime/tests/public/datatypes"));
        output(script.arg(fpspin).arg(&out))?;
        let program = Program::open(&out.join("datatypes.elf"))?;
        Ok(Self { folder, program })
    }

    /// Runs the host's part, with the construction of a type.
    fn host(&self, what: &str, files: &[&Path], numbers: &[u32], kind: PaperType) -> Result<()> {
        let steps = kind.steps().iter().map(|step| {
            let Step {
                count, block, stride, ..
            } = step;
            match step.constructor {
                Constructor::Contiguous => format!("contiguous:{count}"),
                Constructor::Vector => format!("vector:{count}:{block}:{stride}"),
                Constructor::Hvector => format!("hvector:{count}:{block}:{stride}"),
            }
        });
        let mut command = Command::new(self.folder.path().join("out/datatypes_host"));
        command.arg(what).args(files);
        output(command.args(numbers.iter().map(u32::to_string)).args(steps))
    }

    /// A message and the memory that `MPI_Unpack` writes.
    fn message(&self, kind: PaperType, seed: u32, elements: u32) -> Result<Message> {
        let [stream, unpacked] = ["stream", "unpacked"].map(|name| self.folder.path().join(name));
        let files = [stream.as_path(), unpacked.as_path()];
        self.host("message", &files, &[seed, elements], kind)?;
        Ok(Message {
            stream: fs::read(stream)?,
            unpacked: fs::read(unpacked)?,
        })
    }

    /// The description of a type for handler memory of that many bytes at an address.
    fn image(&self, kind: PaperType, address: u32, bytes: u32, elements: u32) -> Result<Vec<u8>> {
        let file = self.folder.path().join("image");
        let numbers = [address, bytes, elements];
        self.host("image", &[&file], &numbers, kind)?;
        Ok(fs::read(file)?)
    }
}

fn output(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {name}"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", error.trim());
    Ok(())
}

/// A message of one sender.
struct Message {
    stream: Vec<u8>,
    unpacked: Vec<u8>,
}

/// Result of the last round, in which all bytes were as MPI_Unpack puts them.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// Clocks in which handlers ran, for each segment.
    clocks: f64,
    gbps: f64,
}

/// Prints a table of all combinations. Returns whether all bytes were as they should be.
///
/// # Errors
/// If the checkout has no such example, or it cannot be built.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let public = Public::build(&arguments.fpspin_dir)?;
    let all = [Backend::Model, Backend::Own, Backend::Rtl];
    let clusters: &[Backend] = match &*arguments.clusters {
        [] => &all,
        some => some,
    };
    let counts: &[u8] = match &*arguments.messages {
        [] => &[1, 16],
        some => some,
    };
    println!(
        "{:8} {:>7} {:>8}  {:15}  {:9}  {:>16}  {:>7}  host memory",
        "type", "bytes", "messages", "cluster", "handlers", "clocks a segment", "Gb/s"
    );
    let mut good = true;
    for backend in clusters {
        for kind in PaperType::ALL {
            for count in counts {
                let transfer = Transfer {
                    public: &public,
                    kind,
                    elements: arguments.elements,
                    config: NicConfig::with(*backend),
                    count: usize::from(*count),
                };
                good &= show(&transfer, "datatypes", transfer.public());
                good &= show(&transfer, "mpi_types", transfer.own());
            }
        }
    }
    Ok(good)
}

/// Prints a row.
fn show(transfer: &Transfer<'_>, handlers: &str, rate: Result<Rate>) -> bool {
    let bytes = transfer.kind.layout(transfer.elements.into());
    let bytes = bytes.map_or(0, |layout| layout.bytes());
    let (name, count) = (transfer.kind.name(), transfer.count);
    let cluster = transfer.config.backend.to_possible_value();
    let cluster = cluster.map_or_else(String::new, |value| value.get_name().to_owned());
    let start = format!("{name:8} {bytes:>7} {count:>8}  {cluster:15}  {handlers:9}");
    match &rate {
        Ok(Rate { clocks, gbps }) => println!("{start}  {clocks:>16.0}  {gbps:>7.3}  as MPI_Unpack"),
        Err(error) => println!("{start}  {:>16}  {:>7}  {error:#}", "-", "-"),
    }
    rate.is_ok()
}

/// Messages of a type on clusters.
struct Transfer<'p> {
    public: &'p Public,
    kind: PaperType,
    elements: u32,
    config: NicConfig,
    count: usize,
}

impl Transfer<'_> {
    /// With spinneret's engine, in the same window.
    fn own(&self) -> Result<Rate> {
        let layout = self.kind.layout(self.elements.into())?;
        let how = Exchange {
            nic: self.config.clone(),
            window: 1,
            warm_up: Some(layout.clone()),
            threads: THREADS,
            ..Exchange::of(vec![layout.clone(); self.count])
        };
        let exchanged = exchange(&how)?;
        let segments = layout.bytes().div_ceil(how.unit as u64) * self.count as u64;
        let clocks = exchanged.time.as_secs_f64() * 1e12 / self.config.cluster_ps as f64;
        let hpus = self.config.cluster.hpus as f64;
        Ok(Rate {
            clocks: exchanged.load.iter().sum::<f64>() * hpus * clocks / segments as f64,
            gbps: exchanged.gbps(),
        })
    }

    /// With the public handlers.
    fn public(&self) -> Result<Rate> {
        let message = |round: usize, number: usize| {
            let seed = (round * self.count + number) as u32;
            self.public.message(self.kind, seed, self.elements)
        };
        let round = |round| (0..self.count).map(|number| message(round, number)).collect();
        let rounds: Vec<Vec<Message>> = (0..ROUNDS).map(round).collect::<Result<_>>()?;
        // The sender starts a round when it sees the signal.
        let latency_ps = Simple::default().latency_ps;
        let ready: Vec<Signal> = rounds.iter().map(|_| Signal::new(latency_ps)).collect();
        let result = Mutex::new(None);
        let sends: Work<'_> = Box::new(|nic| send(nic, &rounds, &ready).map_err(wrong));
        let receives: Work<'_> = Box::new(|nic| {
            let rate = self.receive(nic, &rounds, &ready).map_err(wrong)?;
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(rate);
            nic.borrow().stop();
            Ok(())
        });
        ranks_on(&self.config, Faults::default(), 1, THREADS, vec![sends, receives])?;
        let rate = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        rate.context("the receiver has not ended")
    }

    /// The receiving host.
    fn receive(&self, simulated: &Simulated, rounds: &[Vec<Message>], ready: &[Signal]) -> Result<Rate> {
        let nic = Nic::new(simulated.clone())?;
        let contexts = (0..self.count.div_ceil(QUEUES)).map(|number| self.open(&nic, number));
        let contexts: Vec<Context<Simulated>> = contexts.collect::<Result<_>>()?;
        let mut requests = Requests {
            seen: vec![[0; HPUS as usize]; contexts.len()],
        };
        let mut rate = None;
        for (messages, ready) in rounds.iter().zip(ready) {
            for (number, message) in messages.iter().enumerate() {
                let filled = vec![FILL; message.unpacked.len() + GUARD as usize];
                contexts[number / QUEUES]
                    .host_memory()
                    .write(place(number), &filled)?;
            }
            let busy = || simulated.borrow().cluster().busy().iter().sum::<u64>();
            let (begun_ps, before) = (simulated.borrow().now_ps(), busy());
            ready.tell(begun_ps);
            let mut ended = vec![false; messages.len()];
            while ended.contains(&false) {
                pass(simulated, LOOK_PS)?;
                for number in requests.take(&contexts)? {
                    let end = ended.get_mut(number).context("a request of no message")?;
                    *end = true;
                    compare(&contexts[number / QUEUES], number, &messages[number])?;
                }
                let now_ps = simulated.borrow().now_ps();
                ensure!(
                    now_ps < begun_ps + LIMIT_PS,
                    "messages did not end in ten simulated seconds; ended: {ended:?}"
                );
            }
            let time = Duration::from_nanos((simulated.borrow().now_ps() - begun_ps) / 1000);
            let bytes: usize = messages.iter().map(|message| message.stream.len()).sum();
            let segments = messages
                .iter()
                .map(|message| message.stream.len().div_ceil(SEGMENT_BYTES));
            rate = Some(Rate {
                clocks: (busy() - before) as f64 / segments.sum::<usize>() as f64,
                gbps: bytes as f64 * 8.0 / time.as_nanos() as f64,
            });
        }
        rate.context("no round")
    }

    /// Opens a context with the description of the type.
    fn open(&self, nic: &Nic<Simulated>, number: usize) -> Result<Context<Simulated>> {
        let id = (number * QUEUES) as u32;
        let rules = Ruleset::all()
            .rule(Rule::IPV4)
            .rule(Rule::udp_destination_port(PORT, PORT))
            .rule(Rule {
                idx: ID_WORD,
                mask: 0x0c00_0000,
                start: id << 24,
                end: id << 24,
                relative: false,
            })
            .end_of_message(Rule::SLMP_END_OF_MESSAGE);
        let options = Options {
            host_bytes: place((number + 1) * QUEUES),
            ..Options::default()
        };
        let context = nic.open_context(&self.public.program, "datatypes", &rules, &options)?;
        let memory = context.handler_memory();
        let image = self
            .public
            .image(self.kind, memory.address(), memory.len(), self.elements)?;
        memory.write(0, &image)?;
        Ok(context)
    }
}

fn wrong(error: anyhow::Error) -> ExchangeError {
    ExchangeError::Wrong(format!("{error:#}"))
}

/// Where the public handlers put a message.
fn place(number: usize) -> u32 {
    HPUS * PAGE + number as u32 * MESSAGE_BYTES
}

/// Compares a message in host memory, and the bytes after it.
fn compare(context: &Context<Simulated>, number: usize, message: &Message) -> Result<()> {
    let mut found = vec![0; message.unpacked.len() + GUARD as usize];
    context.host_memory().read(place(number), &mut found)?;
    let expected = message.unpacked.iter().chain(std::iter::repeat(&FILL));
    let differs = found
        .iter()
        .zip(expected)
        .position(|(found, expected)| found != expected);
    match differs {
        None => Ok(()),
        Some(at) => bail!(
            "byte {at} of message {number} is {:#04x}, and should be {:#04x}",
            found[at],
            message.unpacked.get(at).unwrap_or(&FILL)
        ),
    }
}

/// Requests of HPUs at the ends of messages: the last one of each, by context.
struct Requests {
    seen: Vec<[u8; HPUS as usize]>,
}

impl Requests {
    /// Answers new requests; returns their messages.
    fn take(&mut self, contexts: &[Context<Simulated>]) -> Result<Vec<usize>> {
        let mut messages = Vec::new();
        for (context, seen) in contexts.iter().zip(&mut self.seen) {
            for (hpu, seen) in (0..HPUS).zip(seen) {
                let flag: u64 = context.host_memory().load(hpu * PAGE)?;
                if flag as u8 == *seen {
                    continue;
                }
                *seen = flag as u8;
                messages.push((flag >> 8) as u32 as usize);
                // Handlers read the word with the number first.
                let answers = context.variable("__host_data")?;
                answers.store(8 * hpu + 4, (flag >> 32) as u32)?;
                answers.store(8 * hpu, flag as u32)?;
            }
        }
        Ok(messages)
    }
}

/// Lets simulated time pass.
///
/// # Errors
/// If a handler fails.
fn pass(nic: &Simulated, time_ps: u64) -> Result<()> {
    let mut nic = nic.borrow_mut();
    let until_ps = nic.now_ps() + time_ps;
    while nic.now_ps() < until_ps {
        nic.step(until_ps)?;
        for event in nic.take_events() {
            if let Event::Failed(fault) | Event::Refused(fault) = event {
                bail!("a handler failed: {fault:?}");
            }
        }
        while nic.take_wire().is_some() {}
    }
    Ok(())
}

/// The sending host: all messages of a round at once, a segment of each in flight. The cable loses none.
///
/// A [`Sender`](spinneret_slmp::Sender) wants the segment's own flags in its acknowledgement; the public handlers set ACK alone.
fn send(nic: &Simulated, rounds: &[Vec<Message>], ready: &[Signal]) -> Result<()> {
    for (round, (messages, ready)) in rounds.iter().zip(ready).enumerate() {
        while ready.told(nic.borrow().now_ps()).is_none() {
            pass(nic, LOOK_PS)?;
        }
        let segment = |number: usize, offset: usize| {
            let rest = &messages[number].stream[offset..];
            let flags = match rest.len() <= SEGMENT_BYTES {
                true => Flags::SYN | Flags::EOM,
                false => Flags::SYN,
            };
            let frame = Frame {
                from: endpoint(0),
                to: endpoint(1),
                header: Header {
                    flags,
                    message_id: (number << 24 | round) as u32,
                    offset: offset as u32,
                },
                payload: &rest[..rest.len().min(SEGMENT_BYTES)],
            };
            frame.build(1, UdpChecksum::Absent)
        };
        for number in 0..messages.len() {
            nic.borrow_mut().transmit(segment(number, 0)?);
        }
        let mut left = messages.len();
        while left > 0 {
            let mut nic = nic.borrow_mut();
            nic.step(u64::MAX)?;
            nic.take_events();
            while nic.take_wire().is_some() {}
            while let Some(out) = nic.take_host() {
                let Ok(Frame { header, .. }) = Frame::parse(&out.bytes) else {
                    continue;
                };
                let (number, next) = (
                    (header.message_id >> 24) as usize,
                    header.offset as usize + SEGMENT_BYTES,
                );
                let message = messages.get(number).filter(|_| header.flags == Flags::ACK);
                let message = message.with_context(|| format!("{header:?} answers no segment"))?;
                match next < message.stream.len() {
                    true => nic.transmit(segment(number, next)?),
                    false => left -= 1,
                }
            }
        }
    }
    Ok(())
}

/// The host of a NIC.
fn endpoint(number: u8) -> Endpoint {
    Endpoint {
        mac: [2, 0, 0, 0, 0, number + 1],
        socket: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, number + 1), PORT + u16::from(1 - number)),
    }
}
