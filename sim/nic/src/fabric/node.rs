//! A NIC of a fabric, and its user: handlers from the start, a host that sends, or an application in another process.
//!
//! Simulated time passes for an application only while it waits, so it stops for all NICs
//! meanwhile.

use crate::device::Simulated;
use crate::net;
use crate::net::{Generator, InterfaceAddress, TapEnd, picoseconds};
use crate::nic::{Nic, NicConfig, NicError, SLOWEST_PS};
use crate::report::{End, Recorder};
use crate::run::fault_message;
use crate::run::handlers::start_on;
use crate::run::host::{HostProgram, HostStep};
use crate::run::main_loop::MainLoop;
use crate::run::setup::PacketIo;
use crate::terminal::Failure;
use anyhow::{Result, anyhow};
use spinneret_cluster::Program;
use spinneret_fabric::topology::WhenGone;
use spinneret_fabric::{
    Alone, ExternalWait, FabricError, NodeExit, NodeTask, Port, Report, Settings, Topology, run,
};
use spinneret_host::Address;
use spinneret_host::device::socket::{Served, Server};
use spinneret_rules::NamedRuleset;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Handlers that run from the start.
#[derive(Clone, Debug)]
pub struct Handlers {
    /// They.
    pub program: Program,
    /// Which packets go to them.
    pub rulesets: Vec<NamedRuleset>,
}

/// Configuration of a NIC, which is created on its own thread.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) config: NicConfig,
    pub(super) address: Address,
    pub(super) handlers: Option<Handlers>,
    pub(super) application: Option<Application>,
    /// Frames that its host sends.
    pub(super) transmit: Option<Generator>,
    /// A network interface of this machine that is the NIC's host.
    pub(super) tap: Option<String>,
    pub(super) recorder: Recorder,
    /// The command fails if the handlers do something wrong.
    pub(super) fails_with_handlers: bool,
}

/// Results of a NIC.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Outcome {
    /// Clocks of the core that were simulated.
    pub simulated_clocks: u64,
    /// Packets that were dropped from the full queue to the host.
    pub lost_by_host: u64,
    /// JSON of the summary, if recorded.
    pub summary: Option<serde_json::Value>,
    /// Errors of writing files, and faults of handlers, if the command fails with them.
    pub failures: Vec<String>,
}

/// Whether clocks of a NIC are fast enough for a fabric.
///
/// # Errors
/// If they are not.
pub(super) fn check_clocks(config: &NicConfig) -> Result<(), Failure> {
    match config.core_ps.max(config.cluster_ps) <= SLOWEST_PS {
        true => Ok(()),
        false => Err(Failure::Usage(anyhow!(
            "clocks of NICs in a fabric must be at least {} MHz",
            1_000_000 / SLOWEST_PS
        ))),
    }
}

impl Plan {
    /// Creates the NIC, and runs it until the fabric ends.
    ///
    /// # Errors
    /// If the hardware fails, or the application's socket.
    pub(super) fn run(self, port: Port) -> Result<Outcome, NodeExit> {
        let mut nic = Nic::new(self.config).map_err(|error| left(error.into(), false))?;
        nic.connect(port);
        nic.log_frames();
        let begun = Instant::now();
        let nic = Simulated::of(nic).with_address(self.address);
        let mut ends = PacketIo::silent();
        if let Some(transmit) = self.transmit {
            ends.host_sources.push(Box::new(transmit));
        }
        if let Some(name) = &self.tap {
            let network = InterfaceAddress {
                address: self.address.ip.into(),
                prefix_bits: 16,
            };
            let end = TapEnd::in_namespace(name, &network, self.address.mac);
            ends.add_host(&end.map_err(|error| NodeExit::Failed(error.to_string()))?);
        }
        let host = self.application.map(|application| Box::new(application) as _);
        let mut run = MainLoop::new(nic.clone(), ends, self.recorder, host, 0);
        let ended = start(&nic, self.handlers).and_then(|()| go(&mut run));
        match ended.map_err(|error| left(error, nic.borrow().is_stopped())) {
            Ok(()) | Err(NodeExit::Stopped(_)) => Ok(finish(run, begun, self.fails_with_handlers)),
            Err(failed) => Err(failed),
        }
    }
}

fn start(nic: &Simulated, handlers: Option<Handlers>) -> Result<()> {
    let Some(Handlers { program, rulesets }) = handlers else {
        return Ok(());
    };
    Ok(start_on(nic, &program, &rulesets, None)?)
}

/// Runs until the fabric ends.
fn go(run: &mut MainLoop) -> Result<()> {
    loop {
        run.attend()?;
        if run.attention == HostStep::Done {
            run.host = None;
        }
        let limit_ps = run.feed_from_host(0)?;
        run.step(limit_ps)?;
        run.pass_on()?;
    }
}

fn finish(run: MainLoop, begun: Instant, fails_with_handlers: bool) -> Outcome {
    let mut nic = run.nic.borrow_mut();
    let end = End::of(&nic, begun.elapsed()).with_handler_counters(&mut nic, run.recorder.host_data());
    let finished = run.recorder.finish(&end, None);
    let trouble = fault_message(&finished.summary).filter(|_| fails_with_handlers);
    let failures = finished.failures.iter().map(ToString::to_string);
    Outcome {
        simulated_clocks: nic.simulated_clocks(),
        lost_by_host: nic.lost_by_host(),
        summary: serde_json::to_value(&finished.summary).ok(),
        failures: failures.chain(trouble).collect(),
    }
}

