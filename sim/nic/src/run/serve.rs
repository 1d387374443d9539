//! `spinneret serve`: a NIC for programs in other processes, a PCI device of a virtual machine, or a board at a network interface.

use super::ether::EtherService;
use super::host::{HostProgram, HostStep, is_matching};
use super::session::Session;
use super::setup::Setup;
use super::{HardwareArguments, PacketArguments, ResultArguments, session, setup};
use crate::device::Simulated;
use crate::gdb::DebugArguments;
use crate::net::{Interrupt, picoseconds};
use crate::nic::Backend;
use crate::terminal::{Failure, Files, tell};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use spinneret_host::device::socket::{Served, Server};
use spinneret_host::{Nic, Share};
use spinneret_pci::{Application, Identity};
use spinneret_regmap::bar::{Destination, decode};
use spinneret_regmap::shares::{EGRESS_RATE, MAX_WEIGHT};
use spinneret_regmap::{CONTEXTS, me, slots};
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

/// Arguments of `spinneret serve`.
#[derive(Clone, Debug, Args)]
pub struct ServeArguments {
    /// Path of the Unix socket; programs open unix:SOCKET
    #[arg(value_name = "SOCKET", required_unless_present_any = ["pci", "ether"])]
    pub socket: Option<PathBuf>,
    /// Be a PCI device of a virtual machine instead, at this socket (vfio-user)
    #[arg(long, value_name = "SOCKET", conflicts_with = "socket")]
    pub pci: Option<PathBuf>,
    /// Be a board at this network interface instead; programs open ether:INTERFACE at the other end of its cable
    #[arg(long, value_name = "INTERFACE", conflicts_with_all = ["socket", "pci"])]
    pub ether: Option<String>,
    /// PCI function
    #[arg(long, value_name = "WHICH", value_enum, default_value_t, requires = "pci")]
    pub function: Function,
    /// Shares of contexts
    #[command(flatten)]
    pub shares: ContextShares,
    /// End when the last program, or the virtual machine, disconnects
    #[arg(long)]
    pub once: bool,
    /// Packets
    #[command(flatten)]
    pub packets: PacketArguments,
    /// Hardware
    #[command(flatten)]
    pub hardware: HardwareArguments,
    /// Results
    #[command(flatten)]
    pub results: ResultArguments,
    /// Debugging
    #[command(flatten)]
    pub debug: DebugArguments,
}

/// Shares of contexts: a number for each.
#[derive(Clone, Copy, Debug, Args)]
pub struct ContextShares {
    /// Weights of contexts in HPU time, copies and packets to send, 1 to 15 each: their processes can lower them [default: 1,1,1,1]
    #[arg(long, value_name = "WEIGHTS", value_parser = weights, conflicts_with_all = ["pci", "ether"])]
    weights: Option<OfContexts>,
    /// Bounds on slots of the packet buffer, 0 for none: their processes can lower them [default: 0,0,0,0]
    #[arg(long, value_name = "BOUNDS", value_parser = bounds, conflicts_with_all = ["pci", "ether"])]
    slots: Option<OfContexts>,
    /// Limits of sent bytes in a clock of the clusters, in units of 1/256, 0 for none: their processes can lower them [default: 0,0,0,0]
    #[arg(long, value_name = "RATES", value_parser = rates, conflicts_with_all = ["pci", "ether"])]
    egress_rates: Option<OfContexts>,
}

/// A number for each context.
pub(super) type OfContexts = [u32; CONTEXTS as usize];

impl ContextShares {
    /// The first option that only spinneret's own clusters have.
    fn of_own_clusters(&self) -> Option<&'static str> {
        match self {
            Self { weights: Some(_), .. } => Some("--weights"),
            Self {
                egress_rates: Some(_),
                ..
            } => Some("--egress-rates"),
            _ => None,
        }
    }

    fn shares(&self) -> [Share; CONTEXTS as usize] {
        shares_of(self.weights, self.slots, self.egress_rates)
    }
}

/// The share of each context, the default one where the command line says nothing.
pub(super) fn shares_of(
    weights: Option<OfContexts>,
    slots: Option<OfContexts>,
    egress_rates: Option<OfContexts>,
) -> [Share; CONTEXTS as usize] {
    std::array::from_fn(|context| {
        let of = |numbers: Option<OfContexts>, first| numbers.map_or(first, |numbers| numbers[context]);
        let first = Share::default();
        Share {
            weight: of(weights, first.weight),
            slots: of(slots, first.slots),
            egress_rate: of(egress_rates, first.egress_rate),
            ..first
        }
    })
}

