//! The simulated hardware of a NIC, and its waveforms.

use super::{Nic, NicError};
use crate::models::SpinneretApp;
use spinneret_cluster::task::Task;
use spinneret_cluster::{Cluster, Event, HpuId, Profile, Program, Segment, TraceEntry};
use spinneret_sim::model::{Instance, Model, ModelError, PortInfo};
use std::cell::RefMut;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The simulated design: the application, or a design around it with the same ports to Corundum.
#[derive(Debug)]
pub struct Hardware {
    instance: Instance,
    names: Names,
}

/// Prefixes of the ports to Corundum's streams.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// Frames from the wire.
    pub rx: &'static str,
    /// Frames to the host.
    pub to_host: &'static str,
    /// Frames of the host.
    pub tx: &'static str,
    /// Frames to the wire.
    pub to_wire: &'static str,
    /// Completions of frames: their tags.
    pub completions: &'static str,
    /// The same, for the host.
    pub completed: &'static str,
    /// Messages for interrupts, if the design has a port for them.
    pub messages: Option<&'static str>,
}

impl Names {
    /// Those of the application.
    pub const APPLICATION: Self = Self {
        rx: "s_axis_if_rx",
        to_host: "m_axis_if_rx",
        tx: "s_axis_if_tx",
        to_wire: "m_axis_if_tx",
        completions: "s_axis_if_tx_cpl",
        completed: "m_axis_if_tx_cpl",
        messages: Some("m_axis_irq_t"),
    };
    /// Those of interface 0, where each interface has ports of its own.
    pub const INTERFACE_0: Self = Self {
        rx: "s_axis_if_rx_0",
        to_host: "m_axis_if_rx_0",
        tx: "s_axis_if_tx_0",
        to_wire: "m_axis_if_tx_0",
        completions: "s_axis_if_tx_cpl_0",
        completed: "m_axis_if_tx_cpl_0",
        messages: None,
    };
}

impl Hardware {
    /// The application, which is built into this crate.
    pub fn application() -> Self {
        Self::with_seed(1)
    }

    /// A design that was loaded.
    pub fn new(instance: Instance, names: Names) -> Self {
        Self { instance, names }
    }

    pub(super) fn names(&self) -> Names {
        self.names
    }
}

impl Model for Hardware {
    const NAME: &'static str = SpinneretApp::NAME;
    const PORTS: &'static [PortInfo] = SpinneretApp::PORTS;

    fn with_seed(seed: u64) -> Self {
        Self {
            instance: SpinneretApp::with_seed(seed).into_instance(),
            names: Names::APPLICATION,
        }
    }

    fn instance(&self) -> &Instance {
        &self.instance
    }

    fn instance_mut(&mut self) -> &mut Instance {
        &mut self.instance
    }
}

/// Settings of a waveform.
#[derive(Clone, Debug)]
pub struct WaveRequest {
    /// Path of the file.
    pub path: PathBuf,
    /// An instance of a module, with all that is in it, or a signal: names with points between them, as
    /// [`find_scope`] gives them. `None` for everything.
    pub scope: Option<String>,
    /// Range of time, in picoseconds since the start.
    pub window_ps: Range<u64>,
}