/// Errors caused by the end of the fabric are ignored, but failures of the hardware are not.
fn left(error: anyhow::Error, is_stopped: bool) -> NodeExit {
    match error.downcast_ref::<NicError>() {
        Some(NicError::Failed(_) | NicError::Ports(_)) => NodeExit::Failed(error.to_string()),
        _ if is_stopped => NodeExit::Stopped(spinneret_fabric::Stopped),
        _ => NodeExit::Failed(error.to_string()),
    }
}

/// Interval between checks for the end of the fabric.
const SLEEP: Duration = Duration::from_millis(50);

/// An application, or the socket on which one is expected.
#[derive(Debug)]
pub(super) struct Application {
    server: Server,
    when_gone: WhenGone,
    /// It waits until then.
    until_ps: u64,
}

impl Application {
    /// Expects an application at a socket.
    pub(super) fn at(server: Server, when_gone: WhenGone) -> Self {
        Self {
            server,
            when_gone,
            until_ps: 0,
        }
    }

    /// Sleeps until a request of the application, or a connection.
    fn wait(&self, nic: &Simulated) -> io::Result<()> {
        let why = match self.server.has_client() {
            true => ExternalWait::ApplicationToAct,
            false => ExternalWait::ApplicationToConnect,
        };
        let nic = nic.borrow();
        let woken = nic.outside(why, || {
            while !nic.is_stopped() {
                if net::wait(&self.server.wakes(), Some(SLEEP))? {
                    break;
                }
            }
            Ok(())
        });
        woken.map_err(|error: net::NetError| io::Error::other(error))?;
        match nic.is_stopped() {
            true => Err(io::Error::other(spinneret_fabric::Stopped)),
            false => Ok(()),
        }
    }
}

impl HostProgram for Application {
    /// Answers requests of the application until it waits for simulated time; blocks meanwhile.
    fn poll(&mut self, nic: &Simulated) -> Result<HostStep> {
        let now_ps = nic.borrow().now_ps();
        if now_ps < self.until_ps {
            return Ok(HostStep::WakeAt(self.until_ps));
        }
        loop {
            match self.server.serve(&mut nic.clone())? {
                Served::Requests => {}
                Served::Waits(until) => {
                    self.until_ps = picoseconds(until);
                    return Ok(HostStep::WakeAt(self.until_ps));
                }
                Served::Gone => match self.when_gone {
                    WhenGone::GoOn => return Ok(HostStep::Done),
                    WhenGone::Stop => {
                        nic.borrow().stop();
                        return Ok(HostStep::Idle);
                    }
                    WhenGone::Hold => {}
                },
                Served::Nothing => self.wait(nic)?,
            }
        }
    }

    fn takes_frames(&self) -> bool {
        true
    }
}

/// A program on a NIC. Simulated time passes only in its calls. When it returns, its NIC runs on until the fabric is idle.
pub type Hosted<'p> = Box<dyn FnOnce(&Simulated) -> Result<(), NodeExit> + Send + 'p>;

/// Runs a program on each NIC of a topology, in the order of NICs.
///
/// # Errors
/// If a NIC or a program fails.
///
/// # Panics
/// If there are not as many programs as NICs, or clocks are too slow for a fabric.
pub fn run_programs<'p>(
    topology: &Topology,
    config: &NicConfig,
    settings: Settings,
    programs: Vec<Hosted<'p>>,
) -> Result<Report, FabricError> {
    assert_eq!(programs.len(), topology.nics().count(), "a program for each NIC");
    assert!(
        check_clocks(config).is_ok(),
        "clocks of NICs in a fabric are faster"
    );
    let mut programs: Vec<Option<Hosted<'p>>> = programs.into_iter().map(Some).collect();
    let member = |_: &str, nic: &spinneret_fabric::topology::NicConfig| -> NodeTask<'p> {
        let program = programs[nic.number].take();
        let (config, address) = (
            config.clone(),
            Address {
                mac: nic.mac(),
                ip: nic.ip(),
            },
        );
        Box::new(move |port| {
            let failed = |error: NicError| NodeExit::Failed(error.to_string());
            let mut nic = Nic::new(config).map_err(failed)?;
            nic.connect(port);
            let nic = Simulated::of(nic).with_address(address);
            if let Some(program) = program {
                program(&nic)?;
            }
            loop {
                let mut nic = nic.borrow_mut();
                nic.step(u64::MAX).map_err(|error| match error {
                    NicError::Stopped(stopped) => NodeExit::Stopped(stopped),
                    error => failed(error),
                })?;
                nic.take_events();
                while nic.take_wire().is_some() || nic.take_host().is_some() {}
            }
        })
    };
    run(topology, settings, &mut Alone, &mut (), member)
}

/// A one-time event that all NICs see after a fixed simulated delay, independent of threads.
#[derive(Debug)]
pub struct Signal {
    at_ps: AtomicU64,
    /// Lookahead of the fabric.
    lookahead_ps: u64,
}

impl Signal {
    /// An event that has not happened; the fabric's [lookahead](spinneret_fabric::Topology::lookahead_ps) is its delay
    /// to other NICs.
    pub fn new(lookahead_ps: u64) -> Self {
        Self {
            at_ps: AtomicU64::new(u64::MAX),
            lookahead_ps,
        }
    }

    /// Triggers it at the caller's time.
    pub fn tell(&self, now_ps: u64) {
        self.at_ps.store(now_ps, Ordering::SeqCst);
    }

    /// Time at which it happened, if visible at the caller's time.
    pub fn told(&self, now_ps: u64) -> Option<u64> {
        let at_ps = self.at_ps.load(Ordering::SeqCst);
        let known_ps = at_ps.saturating_add(self.lookahead_ps);
        (at_ps != u64::MAX && known_ps <= now_ps).then_some(at_ps)
    }
}