fn weights(text: &str) -> Result<OfContexts, String> {
    of_contexts(text, 1..=MAX_WEIGHT, "8,4,2,1")
}

pub(super) fn bounds(text: &str) -> Result<OfContexts, String> {
    of_contexts(text, 0..=slots::BOUND.bits.mask(0), "64,32,16,0")
}

fn rates(text: &str) -> Result<OfContexts, String> {
    of_contexts(text, 0..=EGRESS_RATE.bits.mask(0), "512,256,256,0")
}

/// A number for each context on the command line.
fn of_contexts(text: &str, allowed: RangeInclusive<u32>, example: &str) -> Result<OfContexts, String> {
    let number = |text: &str| text.parse().ok().filter(|number| allowed.contains(number));
    let numbers: Option<Vec<u32>> = text.split(',').map(number).collect();
    let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
    let [least, most] = [allowed.start(), allowed.end()];
    numbers.ok_or_else(|| format!("name {CONTEXTS} numbers from {least} to {most}, such as {example}"))
}

/// Runs the command and prints its result.
///
/// # Errors
/// If an argument cannot be used, or the run fails. An interrupted run does not fail.
pub fn serve(arguments: &ServeArguments) -> Result<(), Failure> {
    let interrupt = Interrupt::catch().map_err(Failure::usage)?;
    let config = setup::config(&arguments.hardware)?;
    let option = arguments.shares.of_own_clusters();
    if let Some(option) = option.filter(|_| config.backend != Backend::Rtl) {
        return Err(Failure::usage(anyhow::anyhow!(
            "{option} needs --cluster rtl: the model of the clusters has no shares of contexts"
        )));
    }
    let files = Files::of_command()
        .reads("SOCKET", arguments.socket.as_deref())
        .reads("--pci", arguments.pci.as_deref());
    let files = arguments.results.files(arguments.packets.files(files));
    files.check().map_err(Failure::Usage)?;
    let ends = setup::open_any_packets(&arguments.packets)?;
    let gdb = arguments.debug.listen(&config)?;
    let mut setup = Setup::new(ends, &arguments.results, config, None)?;
    setup.host = Some(listen(arguments, &setup.nic)?);
    if let Some(gdb) = &gdb {
        tell(format_args!(
            "gdb can connect at any time: target remote {}",
            gdb.address()
        ));
    }
    setup.gdb = gdb;
    let session = Session::new(setup, arguments.packets.live.duration, interrupt);
    // Programs load the handlers, and check their errors themselves.
    session::finish(session, arguments.results.json, true)
}

/// Listens where the arguments say.
fn listen(arguments: &ServeArguments, nic: &Simulated) -> Result<Box<dyn HostProgram>, Failure> {
    let once = arguments.once;
    if let Some(interface) = &arguments.ether {
        let board = EtherService::open(interface, nic, once).map_err(Failure::usage)?;
        tell(format_args!(
            "the NIC is at {interface}: programs at the other end of its cable open ether:INTERFACE,{}",
            board.address()
        ));
        return Ok(Box::new(board));
    }
    let (path, host): (_, io::Result<Box<dyn HostProgram>>) = match (&arguments.pci, &arguments.socket) {
        (Some(path), _) => {
            let device = PciService::bind(path, arguments.function, nic, once);
            (path, device.map(|device| Box::new(device) as _))
        }
        (None, Some(path)) => {
            let serving = Server::bind(path).map(|server| SocketService {
                server: server.with_shares(arguments.shares.shares()),
                once,
                is_matching: false,
            });
            (path, serving.map(|serving| Box::new(serving) as _))
        }
        (None, None) => return Err(Failure::usage(anyhow::anyhow!("no socket: name one"))),
    };
    let host = host.with_context(|| format!("cannot listen at {}", path.display()));
    let host = host.map_err(|error| Failure::Usage(anyhow::anyhow!("{error:#}")))?;
    let kind = if arguments.pci.is_some() {
        "vfio-user"
    } else {
        "unix"
    };
    tell(format_args!("the NIC is at {kind}:{}", path.display()));
    Ok(host)
}

