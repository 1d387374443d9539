//! A NIC of a fabric, and who uses it: handlers from the start, a host that sends, an application in another process.

use super::application::{Application, Wants};
use super::host::{TapHost, Transmit};
use crate::device::Simulated;
use crate::nic::{Nic, NicConfig, NicError, SLOWEST_PS};
use crate::report::{End, Occupancy, Recorder, Summary};
use crate::run::faults;
use crate::start::start_on;
use crate::terminal::Failure;
use anyhow::anyhow;
use spinneret_cluster::Program;
use spinneret_fabric::{Left, Port};
use spinneret_host::Address;
use spinneret_rules::NamedRuleset;
use std::time::Instant;

/// Between two notes of how full everything is.
const OCCUPANCY_PS: u64 = 1_000_000;

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
    pub(super) transmit: Option<Transmit>,
    /// A network interface of this machine that is the NIC's host.
    pub(super) tap: Option<String>,
    pub(super) recorder: Option<Recorder>,
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

/// A NIC that runs.
struct Member {
    nic: Simulated,
    application: Option<Application>,
    transmit: Option<Transmit>,
    tap: Option<TapHost>,
    recorder: Option<Recorder>,
    fails_with_handlers: bool,
    noted_ps: u64,
    begun: Instant,
}

/// Whether clocks of a NIC are fast enough for a fabric.
///
/// # Errors
/// If they are not.
pub(super) fn check_clocks(config: &NicConfig) -> Result<(), Failure> {
    match config.core_ps.max(config.cluster_ps) <= SLOWEST_PS {
        true => Ok(()),
        false => Err(Failure::Usage(anyhow!(
            "clocks of NICs in a fabric are {} MHz and more",
            1_000_000 / SLOWEST_PS
        ))),
    }
}

impl Plan {
    /// Makes the NIC, and runs it until all is over.
    ///
    /// # Errors
    /// If the hardware fails, or the application's socket.
    pub(super) fn run(self, port: Port) -> Result<Outcome, Left> {
        let mut nic = Nic::new(self.config).map_err(failed)?;
        nic.connect(port);
        if self.recorder.is_some() {
            nic.log_what_comes();
        }
        let address = self.address;
        let tap = self
            .tap
            .map(|name| TapHost::create(&name, &address).map_err(|error| Left::Failed(error.to_string())));
        let mut member = Member {
            nic: Simulated::of(nic).with_address(self.address),
            application: self.application,
            transmit: self.transmit,
            tap: tap.transpose()?,
            recorder: self.recorder,
            fails_with_handlers: self.fails_with_handlers,
            noted_ps: 0,
            begun: Instant::now(),
        };
        let ended = member.start(self.handlers).and_then(|()| member.go());
        match ended {
            Ok(()) | Err(Left::Stopped(_)) => Ok(member.finish()),
            Err(failed) => Err(failed),
        }
    }
}

impl Member {
    fn start(&mut self, handlers: Option<Handlers>) -> Result<(), Left> {
        let Some(Handlers { program, rulesets }) = handlers else {
            return Ok(());
        };
        start_on(&self.nic, &program, &rulesets, None).map_err(|error| self.or_stopped(error))
    }

    /// What fails because all is over is no failure.
    fn or_stopped(&self, error: impl std::fmt::Display) -> Left {
        match self.nic.borrow().is_stopped() {
            true => Left::Stopped(spinneret_fabric::Stopped),
            false => Left::Failed(error.to_string()),
        }
    }

    /// Until all is over.
    fn go(&mut self) -> Result<(), Left> {
        loop {
            let mut limit_ps = u64::MAX;
            if let Some(application) = &mut self.application {
                let wants = application.attend(&self.nic);
                match wants.map_err(|error| self.or_stopped(error))? {
                    Wants::Until(at_ps) => limit_ps = at_ps,
                    Wants::Nothing => self.application = None,
                    Wants::End => self.nic.borrow().stop(),
                }
                if let Some(program) = self.nic.borrow_mut().take_loaded()
                    && let Some(recorder) = &mut self.recorder
                {
                    recorder.set_program(&program);
                }
            }
            if let Some(transmit) = &mut self.transmit {
                limit_ps = limit_ps.min(transmit.feed(&mut self.nic.borrow_mut(), &mut self.recorder));
            }
            if let Some(tap) = &mut self.tap {
                let fed = tap.feed(&mut self.nic.borrow_mut(), &mut self.recorder);
                limit_ps = limit_ps.min(fed.map_err(|error| Left::Failed(error.to_string()))?);
            }
            self.nic.borrow_mut().step(limit_ps).map_err(failed)?;
            self.pass_on()?;
        }
    }

    /// Notes what happened, and passes on what came out.
    fn pass_on(&mut self) -> Result<(), Left> {
        let mut nic = self.nic.borrow_mut();
        let events = nic.take_events();
        if let Some(tap) = &mut self.tap {
            while let Some(out) = nic.take_host() {
                let put = tap.put(&out);
                put.map_err(|error| Left::Failed(error.to_string()))?;
            }
        } else if self.application.is_none() {
            while nic.take_host().is_some() {}
        }
        let Some(recorder) = &mut self.recorder else {
            while nic.take_wire().is_some() || nic.take_printed().is_some() {}
            return Ok(());
        };
        let [came, to_host] = nic.take_log();
        for (at_ps, bytes) in came {
            let handler = nic.handler_of(&bytes);
            recorder.received(at_ps, &bytes, handler);
        }
        to_host
            .iter()
            .for_each(|(at_ps, bytes)| recorder.to_host(*at_ps, bytes));
        while let Some(out) = nic.take_wire() {
            recorder.sent(out.at_ps, out.bytes.len(), out.is_host);
        }
        while let Some(word) = nic.take_printed() {
            recorder.stdout(word);
        }
        let time = nic.cluster_time();
        events.iter().for_each(|event| recorder.event(event, time));
        if recorder.wants_occupancy() && nic.now_ps() >= self.noted_ps + OCCUPANCY_PS {
            self.noted_ps = nic.now_ps();
            recorder.occupancy(self.noted_ps, &Occupancy::of(&nic));
        }
        Ok(())
    }

    fn finish(self) -> Outcome {
        let nic = self.nic.borrow();
        let end = End::of(&nic, self.begun.elapsed());
        let finished = self.recorder.map(|recorder| recorder.finish(&end, None));
        let (summary, failures) = finished.map_or((None, Vec::new()), |finished| {
            let trouble = faults::trouble(&finished.summary).filter(|_| self.fails_with_handlers);
            let failures = finished.failures.iter().map(ToString::to_string);
            (as_json(&finished.summary), failures.chain(trouble).collect())
        });
        Outcome {
            simulated_clocks: nic.simulated_clocks(),
            lost_by_host: nic.lost_by_host(),
            summary,
            failures,
        }
    }
}

fn as_json(summary: &Summary) -> Option<serde_json::Value> {
    serde_json::to_value(summary).ok()
}

fn failed(error: NicError) -> Left {
    match error {
        NicError::Stopped(stopped) => stopped.into(),
        error => Left::Failed(error.to_string()),
    }
}
