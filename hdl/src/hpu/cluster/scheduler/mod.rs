//! The scheduler of messages: decides which handler runs next, for which packet and in which cluster.
//!
//! ```text
//!          cell, pair              cell, pair
//!  her => HerWords =====> pairs =====> TaskWords => task (each cluster)
//!          packet |       (RAM)           ^   +===> feedback
//!                 v                       | tasks, packets that are done
//!             QueueEngine ----------------+
//!  finished ====> ^    records of the queues, lists of cells
//!                 +-- CellPool: free cells => full
//!                 +-- ClusterLoads: cluster of a task
//!                 +-- ContextShares: the next queue, by used HPU time and weight <= weight, totals
//! ```
//!
//! # Contract
//! - **Cells:** a packet has a cell from its HER to its feedback. The first packet of a message keeps its cell until the message
//!   is over, because all tasks of the message read the context there. Each queue has a cell of its own, the others are
//!   shared. A packet takes its queue's own cell if that is free, else a shared one. `full`: neither is free. A HER of such
//!   a queue waits, and those behind it. With two cells for each queue the first packets of open messages never take all.
//! - **Messages:** `her_msgid` is the number of a queue, the lowest bits of a message id. Messages of a queue run one after
//!   another. A message begins with the packet after an end of message; its context holds for all packets of the message.
//! - **Handlers:** the header handler runs first and alone, for the first packet. Then each packet gets a payload handler, in
//!   their order and in parallel. When all of them have ended and the end of the message is among them, the completion
//!   handler runs, for the last packet. A handler with address 0 does not exist. A packet without one is done at once.
//! - **Feedback:** one for each packet, after its last handler: the completion handler for the last packet of a message
//!   that has one, else the payload handler. `her_size` is the HER's `xfer_size`, `msgid` the number of the queue.
//! - **Tasks:** the pairs of words of [`TASK_PAIRS`](super::TASK_PAIRS), the words as in `sim/cluster` (`Task::words`), then the size of
//!   the packet and a [`TaskOrigin`](super::TaskOrigin), which `finished` brings back in a [`TaskEnd`] when the task has ended.
//! - **Clusters:** a task goes to the home cluster (number of the queue modulo the number of clusters) if that has less than
//!   `tasks` tasks, else to the one with the fewest. Tasks count from their choice to `finished`. Queues wait while no
//!   cluster has room.
//! - **Shares:** the next step (a task, or a packet that is done at once, or the end of a message) is one of the context that has used the
//!   least HPU time for its weight, and has something to do. Its queues take turns. The time of a context is the sum of the clocks of
//!   its ended tasks and [`BETWEEN_TASKS`] more for each; each task under way counts as those before on average, of which
//!   the last one is a quarter, after reset as 4096 clocks with weight 1. A context
//!   without anything to do saves no time for later. One that is alone gets everything.
//! - **Bound:** while two contexts have something to do, the clocks that they get for each unit of their weights differ by at most
//!   2 ((n + 2) L / w + (m + 2) M / v): at most n tasks of at most L clocks are under way in the one with weight w, m of at most M in the one
//!   with v, from their choice on; L / w and M / v are at least 4096. So none starves. The next step is chosen in advance, and a context that comes later does not replace it.
//! - **Settings** are in force for tasks that end later. Weights are 1 after power-up; a reset keeps them. It clears the counters.
//! - **Timing:** 12 clocks for a HER, which is taken in the last one. A task has 11 pairs, of which one leaves a clock. An
//!   event (a packet comes, a step of a queue, a task has ended) takes 3 clocks, or 4 after one of the same kind, and if it is the end of a task after a step; the kinds take turns. From one step to the next there are
//!   at least as many clocks as contexts, and 7; from the end of a task to that of the next, half as many on average.
//! - **Backpressure:** tasks and feedback leave one after another, feedback first. A cluster with room must take all words of a
//!   task without waiting for another port. Feedback that is not taken stops tasks, but not HERs.
//! - **Paths:** outputs are registers, except `full`, `her_ready` and `finished_ready`, which join registers.
//! - **Reset:** discards everything. Cells become free in the clocks after it, one a clock; then HERs are taken.

mod cells;
mod engine;
mod her_words;
mod loads;
mod shares;
mod task_words;

pub use cells::CellPool;
pub use engine::{PacketIn, PacketOut, QueueEngine, ReturnJob, ReturnJobIn, TaskJob, TaskJobIn};
pub use her_words::HerWords;
pub use loads::ClusterLoads;
pub use shares::{BETWEEN_TASKS, ContextShares};
pub(super) use shares::{PRICE, is_before, price_of};
pub use task_words::TaskWords;

use super::{
    ContextSettingIn, ContextTotalsIn, HOST_ADDRESS, PAIR, TASK_PACKET, TASK_PAIR, TASK_PAIRS, TASK_SIZE,
    TaskEnd, WEIGHT, WORD, check_cells, check_contexts, pair_of,
};
use crate::entry::{Checked as Values, Entry, ParameterError, Variant};
use crate::ingress::her_gen::{FeedbackOut, HerIn};
use crate::stream::{FrameOut, StreamIn};
use spinneret_verilog::prelude::*;

