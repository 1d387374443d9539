//! A NIC of a fabric, and who uses it: handlers from the start, a host that sends, an application in another process.
//!
//! Time passes for an application only while it waits: whatever else it does takes none, so time stands still for everybody
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

/// What there is of a NIC before it is made, which happens on its own thread.
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

/// What is left of a NIC.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Outcome {
    /// Clocks of the core that were simulated.
    pub simulated_clocks: u64,
    /// Packets to a host that had no room for them.
    pub lost_by_host: u64,
    /// Everything else, if it was recorded: the JSON of a run's summary.
    pub summary: Option<serde_json::Value>,
    /// Files that could not be written, and then what handlers did wrong, if the command fails with them.
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
    /// Makes the NIC, and runs it until all is over.
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

/// Until all is over.
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
    let nic = run.nic.borrow();
    let end = End::of(&nic, begun.elapsed()).with_handler_counters(&nic, run.recorder.host_data());
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

/// What fails because all is over is no failure, but hardware that fails is one at any time.
fn left(error: anyhow::Error, is_stopped: bool) -> NodeExit {
    match error.downcast_ref::<NicError>() {
        Some(NicError::Failed(_) | NicError::Ports(_)) => NodeExit::Failed(error.to_string()),
        _ if is_stopped => NodeExit::Stopped(spinneret_fabric::Stopped),
        _ => NodeExit::Failed(error.to_string()),
    }
}

/// Longest sleep before a look whether all is over.
const SLEEP: Duration = Duration::from_millis(50);

/// An application, or the place where one is to come.
#[derive(Debug)]
pub(super) struct Application {
    server: Server,
    when_gone: WhenGone,
    /// It waits until then.
    until_ps: u64,
}

impl Application {
    /// An application is to come to a socket.
    pub(super) fn at(server: Server, when_gone: WhenGone) -> Self {
        Self {
            server,
            when_gone,
            until_ps: 0,
        }
    }

    /// Sleeps until it says something, or another one comes.
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
    /// Answers what the application asks until it wants time to pass; waits for it as long as that takes.
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

/// A program on a NIC. Time passes only while it lets it pass. When it ends, its NIC goes on until nothing happens anywhere.
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

/// Something that happens once, and is known everywhere a moment later: how long after does not depend on threads.
#[derive(Debug)]
pub struct Signal {
    at_ps: AtomicU64,
    /// How far a NIC may be ahead of others.
    lookahead_ps: u64,
}

impl Signal {
    /// Something that has not happened; the fabric's [lookahead](spinneret_fabric::Topology::lookahead_ps) is how long it takes
    /// to be known.
    pub fn new(lookahead_ps: u64) -> Self {
        Self {
            at_ps: AtomicU64::new(u64::MAX),
            lookahead_ps,
        }
    }

    /// It happens now, on the clock of the NIC of who says so.
    pub fn tell(&self, now_ps: u64) {
        self.at_ps.store(now_ps, Ordering::SeqCst);
    }

    /// When it happened, if that is known now on the clock of the NIC of who asks.
    pub fn told(&self, now_ps: u64) -> Option<u64> {
        let at_ps = self.at_ps.load(Ordering::SeqCst);
        let known_ps = at_ps.saturating_add(self.lookahead_ps);
        (at_ps != u64::MAX && known_ps <= now_ps).then_some(at_ps)
    }
}
