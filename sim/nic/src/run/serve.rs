//! `spinneret serve`: a NIC for programs in other processes, or for virtual machines.

use super::args::{HardwareArguments, PacketArguments, ResultArguments};
use super::ends;
use super::host::{Attention, HostProgram, is_matching};
use super::pci::{Function, PciDevice};
use super::session::{self, Session};
use super::setup::{self, Setup};
use super::wave::Wave;
use crate::device::Simulated;
use crate::gdb::DebugArguments;
use crate::net::{Interrupt, picoseconds};
use crate::terminal::{Failure, Files, tell};
use anyhow::Context as _;
use clap::Args;
use spinneret_host::device::socket::{Served, Server};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

/// Arguments of `spinneret serve`.
#[derive(Clone, Debug, Args)]
pub struct ServeArguments {
    /// Where programs find the NIC: they open unix:SOCKET
    #[arg(value_name = "SOCKET", required_unless_present = "pci")]
    pub socket: Option<PathBuf>,
    /// Be a PCI device instead, for a virtual machine that finds it there (vfio-user)
    #[arg(long, value_name = "SOCKET", conflicts_with = "socket")]
    pub pci: Option<PathBuf>,
    /// Which PCI function it is
    #[arg(long, value_name = "WHICH", value_enum, default_value_t, requires = "pci")]
    pub function: Function,
    /// End when the first program, or virtual machine, has gone
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

/// Runs the command and prints its result.
///
/// # Errors
/// If something that was asked for cannot be used, or the run fails; a run that is interrupted is none that fails.
pub fn serve(arguments: &ServeArguments) -> Result<(), Failure> {
    let interrupt = Interrupt::catch().map_err(Failure::usage)?;
    let config = setup::config(&arguments.hardware);
    let files = Files::of_command()
        .reads("SOCKET", arguments.socket.as_deref())
        .reads("--pci", arguments.pci.as_deref());
    let files = arguments.results.files(arguments.packets.files(files));
    files.check().map_err(Failure::Usage)?;
    let ends = ends::open_if_any(&arguments.packets)?;
    let gdb = arguments.debug.listen()?;
    let recorder = setup::recorder(&arguments.results, &config, None)?;
    let wave = Wave::create(&arguments.results)?;
    let nic = setup::hardware(&arguments.results, config, wave.as_ref())?;
    let host = listen(arguments, &nic)?;
    if let Some(gdb) = &gdb {
        tell(format_args!(
            "gdb may come at any time: target remote {}",
            gdb.address()
        ));
    }
    let setup = Setup {
        nic,
        ends,
        recorder,
        wave,
        host: Some(host),
        gdb,
    };
    let session = Session::new(setup, arguments.packets.duration, interrupt);
    // Handlers are those of the programs, which see how they do.
    session::finish(session, arguments.results.json, true)
}

/// Listens where the arguments say.
fn listen(arguments: &ServeArguments, nic: &Simulated) -> Result<Box<dyn HostProgram>, Failure> {
    let (nic, once) = (nic.clone(), arguments.once);
    let (path, host): (_, io::Result<Box<dyn HostProgram>>) = match (&arguments.pci, &arguments.socket) {
        (Some(path), _) => {
            let device = PciDevice::bind(path, arguments.function, nic, once);
            (path, device.map(|device| Box::new(device) as _))
        }
        (None, Some(path)) => {
            let serving = Server::bind(path).map(|server| Serving {
                server,
                nic,
                once,
                is_matching: false,
            });
            (path, serving.map(|serving| Box::new(serving) as _))
        }
        (None, None) => return Err(Failure::usage(anyhow::anyhow!("there is no socket: name one"))),
    };
    let host = host.with_context(|| format!("{} cannot be listened at", path.display()));
    let host = host.map_err(|error| Failure::Usage(anyhow::anyhow!("{error:#}")))?;
    let kind = if arguments.pci.is_some() {
        "vfio-user"
    } else {
        "unix"
    };
    tell(format_args!("the NIC is at {kind}:{}", path.display()));
    Ok(host)
}

/// The socket, as a program on the host.
#[derive(Debug)]
struct Serving {
    server: Server,
    nic: Simulated,
    once: bool,
    /// Somebody has set rules, so packets may come.
    is_matching: bool,
}

impl HostProgram for Serving {
    fn poll(&mut self) -> anyhow::Result<Attention> {
        let mut nic = self.nic.clone();
        let served = self.server.serve(&mut nic)?;
        if served == Served::Requests && !self.is_matching {
            self.is_matching = is_matching(&mut nic)?;
        }
        Ok(match served {
            Served::Nothing => Attention::Idle,
            Served::Requests => Attention::Until(self.nic.borrow().now_ps()),
            Served::Waits(until) => Attention::Until(picoseconds(until)),
            Served::Gone if self.once => Attention::Over,
            Served::Gone => {
                self.is_matching = false;
                Attention::Idle
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
        self.server.wakes().to_vec()
    }
}
