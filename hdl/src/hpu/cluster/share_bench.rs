//! The scheduler with the drivers of two clusters, for the testbench of shares.

use super::driver::{CLUSTER, ThreadTrapIn};
use super::{
    ClusterDriver, Command, ContextSettingIn, ContextShape, ContextTotalsIn, Copy, HOST_ADDRESS, HPUS,
    MessageScheduler, PIPELINES, RegisterAccessIn, SchedulerShape, TASK_CLOCKS, TaskEnd, WEIGHT, WORD,
};
use crate::entry::{Entry, ParameterError};
use crate::ingress::her_gen::{FeedbackOut, HerIn};
use spinneret_verilog::prelude::*;

const CLUSTERS: usize = 2;
const CONTEXTS: ContextShape = ContextShape {
    contexts: 8,
    queues: 2,
};
const SHAPE: SchedulerShape = SchedulerShape {
    clusters: CLUSTERS,
    queues: CONTEXTS.contexts * CONTEXTS.queues,
    cells: 512,
    tasks: super::driver::SLOTS,
    contexts: CONTEXTS.contexts,
};
/// Clocks of each task, if all count the same.
const SAME: u64 = 1000;

/// The scheduler with the drivers of two clusters.
#[module(error = ParameterError)]
pub struct ShareBench {
    /// All tasks count as if they took the same time: contexts take turns.
    pub takes_turns: Wire<In, bool>,
    /// Packets.
    pub her: HerIn<{ WORD }, { HOST_ADDRESS }, { address_width(SHAPE.queues) }>,
    /// Packets that are done.
    pub feedback: FeedbackOut<{ WORD }, { WORD }, { address_width(SHAPE.queues) }>,
    /// Weights of contexts.
    pub weight: ContextSettingIn<{ CONTEXTS.context() }, { WEIGHT }>,
    /// Budgets of contexts.
    pub budget: ContextSettingIn<{ CONTEXTS.context() }, { WORD }>,
    /// Counters of contexts.
    pub totals: ContextTotalsIn<{ CONTEXTS.context() }>,
    /// Accesses of the pipelines, those of a cluster after another.
    pub s: [RegisterAccessIn; CLUSTERS * PIPELINES],
    /// Their traps.
    pub trap: [ThreadTrapIn; CLUSTERS * PIPELINES],
    /// HPUs that are stopped, those of the first cluster lowest.
    pub stop: Wire<Out, { CLUSTERS * HPUS }>,
    /// Copies of packets.
    pub copy: [Copy; CLUSTERS],
    /// Commands.
    pub command: [Command; CLUSTERS],
    scheduler: Checked<MessageScheduler<{ SHAPE }>>,
    #[new(ClusterDriver::new(CONTEXTS, false)?)]
    drivers: [ClusterDriver; CLUSTERS],
}

#[kernel(ShareBench)]
fn update() {
    scheduler.her = her;
    feedback = scheduler.feedback;
    scheduler.weight = weight;
    scheduler.totals = totals;
    let end = TaskEnd::new();
    for (number, driver) in drivers.iter().enumerate() {
        driver.cluster = constant(lit(number as u64, CLUSTER));
        driver.budget = budget;
        driver.task = scheduler.task[number];
        let of = end.of(driver.finished.data);
        scheduler.finished[number].data = pack!(end {
            origin: of.origin,
            clocks: if takes_turns {
                constant(lit(SAME, TASK_CLOCKS))
            } else {
                of.clocks
            },
            failed: of.failed,
            is_over: of.is_over,
        });
        scheduler.finished[number].handshake() = driver.finished.handshake();
        for pipeline in 0..PIPELINES {
            driver.s[pipeline] = s[PIPELINES * number + pipeline];
            driver.trap[pipeline] = trap[PIPELINES * number + pipeline];
        }
        copy[number] = driver.copy;
        command[number] = driver.command;
    }
    stop = cat_all(&drivers.iter().rev().map(|driver| driver.stop).collect::<Vec<_>>());
}

/// [`ShareBench`].
pub(crate) const ENTRY: Entry = Entry::part(
    "share_bench",
    "the scheduler with the drivers of two clusters, for the testbench",
    |_| Vec::new(),
    |_| Ok(Box::new(ShareBench::new()?)),
);
