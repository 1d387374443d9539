//! `spinneret receive`: files through SLMP, by handlers on a simulated NIC or by a program at a UDP port.

use super::args::{HardwareArguments, PacketArguments, ResultArguments};
use super::host::{Attention, HostProgram};
use super::session::{self, Session};
use super::setup::{self, Setup};
use super::{build, ends};
use crate::cli::{Failure, Store};
use crate::device::Simulated;
use crate::laptop;
use crate::net::{Interrupt, picoseconds};
use anyhow::{Result, anyhow};
use clap::{ArgGroup, Args};
use spinneret_cluster::Program;
use spinneret_host::Nic;
use spinneret_host::slmp::{Event, MessageReceiver, SegmentCounters};
use spinneret_slmp::memory::Cause;
use spinneret_slmp::udp::{self, Listener};
use spinneret_slmp::{Confirm, GivenUp, Received, ReceiverConfig, Verdict};
use std::net::SocketAddrV4;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long repetitions of the last segment are answered after the message is stored: longer than senders wait between two.
const LINGER: Duration = Duration::from_secs(2);
/// Between two looks at host memory while packets come.
const LOOK: Duration = Duration::from_micros(20);

/// Arguments of `spinneret receive`.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("from").required(true).args(["tap", "attach", "udp"])))]
pub struct ReceiveArguments {
    /// The file that the message becomes; with --many, the folder for them
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Receive until Ctrl-C, each message to a file of its own
    #[arg(long)]
    pub many: bool,
    /// Receive without a NIC, at this address and UDP port of this machine
    #[arg(long, value_name = "ADDR:PORT")]
    pub udp: Option<SocketAddrV4>,
    /// Longest message in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = clap::value_parser!(u32).range(1..=40 << 20))]
    pub max_size: u32,
    /// Messages at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub places: u8,
    /// Give a message up when nothing of it came for so long
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub idle: f64,
    /// Handlers for SLMP: a folder with a Makefile, or an ELF file [default: runtime/examples/slmp]
    #[arg(long, value_name = "HANDLERS")]
    pub handlers: Option<PathBuf>,
    /// The interface
    #[command(flatten)]
    pub packets: LiveArguments,
    /// Hardware
    #[command(flatten)]
    pub hardware: HardwareArguments,
    /// Results
    #[command(flatten)]
    pub results: ResultArguments,
}

/// Where packets come from while a program waits for them.
#[derive(Clone, Debug, Args)]
pub struct LiveArguments {
    /// Make a network interface of that name, which is the NIC as this machine sees it
    #[arg(long, value_name = "NAME", help_heading = "Packets")]
    pub tap: Option<String>,
    /// Take an existing network interface for the wire
    #[arg(long, value_name = "NAME", help_heading = "Packets")]
    pub attach: Option<String>,
    /// End after that many seconds
    #[arg(long, value_name = "SECONDS", help_heading = "Packets")]
    pub duration: Option<f64>,
}

impl LiveArguments {
    fn packets(&self) -> PacketArguments {
        PacketArguments {
            tap: self.tap.clone(),
            attach: self.attach.clone(),
            duration: self.duration,
            ..PacketArguments::default()
        }
    }
}

/// Runs the command and prints its result.
///
/// # Errors
/// If something that was asked for cannot be used, or the message does not arrive or cannot be stored.
pub fn receive(arguments: &ReceiveArguments) -> Result<(), Failure> {
    let store = Store::new(&arguments.path, arguments.many).map_err(Failure::Usage)?;
    let idle = Duration::try_from_secs_f64(arguments.idle)
        .map_err(|error| Failure::usage(anyhow!("--idle {}: {error}", arguments.idle)))?;
    let config = ReceiverConfig {
        places: arguments.places.into(),
        capacity_bytes: arguments.max_size as usize,
        confirm: Confirm::Stored,
    };
    match arguments.udp {
        Some(at) => by_program(at, config, idle, &store, arguments.packets.duration),
        None => by_handlers(arguments, config, idle, store),
    }
}

/// Prints what was stored.
fn show(message: &Received, path: &std::path::Path) {
    let from = message.key.from;
    println!("{}: {} bytes from {from}", path.display(), message.data.len());
}

/// What is said of a message that did not come whole.
fn incomplete(given_up: &GivenUp) -> anyhow::Error {
    let GivenUp { key, bytes, length } = given_up;
    let of = length.map_or_else(
        || "and its end never came".to_owned(),
        |length| format!("of {length}"),
    );
    anyhow!(
        "message {:#010x} of {} stopped after {bytes} bytes {of}: the sender or the network stopped, or this receiver was \
         restarted in its middle; nothing of it was stored",
        key.message_id,
        key.from
    )
}

