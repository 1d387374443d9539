//! The driver of a cluster's HPUs: their tasks, registers, commands, copies, protection and watchdog.
//!
//! ```text
//!  task ==> slots ==copy of the packet==> copies ==> copy
//!             | in order                   ^
//!             v                            |
//!           giver ==ranges==> range      starts ==> command
//!             | given             |        ^ gathers, checks
//!             v                   +------> |
//!  s[0] ==> accesses ==> tasks, registers -+
//!  s[1] ==>     ^          |     |
//!               +-- words -+-----+
//! ```
//!
//! # Contract
//! - **Tasks** come as the pairs of words of [`TASK_PAIRS`](super::TASK_PAIRS), one a clock; word 4 becomes the address of the packet in L1. There is room for 20.
//!   `load` counts them from their first pair on. Slot s has its packet at `L1_PACKETS` + 3264 s of the cluster's L1.
//! - **Packets** are copied in order: as many bytes as word 5 says, 3264 at most. The task is ready with its copy, failed or not.
//! - **In place:** with `in_place` the packet of a task is the one in the packet buffer, in word 4 and range 0 as well, of any size. Copies of
//!   packets, which `copy` offers all the same, are to be reported as done at once.
//! - **Giving:** tasks go in order to the lowest HPU that is idle when their ranges begin to be set: one that has read register 0 since its reset,
//!   has ended its last task, and of which nothing is under way. So it gets ready for a task while ranges are set. Before it sees its task, its ranges are set, the last one when the packet is there: 0 packet in L1 (what was
//!   copied), 1 stack area, 2 handler memory, 3 the program's shared data (words 9 and 13; the first 64 KiB of handler memory if these name none of
//!   it), 4 packet in L2, 5 and 6 scratchpads 0 and 1, in grains of 64 bytes. A range without bytes, or beyond 512 MiB, is empty. From 5
//!   on, ranges do not compare the bits [`L1_ALIKE`](spinneret_regmap::pspin::L1_ALIKE) of an address: every second cluster has its scratchpad
//!   at the same place.
//! - **Registers** are those of [`spinneret_regmap::pspin::driver`] and [`dma`](spinneret_regmap::pspin::dma). Those below `TASK_END` wait while no task is held.
//!   Task words are loads, and so is `PACKET_SUM`: word 20 as it came, of which the low 15 bits are the packet's size. So are the words of `ARGS`, which tell the number of the HPU. `DOORBELL` ends the task with any access, and a store to `ERROR` notes that it fails and reports it by `fault`; both are refused in
//!   user mode. A store to `WAIT` waits for the command of that number, a load gives the number of open ones; `TEST` is 1 if the command of the number that was stored
//!   is done. Other registers do not exist: refused.
//! - **Commands:** a load of `ISSUE` starts the command and gives its number, the lowest free one of four. It waits while none is free, and while an ended task of the
//!   HPU is pending. The queue is that of the HPU's last task. A command of kind 3 is done at once, and not sent.
//! - **Copies** of HPUs are done in order: a load of `START` gives its number, counted from 1 for each HPU, `DONE` gives the number of the last one that is done. `START`
//!   waits while 15 copies of the HPU are under way, or the queue of 8 is full. A reset does not set the numbers back.
//! - **Checks:** in user mode, a host copy (words 2, 3), a send (words 2 and 3, 4) or a copy (both ends) whose memory is not inside of one range is refused. 0 bytes are inside.
//! - **Starts** of commands and copies take turns: one at a time is gathered, checked, and accepted with an offer of its HPU; a trap of the HPU drops it.
//! - **End:** a task is done when the commands and copies of its HPU are: then `finished` gives its origin, the clocks since it was given, and whether it
//!   failed or was stopped; its slot is free.
//! - **Reset of an HPU:** a trap with cause [`WAS_RESET`] drops, as any trap, what the HPU wants to start; its task ends and fails, and
//!   it waits for none until it reads register 0 again. Its commands and copies go on.
//! - **Watchdog:** an HPU that holds a task for more clocks than the budget of its context (0: no limit) is stopped once, until it traps with the cause
//!   of a stop, or ends. A reset keeps budgets, and after power-up they are
//!   [`HANDLER_CLOCKS`](spinneret_regmap::pspin::HANDLER_CLOCKS).
//! - **Ports:** `ready` and `refused` follow the offer of their port, `valid` of the other one, and registers. Of two offers in a clock one takes place: see
//!   [`Turn`](super::Turn). The word of a load is there two clocks later. An HPU makes an offer in every fourth clock at most.
//! - **Reset:** tasks, commands and copies are forgotten, so who does the copies and commands is reset as well.

