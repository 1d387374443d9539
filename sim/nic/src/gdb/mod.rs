//! gdb on handlers: `--gdb PORT`.
//!
//! ```text
//! gdb <== remote serial protocol ==> Session: gdbstub, Input --- DebugTarget: registers, memory, breakpoints, orders
//!                                                                  ^ the cluster, while it is held
//! Cluster, before and after each instruction ==> Gdb (Debugger) ---+
//! ```
//!
//! Each HPU is a thread. Breakpoints are in [`DebugTarget`](held::DebugTarget), not in memory. While the debugger thinks no simulated time
//! passes, so a run that is held at breakpoints is the same run, clock by clock.

mod registers;
mod session;
mod target;

use crate::net;
use crate::net::Interrupt;
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
    /// The port that was asked for.
    ///
    /// # Errors
    /// If somebody else has it.
    pub(crate) fn listen(self) -> Result<Option<Port>, Failure> {
        let Some(port) = self.gdb else { return Ok(None) };
        Port::listen(port).map(Some).map_err(|error| {
            Failure::usage(anyhow!(
                "--gdb {port}: {error}: name another port, or 0 for a free one"
            ))
        })
    }
}

/// Connections at once of which nobody knows yet whether they are gdb's. One more takes the place of the oldest.
const STRANGERS: usize = 8;
/// Pause after the system had no descriptor for a connection.
const REST: Duration = Duration::from_millis(100);

/// A port at which gdb is listened for.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    address: SocketAddr,
    strangers: Vec<Input>,
    gdb: Option<Input>,
}

impl Port {
    /// Listens at a port of loopback; 0 is any that is free.
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

    /// Where gdb is to go.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until gdb comes, or the run shall end. Others who connect are dropped.
    ///
    /// # Errors
    /// If the system refuses it.
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

    /// Takes in who has come, and listens whether one of them is gdb.
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
                // It may have left already, and a system without descriptors has some again when strangers are dropped.
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

/// The debugger of a cluster: gdb, if it is there.
pub struct Gdb {
    port: Port,
    interrupt: Interrupt,
    session: Option<Session>,
    held: DebugTarget,
    tells: bool,
}

impl Gdb {
    /// A debugger that is not there yet. A run that shall end is no longer held.
    pub fn new(port: Port, interrupt: Interrupt) -> Self {
        Self {
            port,
            interrupt,
            session: None,
            held: DebugTarget::new(),
            tells: true,
        }
    }

    /// Does not tell the user when gdb leaves.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.tells = false;
        self
    }

    /// Begins a conversation, if gdb came.
    fn accept(&mut self, cluster: &Cluster) {
        // Who cannot be let in tries again.
        let _ = self.port.look();
        if let Some(input) = self.port.gdb.take() {
            let begun = Session::begin(input, &mut self.held, cluster.hpus());
            self.note(begun);
        }
    }

    /// Lets gdb do what it likes with the cluster, if it holds it: because of `stop`, or because it came or asked for it.
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

/// The machine of gdbstub cannot be shown.
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
        // gdb knows watchpoints of RISC-V as those that are met before the access, and steps over it.
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

/// The run is over, and gdb is told.
impl Drop for Gdb {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.end(&mut self.held);
        }
    }
}

/// What a process on Linux would be ended by.
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
