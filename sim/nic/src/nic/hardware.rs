//! The simulated hardware of a NIC.

use crate::models::SpinneretApp;
use spinneret_sim::model::{Instance, Model, PortInfo};

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
