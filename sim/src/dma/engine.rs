//! The DMA of one direction, as a test sees it.

use super::config::{DmaConfig, DmaFaults, Transfer};
use super::descriptor::{Accepted, Status};
use super::host::HostMemory;
use super::inside::InsideRam;
use super::master::RamPauses;
use super::movement::State;
use super::ram::{RamShape, SegmentedRam};
use super::reach::Reach;
use crate::axi::Latency;
use crate::handshake::Counts;
use crate::model::{Model, ModelError};
use crate::pause::Pause;
use crate::simulation::Simulation;
use std::cell::RefCell;
use std::rc::Rc;

/// The DMA of one direction: takes descriptors, moves bytes between a RAM and host memory, gives statuses.
///
/// - A descriptor that is taken in cycle t with latency L and touches n lines of the RAM (all segments) has
///   moved, and has its status, in cycle t + L + n at the earliest; lines move one a clock, descriptor by
///   descriptor in their order, so also writes to host memory take effect in that order.
/// - A status is valid for one cycle, and no cycle has two.
/// - A descriptor has to stay while it waits for ready, to select the RAM of the configuration, to lie in the
///   bytes of the RAM that the design may use and in one page of host memory, and to have a tag that is not
///   in flight. Immediate data must not be enabled.
/// - When a descriptor becomes valid its bytes of the RAM must be there (to the host) or free (from the host).
///
/// With `survives_reset` it goes on while the design is reset, without taking descriptors; one that is valid has
/// to stay so. Else a reset forgets what is in flight.
///
/// It keeps what it took and gave until that is fetched.
#[derive(Clone, Debug)]
pub struct CorundumDma {
    state: Rc<RefCell<State>>,
}

impl CorundumDma {
    /// Puts a DMA behind the descriptor and status ports with those prefixes.
    ///
    /// # Errors
    /// If the design has no such ports, or their widths do not fit.
    pub fn attach<M: Model>(
        sim: &mut Simulation<M>,
        transfer: Transfer,
        [descriptors, status]: [&str; 2],
        host: &HostMemory,
        ram: &SegmentedRam,
        config: DmaConfig,
    ) -> Result<Self, ModelError> {
        let reach = Reach::Beside(ram.clone());
        Self::with(sim, transfer, [descriptors, status], host, reach, config)
    }

    /// Puts a DMA behind the descriptor and status ports of an application block, and in front of the ports of the RAM in it:
    /// `data_dma_ram_rd_*` for a DMA to the host, `data_dma_ram_wr_*` for one from it.
    ///
    /// Bytes begin to move after the latency, and move as fast as the ports let them. It is reset with the design,
    /// whatever `survives_reset` says.
    ///
    /// # Errors
    /// If the design has no such ports, or their widths do not fit.
    pub fn attach_inside<M: Model>(
        sim: &mut Simulation<M>,
        transfer: Transfer,
        (host, shape): (&HostMemory, RamShape),
        config: DmaConfig,
        pauses: &RamPauses,
    ) -> Result<Self, ModelError> {
        let seed = sim.seed();
        let select = (shape, config.ram_sel);
        let inside = InsideRam::find(
            sim.dut.instance(),
            transfer,
            "data_dma_ram",
            select,
            (pauses, seed),
        )?;
        let config = DmaConfig {
            survives_reset: false,
            ..config
        };
        let reach = Reach::Inside(Box::new(inside));
        let way = match transfer {
            Transfer::ToHost => "write",
            Transfer::FromHost => "read",
        };
        let descriptors = format!("m_axis_data_dma_{way}_desc");
        let status = format!("s_axis_data_dma_{way}_desc_status");
        Self::with(sim, transfer, [&descriptors, &status], host, reach, config)
    }

    fn with<M: Model>(
        sim: &mut Simulation<M>,
        transfer: Transfer,
        prefixes: [&str; 2],
        host: &HostMemory,
        reach: Reach,
        config: DmaConfig,
    ) -> Result<Self, ModelError> {
        let state = State::new(sim, transfer, prefixes, (host, reach), config)?;
        let state = Rc::new(RefCell::new(state));
        sim.attach(Rc::<RefCell<State>>::clone(&state));
        Ok(Self { state })
    }

    /// Changes the pauses at the ports of a RAM in the design, from the next cycle on.
    pub fn set_ram_pauses(&self, pauses: &RamPauses) {
        self.state.borrow_mut().set_ram_pauses(pauses);
    }

    /// The next descriptor that was taken and not fetched.
    pub fn next_accepted(&self) -> Option<Accepted> {
        self.state.borrow_mut().accepted.pop_front()
    }

    /// The next status that was given and not fetched.
    pub fn next_status(&self) -> Option<Status> {
        self.state.borrow_mut().statuses.pop_front()
    }

    /// Descriptors without status.
    pub fn in_flight(&self) -> usize {
        self.state.borrow().tags.len()
    }

    /// Whether a descriptor is valid that was not taken.
    pub fn is_offered(&self) -> bool {
        self.state.borrow().offered.is_some()
    }

    /// Gives a status that nobody waits for, in the next cycle that has none.
    ///
    /// # Panics
    /// If the tag is in flight when its turn comes.
    pub fn send_stray(&self, tag: u64, code: u8) {
        self.state.borrow_mut().strays.push_back((tag, code));
    }

    /// Changes when descriptors are not taken, from the next cycle on.
    pub fn set_pause(&self, pause: Pause) {
        self.state.borrow_mut().pauses.set(pause);
    }

    /// Changes the latency, from the next descriptor on.
    pub fn set_latency(&self, latency: Latency) {
        self.state.borrow_mut().config.latency = latency;
    }

    /// Changes how much later statuses come than they could, from the next one on.
    pub fn set_spread(&self, cycles: u64) {
        self.state.borrow_mut().config.spread = cycles;
    }

    /// Changes which descriptors fail, from the next one on.
    pub fn set_faults(&self, faults: DmaFaults) {
        self.state.borrow_mut().config.faults = faults;
    }

    /// Changes how many cycles without a status have one that nobody waits for, in percent.
    pub fn set_strays(&self, percent: u32) {
        self.state.borrow_mut().config.strays = percent;
    }

    /// Changes whether the DMA goes on when the design is reset.
    pub fn set_survives_reset(&self, survives: bool) {
        self.state.borrow_mut().config.survives_reset = survives;
    }

    /// What was seen of the descriptors since the start.
    pub fn counts(&self) -> Counts {
        self.state.borrow().watch.counts
    }
}
