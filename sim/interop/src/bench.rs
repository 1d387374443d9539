//! Handlers on a NIC, and packets for them: the same for the model of the cluster and for the real one.

use anyhow::{Context as _, Result, bail};
use spinneret_cluster::{TraceEntry, TraceEvent};
use spinneret_nic::Simulated;
use spinneret_nic::nic::{Nic, Out};
use spinneret_nic::run::{Hpus, program_for};
use spinneret_program::Program;
use spinneret_regmap::pspin::driver;
use spinneret_rules::{MatcherParams, RuleFile};
use std::path::Path;

/// Clocks of the cluster within which handlers must become ready.
const START_CLOCKS: u64 = 400_000;

/// The root of the project.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Handlers with their rules, compiled.
#[derive(Debug)]
pub(crate) struct Handlers {
    /// Name of the handlers.
    pub(crate) name: String,
    /// The program.
    pub(crate) program: Program,
    /// The rules.
    pub(crate) rules: RuleFile,
}

impl Handlers {
    /// Builds a folder of `runtime/`, such as `examples/icmp_ping`.
    ///
    /// # Errors
    /// If it cannot be compiled, or its rules are wrong.
    pub(crate) fn build(folder: &str, hpus: Hpus) -> Result<Self> {
        let folder = root().join("runtime").join(folder);
        let elf = program_for(&folder, crate::top::CLUSTERS, hpus)?;
        Ok(Self {
            name: folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            program: Program::open(&elf)?,
            rules: RuleFile::read(&folder.join("rules.toml"), &MatcherParams::BOARD)?,
        })
    }
}

/// A NIC that runs handlers.
#[derive(Debug)]
pub(crate) struct Bench {
    /// The NIC.
    pub(crate) nic: Simulated,
}

impl Bench {
    /// Starts handlers, and waits until all HPUs wait for packets.
    ///
    /// # Errors
    /// If they cannot be started, or an HPU never asks for a packet.
    pub(crate) fn start(nic: Simulated, handlers: &Handlers) -> Result<Self> {
        spinneret_nic::start_on(&nic, &handlers.program, &handlers.rules.rulesets, None)
            .with_context(|| format!("cannot start {}", handlers.name))?;
        let mut bench = Self { nic };
        bench.wait_for_handlers(handlers)?;
        Ok(bench)
    }

    /// Waits until all HPUs wait for packets.
    ///
    /// # Errors
    /// If one never does.
    pub(crate) fn wait_for_handlers(&mut self, handlers: &Handlers) -> Result<()> {
        for _ in 0..START_CLOCKS / 100 {
            if self.nic.borrow().cluster().is_ready() {
                return Ok(());
            }
            self.run(100)?;
        }
        bail!("an HPU that runs {} has not asked for packets", handlers.name);
    }

    /// Advances time by this many clocks of the cluster.
    ///
    /// # Errors
    /// If the hardware fails.
    pub(crate) fn run(&mut self, clocks: u64) -> Result<()> {
        let mut nic = self.nic.borrow_mut();
        let end = nic.now_ps() + clocks * nic.config().cluster_ps;
        Ok(nic.run_until(end)?)
    }

    /// Receives frames from the wire, as fast as possible.
    pub(crate) fn send(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) {
        let mut nic = self.nic.borrow_mut();
        frames.into_iter().for_each(|frame| nic.receive(frame));
    }

    /// Runs until the NIC is idle, for at most `clocks` clocks of the cluster. Returns whether it became idle.
    ///
    /// # Errors
    /// If the hardware fails.
    pub(crate) fn settle(&mut self, clocks: u64) -> Result<bool> {
        let mut nic = self.nic.borrow_mut();
        let end = nic.now_ps() + clocks * nic.config().cluster_ps;
        Ok(nic.run_until_idle(end)?)
    }

    /// Frames that left for the wire since the last call.
    pub(crate) fn wire(&mut self) -> Vec<Out> {
        let mut nic = self.nic.borrow_mut();
        std::iter::from_fn(|| nic.take_wire()).collect()
    }
}

/// Recorded events: accesses of HPUs to their drivers and transfers at the cluster's ports, in the order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Happened(pub(crate) Vec<TraceEntry>);

impl Happened {
    /// Returns when the first packet arrived.
    pub(crate) fn came(&self) -> Option<u64> {
        let mut all = self.0.iter();
        all.find_map(|traced| matches!(traced.what, TraceEvent::Her { .. }).then_some(traced.clock))
    }

    /// Returns when packets were freed.
    pub(crate) fn freed(&self) -> Vec<u64> {
        let all = self.0.iter();
        all.filter_map(|traced| matches!(traced.what, TraceEvent::Feedback { .. }).then_some(traced.clock))
            .collect()
    }

    /// Returns why the first handler failed.
    pub(crate) fn failed(&self) -> Option<u32> {
        self.0.iter().find_map(|traced| match traced.what {
            TraceEvent::Written { offset, value, .. } if offset == driver::ERROR => Some(value),
            _ => None,
        })
    }
}

/// Starts recording.
pub(crate) fn begin(nic: &mut Nic) {
    nic.enable_trace();
}

/// Returns the events since the last call, or since recording started.
pub(crate) fn happened(nic: &mut Nic) -> Happened {
    // Nothing else takes them.
    nic.take_events();
    Happened(nic.take_trace())
}
