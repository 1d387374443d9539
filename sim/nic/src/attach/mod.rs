//! The cluster model at the ports of the application, in the cluster's clock.
//!
//! ```text
//!            application                     ClusterSide                     Cluster
//!  ni_slave, no_slave, host_slave ====> SlavePort (three of them) ====> memory
//!  host_master <======================= MasterPort <=================== accesses to host memory
//!  her ================================> Handshakes ===================> push
//!  feedback, nic_cmd, stdout <========== Handshakes <=================== feedback, send, stdout
//! ```
//!
//! Once in every cycle of its clock the model takes what the application offers, does one clock of its own, and offers
//! what came of it in the next cycle.

mod handshakes;
mod master;
mod slave;

use handshakes::Handshakes;
use master::MasterPort;
use slave::SlavePort;
use spinneret_cluster::Cluster;
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};

/// The cluster, as the application's ports see it.
#[derive(Debug)]
pub(crate) struct ClusterSide {
    pub(crate) cluster: Cluster,
    slaves: [SlavePort; 3],
    master: MasterPort,
    handshakes: Handshakes,
    reset_n: PortHandle,
    fetch: PortHandle,
    busy: PortHandle,
    full: PortHandle,
    held: bool,
}

impl ClusterSide {
    /// Finds the ports.
    ///
    /// # Errors
    /// If one is missing.
    pub(crate) fn new(dut: &Instance, cluster: Cluster) -> Result<Self, ModelError> {
        let slave = |prefix| SlavePort::new(dut, prefix);
        Ok(Self {
            slaves: [slave("ni_slave")?, slave("no_slave")?, slave("host_slave")?],
            master: MasterPort::new(dut, "host_master")?,
            handshakes: Handshakes::new(dut)?,
            reset_n: bit(dut, "cluster_rstn", Direction::Output)?,
            fetch: dut.port("cl_fetch_en", Direction::Output)?,
            busy: dut.port("cl_busy", Direction::Input)?,
            full: dut.port("mpq_full", Direction::Input)?,
            held: true,
            cluster,
        })
    }

    /// Whether anything is between the application and the cluster.
    pub(crate) fn is_idle(&self) -> bool {
        self.slaves.iter().all(SlavePort::is_idle) && self.master.is_idle()
    }

    fn hold(&mut self) {
        self.held = true;
        self.cluster.reset();
        self.slaves.iter_mut().for_each(SlavePort::reset);
        self.master.reset();
        self.handshakes.reset();
    }
}

/// Fetch enables of all clusters: those beyond the two that the application has flags for follow the second one.
fn spread(fetch: u32, clusters: usize) -> u32 {
    let bit = |cluster: usize| (fetch >> cluster.min(1) & 1) << cluster;
    (0..clusters).map(bit).sum()
}

impl Agent for ClusterSide {
    fn drive(&mut self, dut: &mut Instance) {
        let cluster = &self.cluster;
        for slave in &mut self.slaves {
            slave.drive(dut, self.held);
        }
        self.master.drive(dut, self.held);
        self.handshakes.drive(dut, cluster, self.held);
        let flags = self.busy.width();
        let busy = (0..cluster.config().clusters)
            .filter(|number| cluster.is_busy(*number))
            .fold(0, |busy, number| busy | 1 << number.min(flags - 1));
        dut.set_value(self.busy, busy);
        let full = (0..self.full.width()).map(|queue| u128::from(cluster.is_full(queue)) << queue);
        dut.set_value(self.full, full.sum());
    }

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        if !dut.is_high(self.reset_n) {
            if !self.held {
                self.hold();
            }
            return Ok(());
        }
        let cluster = &mut self.cluster;
        if !self.held {
            for slave in &mut self.slaves {
                slave.sample(dut, cluster)?;
            }
            self.master.sample(dut, cluster)?;
            self.handshakes.sample(dut, cluster);
        }
        self.held = false;
        let fetch = spread(dut.value(self.fetch) as u32, cluster.config().clusters);
        cluster.set_fetch(fetch);
        cluster.tick();
        Ok(())
    }

    fn reset(&mut self, dut: &mut Instance) {
        self.hold();
        self.drive(dut);
    }

    fn unfinished(&self) -> Option<String> {
        (!self.is_idle()).then(|| "bursts between the application and the cluster".to_owned())
    }

    fn describe(&self) -> String {
        format!(
            "the cluster is {}",
            if self.is_idle() { "idle" } else { "in a burst" }
        )
    }
}

/// A port of one bit.
///
/// # Errors
/// If there is none of that name, direction and width.
pub(super) fn bit(dut: &Instance, name: &str, direction: Direction) -> Result<PortHandle, ModelError> {
    let port = dut.port(name, direction)?;
    match port.width() {
        1 => Ok(port),
        width => Err(ModelError::UnfitPort {
            model: dut.name(),
            port: name.to_owned(),
            reason: format!("is {width} bits wide, not 1"),
        }),
    }
}

/// A channel with valid and ready: who offers drives valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    pub(super) valid: PortHandle,
    pub(super) ready: PortHandle,
}

impl Handshake {
    /// A channel that the design offers on.
    pub(super) fn from_design(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        Self::find(dut, prefix, [Direction::Output, Direction::Input])
    }

    /// A channel that the model offers on.
    pub(super) fn from_model(dut: &Instance, prefix: &str) -> Result<Self, ModelError> {
        Self::find(dut, prefix, [Direction::Input, Direction::Output])
    }

    fn find(dut: &Instance, prefix: &str, [valid, ready]: [Direction; 2]) -> Result<Self, ModelError> {
        Ok(Self {
            valid: bit(dut, &format!("{prefix}_valid"), valid)?,
            ready: bit(dut, &format!("{prefix}_ready"), ready)?,
        })
    }

    /// Whether something is handed over in this cycle.
    pub(super) fn moves(self, dut: &Instance) -> bool {
        dut.is_high(self.valid) && dut.is_high(self.ready)
    }
}
