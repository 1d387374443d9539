//! Port bundles between the blocks of the clusters.
//!
//! A line is 64 bytes of memory at a multiple of 64.

use crate::axi::{AxiExtras, AxiShape};
use crate::entry::{Checked, ParameterError};
use spinneret_regmap::{message_id, pspin, shares};
use spinneret_verilog::prelude::*;

/// Bits of an address, of a length and of a word.
pub const WORD: usize = 32;
/// Bits of an address of the host.
pub const HOST_ADDRESS: usize = 64;
/// Bits of a message id.
pub const MESSAGE_ID: usize = 10;
/// Bits of the id of a command to the NIC, with two clusters.
pub const COMMAND_ID: usize = 6;
/// Bits of a line's data.
pub const LINE_DATA: usize = 512;
/// Bytes of a line.
pub const LINE_BYTES: usize = LINE_DATA / 8;
/// Bits of an address within a line.
pub const OFFSET: usize = LINE_BYTES.trailing_zeros() as usize;
/// Bits of the number of a line: bits 31 to 6 of its address.
pub const LINE: usize = WORD - OFFSET;
/// Bits of the number of a line of handler memory.
pub const HANDLER_LINE: usize = line_bits(pspin::HANDLER_BYTES);
/// Bits of the number of a line of the packet buffer.
pub const PACKET_LINE: usize = line_bits(pspin::PACKET_BYTES);
/// Bits of the number of a line of L1.
pub const L1_LINE: usize = line_bits(pspin::L1_BYTES);
/// Bits of the number of a word of program memory.
pub const PROGRAM_ADDR: usize = pspin::PROGRAM_BYTES.ilog2() as usize - 2;
/// Widths of the AXI slaves: those of the public design.
pub const SLAVE: AxiShape = AxiShape {
    address: WORD,
    data: LINE_DATA,
    id: 6,
    extras: AxiExtras::all(4),
};
/// Clocks from a read's acceptance to its data.
pub const READ_CLOCKS: usize = 6;
/// HPUs of a cluster.
pub const HPUS: usize = 8;
/// Bits of the number of an HPU in its cluster.
pub const HPU: usize = 3;
/// Pipelines of a cluster.
pub const PIPELINES: usize = 2;
/// Threads of a pipeline.
pub const THREADS: usize = HPUS / PIPELINES;
/// Bits of the number of a thread in its pipeline.
pub const THREAD: usize = HPU - PIPELINES.trailing_zeros() as usize;
/// Bits of the number of a task slot in its cluster.
pub const SLOT: usize = 5;
/// Bits of the number of a queue and of a packet cell.
pub const QUEUE: usize = 8;
/// Bits of the number of a packet cell.
pub const CELL: usize = 9;
/// Bits of two words, the first one lowest.
pub const PAIR: usize = 2 * WORD;
/// The words of a task on its way to a cluster, by their numbers: those that an HPU reads, then [`TASK_SIZE`] and [`TASK_ORIGIN`].
/// [`TASK_SOURCE`] comes in the place of [`TASK_PACKET`], which is not known before, and its own place has anything.
pub const TASK_PAIRS: [[usize; 2]; 11] = [
    [0, 1],
    [2, 3],
    [TASK_PACKET, 5],
    [6, 10],
    [7, 11],
    [8, 12],
    [9, 13],
    [14, 15],
    [16, 18],
    [TASK_SOURCE, TASK_SIZE],
    [19, TASK_ORIGIN],
];
/// Bits of the number of a pair.
pub const TASK_PAIR: usize = (TASK_PAIRS.len() - 1).ilog2() as usize + 1;
/// The word with the packet's address in L1.
pub const TASK_PACKET: usize = 4;
/// The word with its address in the packet buffer.
pub const TASK_SOURCE: usize = 17;
/// The word with the bytes of the packet and the sum of its IP payload, as the HER has them.
pub const TASK_SIZE: usize = 20;
/// The word with a [`TaskOrigin`].
pub const TASK_ORIGIN: usize = 21;
/// Bits of the clocks of a task; longer ones report the most that these bits can say.
pub const TASK_CLOCKS: usize = 20;
/// The largest weight of a context.
pub const WEIGHTS: u64 = shares::MAX_WEIGHT as u64;
/// Bits of a weight.
pub const WEIGHT: usize = shares::MAX_WEIGHT.ilog2() as usize + 1;
/// Bits of the rate of a context.
pub const RATE: usize = shares::EGRESS_RATE.bits.mask(0).count_ones() as usize;
/// Bits of a rate below a byte in a clock.
pub const RATE_FRACTION: usize = shares::RATE_FRACTION as usize;
/// Words of a command.
pub const COMMAND_WORDS: usize = 7;

/// The pair of a task with this word.
pub(super) const fn pair_of(word: usize) -> usize {
    let mut pair = 0;
    while TASK_PAIRS[pair][0] != word && TASK_PAIRS[pair][1] != word {
        pair += 1;
    }
    pair
}

