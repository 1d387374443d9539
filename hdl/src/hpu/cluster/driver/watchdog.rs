use super::GivenIn;
use super::ports::bit_of;
use crate::hpu::cluster::{HPU, HPUS, WORD};
use spinneret_verilog::prelude::*;

/// Stops HPUs that hold a task for more clocks than the budget, each once a task.
///
/// `stop` ends with the trap that it causes, or with the task.
#[module]
pub struct DriverWatchdog {
    /// Clocks that a task may take; 0: any number.
    pub budget: Wire<In, { WORD }>,
    /// The HPU that is checked.
    pub turn: Wire<In, { HPU }>,
    /// A task is given.
    pub given: GivenIn,
    /// HPUs that hold a task.
    pub held: Wire<In, { HPUS }>,
    /// HPUs that trapped because they were stopped.
    pub trapped: Wire<In, { HPUS }>,
    /// HPUs that are stopped.
    pub stop: Wire<Out, { HPUS }>,
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
    since.write(given.valid, given.hpu, clock);
    let age = reg(clock - since.read(0, turn));
    let is_held = reg_reset(held[turn], false);
    let is_over = reg_reset(is_held && age > budget && budget.any(), false);
    let late = bit_of(reg(reg(turn)), is_over);
    stopped = (stopped | trapped) & held;
    stops = (stops | late) & held & !stopped & !trapped;
    stop = stops;
}
