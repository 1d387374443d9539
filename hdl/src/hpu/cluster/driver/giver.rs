use super::slots::limited;
use super::{CLUSTER, DriverRange, GRAIN, Given, RANGE, l1_base};
use crate::hpu::SCRATCHPAD_RANGE;
use crate::hpu::cluster::{
    HPU, HPUS, OFFSET, PAIR, SLOT, TASK_PACKET, TASK_PAIR, TASK_SOURCE, WORD, pair_of,
};
use crate::stream::StreamIn;
use spinneret_regmap::pspin::packet_size::SIZE_BITS;
use spinneret_regmap::pspin::{
    HANDLER_BASE, HANDLER_BYTES, L1_AREA_BYTES, L1_AREAS, SHARED_BYTES, SHARED_SCRATCHPAD,
};
use spinneret_verilog::prelude::*;

/// Number of the word with the address of scratchpad 0.
const SCRATCHPADS: usize = 6;
/// The word with the address of each range, which is in a pair with its bytes; the stack has none.
const ADDRESSES: [usize; 7] = [
    TASK_PACKET,
    NONE,
    2,
    SCRATCHPADS + SHARED_SCRATCHPAD,
    TASK_SOURCE,
    SCRATCHPADS,
    SCRATCHPADS + 1,
];
const _: () = assert!(ADDRESSES[SCRATCHPAD_RANGE] == SCRATCHPADS);
const NONE: usize = 0;
/// The ranges of the packet in L1, stack, shared data, packet in L2.
const PACKET: usize = 0;
const STACK: usize = 1;
const SHARED: usize = 3;
const SOURCE: usize = 4;
/// Bits of a sum of address and bytes.
const SUM: usize = WORD + 1;

/// Gives tasks to idle HPUs, the lowest number first, after setting the ranges that the task may access. The last range waits for
/// the task's packet.
///
/// Ranges are of whole grains. One without bytes is empty, and so is one that does not end below 512 MiB.
#[module(in_place: bool)]
pub struct TaskGiver {
    /// Number of the cluster.
    pub cluster: Wire<In, { CLUSTER }>,
    /// HPUs that wait for a task.
    pub idle: Wire<In, { HPUS }>,
    /// Slots whose task has all words, and whose copy is under way.
    pub s: StreamIn<{ SLOT }>,
    /// The packet of the one that was taken last is there.
    pub is_there: Wire<In, bool>,
    /// {slot, number} of a pair that is read.
    pub read: Wire<Out, { SLOT + TASK_PAIR }>,
    /// The pair, one clock later.
    pub pair: Wire<In, { PAIR }>,
    /// Protection ranges.
    pub range: DriverRange,
    /// The task is given.
    pub given: Given,
    busy: Reg<bool, Reset>,
    /// Pairs are read.
    reads: Reg<bool, Reset>,
    /// The range whose pair is read.
    step: Reg<{ RANGE }>,
    hpu: Reg<{ HPU }>,
    slot: Reg<{ SLOT }>,
    /// The range's address and bytes.
    from: Reg<{ WORD }>,
    bytes: Reg<{ WORD }>,
}

#[kernel(TaskGiver)]
fn update() {
    let last = ADDRESSES.len() - 1;
    /// First clock: a pair is read.
    let pairs = ADDRESSES.iter().enumerate().map(|(range, word)| {
        let pair = constant(lit(pair_of(*word) as u64, TASK_PAIR));
        (step == range, pair)
    });
    read = cat!(
        slot,
        first(&pairs.collect::<Vec<_>>(), constant(lit(0, TASK_PAIR)))
    );

    /// Second clock: it is there. Third clock: the range's address and bytes. Stacks have no words.
    let number_2 = reg(reg(step));
    let (address, size) = reg(pair).split_at(WORD);
    let area = constant(lit(u64::from(L1_AREAS), 18)) + area_of(hpu);
    let stack = cat!(l1_base(cluster), area);
    from = if number_2 == STACK { stack } else { address };
    let copied = if in_place {
        size
    } else {
        limited(size).resize(WORD)
    };
    bytes = first(
        &[
            (number_2 == PACKET, copied),
            (number_2 == SOURCE, size.slice(0, SIZE_BITS).resize(WORD)),
            (number_2 == STACK, constant(lit(L1_AREA_BYTES.into(), WORD))),
        ],
        size,
    );

    /// Fourth clock: the end in bytes. Fifth clock: in grains.
    let sum = reg(from.resize(SUM) + bytes.resize(SUM));
    let (part, grains) = sum.split_at(OFFSET);
    let grains = reg(grains + part.any().word().resize(SUM - OFFSET));
    let first_grain = reg(reg(from.slice(OFFSET, GRAIN)));
    let has_any = reg(bytes.any());
    let has_bytes = reg(has_any);

    /// Shared data that is not in handler memory is that of the only program.
    let number_4 = reg(reg(number_2));
    let handler = HANDLER_BYTES.trailing_zeros() as usize;
    let place = reg(from.slice(handler, WORD - handler));
    let has_own = has_any && place == u64::from(HANDLER_BASE >> handler);
    let is_only = reg(number_4 == SHARED && !has_own);

    /// Sixth clock: the range is set, and after the last one the task is given.
    let moves = reads && (step != last || is_there);
    let writes = staged("writes", 0, moves).reset_to(false).at(5);
    let number_5 = reg(number_4);
    let (end, above) = grains.split_at(GRAIN);
    let is_range = has_bytes && !above.any();
    let grain = |address: u32| constant(lit(u64::from(address >> OFFSET), GRAIN));
    let (only, only_end) = (grain(HANDLER_BASE), grain(HANDLER_BASE + SHARED_BYTES));
    range.write = writes;
    range.hpu = hpu;
    range.number = number_5;
    range.first = if is_only {
        only
    } else {
        first_grain & is_range.repeat(GRAIN)
    };
    range.end = if is_only {
        only_end
    } else {
        end & is_range.repeat(GRAIN)
    };
    let is_given = reg_reset(writes && number_5 == last, false);
    given.valid = is_given;
    given.hpu = hpu;
    given.slot = slot;

    /// The next task.
    let starts = !busy && s.valid && idle.any();
    s.ready = !busy && idle.any();
    if starts {
        hpu = super::ports::lowest(idle, HPU);
        slot = s.data;
        step = 0;
        reads = true;
    } else if moves {
        step = step + 1;
        reads = step != last;
    }
    busy = starts || (busy && !is_given);
}

/// Bytes from the first area of an HPU in L1 to that of this one.
#[kernel]
fn area_of(hpu: Sig) -> Sig {
    let areas = (0..HPUS).map(|number| {
        let offset = u64::from(L1_AREA_BYTES) * number as u64;
        (hpu == number, constant(lit(offset, 18)))
    });
    first(&areas.collect::<Vec<_>>(), constant(lit(0, 18)))
}
