use super::slots::{BYTES, PACKET, SIZE_AND_SUM, SOURCE, TASK_WORD, limited};
use super::{CLUSTER, DriverRange, GRAIN, Given, RANGE, l1_base};
use crate::hpu::cluster::{HPU, HPUS, OFFSET, SLOT, WORD};
use crate::stream::StreamIn;
use spinneret_regmap::pspin::packet_size::SIZE_BITS;
use spinneret_regmap::pspin::{
    HANDLER_BASE, HANDLER_BYTES, L1_AREA_BYTES, L1_AREAS, SHARED_BYTES, SHARED_SCRATCHPAD,
};
use spinneret_verilog::prelude::*;

/// Words with address and bytes of each range; those of the stack are no words.
const WORDS: [[usize; 2]; 7] = [
    [PACKET, BYTES],
    STACK,
    [2, 3],
    [
        SCRATCHPADS[0] + SHARED_SCRATCHPAD,
        SCRATCHPADS[1] + SHARED_SCRATCHPAD,
    ],
    [SOURCE, SIZE_AND_SUM],
    SCRATCHPADS,
    [SCRATCHPADS[0] + 1, SCRATCHPADS[1] + 1],
];
const STACK: [usize; 2] = [0; 2];
/// Those of scratchpad 0.
const SCRATCHPADS: [usize; 2] = [6, 10];
/// The range of shared data.
const SHARED: usize = 3;
/// Bits of a sum of address and bytes.
const SUM: usize = WORD + 1;

/// Gives tasks to idle HPUs, the lowest number first, after setting the ranges that the task may access. The last range waits for
/// the task's packet.
///
/// Ranges are of whole grains. One without bytes is empty, and so is one that does not end below 512 MiB.
#[module]
pub struct TaskGiver {
    /// Number of the cluster.
    pub cluster: Wire<In, { CLUSTER }>,
    /// HPUs that wait for a task.
    pub idle: Wire<In, { HPUS }>,
    /// Slots whose task has all words, and whose copy is under way.
    pub s: StreamIn<{ SLOT }>,
    /// The packet of the one that was taken last is there.
    pub is_there: Wire<In, bool>,
    /// {slot, word} of a read.
    pub read: Wire<Out, { SLOT + TASK_WORD }>,
    /// The word, one clock later.
    pub word: Wire<In, { WORD }>,
    /// Protection ranges.
    pub range: DriverRange,
    /// The task is given.
    pub given: Given,
    busy: Reg<bool, Reset>,
    /// Words are read.
    reads: Reg<bool, Reset>,
    /// {range, bytes} of the word that is read.
    step: Reg<{ RANGE + 1 }>,
    hpu: Reg<{ HPU }>,
    slot: Reg<{ SLOT }>,
    /// The range's address and bytes.
    from: Reg<{ WORD }>,
    bytes: Reg<{ WORD }>,
}

#[kernel(TaskGiver)]
fn update() {
    let last = WORDS.len() - 1;
    /// First clock: a word is read.
    let (is_bytes, number) = (step[0], step.slice(1, RANGE));
    let pairs = WORDS.iter().enumerate();
    let address_word = pairs
        .clone()
        .map(|(range, pair)| (number == range, constant(lit(pair[0] as u64, TASK_WORD))));
    let bytes_word = pairs.map(|(range, pair)| (number == range, constant(lit(pair[1] as u64, TASK_WORD))));
    let none = constant(lit(0, TASK_WORD));
    let address_word = first(&address_word.collect::<Vec<_>>(), none);
    let bytes_word = first(&bytes_word.collect::<Vec<_>>(), none);
    read = cat!(slot, if is_bytes { bytes_word } else { address_word });

    /// Second clock: it is there. Stacks have no words.
    let number_1 = reg(number);
    let is_bytes_1 = reg(is_bytes);
    let (is_packet, is_stack) = (number_1 == 0, number_1 == 1);
    let area = constant(lit(u64::from(L1_AREAS), 18)) + area_of(hpu);
    let stack = cat!(l1_base(cluster), area);
    let address = if is_stack { stack } else { word };
    let size = first(
        &[
            (is_packet, limited(word).resize(WORD)),
            (number_1 == 4, word.slice(0, SIZE_BITS).resize(WORD)),
            (is_stack, constant(lit(L1_AREA_BYTES.into(), WORD))),
        ],
        word,
    );
    if is_bytes_1 {
        bytes = size;
    } else {
        from = address;
    }

    /// Third clock: the end in bytes. Fourth clock: in grains.
    let sum = reg(from.resize(SUM) + bytes.resize(SUM));
    let (part, grains) = sum.split_at(OFFSET);
    let grains = reg(grains + part.any().word().resize(SUM - OFFSET));
    let first_grain = reg(reg(from.slice(OFFSET, GRAIN)));
    let has_any = reg(bytes.any());
    let has_bytes = reg(has_any);

    /// Shared data that is not in handler memory is that of the only program.
    let number_3 = reg(reg(number_1));
    let handler = HANDLER_BYTES.trailing_zeros() as usize;
    let place = reg(from.slice(handler, WORD - handler));
    let has_own = has_any && place == u64::from(HANDLER_BASE >> handler);
    let is_only = reg(number_3 == SHARED && !has_own);

    /// Fifth clock: the range is set, and after the last one the task is given.
    let sums = reg_reset(reg_reset(reads, false) && is_bytes_1, false);
    let writes = reg_reset(reg_reset(sums, false), false);
    let number_4 = reg(number_3);
    let (end, above) = grains.split_at(GRAIN);
    let is_range = has_bytes && !above.any();
    let grain = |address: u32| constant(lit(u64::from(address >> OFFSET), GRAIN));
    let (only, only_end) = (grain(HANDLER_BASE), grain(HANDLER_BASE + SHARED_BYTES));
    range.write = writes;
    range.hpu = hpu;
    range.number = number_4;
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
    let is_given = reg_reset(writes && number_4 == last, false);
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
    } else if reads && (step != 2 * last || is_there) {
        step = step + 1;
        reads = step != 2 * last + 1;
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
