//! The model of the cluster behind the application.
//!
//! While nothing moves at any port of the application, its clock does not have to be simulated: only the cluster goes on, or
//! time jumps to what happens next.

use super::activity::Activity;
use super::{Behind, CORE, Hardware, Nic, NicConfig};
use crate::attach::ClusterSide;
use crate::share::Share;
use spinneret_cluster::{Cluster, Debugger, Event, Program, Traced};
use spinneret_sim::agent::Agent;
use spinneret_sim::model::{Model, ModelError};
use spinneret_sim::simulation::Simulation;
use std::cell::{Ref, RefCell};
use std::rc::Rc;

/// Clocks of the core without any movement after which nothing is on its way inside: longer than any path through it.
const QUIET_CLOCKS: u64 = 160;
/// The same in clocks of the cluster, for paths through the crossings.
const QUIET_CLUSTER_CLOCKS: u64 = 25;

/// The model, and what holds it to the application.
#[derive(Debug)]
pub struct Modelled {
    cluster: Share<Cluster>,
    side: Rc<RefCell<ClusterSide>>,
    activity: Rc<RefCell<Activity>>,
    /// Clocks of the core without any movement after which nothing is on its way.
    quiet: u64,
}

impl Modelled {
    /// Puts a model behind the application; the cluster's clock is selected.
    pub(super) fn attach(sim: &mut Simulation<Hardware>, config: &NicConfig) -> Result<Self, ModelError> {
        let cluster = Share::new(Cluster::new(config.cluster.clone()));
        let side = ClusterSide::new(sim.dut.instance(), cluster.clone())?;
        let side = Rc::new(RefCell::new(side));
        sim.attach(Rc::clone(&side) as Rc<RefCell<dyn Agent>>);
        sim.in_domain(CORE);
        let activity = Rc::new(RefCell::new(Activity::new(sim.dut.instance())?));
        sim.attach(Rc::clone(&activity) as Rc<RefCell<dyn Agent>>);
        Ok(Self {
            cluster,
            side,
            activity,
            quiet: QUIET_CLOCKS.max(QUIET_CLUSTER_CLOCKS * config.cluster_ps / config.core_ps),
        })
    }
}

impl Behind for Modelled {
    fn is_quiet(&self) -> bool {
        self.activity.borrow().quiet() >= self.quiet
            && self.side.borrow().is_idle()
            && !offers(&self.cluster.borrow())
    }

    fn is_idle(&self) -> bool {
        self.cluster.borrow().next().is_none()
    }

    fn holds_packets(&self) -> bool {
        self.cluster.borrow().packets_inside() != [0; 2]
    }

    fn is_ready(&self) -> bool {
        self.cluster.borrow().is_ready()
    }

    fn printed(&self) -> u64 {
        self.cluster.borrow().printed()
    }

    fn skip(&mut self, clocks: u64) -> u64 {
        let mut cluster = self.cluster.borrow_mut();
        let (start, end) = (cluster.now(), cluster.now() + clocks);
        // HPUs that never sleep would hold everybody else here until the end of time.
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
                // It had nothing to do at all.
                None => cluster.skip_to(end),
            }
        }
        cluster.now() - start
    }

    fn next_clocks(&self) -> Option<u64> {
        let cluster = self.cluster.borrow();
        cluster.next().map(|next| next.saturating_sub(cluster.now()))
    }

    fn load(&mut self, program: &Program) -> bool {
        self.cluster.borrow_mut().load(program);
        true
    }

    fn forget(&mut self) {
        self.cluster.borrow_mut().forget();
    }

    fn tells_contexts(&self) -> bool {
        !self.cluster.borrow().config().is_strict
    }

    fn shape(&self) -> [u32; 2] {
        let cluster = self.cluster.borrow();
        [cluster.config().clusters as u32, cluster.config().hpus as u32]
    }
}

/// Most clocks with work in them that the cluster runs alone before others are looked after.
const WORK_CLOCKS: usize = 4096;

/// Whether the cluster offers something to the application.
fn offers(cluster: &Cluster) -> bool {
    cluster.feedback().is_some()
        || cluster.send().is_some()
        || cluster.access().is_some()
        || cluster.stdout().is_some()
}

impl Nic {
    /// The cluster, to look at it.
    pub fn cluster(&self) -> Ref<'_, Cluster> {
        self.behind.cluster.borrow()
    }

    /// Counts from now on where HPUs spend their clocks; [`Cluster::profile`] tells.
    pub fn enable_profile(&mut self) {
        self.behind.cluster.borrow_mut().enable_profile();
    }

    /// Its handlers are debugged from now on.
    pub fn debug(&mut self, debugger: Box<dyn Debugger>) {
        self.behind.cluster.borrow_mut().debug(debugger);
    }

    /// Gives the debugger the time for what came from outside.
    pub fn attend_debugger(&mut self) {
        self.behind.cluster.borrow_mut().attend_debugger();
    }

    /// Keeps from now on what passes between HPUs and their drivers; [`take_trace`](Self::take_trace) gives it.
    pub fn enable_trace(&mut self) {
        self.behind.cluster.borrow_mut().enable_trace();
    }

    /// What has passed since the last call.
    pub fn take_trace(&mut self) -> Vec<Traced> {
        self.behind.cluster.borrow_mut().take_trace()
    }

    /// What has happened in the cluster since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.behind.cluster.borrow_mut().take_events()
    }

    /// From clocks of the cluster to picoseconds since the start.
    pub fn cluster_time(&self) -> impl Fn(u64) -> u64 + Copy + use<> {
        let (now_ps, now, period) = (self.now_ps(), self.cluster().now(), self.config.cluster_ps);
        move |clock| (now_ps + clock * period).saturating_sub(now * period)
    }
}