/// Resolves the name of an instance or signal below the application, or the clusters, for waveforms of the hardware that `make`
/// returns. `None` if there is none of that name.
///
/// # Errors
/// If there is no hardware, or no waveform can be written to the path.
pub fn find_scope(
    make: impl Fn() -> Result<Hardware, NicError>,
    name: &str,
    path: &Path,
) -> Result<Option<String>, NicError> {
    let model = make()?.instance().name();
    // The application is the top module, or below one with the clusters.
    for top in [
        format!("TOP.{model}.app."),
        format!("TOP.{model}."),
        String::new(),
    ] {
        let scope = format!("{top}{name}");
        let mut hardware = make()?;
        match hardware.instance_mut().trace_part_to(path, Some(&scope)) {
            Ok(()) => return Ok(Some(scope)),
            Err(ModelError::NoScope { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

impl Nic {
    /// Starts a waveform (FST) of the hardware, with the times of the NIC, skipped time included.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn trace(&mut self, wave: WaveRequest) -> Result<(), NicError> {
        let instance = self.sim.dut.instance_mut();
        instance.trace_part_to(&wave.path, wave.scope.as_deref())?;
        self.wave_ps = Some(wave.window_ps);
        self.look_at_wave();
        Ok(())
    }

    /// Starts or stops the waveform when its time comes.
    pub(super) fn look_at_wave(&mut self) {
        let now_ps = self.now_ps();
        if let Some(window_ps) = &self.wave_ps {
            let is_recording = window_ps.contains(&now_ps);
            if now_ps >= window_ps.end {
                self.wave_ps = None;
            }
            self.sim.dut.instance_mut().set_recording(is_recording);
        }
    }
}

/// The cluster behind the application: a model, or hardware that is simulated with the application.
///
/// Clocks and counts begin at the start. A cluster that does not tell a count has 0.
pub trait ClusterBackend: fmt::Debug {
    /// Whether the application's ports are idle, and nothing is in flight between it and the cluster.
    fn is_quiet(&self) -> bool;

    /// Whether the cluster is idle.
    fn is_idle(&self) -> bool;

    /// The number of HPUs that have not waited for packets since the cluster's reset.
    fn starting(&self) -> usize;

    /// Whether start-up is complete: each HPU has waited for packets.
    fn is_ready(&self) -> bool {
        self.starting() == 0
    }

    /// Words printed to standard output so far.
    fn printed(&self) -> u64;

    /// Advances the cluster alone, by `clocks` of its clocks at most, and returns how many have passed.
    /// It stops when it needs the application.
    fn skip(&mut self, clocks: u64) -> u64;

    /// Clocks until the next event in the cluster without input; `None`: never.
    fn next_clocks(&self) -> Option<u64>;

    /// Loads a program directly into memory; returns false if it has to be loaded through the BAR.
    fn load(&mut self, _dut: &mut Instance, _program: &Program) -> bool {
        false
    }

    /// Bytes of handler memory, if they can be read without simulating any time.
    fn peek(&self, _dut: &mut Instance, _address: u32, _bytes: u32) -> Option<Vec<u8>> {
        None
    }

    /// Writes segments to memory directly, while the cluster runs; returns false if it has to go through the BAR.
    fn write(&mut self, _dut: &mut Instance, _segments: &[Segment]) -> bool {
        false
    }

    /// Clears memories as after power-up, if possible.
    fn forget(&mut self) {}

    /// Whether accesses to host memory carry their context.
    fn tells_contexts(&self) -> bool;

    /// Number of clusters, and of HPUs per cluster.
    fn shape(&self) -> [u32; 2];

    /// Clocks of the cluster.
    fn now(&self) -> u64;

    /// HERs since the cluster's reset.
    fn hers(&self) -> u64;

    /// Packets in the cluster: those that fit a small slot, and larger ones.
    fn packets_inside(&self) -> [u64; 2];

    /// Clocks in which each HPU ran a handler.
    fn busy(&self) -> Vec<u64> {
        Vec::new()
    }

    /// HPUs that run a handler.
    fn busy_hpus(&self) -> usize {
        0
    }

    /// Packets that wait for an HPU.
    fn queued(&self) -> usize {
        0
    }

    /// Instructions of all HPUs.
    fn instructions(&self) -> u64 {
        0
    }

    /// Refused commands and copies.
    fn refused(&self) -> u64 {
        0
    }

    /// Steps that packets have taken.
    fn progress(&self) -> u64 {
        0
    }

    /// Whether some task will end.
    fn goes_on(&self) -> bool {
        self.busy_hpus() > 0
    }

    /// The oldest task that a watchdog would have ended, on a cluster without one.
    fn endless(&self) -> Option<(HpuId, Task)> {
        None
    }

    /// Enables the profile of HPUs.
    fn enable_profile(&mut self) {}

    /// The clocks of each instruction, if the profile is enabled.
    fn profile(&self) -> Option<Profile> {
        None
    }

    /// Enables the trace.
    fn enable_trace(&mut self);

    /// The trace since the last call.
    fn take_trace(&mut self) -> Vec<TraceEntry>;

    /// Events since the last call.
    fn take_events(&mut self) -> Vec<Event>;

    /// The model, for debuggers.
    fn model(&mut self) -> Option<RefMut<'_, Cluster>> {
        None
    }
}