mod accesses;
mod check;
mod copies;
mod giver;
mod ports;
mod registers;
mod slots;
mod starts;
mod tasks;
mod watchdog;

pub use accesses::DriverAccesses;
pub use check::RangeCheck;
pub use copies::DriverCopies;
pub use giver::TaskGiver;
pub(super) use ports::bit_of;
pub use ports::*;
pub use registers::{DriverRegisters, GATHERED, PLACE};
pub use slots::{TASK_WORD, TaskSlots};
pub use starts::DriverStarts;
pub use tasks::HpuTasks;
pub use watchdog::DriverWatchdog;

use super::{
    Command, ContextSettingIn, ContextShape, Copy, HPU, HPUS, LINE_BYTES, OFFSET, PAIR, PIPELINES, QUEUE,
    RegisterAccessIn, SLOT, TaskEnd, TaskOrigin, WORD, check_contexts,
};
use crate::entry::{Checked, Entry, ParameterError, Parameters as _};
use crate::stream::{FrameIn, StreamOut};
use spinneret_isa::cause;
use spinneret_regmap::pspin::{L1_BASE, L1_BYTES, L1_PACKET_BYTES, L1_PACKETS, L1_SHIFT};
use spinneret_verilog::prelude::*;

/// Bits of the number of a cluster.
pub const CLUSTER: usize = 4;
/// Tasks inside.
pub const SLOTS: usize = 20;
/// Bits of the number of a command of an HPU.
pub const COMMAND: usize = 2;
/// Commands that an HPU can have under way.
const COMMANDS: usize = 1 << COMMAND;
/// Lines of the packet in a slot.
const SLOT_LINES: usize = L1_PACKET_BYTES as usize / SLOTS / LINE_BYTES;
/// Bits of an address in L1.
const L1: usize = L1_BYTES.trailing_zeros() as usize;

/// A copy of bytes.
#[record]
pub struct CopyRequest {
    /// Address of the first byte.
    pub source: Field<{ WORD }>,
    /// Where it goes.
    pub destination: Field<{ WORD }>,
    /// Bytes.
    pub bytes: Field<{ WORD }>,
    /// {is of an HPU, slot or HPU}.
    pub tag: Field<{ SLOT + 1 }>,
}

/// Bits of an address in the L1 of a cluster above those in it.
#[kernel]
fn l1_base(cluster: Sig) -> Sig {
    let shift = L1_SHIFT as usize;
    let high = u64::from(L1_BASE >> shift) >> CLUSTER;
    cat!(
        constant(lit(high, WORD - shift - CLUSTER)),
        cluster,
        lit(0, shift - L1)
    )
}

/// Address of a slot's packet.
#[kernel]
fn slot_address(cluster: Sig, slot: Sig) -> Sig {
    let line = |slot: usize| (L1_PACKETS as usize / LINE_BYTES + slot * SLOT_LINES) as u64;
    let lines = (0..SLOTS).map(|number| (slot == number, constant(lit(line(number), L1 - OFFSET))));
    let line = first(&lines.collect::<Vec<_>>(), constant(lit(0, L1 - OFFSET)));
    cat!(l1_base(cluster), line, lit(0, OFFSET))
}

/// The driver of a cluster's HPUs.
#[module(shape: ContextShape, in_place: bool, error = ParameterError)]
pub struct ClusterDriver {
    /// Number of the cluster.
    pub cluster: Wire<In, { CLUSTER }>,
    /// Budgets of contexts: clocks that a task may take; 0: any number.
    pub budget: ContextSettingIn<{ shape.context() }, { WORD }>,
    /// Tasks.
    pub task: FrameIn<{ PAIR }>,
    /// Tasks inside.
    pub load: Wire<Out, { SLOT }>,
    /// Tasks that are done, as [`TaskEnd`] says.
    pub finished: StreamOut<{ TaskEnd::new().width }>,
    /// Accesses of the pipelines.
    pub s: [RegisterAccessIn; PIPELINES],
    /// Traps of the pipelines.
    pub trap: [ThreadTrapIn; PIPELINES],
    /// Bit n: HPU n is stopped.
    pub stop: Wire<Out, { HPUS }>,
    /// Protection ranges.
    pub range: DriverRange,
    /// Copies.
    pub copy: Copy,
    /// Commands.
    pub command: Command,
    /// Tasks that fail.
    pub fault: DriverFault,
    /// No task, command or copy is inside.
    pub idle: Wire<Out, bool>,
    /// Every HPU has read register 0 since its reset.
    pub asked: Wire<Out, bool>,
    slots: TaskSlots<{ in_place }>,
    giver: TaskGiver<{ in_place }>,
    accesses: DriverAccesses,
    tasks: HpuTasks,
    registers: DriverRegisters,
    starts: DriverStarts,
    #[new(DriverCopies::new()?)]
    copies: DriverCopies,
    watchdog: DriverWatchdog<{ shape }>,
    /// The HPU that is checked.
    turn: Reg<{ HPU }, Reset>,
}

