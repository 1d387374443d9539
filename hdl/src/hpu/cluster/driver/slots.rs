use super::{CLUSTER, CopyRequest, SLOT_LINES, SLOTS, slot_address};
use crate::hpu::cluster::{LINE_BYTES, SLOT, TASK_ORIGIN, TASK_SIZE, TaskOrigin, WORD};
use crate::stream::{FrameIn, StreamOut};
use spinneret_regmap::pspin::driver as register;
use spinneret_verilog::prelude::*;

/// Bits of the number of a word of a task.
pub const TASK_WORD: usize = 5;
/// The word with the packet's address in L1.
pub(super) const PACKET: usize = 4;
/// The word with its bytes there.
pub(super) const BYTES: usize = 5;
/// The word with its address in L2.
pub(super) const SOURCE: usize = 17;
/// The word that is kept for the size of the packet in L2 and the sum: that of its register.
pub(super) const SIZE_AND_SUM: usize = register::PACKET_SUM as usize / 4;
/// Bytes of a slot's packet.
const SLOT_BYTES: usize = SLOT_LINES * LINE_BYTES;
/// Bits of a number of them.
const SIZE: usize = SLOT_BYTES.ilog2() as usize + 1;

/// The tasks inside: takes their words, has their packets copied, and names them in their order.
///
/// ```text
///  words ==> slot: words {slot, word}, origin {slot}
///       +==> order {number}: slot, source, bytes ==> copy ==(done)==> is there
/// ```
#[module]
pub struct TaskSlots {
    /// Number of the cluster.
    pub cluster: Wire<In, { CLUSTER }>,
    /// Tasks.
    pub s: FrameIn<{ WORD }>,
    /// {slot, word} of reads.
    pub read: [Wire<In, { SLOT + TASK_WORD }>; 2],
    /// The words, one clock later.
    pub word: [Wire<Out, { WORD }>; 2],
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
    #[new(Ram::new(RamStyle::Block, 1 << (SLOT + TASK_WORD), WORD).with_reads(2))]
    words: Ram,
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
    /// The next word's number; the task has begun.
    number: Reg<{ TASK_WORD }, Reset>,
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

#[kernel(TaskSlots)]
fn update() {
    s.ready = has_slot;
    let takes = s.valid && has_slot;
    let is = |wanted: usize| takes && number == wanted;
    let ends = takes && s.last;
    let address = slot_address(cluster, slot);
    let kept = if number == TASK_SIZE {
        lit(SIZE_AND_SUM as u64, TASK_WORD)
    } else {
        number
    };
    words.write(
        takes,
        cat!(slot, kept),
        if number == PACKET { address } else { s.data },
    );
    words.read_enable.word() = lit(3, 2);
    origins.write(is(TASK_ORIGIN), slot, s.data.slice(0, TaskOrigin::new().width));
    for port in 0..2 {
        word[port] = words.read(port, read[port]);
        origin[port] = origins.read(port, origin_slot[port]);
    }
    order.write(ends, comes, slot);
    sources.write(is(SOURCE), comes, s.data);
    sizes.write(is(BYTES), comes, limited(s.data));
    if takes {
        assume!(
            s.last == (number == TASK_ORIGIN),
            "the origin is the last word of a task"
        );
        number = if s.last { lit(0, TASK_WORD) } else { number + 1 };
    }

    /// The lowest free slot is the next one.
    let picks = !has_slot && free.any();
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
