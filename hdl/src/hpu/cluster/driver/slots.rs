use super::{CLUSTER, CopyRequest, SLOT_LINES, SLOTS, slot_address};
use crate::hpu::cluster::{
    LINE_BYTES, PAIR, SLOT, TASK_PACKET, TASK_PAIR, TASK_PAIRS, TASK_SIZE, TASK_SOURCE, TaskOrigin, WORD,
    pair_of,
};
use crate::stream::{FrameIn, StreamOut};
use spinneret_regmap::pspin::driver as register;
use spinneret_verilog::prelude::*;

/// Bits of the number of a word of a task.
pub const TASK_WORD: usize = 5;
/// The pairs with the packet's address in L1, and in L2.
const PACKET: usize = pair_of(TASK_PACKET);
const SOURCE: usize = pair_of(TASK_SOURCE);
const LAST: usize = TASK_PAIRS.len() - 1;
/// Bytes of a slot's packet.
const SLOT_BYTES: usize = SLOT_LINES * LINE_BYTES;
/// Bits of a number of them.
const SIZE: usize = SLOT_BYTES.ilog2() as usize + 1;

/// The tasks inside: takes their words, has their packets copied, and names them in their order.
///
/// ```text
///  pairs ==> slot: pairs {slot, pair}, origin {slot}
///       +==> order {number}: slot, source, bytes ==> copy ==(done)==> is there
/// ```
#[module(in_place: bool)]
pub struct TaskSlots {
    /// Number of the cluster.
    pub cluster: Wire<In, { CLUSTER }>,
    /// Tasks.
    pub s: FrameIn<{ PAIR }>,
    /// {slot, number} of a word that is read: that of its register.
    pub read_word: Wire<In, { SLOT + TASK_WORD }>,
    /// The word, one clock later.
    pub word: Wire<Out, { WORD }>,
    /// {slot, number} of a pair that is read.
    pub read_pair: Wire<In, { SLOT + TASK_PAIR }>,
    /// The pair, one clock later.
    pub pair: Wire<Out, { PAIR }>,
    /// Slots whose origin is read.
    pub origin_slot: [Wire<In, { SLOT }>; 2],
    /// The origins, in the same clock.
    pub origin: [Wire<Out, { TaskOrigin::new().width }>; 2],
    /// Copies of packets.
    pub copy: StreamOut<{ CopyRequest::new().width }>,
    /// The oldest one is done.
    pub copied: Wire<In, bool>,
    /// Slots whose task has all words, and whose copy is under way.
    pub m: StreamOut<{ SLOT }>,
    /// The packet of the one that was taken last is there.
    pub is_there: Wire<Out, bool>,
    /// A slot is free again.
    pub frees: Wire<In, bool>,
    /// That slot.
    pub freed: Wire<In, { SLOT }>,
    /// Tasks inside.
    pub load: Wire<Out, { SLOT }>,
    #[new(Ram::new(RamStyle::Block, 1 << (SLOT + TASK_PAIR), PAIR).with_reads(2))]
    pairs: Ram,
    #[new(Ram::new(RamStyle::Distributed, 1 << SLOT, TaskOrigin::new().width).with_reads(2))]
    origins: Ram,
    /// By the number of the task: its slot, and what is copied.
    #[new(Ram::new(RamStyle::Distributed, 1 << SLOT, SLOT).with_reads(2))]
    order: Ram,
    #[new(Ram::new(RamStyle::Distributed, 1 << SLOT, WORD))]
    sources: Ram,
    #[new(Ram::new(RamStyle::Distributed, 1 << SLOT, SIZE))]
    sizes: Ram,
    #[new(Reg::reset_to(fill(true, SLOTS)))]
    free: Reg,
    /// The slot of the next task, if there is one.
    slot: Reg<{ SLOT }>,
    has_slot: Reg<bool, Reset>,
    /// The number of the next pair.
    number: Reg<{ TASK_PAIR }, Reset>,
    /// Address in L2 of the packet whose pairs come.
    source: Reg<{ WORD }>,
    count: Reg<{ SLOT }, Reset>,
    /// Numbers of the tasks that come, are copied, have been copied, and are given next.
    comes: Reg<{ SLOT }, Reset>,
    asks: Reg<{ SLOT }, Reset>,
    waits: Reg<{ SLOT }, Reset>,
    gives: Reg<{ SLOT }, Reset>,
}