/// Receives at a UDP port.
fn by_program(
    at: SocketAddrV4,
    config: ReceiverConfig,
    idle: Duration,
    store: &Store,
    duration: Option<f64>,
) -> Result<(), Failure> {
    let interrupt = Interrupt::catch().map_err(Failure::usage)?;
    let mut listener = Listener::bind(at, config, idle).map_err(Failure::usage)?;
    let begun = Instant::now();
    let mut end = duration.and_then(|seconds| begun.checked_add(Duration::try_from_secs_f64(seconds).ok()?));
    let mut is_stored = false;
    eprintln!("waiting at {at}");
    loop {
        let event = listener.next_event(|_| {
            let is_over = interrupt.is_set() || end.is_some_and(|end| Instant::now() >= end);
            if is_over {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        match event.map_err(Failure::work)? {
            Some(udp::Event::Complete(message)) => {
                let saved = store.save(&message);
                let verdict = if saved.is_ok() {
                    Verdict::Stored
                } else {
                    Verdict::Refused
                };
                listener.confirm(&message.key, verdict).map_err(Failure::work)?;
                show(&message, &saved.map_err(chained)?);
                if store.is_single() {
                    is_stored = true;
                    end = Instant::now().checked_add(LINGER);
                }
            }
            Some(udp::Event::GivenUp(given_up)) => settle(&given_up, store, is_stored)?,
            None if store.is_single() && !is_stored => return Err(nothing()),
            None => return Ok(()),
        }
    }
}

/// Whether a message that did not come whole is the end: it is if it was the only one that is waited for.
fn settle(given_up: &GivenUp, store: &Store, is_stored: bool) -> Result<(), Failure> {
    let error = incomplete(given_up);
    if store.is_single() && !is_stored {
        return Err(Failure::Work(error));
    }
    eprintln!("{error}");
    Ok(())
}

fn nothing() -> Failure {
    Failure::work(anyhow!("no message came"))
}

/// A failure with its causes in one line.
fn chained(error: anyhow::Error) -> Failure {
    Failure::Work(anyhow!("{error:#}"))
}

/// Receives by handlers on a simulated NIC.
fn by_handlers(
    arguments: &ReceiveArguments,
    config: ReceiverConfig,
    idle: Duration,
    store: Store,
) -> Result<(), Failure> {
    let interrupt = Interrupt::catch().map_err(Failure::usage)?;
    let hardware = setup::config(&arguments.hardware)?;
    let folder = arguments
        .handlers
        .clone()
        .unwrap_or_else(|| laptop::example("slmp"));
    let elf = build::program(&folder, hardware.cluster.clusters).map_err(Failure::usage)?;
    let program = Program::open(&elf).map_err(Failure::usage)?;
    let ends = ends::open(&arguments.packets.packets())?;
    let (simulated, recorder) = setup::bare(&arguments.results, hardware, Some(&program))?;
    let nic = Nic::new(simulated.clone()).map_err(Failure::work)?;
    let receiver = MessageReceiver::open(&nic, &program, config, idle).map_err(Failure::work)?;
    let host = Receiving {
        nic: simulated.clone(),
        receiver,
        store,
        is_stored: false,
        end_ps: None,
    };
    let setup = Setup {
        nic: simulated,
        ends,
        recorder,
        host: Some(Box::new(host)),
    };
    let session = Session::new(setup, arguments.packets.duration, interrupt)?;
    session::finish(session, arguments.results.json)
}

/// The receiver as a program beside the NIC.
#[derive(Debug)]
struct Receiving {
    nic: Simulated,
    receiver: MessageReceiver<Simulated>,
    store: Store,
    is_stored: bool,
    /// The run is over then.
    end_ps: Option<u64>,
}

impl Receiving {
    fn take(&mut self, message: &Received) -> Result<()> {
        let saved = self.store.save(message);
        let verdict = if saved.is_ok() {
            Verdict::Stored
        } else {
            Verdict::Refused
        };
        self.receiver.confirm(&message.key, verdict)?;
        show(message, &saved.map_err(|error| anyhow!("{error:#}"))?);
        if self.store.is_single() {
            self.is_stored = true;
            self.end_ps = Some(self.nic.borrow().now_ps() + picoseconds(LINGER));
        }
        Ok(())
    }
}

impl HostProgram for Receiving {
    fn poll(&mut self) -> Result<Attention> {
        while let Some(event) = self.receiver.poll()? {
            match event {
                Event::Complete(message) => self.take(&message)?,
                Event::GivenUp(given_up) => {
                    settle(&given_up, &self.store, self.is_stored).map_err(|failure| anyhow!("{failure}"))?;
                }
            }
        }
        let nic = self.nic.borrow();
        Ok(match self.end_ps {
            Some(end) if nic.now_ps() >= end => Attention::Over,
            _ if nic.is_idle() => Attention::Idle,
            _ => Attention::Until(nic.now_ps() + picoseconds(LOOK)),
        })
    }

    fn stays(&self) -> bool {
        true
    }

    fn finish(&mut self) -> Result<()> {
        show_segments(&self.receiver.counters()?);
        match self.store.is_single() && !self.is_stored {
            true => Err(anyhow!("no message came")),
            false => Ok(()),
        }
    }
}

/// What became of segments, where there is something to tell.
fn show_segments(counters: &SegmentCounters) {
    let counted = Cause::ALL
        .iter()
        .map(|cause| (counters.of(*cause), cause.about()));
    let counted: Vec<String> = counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, about)| format!("  {count:>9} {about}"))
        .collect();
    if !counted.is_empty() {
        eprintln!("segments:\n{}", counted.join("\n"));
    }
}