/// The pair with the handler, which is one of three in a cell; those of the first scratchpad and of the host's memory. Pairs have
/// the same number in a cell as in a task, except for those of handlers.
const HANDLER_PAIR: u64 = pair_of(0) as u64;
const HANDLER_PAIRS: u64 = 12;
const SCRATCHPAD_PAIR: u64 = pair_of(6) as u64;
const HOST_PAIR: u64 = pair_of(14) as u64;
/// The pair of a packet in its cell: its address and the bytes that are copied to L1.
const PACKET_PAIR: u64 = pair_of(TASK_PACKET) as u64;
/// In a cell, the bytes of the host's memory and those of the packet; in a task, the former and the home cluster.
const BYTES_PAIR: u64 = pair_of(16) as u64;
/// The pair with the bytes of the packet in a task.
const SIZE_PAIR: u64 = pair_of(TASK_SIZE) as u64;
const LAST_PAIR: u64 = TASK_PAIRS.len() as u64 - 1;

/// Parameters of the scheduler.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = ENTRY.name, check)]
pub struct SchedulerShape {
    /// Clusters, a power of two.
    #[parameter(2, range = 1..=8, power_of_two)]
    pub clusters: usize,
    /// Queues, a power of two.
    #[parameter(16, range = 4..=256, power_of_two)]
    pub queues: usize,
    /// Packets inside, a power of two, at least two for each queue.
    #[parameter(128, range = 8..=512, power_of_two)]
    pub cells: usize,
    /// Tasks in a cluster.
    #[parameter(20, range = 1..=31)]
    pub tasks: usize,
    /// Contexts, a power of two: those of the highest bits of a queue's number. Each has two queues at least.
    #[parameter(8, range = 2..=16, power_of_two)]
    pub contexts: usize,
}

impl SchedulerShape {
    fn check(&self, checked: Values<'_>) -> Result<(), ParameterError> {
        check_cells(self.cells, self.queues, checked)?;
        check_contexts(self.contexts, self.queues, checked)
    }

    /// Bits of the number of a queue.
    pub(super) fn queue(self) -> usize {
        address_width(self.queues)
    }

    /// Bits of the number of a context.
    pub(super) fn context(self) -> usize {
        address_width(self.contexts)
    }

    /// Bits of the number of a queue in its context.
    pub(super) fn own_queue(self) -> usize {
        address_width(self.queues / self.contexts)
    }

    /// Bits of a number of tasks under way.
    pub(super) fn running(self) -> usize {
        bit_width(self.clusters * self.tasks)
    }

    /// Bits of the number of a cell.
    pub(super) fn cell(self) -> usize {
        address_width(self.cells)
    }

    /// Bits of the number of a cluster.
    pub(super) fn cluster(self) -> usize {
        address_width(self.clusters)
    }
}

/// Decides which handler runs next, for which packet and in which cluster.
#[module(shape: SchedulerShape, error = ParameterError)]
pub struct MessageScheduler {
    /// Packets; `msgid` is the number of a queue, the lowest bits of a message id.
    pub her: HerIn<{ WORD }, { HOST_ADDRESS }, { shape.queue() }>,
    /// Tasks for each cluster.
    pub task: [FrameOut<{ PAIR }>; shape.clusters],
    /// Tasks that have ended, of each cluster: a [`TaskEnd`].
    pub finished: [StreamIn<{ TaskEnd::new().width }>; shape.clusters],
    /// Packets that are done.
    pub feedback: FeedbackOut<{ WORD }, { WORD }, { shape.queue() }>,
    /// Queues that have no cell for another packet.
    pub full: Wire<Out, { shape.queues }>,
    /// A packet waits for its feedback.
    pub active: Wire<Out, bool>,
    /// Weights of contexts, not 0.
    pub weight: ContextSettingIn<{ shape.context() }, { WEIGHT }>,
    /// Counters of contexts.
    pub totals: ContextTotalsIn<{ shape.context() }>,
    pairs: Ram<{ RamStyle::Block }, { shape.cells << TASK_PAIR }, { PAIR }>,
    hers: HerWords<{ shape }>,
    engine: Checked<QueueEngine<{ shape }>>,
    tasks: TaskWords<{ shape }>,
}

#[kernel(MessageScheduler, suffix = shape.suffix())]
fn update() {
    hers.her = her;
    engine.packet = hers.packet;
    pairs.write(hers.writes, hers.address, hers.data);

    for (outside, inside) in finished.iter().zip(&engine.finished) {
        *inside = *outside;
    }
    engine.weight = weight;
    engine.totals = totals;
    full = engine.full;
    active = engine.active;

    tasks.job = engine.task;
    tasks.returned = engine.returned;
    pairs.read_enable = tasks.reads;
    pairs.read_addr = tasks.address;
    tasks.data = pairs.read_data;
    for (outside, inside) in task.iter().zip(&tasks.task) {
        *outside = *inside;
    }
    feedback = tasks.feedback;
}

/// [`MessageScheduler`].
pub(crate) const ENTRY: Entry = entry!(part "message_scheduler", MessageScheduler(SchedulerShape)?:
    "decides which handler runs next, for which packet and in which cluster");

/// Models for the testbenches.
pub(crate) const SIMULATED: [Variant; 3] = [
    ENTRY.variant("message_scheduler", ""),
    // So small that queues and clusters fill often.
    ENTRY.variant(
        "message_scheduler_small",
        "clusters=1 queues=4 cells=8 tasks=3 contexts=2",
    ),
    ENTRY.variant(
        "message_scheduler_wide",
        "clusters=8 queues=32 cells=64 tasks=2 contexts=4",
    ),
];