/// The socket, as a host program.
#[derive(Debug)]
struct SocketService {
    server: Server,
    once: bool,
    /// Rules were installed, so packets may start.
    is_matching: bool,
}

impl HostProgram for SocketService {
    fn poll(&mut self, nic: &Simulated) -> anyhow::Result<HostStep> {
        let served = self.server.serve(&mut nic.clone())?;
        if served == Served::Requests && !self.is_matching {
            self.is_matching = is_matching(nic)?;
        }
        Ok(match served {
            Served::Nothing => HostStep::Idle,
            Served::Requests => HostStep::WakeAt(nic.borrow().now_ps()),
            Served::Waits(until) => HostStep::WakeAt(picoseconds(until)),
            Served::Gone if self.once => HostStep::Done,
            Served::Gone => {
                self.is_matching = false;
                HostStep::Idle
            }
        })
    }

    fn is_ready(&self) -> bool {
        self.is_matching
    }

    fn stays(&self) -> bool {
        true
    }

    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        self.server.wakes()
    }
}

/// PCI function of the NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Function {
    /// Spinneret's own function, for its drivers and for VFIO
    #[default]
    Own,
    /// Corundum's function without network interfaces, for the public drivers mqnic and pspin
    Mqnic,
}

/// The socket of the virtual machine, as a host program.
#[derive(Debug)]
pub(super) struct PciService {
    server: spinneret_pci::Server,
    /// Whether messages of the hardware are interrupts: Corundum's application block has no port for them.
    has_messages: bool,
    once: bool,
    /// Rules were installed, so packets may start.
    is_matching: bool,
}

impl PciService {
    /// Listens at a path.
    ///
    /// # Errors
    /// If the path cannot be used.
    pub(super) fn bind(path: &Path, function: Function, nic: &Simulated, once: bool) -> io::Result<Self> {
        let identity = match function {
            Function::Own => Identity::OWN,
            Function::Mqnic => Identity::MQNIC,
        };
        let server = spinneret_pci::Server::bind(path, identity)?;
        nic.borrow().host_memory().connect(server.memory());
        Ok(Self {
            server,
            has_messages: function == Function::Own,
            once,
            is_matching: false,
        })
    }
}

impl HostProgram for PciService {
    fn poll(&mut self, nic: &Simulated) -> anyhow::Result<HostStep> {
        let mut bar = ApplicationBar {
            nic: nic.clone(),
            has_rules: false,
            is_over: false,
        };
        let served = self.server.serve(&mut bar)?;
        self.server.take_notes().iter().for_each(tell);
        // Forwards messages of the hardware as interrupts.
        while let Some(line) = nic.borrow_mut().take_message() {
            if self.has_messages {
                self.server.raise(line);
            }
        }
        self.is_matching &= !bar.is_over;
        if bar.has_rules && !self.is_matching {
            self.is_matching = is_matching(nic)?;
        }
        Ok(match served {
            spinneret_pci::Served::Gone if self.once => HostStep::Done,
            spinneret_pci::Served::Nothing | spinneret_pci::Served::Gone => HostStep::Idle,
            spinneret_pci::Served::Requests => HostStep::WakeAt(nic.borrow().now_ps()),
        })
    }

    fn is_ready(&self) -> bool {
        self.is_matching
    }

    fn stays(&self) -> bool {
        true
    }

    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        self.server.wakes()
    }
}

/// The application BAR of the simulated hardware.
struct ApplicationBar {
    nic: Simulated,
    /// Rules were installed.
    has_rules: bool,
    /// Operations of a driver have ended.
    is_over: bool,
}

impl Application for ApplicationBar {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        self.nic.borrow_mut().bus_read(offset).map_err(io::Error::other)
    }

    fn write(&mut self, offset: u32, word: u32, strobes: u8) -> io::Result<()> {
        self.has_rules |= decode(offset) == Destination::ControlRegister(me::VALID.offset);
        let mut nic = self.nic.borrow_mut();
        nic.bus_write(offset, word, strobes).map_err(io::Error::other)
    }

    fn stop(&mut self) -> io::Result<()> {
        self.is_over = true;
        // The next user finds the NIC without rules and with its cluster in reset. Its counters stay, for the summary.
        Nic::new(self.nic.clone()).map(drop).map_err(io::Error::other)
    }

    fn reset(&mut self) -> io::Result<()> {
        self.is_over = true;
        self.nic.borrow_mut().reset().map_err(io::Error::other)
    }
}
