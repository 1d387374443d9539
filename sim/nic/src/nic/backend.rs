//! The cluster model, and detection of idle ports between it and the application.
//!
//! While no port of the application is active, its clock is not simulated: only the cluster advances, or
//! time skips to the next event.

use super::{CORE, ClusterBackend, Hardware, NicConfig};
use crate::attach::ClusterSide;
use spinneret_cluster::task::Task;
use spinneret_cluster::{Cluster, Event, HpuId, Profile, Program, Segment, TraceEntry};
use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, Model, ModelError, PortHandle};
use spinneret_sim::simulation::Simulation;
use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

/// Idle clocks of the core after which the application holds no data: longer than any path through it.
pub(super) const QUIET_CLOCKS: u64 = 160;
/// The same in clocks of the cluster, for paths through the clock crossings.
const QUIET_CLUSTER_CLOCKS: u64 = 25;

/// The cluster model, and its connection to the application.
#[derive(Debug)]
pub struct ModelBackend {
    side: Rc<RefCell<ClusterSide>>,
    activity: Rc<RefCell<Activity>>,
    /// Idle clocks of the core after which nothing is in flight.
    quiet: u64,
}

impl ModelBackend {
    /// Attaches a model to the application; the cluster's clock is selected.
    pub(super) fn attach(
        sim: &mut Simulation<Hardware>,
        config: &NicConfig,
    ) -> Result<Box<dyn ClusterBackend>, ModelError> {
        let side = ClusterSide::new(sim.dut.instance(), Cluster::new(config.cluster.clone()))?;
        let side = Rc::new(RefCell::new(side));
        sim.attach(Rc::clone(&side) as Rc<RefCell<dyn Agent>>);
        let activity = Activity::attach(sim)?;
        Ok(Box::new(Self {
            side,
            activity,
            quiet: QUIET_CLOCKS.max(QUIET_CLUSTER_CLOCKS * config.cluster_ps / config.core_ps),
        }))
    }

    fn cluster(&self) -> Ref<'_, Cluster> {
        Ref::map(self.side.borrow(), |side| &side.cluster)
    }

    fn cluster_mut(&self) -> RefMut<'_, Cluster> {
        RefMut::map(self.side.borrow_mut(), |side| &mut side.cluster)
    }
}

impl ClusterBackend for ModelBackend {
    fn is_quiet(&self) -> bool {
        self.activity.borrow().quiet() >= self.quiet
            && self.side.borrow().is_idle()
            && !offers(&self.cluster())
    }

    fn is_idle(&self) -> bool {
        self.cluster().next().is_none()
    }

    fn starting(&self) -> usize {
        self.cluster().starting()
    }

    fn printed(&self) -> u64 {
        self.cluster().printed()
    }

    fn skip(&mut self, clocks: u64) -> u64 {
        let mut cluster = self.cluster_mut();
        let (start, end) = (cluster.now(), cluster.now() + clocks);
        // HPUs that never sleep would keep the rest of the NIC waiting forever.
        for _ in 0..WORK_CLOCKS {
            if cluster.now() >= end || offers(&cluster) {
                break;
            }
            match cluster.next().filter(|next| *next <= end) {
                Some(next) => {
                    cluster.skip_to(next - 1);
                    cluster.tick();
                }
                None if cluster.now() > start => break,
                // The cluster was idle.
                None => cluster.skip_to(end),
            }
        }
        cluster.now() - start
    }

    fn next_clocks(&self) -> Option<u64> {
        let cluster = self.cluster();
        cluster.next().map(|next| next.saturating_sub(cluster.now()))
    }

    fn load(&mut self, _: &mut Instance, program: &Program) -> bool {
        self.cluster_mut().load(program);
        true
    }

    fn peek(&self, _: &mut Instance, address: u32, bytes: u32) -> Option<Vec<u8>> {
        Some(self.cluster().memory().read(address, bytes)?.to_vec())
    }

    fn write(&mut self, _: &mut Instance, segments: &[Segment]) -> bool {
        let mut cluster = self.cluster_mut();
        segments
            .iter()
            .all(|segment| cluster.write(segment.address, &segment.bytes))
    }

    fn forget(&mut self) {
        self.cluster_mut().forget();
    }

    fn tells_contexts(&self) -> bool {
        !self.cluster().config().is_strict
    }

    fn shape(&self) -> [u32; 2] {
        let cluster = self.cluster();
        [cluster.config().clusters as u32, cluster.config().hpus as u32]
    }

    fn now(&self) -> u64 {
        self.cluster().now()
    }

    fn hers(&self) -> u64 {
        self.cluster().hers()
    }

    fn packets_inside(&self) -> [u64; 2] {
        self.cluster().packets_inside()
    }

    fn busy_hpus(&self) -> usize {
        self.cluster().busy_hpus()
    }

    fn queued(&self) -> usize {
        self.cluster().queued()
    }

    fn instructions(&self) -> u64 {
        self.cluster().instructions()
    }

    fn refused(&self) -> u64 {
        self.cluster().refused()
    }

    fn progress(&self) -> u64 {
        self.cluster().progress()
    }

    fn goes_on(&self) -> bool {
        self.cluster().goes_on()
    }

    fn endless(&self) -> Option<(HpuId, Task)> {
        self.cluster().endless()
    }