/// Bits of the number of a line of a memory of that many bytes, a power of two.
const fn line_bits(bytes: u32) -> usize {
    bytes.ilog2() as usize - OFFSET
}

/// Reads of lines: one a clock. An offer may be withdrawn.
#[interface(LineReadIn)]
pub struct LineRead {
    /// A line is asked for.
    pub valid: Wire<Out, bool>,
    /// Its number.
    pub line: Wire<Out, { LINE }>,
    /// The read is accepted in this clock.
    pub ready: Wire<In, bool>,
    /// With `ready`: there is no memory, and no data follows.
    pub failed: Wire<In, bool>,
    /// The data of the read that was accepted [`READ_CLOCKS`] clocks before.
    pub data_valid: Wire<In, bool>,
    /// It; else 0.
    pub data: Wire<In, { LINE_DATA }>,
}

/// Writes of lines: one a clock. Accesses to a memory take effect in the order in which they are accepted.
#[interface(LineWriteIn)]
pub struct LineWrite {
    /// A line is to be written.
    pub valid: Wire<Out, bool>,
    /// Its number.
    pub line: Wire<Out, { LINE }>,
    /// The bytes that are written.
    pub strobe: Wire<Out, { LINE_BYTES }>,
    /// The data.
    pub data: Wire<Out, { LINE_DATA }>,
    /// The write is accepted in this clock.
    pub ready: Wire<In, bool>,
    /// With `ready`: there is no memory, and nothing is written.
    pub failed: Wire<In, bool>,
}

/// The port of a memory of lines, which takes a read and a write in each clock.
#[interface(LinePortIn, bits: usize)]
pub struct LinePort {
    /// A line is read.
    pub read: Wire<Out, bool>,
    /// Its number in the memory.
    pub read_line: Wire<Out, { bits }>,
    /// Its data, two clocks later, as it was before a write of the same clock.
    pub read_data: Wire<In, { LINE_DATA }>,
    /// Bytes that are written; 0 if none are.
    pub write_strobe: Wire<Out, { LINE_BYTES }>,
    /// The line that is written.
    pub write_line: Wire<Out, { bits }>,
    /// The data.
    pub write_data: Wire<Out, { LINE_DATA }>,
}

/// An access of an HPU to a memory outside of its cluster, or to standard output.
#[interface(FarAccessIn)]
pub struct FarAccess {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
    /// Number of the HPU in its cluster.
    pub hpu: Wire<Out, { HPU }>,
    /// Byte address of the word: bits 1:0 are 0.
    pub address: Wire<Out, { WORD }>,
    /// It is a store, and not atomic.
    pub is_write: Wire<Out, bool>,
    /// Bit 5: it is an atomic instruction; bits 4:0 are then bits 31:27 of the instruction.
    pub atomic: Wire<Out, 6>,
    /// Bytes that are written or read.
    pub strobe: Wire<Out, 4>,
    /// Bytes to write in their lanes; the operand of an atomic instruction.
    pub data: Wire<Out, { WORD }>,
    /// An access is done. Each HPU has one under way at most.
    pub done: Wire<In, bool>,
    /// Of this HPU.
    pub done_hpu: Wire<In, { HPU }>,
    /// The word before the access; after `sc.w` 0 (stored) or 1.
    pub done_data: Wire<In, { WORD }>,
    /// There is no memory: nothing was done.
    pub done_failed: Wire<In, bool>,
}

/// An access of an HPU to the registers of its driver, or of its part of the copy engine.
#[interface(RegisterAccessIn)]
pub struct RegisterAccess {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// Number of the HPU in its cluster.
    pub hpu: Wire<Out, { HPU }>,
    /// It is one of the copy engine.
    pub is_dma: Wire<Out, bool>,
    /// Byte offset of the register.
    pub offset: Wire<Out, 8>,
    /// It is a store; else a load.
    pub is_write: Wire<Out, bool>,
    /// Word to store.
    pub data: Wire<Out, { WORD }>,
    /// It is made in user mode.
    pub is_user: Wire<Out, bool>,
    /// It takes place in this clock.
    pub ready: Wire<In, bool>,
    /// It cannot: there is no such register, or not for this access. `ready` is ignored.
    pub refused: Wire<In, bool>,
    /// The word of a load, two clocks later.
    pub read_data: Wire<In, { WORD }>,
}

/// A copy of bytes between memories. Copies are done in order.
#[interface(CopyIn)]
pub struct Copy {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
    /// Address of the first byte.
    pub source: Wire<Out, { WORD }>,
    /// Where it goes.
    pub destination: Wire<Out, { WORD }>,
    /// Bytes; 0: nothing is copied.
    pub bytes: Wire<Out, { WORD }>,
    /// Number for its end.
    pub tag: Wire<Out, 6>,
    /// A copy is done: reads of its destination see it from now on.
    pub done: Wire<In, bool>,
    /// Its number.
    pub done_tag: Wire<In, 6>,
    /// A part of it had no memory, and was not copied.
    pub done_failed: Wire<In, bool>,
}

