//! gdb on handlers: `--gdb PORT`.
//!
//! ```text
//! gdb <== remote serial protocol ==> Session: gdbstub, Input --- Held: registers, memory, breakpoints, orders
//!                                                                  ^ the cluster, while it is held
//! Cluster, before and after each instruction ==> Gdb (Debugger) ---+
//! ```
//!
//! Each HPU is a thread. Breakpoints are in [`Held`](held::Held), not in memory. While the debugger thinks no simulated time
//! passes, so a run that is held at breakpoints is the same run, clock by clock.

mod held;
mod input;
mod marks;
mod registers;
mod session;

use crate::net::{self, Interrupt};
use crate::terminal::{Failure, tell};
use anyhow::anyhow;
use clap::Args;
use gdbstub::common::Signal;
use gdbstub::stub::MultiThreadStopReason as Stop;
use held::{Held, Order, thread};
use input::End;
use marks::Hit;
use session::Session;
use spinneret_cluster::rv::Trap;
use spinneret_cluster::{Cluster, Debugger, SILENCE, TERMINATED, WATCHDOG};
use std::fmt;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::AsFd as _;

/// Arguments of commands whose handlers can be debugged.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct DebugArguments {
    /// Let gdb hold the handlers: it finds them at this port of this machine alone, and 0 takes a free one
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

/// A port at which gdb is listened for.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    address: SocketAddr,
}

impl Port {
    fn listen(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where gdb is to go.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until somebody comes, or the run shall end.
    ///
    /// # Errors
    /// If the system refuses it.
    pub(crate) fn wait(&self, interrupt: &Interrupt) -> Result<(), Failure> {
        net::wait(&[self.listener.as_fd(), interrupt.as_fd()], None).map_err(Failure::work)?;
        Ok(())
    }
}

/// The debugger of a cluster: gdb, if it is there.
pub struct Gdb {
    port: Port,
    interrupt: Interrupt,
    session: Option<Session>,
    held: Held,
}

impl Gdb {
    /// A debugger that is not there yet. A run that shall end is no longer held.
    pub fn new(port: Port, interrupt: Interrupt) -> Self {
        Self {
            port,
            interrupt,
            session: None,
            held: Held::new(),
        }
    }

    /// Takes in who came.
    fn accept(&mut self, cluster: &Cluster) {
        let begun = match self.port.listener.accept() {
            Ok((stream, _)) => Session::begin(stream, &mut self.held, cluster.hpus()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) => Err(End::Failed(error.to_string())),
        };
        self.note(begun);
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
                    End::Detached => tell("gdb has gone; the run goes on without it"),
                    End::Killed => self.interrupt.set(),
                    End::Interrupted => {}
                    End::Failed(why) => {
                        tell(format_args!("gdb has gone ({why}); the run goes on without it"))
                    }
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
        if self.held.order(hpu) == Order::Hold {
            return false;
        }
        if self.held.marks.breaks_at(cluster.hart(hpu).pc()) {
            self.talk(cluster, Some(Stop::SwBreak(thread(hpu))));
        }
        // gdb knows watchpoints of RISC-V as those that are met before the access, and steps over it.
        if self.held.order(hpu) == Order::Continue
            && let Some(Hit { kind, address }) = self.held.marks.hit(cluster, hpu)
        {
            let (tid, addr) = (thread(hpu), address);
            self.talk(cluster, Some(Stop::Watch { tid, kind, addr }));
        }
        self.held.order(hpu) != Order::Hold
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