/// The bytes of a packet that fit into its slot.
#[kernel]
pub(super) fn limited(bytes: Sig) -> Sig {
    if bytes > SLOT_BYTES {
        constant(lit(SLOT_BYTES as u64, SIZE))
    } else {
        bytes.slice(0, SIZE)
    }
}

/// The pair of the word with this number, as its register has it, and whether it is the second one.
#[kernel]
fn place_of(number: Sig) -> (Sig, Sig<bool>) {
    let registers = TASK_PAIRS.map(|pair| {
        pair.map(|word| {
            if word == TASK_SIZE {
                register::PACKET_SUM as usize / 4
            } else {
                word
            }
        })
    });
    let pairs = registers.iter().enumerate().map(|(pair, [one, other])| {
        let is_it = number == *one || number == *other;
        (is_it, constant(lit(pair as u64, TASK_PAIR)))
    });
    let seconds = word_of(registers.iter().map(|[_, second]| number == *second));
    (
        first(&pairs.collect::<Vec<_>>(), constant(lit(0, TASK_PAIR))),
        seconds.any(),
    )
}

#[kernel(TaskSlots)]
fn update() {
    s.ready = has_slot;
    let takes = s.valid && has_slot;
    let is = |wanted: usize| takes && number == wanted;
    let ends = takes && s.last;
    let (low, high) = s.data.split_at(WORD);
    let packet_address = if in_place {
        low
    } else {
        slot_address(cluster, slot)
    };
    let low = first(
        &[(number == PACKET, packet_address), (number == SOURCE, source)],
        low,
    );
    pairs.write(takes, cat!(slot, number), cat!(high, low));
    pairs.read_enable.word() = lit(3, 2);
    if is(PACKET) {
        source = s.data.slice(0, WORD);
    }
    let (word_slot, word_number) = (read_word.slice(TASK_WORD, SLOT), read_word.slice(0, TASK_WORD));
    let (place, is_second) = place_of(word_number);
    let (first_word, second_word) = pairs.read(0, cat!(word_slot, place)).split_at(WORD);
    word = if reg(is_second) { second_word } else { first_word };
    pair = pairs.read(1, read_pair);
    origins.write(is(LAST), slot, high.slice(0, TaskOrigin::new().width));
    for port in 0..2 {
        origin[port] = origins.read(port, origin_slot[port]);
    }
    order.write(ends, comes, slot);
    sources.write(is(PACKET), comes, s.data.slice(0, WORD));
    sizes.write(is(PACKET), comes, limited(high));
    if takes {
        assume!(
            s.last == (number == LAST),
            "the origin is in the last pair of a task"
        );
        number = if s.last { lit(0, TASK_PAIR) } else { number + 1 };
    }

    /// The lowest free slot is the next one, so that one task follows another without a gap.
    let picks = (!has_slot || ends) && free.any();
    let lowest = super::ports::lowest(free, SLOT);
    if picks {
        slot = lowest;
    }
    has_slot = (has_slot && !ends) || picks;
    let taken = super::ports::bit_of(lowest, picks).slice(0, SLOTS);
    free = (free & !taken) | super::ports::bit_of(freed, frees).slice(0, SLOTS);
    let begins = is(0);
    if begins != frees {
        count = if begins { count + 1 } else { count - 1 };
    }
    load = count;

    if ends {
        comes = comes + 1;
    }
    let packet = order.read(0, asks);
    let request = CopyRequest::new();
    copy.valid = asks != comes;
    copy.data = pack!(request {
        source: sources.read(0, asks),
        destination: slot_address(cluster, packet),
        bytes: sizes.read(0, asks).resize(WORD),
        tag: packet.resize(SLOT + 1)
    });
    if copy.valid && copy.ready {
        asks = asks + 1;
    }
    if copied {
        assume!(waits != asks, "only a copy that was asked for is done");
        waits = waits + 1;
    }
    m.valid = gives != asks;
    is_there = waits + 1 != gives;
    m.data = order.read(1, gives);
    if m.valid && m.ready {
        gives = gives + 1;
    }
}