/// A command of a handler.
#[interface(CommandIn)]
pub struct Command {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// It is taken.
    pub ready: Wire<In, bool>,
    /// HPU and the HPU's number of the command.
    pub id: Wire<Out, 5>,
    /// 0 copy between host and NIC, 1 send, 2 write to the host.
    pub kind: Wire<Out, 2>,
    /// Its words, the first one lowest.
    pub words: Wire<Out, { COMMAND_WORDS * WORD }>,
    /// Queue of the task's message, which names the context.
    pub queue: Wire<Out, { QUEUE }>,
    /// A command is done.
    pub done: Wire<In, bool>,
    /// Its id.
    pub done_id: Wire<In, 5>,
}

/// Where a task comes from: what the scheduler gets back when it has ended.
#[record]
pub struct TaskOrigin {
    /// Cell of its packet.
    pub packet: Field<{ CELL }>,
    /// Queue of its message.
    pub message: Field<{ QUEUE }>,
    /// 0 header, 1 payload, 2 completion handler.
    pub stage: Field<2>,
    /// The packet is done with it.
    pub frees: Field<1>,
}

/// The end of a task.
#[record]
pub struct TaskEnd {
    /// As [`TaskOrigin`] says.
    pub origin: Field<{ TaskOrigin::new().width }>,
    /// Clocks that an HPU was taken by it.
    pub clocks: Field<{ TASK_CLOCKS }>,
    /// It failed.
    pub failed: Field<1>,
    /// It was stopped because its budget was used up.
    pub is_over: Field<1>,
}

/// A setting of a context, when the host writes it.
#[interface(ContextSettingIn, context: usize, bits: usize)]
pub struct ContextSetting {
    /// It is set in this clock.
    pub write: Wire<Out, bool>,
    /// The context.
    pub context: Wire<Out, { context }>,
    /// The value.
    pub value: Wire<Out, { bits }>,
}

/// Counters of a context.
#[record]
pub struct TotalFields {
    /// Tasks that have ended.
    pub tasks: Field<{ WORD }>,
    /// Clocks that they took.
    pub clocks: Field<{ 2 * WORD }>,
    /// Those of them that used up their budget.
    pub budget_ends: Field<{ WORD }>,
    /// Those of them that failed.
    pub failures: Field<{ WORD }>,
}

/// A read of counters.
#[interface(ContextTotalsIn, context: usize)]
pub struct ContextTotals {
    /// The context.
    pub context: Wire<Out, { context }>,
    /// Its counters in the same clock, as [`TotalFields`] says.
    pub words: Wire<In, { TotalFields::new().width }>,
}

/// A read of a counter of bytes.
#[interface(ContextBytesIn, context: usize)]
pub struct ContextBytes {
    /// The context.
    pub context: Wire<Out, { context }>,
    /// Its bytes in the same clock.
    pub bytes: Wire<In, { 2 * WORD }>,
}

/// Contexts and queues of messages: the number of a queue is that of its context, then its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextShape {
    /// Contexts, a power of two.
    pub contexts: usize,
    /// Queues of each, a power of two.
    pub queues: usize,
}

impl ContextShape {
    /// Those of the NIC.
    pub const NIC: Self = Self {
        contexts: 1 << message_id::CONTEXT_BITS,
        queues: 1 << message_id::ID_BITS,
    };

    /// Bits of the number of a context.
    pub fn context(self) -> usize {
        address_width(self.contexts)
    }

    /// Bits of the number of a queue in its context.
    pub fn own(self) -> usize {
        address_width(self.queues)
    }
}

/// The number of a queue, whose highest bits are the context, from the lowest bits of a message id. A context has 2^`own` queues.
#[kernel]
pub(super) fn queue_of(message: Sig, own: usize) -> Sig {
    let (low, context) = (message_id::ID_BITS as usize, message.width() - own);
    if own > low {
        let (lowest, above) = message.split_at(low);
        let (context, high) = above.split_at(context);
        cat!(context, high, lowest)
    } else {
        message
    }
}

/// The lowest bits of the message ids of a queue: the reverse of [`queue_of`].
#[kernel]
pub(super) fn message_of(queue: Sig, own: usize) -> Sig {
    let low = message_id::ID_BITS as usize;
    if own > low {
        let (of_context, context) = queue.split_at(own);
        let (lowest, high) = of_context.split_at(low);
        cat!(high, context, lowest)
    } else {
        queue
    }
}

/// Refuses less than two packet cells for each queue.
pub(super) fn check_cells(cells: usize, queues: usize, checked: Checked<'_>) -> Result<(), ParameterError> {
    let least = 2 * queues;
    if cells < least {
        let reason = format!("it must be at least {least}, two for each queue");
        return Err(checked.refuse("cells", reason));
    }
    Ok(())
}

/// Refuses contexts that have less than two queues each.
pub(super) fn check_contexts(
    contexts: usize,
    queues: usize,
    checked: Checked<'_>,
) -> Result<(), ParameterError> {
    if queues < 2 * contexts {
        let reason = format!("it must be at most {}, with two queues for each", queues / 2);
        return Err(checked.refuse("contexts", reason));
    }
    Ok(())
}
