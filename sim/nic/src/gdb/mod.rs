//! Debugging of handlers with gdb: `--gdb PORT`.
//!
//! ```text
//! gdb <== remote serial protocol ==> Session: gdbstub, Input --- DebugTarget: registers, memory, breakpoints, orders
//!                                                                  ^ the cluster, while it is held
//! Cluster, before and after each instruction ==> Gdb (Debugger) ---+
//! ```
//!
//! Each HPU is a thread. Breakpoints are in [`DebugTarget`](target::DebugTarget), not in memory. While the debugger holds the
//! cluster, no simulated time passes, so breakpoints do not change the timing of a run.

mod registers;
mod session;
mod target;

use crate::net;
use crate::net::Interrupt;
use crate::nic::NicConfig;
use crate::terminal::{Failure, tell};
use anyhow::anyhow;
use clap::Args;
use gdbstub::common::Signal;
use gdbstub::stub::MultiThreadStopReason as Stop;
use session::{End, Input, Session};
use spinneret_cluster::rv::Trap;
use spinneret_cluster::{Cluster, Debugger, SILENCE, TERMINATED, WATCHDOG};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::time::Duration;
use std::{fmt, io};
use target::{DebugTarget, Hit, ResumeAction, thread};

/// Arguments of commands whose handlers can be debugged.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DebugArguments {
    /// Debug handlers with gdb at this port of localhost; 0 selects a free port
    #[arg(long, value_name = "PORT")]
    pub gdb: Option<u16>,
}

impl DebugArguments {
    /// Opens the port, if one was given.
    ///
    /// # Errors
    /// If the port is taken, or there is nothing to debug.
    pub(crate) fn listen(self, config: &NicConfig) -> Result<Option<Port>, Failure> {
        let Some(port) = self.gdb else { return Ok(None) };
        config
            .check_model(
                "--gdb",
                "nothing outside of a pipeline can stop a thread of it and change its registers",
            )
            .map_err(Failure::Usage)?;
        Port::listen(port).map(Some).map_err(|error| {
            Failure::usage(anyhow!(
                "--gdb {port}: {error}: name another port, or 0 for a free one"
            ))
        })
    }
}

/// Unidentified connections at once. One more replaces the oldest.
const STRANGERS: usize = 8;
/// Pause after running out of descriptors.
const REST: Duration = Duration::from_millis(100);

/// A port that listens for gdb.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    address: SocketAddr,
    strangers: Vec<Input>,
    gdb: Option<Input>,
}

impl Port {
    /// Listens at a port of loopback; 0 selects a free one.
    ///
    /// # Errors
    /// If the port is taken.
    pub fn listen(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            address,
            strangers: Vec::new(),
            gdb: None,
        })
    }

    /// The address for gdb.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until gdb connects, or an interrupt. Other clients are dropped.
    ///
    /// # Errors
    /// If the system call fails.
    pub(crate) fn wait(&mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        while self.gdb.is_none() && !interrupt.is_set() {
            let strangers = self.strangers.iter().map(AsFd::as_fd);
            let fds: Vec<_> = [self.listener.as_fd(), interrupt.as_fd()]
                .into_iter()
                .chain(strangers)
                .collect();
            net::wait(&fds, None).map_err(Failure::work)?;
            if self.look().is_err() {
                std::thread::sleep(REST);
            }
        }
        Ok(())
    }

    /// Accepts connections, and checks whether one of them is gdb.
    fn look(&mut self) -> io::Result<()> {
        let accepted = self.accept();
        self.strangers.retain_mut(|stranger| stranger.listen().is_ok());
        if let Some(place) = self.strangers.iter().position(Input::is_gdb) {
            self.gdb = Some(self.strangers.swap_remove(place));
            self.strangers.clear();
        }
        accepted
    }

    fn accept(&mut self) -> io::Result<()> {
        for _ in 0..STRANGERS {
            match self.listener.accept().and_then(|(stream, _)| Input::new(stream)) {
                Ok(stranger) => self.strangers.push(stranger),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // The client may have left already, and dropping other connections frees descriptors.
                Err(error) => {
                    self.strangers.clear();
                    return Err(error);
                }
            }
            if self.strangers.len() > STRANGERS {
                self.strangers.remove(0);
            }
        }
        Ok(())
    }
}

