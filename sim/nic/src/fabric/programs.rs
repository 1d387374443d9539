//! Programs of this process on the NICs of a fabric, and what one of them tells another without a frame.

use super::member::check_clocks;
use crate::device::Simulated;
use crate::nic::{Nic, NicConfig};
use spinneret_fabric::{Alone, FabricError, NodeExit, NodeTask, Report, Settings, Topology, run};
use spinneret_host::Address;
use std::sync::atomic::{AtomicU64, Ordering};

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
            let failed = |error: crate::nic::NicError| NodeExit::Failed(error.to_string());
            let mut nic = Nic::new(config).map_err(failed)?;
            nic.connect(port);
            let nic = Simulated::of(nic).with_address(address);
            if let Some(program) = program {
                program(&nic)?;
            }
            loop {
                let mut nic = nic.borrow_mut();
                nic.step(u64::MAX).map_err(|error| match error {
                    crate::nic::NicError::Stopped(stopped) => NodeExit::Stopped(stopped),
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
