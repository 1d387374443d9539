use super::ports::bit_of;
use crate::hpu::cluster::context_registers::initial;
use crate::hpu::cluster::{ContextSettingIn, ContextShape, HPU, HPUS, TASK_CLOCKS, WORD};
use spinneret_regmap::shares;
use spinneret_verilog::prelude::*;

/// Stops HPUs that hold a task for more clocks than the budget of its context, each once a task.
///
/// `stop` ends with the trap that it causes, or with the task.
#[module(shape: ContextShape)]
pub struct DriverWatchdog {
    /// Budgets of contexts.
    pub budget: ContextSettingIn<{ shape.context() }, { WORD }>,
    /// The HPU that is checked.
    pub turn: Wire<In, { HPU }>,
    /// One clock later: the context of its task.
    pub of: Wire<In, { shape.context() }>,
    /// One clock later: the clocks since it was given.
    pub clocks: Wire<Out, { TASK_CLOCKS }>,
    /// A task is given.
    pub gives: Wire<In, bool>,
    /// To this HPU.
    pub given_hpu: Wire<In, { HPU }>,
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

#[kernel(DriverWatchdog)]
fn update() {
    clock = clock + 1;
    since.write(gives, given_hpu, clock);
    let age = reg(clock - since.read(0, turn));
    let (low, high) = age.split_at(TASK_CLOCKS);
    clocks = low | high.any().repeat(TASK_CLOCKS);
    budgets.write(budget.write, budget.context, budget.value);
    let limit = reg(budgets.read(0, of));
    let is_held = reg_reset(reg_reset(held[turn], false), false);
    let is_over = reg_reset(is_held && reg(age) > limit && limit.any(), false);
    let late = bit_of(reg(reg(reg(turn))), is_over);
    stopped = (stopped | trapped) & !bit_of(given_hpu, gives);
    was_stopped = stopped;
    stops = (stops | late) & held & !stopped & !trapped;
    stop = stops;
}
