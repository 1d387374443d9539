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
mod ports;
mod slave;

use crate::share::Share;
use handshakes::Handshakes;
use master::MasterPort;
use ports::bit;
use slave::SlavePort;
use spinneret_cluster::Cluster;
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};

/// The cluster, as the application's ports see it.
#[derive(Debug)]
pub(crate) struct ClusterSide {
    cluster: Share<Cluster>,
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
    pub(crate) fn new(dut: &Instance, cluster: Share<Cluster>) -> Result<Self, ModelError> {
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
        self.cluster.borrow_mut().reset();
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
        let cluster = self.cluster.borrow();
        for slave in &mut self.slaves {
            slave.drive(dut, self.held);
        }
        self.master.drive(dut, self.held);
        self.handshakes.drive(dut, &cluster, self.held);
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
        let mut cluster = self.cluster.borrow_mut();
        if !self.held {
            for slave in &mut self.slaves {
                slave.sample(dut, &mut cluster)?;
            }
            self.master.sample(dut, &mut cluster)?;
            self.handshakes.sample(dut, &mut cluster);
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
