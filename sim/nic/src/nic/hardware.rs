//! The simulated hardware of a NIC, and its waveforms.

use super::{Nic, NicError};
use crate::models::SpinneretApp;
use spinneret_cluster::Program;
use spinneret_sim::model::{Instance, Model, ModelError, PortInfo};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What is simulated: the application, or a design around it that has the same ports to Corundum.
#[derive(Debug)]
pub struct Hardware {
    instance: Instance,
    names: Names,
}

/// How the ports to Corundum's streams begin.
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
    /// Tags of frames that have left.
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

/// The application in the hierarchy of a waveform: names of what is in it need not begin with this.
const TOP: &str = "TOP.spinneret_app";

/// A waveform that is asked for.
#[derive(Clone, Debug)]
pub struct WaveRequest {
    /// Where it goes.
    pub path: PathBuf,
    /// An instance of a module, with all that is in it, or a signal: names with points between them, as
    /// [`find_scope`] gives them. `None` for everything.
    pub scope: Option<String>,
    /// Picoseconds since the start in which it is written.
    pub window_ps: Range<u64>,
}

/// What of the hardware a name means in waveforms: names of instances from the application on. `None` if there is nothing of
/// that name.
///
/// # Errors
/// If no waveform can be written to the path, which has none afterwards that anybody asked for.
pub fn find_scope(name: &str, path: &Path) -> Result<Option<String>, ModelError> {
    let inside = format!("{TOP}.{name}");
    for scope in [&*inside, name] {
        let mut hardware = Hardware::application();
        match hardware.instance_mut().trace_part_to(path, Some(scope)) {
            Ok(()) => return Ok(Some(scope.to_owned())),
            Err(ModelError::NoScope { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

impl<B: ClusterBackend> Nic<B> {
    /// Starts a waveform (FST) of the hardware. Its times are those of the NIC, also where time was left out.
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

    /// Lets the waveform, if there is one, begin or end.
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

/// The cluster, as the rest of the NIC knows it: a model, or hardware that is simulated with the application.
pub trait ClusterBackend: fmt::Debug {
    /// Whether nothing moves at the application's ports, and nothing is on its way between it and the cluster.
    fn is_quiet(&self) -> bool;

    /// Whether the cluster has nothing to do.
    fn is_idle(&self) -> bool;

    /// Whether it holds packets that are not done with.
    fn holds_packets(&self) -> bool {
        false
    }

    /// Whether every HPU waits for packets, or has: start-up is over.
    fn is_ready(&self) -> bool;

    /// Words of standard output that were ever printed.
    fn printed(&self) -> u64;

    /// Lets the cluster go on without the application, for so many of its clocks at the most, and gives how many have passed.
    /// It stops when it needs the application.
    fn skip(&mut self, clocks: u64) -> u64;

    /// Clocks after which the cluster has something to do, if nothing comes; `None`: never.
    fn next_clocks(&self) -> Option<u64>;

    /// Puts a program into memory, unless it has to go through the BAR: then it gives false.
    fn load(&mut self, program: &Program) -> bool;

    /// Makes memories what they were after power-up, where that can be done.
    fn forget(&mut self) {}

    /// Whether it says with each access to host memory for which context it is.
    fn tells_contexts(&self) -> bool;

    /// Clusters, and HPUs of each.
    fn shape(&self) -> [u32; 2];
}
