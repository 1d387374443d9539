use super::ports::bit_of;
use super::{DriverAccessIn, DriverFault, GivenIn};
use crate::hpu::cluster::{HPU, HPUS, SLOT, TASK_CLOCKS, TaskEnd, TaskOrigin};
use crate::stream::StreamOut;
use spinneret_regmap::pspin::driver as register;
use spinneret_verilog::prelude::*;

/// The tasks that HPUs hold: from the clock they are given in until nothing of them is under way.
#[module]
pub struct HpuTasks {
    /// The HPU that is checked.
    pub turn: Wire<In, { HPU }>,
    /// A task is given.
    pub given: GivenIn,
    /// Accesses.
    pub access: DriverAccessIn,
    /// HPUs that ask for a task.
    pub asks: Wire<In, { HPUS }>,
    /// HPUs that were reset.
    pub resets: Wire<In, { HPUS }>,
    /// HPUs of which a command or copy is under way.
    pub busy: Wire<In, { HPUS }>,
    /// HPUs that hold a task.
    pub held: Wire<Out, { HPUS }>,
    /// HPUs that wait for a task, or that will when they have prepared themselves.
    pub idle: Wire<Out, { HPUS }>,
    /// HPUs whose task has ended, and waits for what it has started.
    pub ended: Wire<Out, { HPUS }>,
    /// Every HPU has asked for a task.
    pub asked: Wire<Out, bool>,
    /// Slot of the access's HPU, in the same clock.
    pub access_slot: Wire<Out, { SLOT }>,
    /// The HPU that starts something.
    pub command_hpu: Wire<In, { HPU }>,
    /// Slot of its task.
    pub command_slot: Wire<Out, { SLOT }>,
    /// A slot.
    pub origin_slot: Wire<Out, { SLOT }>,
    /// Its origin.
    pub origin: Wire<In, { TaskOrigin::new().width }>,
    /// The clocks that this HPU has held its task.
    pub clocks: Wire<In, { TASK_CLOCKS }>,
    /// HPUs that were stopped in their last task.
    pub was_stopped: Wire<In, { HPUS }>,
    /// Tasks that are done, as [`TaskEnd`] says.
    pub finished: StreamOut<{ TaskEnd::new().width }>,
    /// A slot is free.
    pub frees: Wire<Out, bool>,
    /// That slot.
    pub freed: Wire<Out, { SLOT }>,
    /// Tasks that fail.
    pub fault: DriverFault,
    holds: Reg<{ HPUS }, Reset>,
    waits: Reg<{ HPUS }, Reset>,
    has_asked: Reg<{ HPUS }, Reset>,
    ends: Reg<{ HPUS }, Reset>,
    failed: Reg<{ HPUS }>,
    #[new(Ram::new(RamStyle::Distributed, HPUS, SLOT).with_reads(3))]
    slots: Ram,
    is_done: Reg<bool, Reset>,
    done: Reg<{ TaskEnd::new().width }>,
}

#[kernel(HpuTasks)]
fn update() {
    let accesses = |offset: u32| access.valid && !access.is_dma && access.offset == offset;
    let given_to = bit_of(given.hpu, given.valid);
    let dropped = holds & resets;
    let rung = bit_of(access.hpu, accesses(register::DOORBELL));
    let over = rung | dropped;
    let fails = accesses(register::ERROR) && access.is_write;
    holds = (holds & !over) | given_to;
    waits = (((waits | asks) & !holds & !given_to) | rung) & !resets;
    has_asked = (has_asked | asks) & !resets;
    failed = (failed | bit_of(access.hpu, fails) | dropped) & !given_to;
    held = holds;
    ended = ends;
    idle = waits & !holds & !ends;
    asked = reg_reset(has_asked.all(), false);
    fault.valid = fails;
    fault.hpu = access.hpu;
    fault.cause = access.data;

    slots.write(given.valid, given.hpu, given.slot);
    access_slot = slots.read(0, access.hpu);
    command_slot = slots.read(1, command_hpu);
    let slot = slots.read(2, turn);
    origin_slot = slot;

    /// One HPU is checked in a clock.
    let finishes = ends[turn] && !busy[turn] && !is_done;
    ends = (ends | over) & !bit_of(turn, finishes);
    frees = finishes;
    freed = slot;
    if finishes {
        let end = TaskEnd::new();
        done = pack!(end {
            origin,
            clocks,
            failed: failed[turn],
            is_over: was_stopped[turn],
        });
    }
    is_done = finishes || (is_done && !finished.ready);
    finished.valid = is_done;
    finished.data = done;
}