    fn busy(&self) -> Vec<u64> {
        self.cluster().busy().collect()
    }

    fn enable_profile(&mut self) {
        self.cluster_mut().enable_profile();
    }

    fn profile(&self) -> Option<Profile> {
        self.cluster().profile().cloned()
    }

    fn enable_trace(&mut self) {
        self.cluster_mut().enable_trace();
    }

    fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.cluster_mut().take_trace()
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.cluster_mut().take_events()
    }

    fn model(&mut self) -> Option<RefMut<'_, Cluster>> {
        Some(self.cluster_mut())
    }
}

/// Busy clocks that the cluster runs alone at most before the rest of the NIC is served.
const WORK_CLOCKS: usize = 4096;

/// Whether the cluster offers data to the application.
fn offers(cluster: &Cluster) -> bool {
    cluster.feedback().is_some()
        || cluster.send().is_some()
        || cluster.access().is_some()
        || cluster.stdout().is_some()
}

/// Ports whose value says that data is offered. The reports of statistics are excluded: they never stop, and lose
/// nothing when they are paused.
const OFFERS: &[&str] = &[
    "s_axil_app_ctrl_awvalid",
    "s_axil_app_ctrl_wvalid",
    "s_axil_app_ctrl_arvalid",
    "s_axil_app_ctrl_bvalid",
    "s_axil_app_ctrl_rvalid",
    "m_axis_data_dma_read_desc_valid",
    "m_axis_data_dma_write_desc_valid",
    "s_axis_data_dma_read_desc_status_valid",
    "s_axis_data_dma_write_desc_status_valid",
    "data_dma_ram_wr_cmd_valid",
    "data_dma_ram_rd_cmd_valid",
    "s_axis_if_tx_tvalid",
    "m_axis_if_tx_tvalid",
    "s_axis_if_tx_cpl_valid",
    "m_axis_if_tx_cpl_valid",
    "s_axis_if_rx_tvalid",
    "m_axis_if_rx_tvalid",
    "ni_slave_aw_valid",
    "ni_slave_w_valid",
    "ni_slave_b_valid",
    "no_slave_ar_valid",
    "no_slave_r_valid",
    "host_slave_aw_valid",
    "host_slave_w_valid",
    "host_slave_ar_valid",
    "host_slave_b_valid",
    "host_slave_r_valid",
    "host_master_aw_valid",
    "host_master_w_valid",
    "host_master_ar_valid",
    "host_master_b_valid",
    "host_master_r_valid",
    "her_valid",
    "feedback_valid",
    "nic_cmd_req_valid",
    "nic_cmd_resp_valid",
    "stdout_rd_en",
];

/// Clocks in which the application initializes the slots of the packet buffer after the reset of the cluster, which
/// no port shows.
const OPENING_CLOCKS: u64 = 1100;

/// Counts clocks without activity.
#[derive(Debug)]
pub(super) struct Activity {
    offers: Vec<PortHandle>,
    /// Index of the port that was active last: it is probably active again.
    last: usize,
    cluster_runs: PortHandle,
    /// Remaining clocks of the initialization of slots.
    opening: u64,
    quiet: u64,
}

impl Activity {
    /// Counts them in the core's clock.
    pub(super) fn attach(sim: &mut Simulation<Hardware>) -> Result<Rc<RefCell<Self>>, ModelError> {
        let activity = Rc::new(RefCell::new(Self::new(sim.dut.instance())?));
        sim.in_domain(CORE);
        sim.attach(Rc::clone(&activity) as Rc<RefCell<dyn Agent>>);
        Ok(activity)
    }

    fn new(dut: &Instance) -> Result<Self, ModelError> {
        let find = |name: &&str| {
            let input = dut.port(name, Direction::Input);
            input.or_else(|_| dut.port(name, Direction::Output))
        };
        Ok(Self {
            offers: OFFERS.iter().map(find).collect::<Result<_, _>>()?,
            last: 0,
            cluster_runs: dut.port("cluster_rstn", Direction::Output)?,
            opening: OPENING_CLOCKS,
            quiet: 0,
        })
    }

    /// Whether any port is active.
    fn offers(&mut self, dut: &Instance) -> bool {
        let is_offered = |port: &PortHandle| dut.value(*port) != 0;
        if is_offered(&self.offers[self.last]) {
            return true;
        }
        let place = self.offers.iter().position(is_offered);
        self.last = place.unwrap_or(self.last);
        place.is_some()
    }

    /// Clocks since the last activity.
    pub(super) fn quiet(&self) -> u64 {
        self.quiet
    }
}

impl Agent for Activity {
    fn drive(&mut self, _: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        let is_opening = dut.is_high(self.cluster_runs) && self.opening > 0;
        self.opening = match dut.is_high(self.cluster_runs) {
            true => self.opening.saturating_sub(1),
            false => OPENING_CLOCKS,
        };
        let moves = is_opening || self.offers(dut);
        self.quiet = if moves { 0 } else { self.quiet + 1 };
        Ok(())
    }

    fn reset(&mut self, _: &mut Instance) {
        self.quiet = 0;
        self.opening = OPENING_CLOCKS;
    }

    fn describe(&self) -> String {
        format!("nothing has moved for {} clocks", self.quiet)
    }
}
