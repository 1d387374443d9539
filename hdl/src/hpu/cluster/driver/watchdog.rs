use super::GivenIn;
use super::ports::bit_of;
use crate::hpu::cluster::context_registers::initial;
use crate::hpu::cluster::{ContextSettingIn, ContextShape, HPU, HPUS, QUEUE, TASK_CLOCKS, WORD};
use spinneret_regmap::shares;
use spinneret_verilog::prelude::*;

/// Stops HPUs that hold a task for more clocks than the budget of its context, each once a task.
///
/// `stop` ends with the trap that it causes, or with the task.
#[module(shape: ContextShape)]
pub struct DriverWatchdog {
    /// Budgets.
    pub setting: ContextSettingIn<{ shape.context() }>,
    /// The HPU that is checked.
    pub turn: Wire<In, { HPU }>,
    /// One clock later: the queue of its task.
    pub queue: Wire<In, { QUEUE }>,
    /// One clock later: the clocks since it was given.
    pub clocks: Wire<Out, { TASK_CLOCKS }>,
    /// A task is given.
    pub given: GivenIn,
    /// HPUs that hold a task.
    pub held: Wire<In, { HPUS }>,
    /// HPUs that trapped because they were stopped.
    pub trapped: Wire<In, { HPUS }>,
    /// HPUs that are stopped.
    pub stop: Wire<Out, { HPUS }>,
    /// HPUs that were stopped in their last task.
    pub was_stopped: Wire<Out, { HPUS }>,
    #[new(Ram::new(RamStyle::Distributed, shape.contexts, WORD).holding("budgets", vec![initial(&shares::BUDGET).into(); shape.contexts]))]
    budgets: Ram,
    clock: Reg<{ WORD }, Reset>,
    /// When its task was given to each HPU.
    #[new(Ram::new(RamStyle::Distributed, HPUS, WORD))]
    since: Ram,
    stops: Reg<{ HPUS }, Reset>,
    stopped: Reg<{ HPUS }, Reset>,
}

#[kernel(DriverWatchdog, suffix = format!("{}x{}", shape.contexts, shape.queues))]
fn update() {
    clock = clock + 1;
    since.write(given.valid, given.hpu, clock);
    let age = reg(clock - since.read(0, turn));
    let (low, high) = age.split_at(TASK_CLOCKS);
    clocks = low | high.any().repeat(TASK_CLOCKS);
    budgets.write(setting.sets_budget, setting.context, setting.budget);
    let context = queue.slice(shape.own(), shape.context());
    let budget = reg(budgets.read(0, context));
    let is_held = reg_reset(reg_reset(held[turn], false), false);
    let is_over = reg_reset(is_held && reg(age) > budget && budget.any(), false);
    let late = bit_of(reg(reg(reg(turn))), is_over);
    stopped = (stopped | trapped) & !bit_of(given.hpu, given.valid);
    was_stopped = stopped;
    stops = (stops | late) & held & !stopped & !trapped;
    stop = stops;
}