/// The debugger of a cluster: gdb, if connected.
pub struct Gdb {
    port: Port,
    interrupt: Interrupt,
    session: Option<Session>,
    held: DebugTarget,
    tells: bool,
}

impl Gdb {
    /// A debugger that is not connected yet. An interrupted run is no longer held.
    pub fn new(port: Port, interrupt: Interrupt) -> Self {
        Self {
            port,
            interrupt,
            session: None,
            held: DebugTarget::new(),
            tells: true,
        }
    }

    /// Disables the message when gdb disconnects.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.tells = false;
        self
    }

    /// Starts a session, if gdb has connected.
    fn accept(&mut self, cluster: &Cluster) {
        // A failed client connects again.
        let _ = self.port.look();
        if let Some(input) = self.port.gdb.take() {
            let begun = Session::begin(input, &mut self.held, cluster.hpus());
            self.note(begun);
        }
    }

    /// Lets gdb control the cluster while it is held: because of `stop`, a new connection, or Ctrl-C.
    fn talk(&mut self, cluster: &mut Cluster, stop: Option<Stop<u32>>) {
        if let Some(session) = self.session.take() {
            self.held.swap(cluster);
            let next = session.talk(&mut self.held, stop, &self.interrupt);
            self.held.swap(cluster);
            self.note(next);
        }
    }

    fn note(&mut self, next: Result<Session, End>) {
        match next {
            Ok(session) => self.session = Some(session),
            Err(end) => {
                self.held.release();
                match end {
                    End::Killed => self.interrupt.set(),
                    _ if !self.tells => {}
                    End::Interrupted => {}
                    End::Detached => tell("gdb disconnected; the run continues without it"),
                    End::Failed(why) => tell(format_args!(
                        "gdb disconnected ({why}); the run continues without it"
                    )),
                }
            }
        }
    }
}

/// The state machine of gdbstub has no `Debug`.
impl fmt::Debug for Gdb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_there = self.session.is_some();
        f.debug_struct("Gdb")
            .field("port", &self.port)
            .field("is_there", &is_there)
            .finish_non_exhaustive()
    }
}

impl Debugger for Gdb {
    fn attend(&mut self, cluster: &mut Cluster) {
        if self.session.is_none() {
            self.accept(cluster);
        }
        self.talk(cluster, None);
    }

    fn before(&mut self, cluster: &mut Cluster, hpu: usize) -> bool {
        if self.session.is_none() {
            return true;
        }
        if self.held.order(hpu) == ResumeAction::Hold {
            return false;
        }
        if self.held.breakpoints.breaks_at(cluster.hart(hpu).pc()) {
            self.talk(cluster, Some(Stop::SwBreak(thread(hpu))));
        }
        // For RISC-V, gdb expects watchpoints before the access, and steps over it.
        if self.held.order(hpu) == ResumeAction::Continue
            && let Some(Hit { kind, address }) = self.held.breakpoints.hit(cluster, hpu)
        {
            let (tid, addr) = (thread(hpu), address);
            self.talk(cluster, Some(Stop::Watch { tid, kind, addr }));
        }
        self.held.order(hpu) != ResumeAction::Hold
    }

    fn after(&mut self, cluster: &mut Cluster, hpu: usize) {
        if self.held.is_done(hpu, cluster.hart(hpu).pc()) {
            let (tid, signal) = (thread(hpu), Signal::SIGTRAP);
            self.talk(cluster, Some(Stop::SignalWithThread { tid, signal }));
        }
    }

    fn faulted(&mut self, cluster: &mut Cluster, hpu: usize, trap: Trap) {
        let (tid, signal) = (thread(hpu), signal(trap));
        self.talk(cluster, Some(Stop::SignalWithThread { tid, signal }));
    }
}

/// Ends the session at the end of the run.
impl Drop for Gdb {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.end(&mut self.held);
        }
    }
}

/// The Linux signal of a trap.
fn signal(trap: Trap) -> Signal {
    match trap {
        Trap::Illegal => Signal::SIGILL,
        Trap::Breakpoint => Signal::SIGTRAP,
        Trap::InstructionMisaligned
        | Trap::LoadMisaligned
        | Trap::StoreMisaligned
        | Trap::Custom(SILENCE) => Signal::SIGBUS,
        Trap::Custom(WATCHDOG) => Signal::SIGXCPU,
        Trap::Custom(TERMINATED) => Signal::SIGABRT,
        _ => Signal::SIGSEGV,
    }
}