#[kernel(ClusterDriver)]
fn update() {
    turn = turn + 1;
    let turn_after = reg(turn);
    slots.cluster = cluster;
    slots.s = task;
    load = slots.load;
    copies.packet = slots.copy;
    slots.copied = copies.packet_done;
    giver.s = slots.m;
    giver.is_there = slots.is_there;
    giver.cluster = cluster;
    giver.idle = tasks.idle;
    slots.read_word = cat!(tasks.access_slot, accesses.m.offset.slice(2, TASK_WORD));
    slots.read_pair = giver.read;
    giver.pair = slots.pair;
    range = giver.range;

    accesses.held = tasks.held;
    accesses.open = registers.open;
    accesses.task_word = slots.word;
    accesses.other_word = registers.word;
    accesses.decision = starts.decision;
    for port in 0..PIPELINES {
        accesses.s[port] = s[port];
        starts.offer[port] = accesses.offer[port];
    }

    starts.trapped = trapped(&trap, |trap| trap.valid);
    watchdog.trapped = trapped(&trap, |trap| trap.cause == cause::STOPPED);
    tasks.resets = trapped(&trap, |trap| trap.cause == WAS_RESET);

    tasks.asks = accesses.asks;
    tasks.turn = turn_after;
    tasks.given = giver.given;
    tasks.access = accesses.m;
    tasks.busy = registers.busy;
    asked = tasks.asked;
    finished = tasks.finished;
    fault = tasks.fault;
    slots.frees = tasks.frees;
    slots.freed = tasks.freed;
    slots.origin_slot[0] = tasks.origin_slot;
    tasks.origin = slots.origin[0];

    registers.cluster = cluster;
    registers.access = accesses.m;
    for number in 0..GATHERED {
        registers.gather[number] = starts.gather[number];
        starts.gathered[number] = registers.gathered[number];
    }
    registers.number = starts.number;
    registers.is_sent = starts.is_sent;
    registers.done = command.done;
    registers.done_id = command.done_id;
    registers.copied = copies.hpu_done;
    registers.copied_hpu = copies.done_hpu;

    starts.range = giver.range;
    starts.ended = tasks.ended;
    starts.open = registers.open;
    starts.full = registers.full;
    starts.begins = registers.begins;
    tasks.command_hpu = starts.decision.hpu;
    slots.origin_slot[1] = tasks.command_slot;
    starts.queue = slots.origin[1].slice(TaskOrigin::new().message.at, QUEUE);
    command = starts.command;
    copies.hpu = starts.copy;
    copy = copies.m;

    watchdog.budget = budget;
    watchdog.turn = turn;
    let message = TaskOrigin::new().message;
    watchdog.of = tasks.origin.slice(message.at + shape.own(), shape.context());
    (watchdog.gives, watchdog.given_hpu) = (giver.given.valid, giver.given.hpu);
    watchdog.held = tasks.held;
    stop = watchdog.stop;
    tasks.clocks = watchdog.clocks;
    tasks.was_stopped = watchdog.was_stopped;
    idle = reg_reset(!slots.load.any() && !registers.busy.any(), true);
}

/// Parameters of the driver.
#[derive(Parameters, Clone, Copy, Debug)]
#[parameters(block = ENTRY.name, check)]
pub struct DriverShape {
    /// Contexts, a power of two.
    #[parameter(8, range = 2..=16, power_of_two)]
    pub contexts: usize,
    /// Queues of all contexts, a power of two.
    #[parameter(16, range = 4..=256, power_of_two)]
    pub queues: usize,
}

impl DriverShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        check_contexts(self.contexts, self.queues, checked)
    }

    /// The contexts and the queues of each.
    fn contexts(self) -> ContextShape {
        ContextShape {
            contexts: self.contexts,
            queues: self.queues / self.contexts,
        }
    }
}

/// The driver as a block of the catalog.
pub(crate) const ENTRY: Entry = Entry::part(
    "cluster_driver",
    "tasks, registers, commands, copies and protection of a cluster's HPUs",
    DriverShape::parameters,
    |values| {
        Ok(Box::new(ClusterDriver::new(
            DriverShape::new(values)?.contexts(),
            false,
        )?))
    },
);
