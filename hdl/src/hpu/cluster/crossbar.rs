//! Joins those that read and write lines with the memories: handler memory, packet buffer, L1 of each cluster.
//!
//! ```text
//!               t          t + 1           t + 2          t + 4        t + 5           t + 6
//!  read[0]  ==> grant ==> number, line ==> memory port ==> data ====> register ======> data of each reader
//!  write[0] ==> grant ==> number, line, ==> memory port
//!  ...                    strobes, data
//! ```
//!
//! # Contract
//! - **Memories:** each accepts one read and one write in a clock, and all of them at the same time. Where several ask for the
//!   same memory, the one that was served least recently goes first, readers and writers each among themselves: no block waits
//!   for longer than the others have one turn each, and for rests.
//! - **Rests:** an L1 takes no reads, or writes, for 8 clocks after 64 of them, where a clock without one makes up for eight. So HPUs get to
//!   their words, and one way of an L1 carries 113 Gb/s of lines at least.
//! - **Latency:** a read that is accepted in clock t has its data in t + [`READ_CLOCKS`]; then `data_valid` is high, else the
//!   data is 0. Accesses that are accepted in clock t are at the port of their memory in t + 2.
//! - **Ordering:** accesses to a memory take effect in the order of their acceptance. A read that is accepted in the same clock
//!   as a write of its line returns what was there before.
//! - **No memory:** `failed` follows `line`. Such an access takes its turn at the memory whose address agrees with its own in the
//!   bits that tell memories apart (26, 20, and from 22 on the cluster); when it is accepted, nothing happens.
//! - **Hold:** while `hold` is high, only writer 0 is accepted at the memory that its line names, whether it offers a write or not, if that
//!   is handler memory or packet buffer. Reads continue.
//! - **Paths:** `ready` follows the `valid`, `line` and `hold` of the same clock; `failed` follows `line`. All other
//!   outputs are registers. An offer may be withdrawn.
//! - **Reset:** a clock suffices. No `data_valid` comes of reads that were accepted before, though the data of the first clock
//!   after it may be a line; writes that were accepted may be lost.

use super::{
    HANDLER_LINE, L1_LINE, LINE, LINE_BYTES, LINE_DATA, LinePort, LineReadIn, LineWriteIn, OFFSET,
    PACKET_LINE, READ_CLOCKS,
};
use crate::entry::Entry;
use spinneret_regmap::pspin;
use spinneret_verilog::prelude::*;

/// Bits of the number of a line of the largest memory.
const MOST: usize = HANDLER_LINE;

/// Parameters of the crossbar.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "line_crossbar")]
pub struct CrossbarShape {
    /// Blocks that read lines.
    #[parameter(6, range = 2..=16)]
    pub readers: usize,
    /// Blocks that write lines.
    #[parameter(6, range = 2..=16)]
    pub writers: usize,
    /// Clusters, a power of two.
    #[parameter(2, range = 1..=16, power_of_two)]
    pub clusters: usize,
}

impl CrossbarShape {
    /// Number of memories.
    fn memories(self) -> usize {
        2 + self.clusters
    }

    /// Address and bits of the line numbers of a memory.
    fn memory(self, number: usize) -> (u32, usize) {
        match number {
            0 => (pspin::HANDLER_BASE, HANDLER_LINE),
            1 => (pspin::PACKET_BASE, PACKET_LINE),
            _ => (pspin::l1_address(number - 2, 0), L1_LINE),
        }
    }
}

/// Tells the memory of a line.
#[module(no_clock, shape: CrossbarShape)]
pub struct LineDecoder {
    /// The line.
    pub line: Wire<In, { LINE }>,
    /// The one memory that it can be in, as one of the bits: told by the bits alone in which memories differ.
    pub memory: Wire<Out, { shape.memories() }>,
    /// It is in that memory.
    pub is_there: Wire<Out, bool>,
}

#[kernel(LineDecoder, suffix = shape.clusters)]
fn update() {
    let differing = |this: u32, other: u32| line[(this ^ other).trailing_zeros() as usize - OFFSET];
    let is_l2 = differing(pspin::HANDLER_BASE, pspin::L1_BASE);
    let is_packet = differing(pspin::HANDLER_BASE, pspin::PACKET_BASE);
    let cluster = line.slice(pspin::L1_SHIFT as usize - OFFSET, address_width(shape.clusters));
    memory[0] = is_l2 && !is_packet;
    memory[1] = is_l2 && is_packet;
    for number in 0..shape.clusters {
        memory[2 + number] = !is_l2 && (shape.clusters == 1 || cluster == number);
    }
    let inside = word_of((0..shape.memories()).map(|number| {
        let (base, bits) = shape.memory(number);
        line.slice(bits, LINE - bits) == u64::from(base) >> (OFFSET + bits)
    }));
    is_there = inside.any();
}

/// Pairs of some blocks.
const fn pairs(blocks: usize) -> usize {
    blocks * (blocks - 1) / 2
}

/// Grants one request in a clock: that of the block whose last grant is the longest ago.
#[module(count: usize)]
pub struct LineTurn {
    /// Requests.
    pub requests: Wire<In, { count }>,
    /// They have an effect.
    pub counts: Wire<In, { count }>,
    /// The request that is granted.
    pub grants: Wire<Out, { count }>,
    /// In the clock before, none was granted that has an effect.
    pub none: Wire<Out, bool>,
    /// In the clock before, that of this block was.
    pub number: Wire<Out, { address_width(count) }>,
    /// A bit for each pair of blocks: the second one goes before the first.
    order: Reg<{ pairs(count) }, Reset>,
}

#[kernel(LineTurn, suffix = count)]
fn update() {
    let place = |low: usize, high: usize| pairs(high) + low;
    for one in 0..count {
        let before = (0..one).map(|other| requests[other] && !order[place(other, one)]);
        let after = (one + 1..count).map(|other| requests[other] && order[place(one, other)]);
        let waits = word_of(before.chain(after));
        grants[one] = requests[one] && !waits.any();
    }
    for high in 1..count {
        for low in 0..high {
            if grants[low] {
                order[place(low, high)] = true;
            } else if grants[high] {
                order[place(low, high)] = false;
            }
        }
    }
    none = reg_reset(!(grants & counts).any(), true);
    number = reg(number_of(grants));
}

/// Lines of an L1 in a row, after which it rests.
const RUN: u64 = 64;
/// Clocks that it rests: two slots of each thread.
const REST: u64 = 8;
/// Lines that a clock without one makes up for.
const PAUSE: u64 = RUN / REST;

/// Interrupts long runs of lines at an L1: meanwhile HPUs cannot load, or store, and all of a cluster would wait for the last of several frames.
#[module]
pub struct LineRest {
    /// A line was granted in the clock before.
    pub granted: Wire<In, bool>,
    /// None is granted in this clock.
    pub rests: Wire<Out, bool>,
    /// Lines of the run, or [`RUN`] and the clocks of the rest.
    run: Reg<{ bit_width(RUN as usize) }, Reset>,
}

#[kernel(LineRest)]
fn update() {
    rests = run >= RUN;
    run = if run == RUN + REST - 1 {
        lit(0, run.width())
    } else if rests || granted {
        run + 1
    } else if run < PAUSE {
        lit(0, run.width())
    } else {
        run - PAUSE
    };
}

/// Brings a reader the data of the memories that it has read.
#[module(shape: CrossbarShape)]
pub struct LineReturn {
    /// A read is accepted.
    pub accepted: Wire<In, bool>,
    /// Number of its memory.
    pub memory: Wire<In, { address_width(shape.memories()) }>,
    /// Data of the memories, one clock before it is at the reader.
    pub held: [Wire<In, { LINE_DATA }>; shape.memories()],
    /// The data of a read that was accepted [`READ_CLOCKS`] before.
    pub data_valid: Wire<Out, bool>,
    /// It; else 0.
    pub data: Wire<Out, { LINE_DATA }>,
}

#[kernel(LineReturn, suffix = shape.clusters)]
fn update() {
    let comes = staged("comes", 0, accepted).reset_to(false);
    let from = staged("from", 0, memory);
    let line = chosen(&held, from.at(READ_CLOCKS - 1));
    let nothing = reg_reset(!comes.at(READ_CLOCKS - 2), true);
    data_valid = comes.at(READ_CLOCKS);
    data = reg(if nothing { 0 } else { line });
}

/// Joins those that read and write lines with the memories.
#[module(shape: CrossbarShape)]
pub struct LineCrossbar {
    /// Reads.
    pub read: [LineReadIn; shape.readers],
    /// Writes; those of atomic operations are at 0.
    pub write: [LineWriteIn; shape.writers],
    /// Only writer 0 is accepted at the memory of its line.
    pub hold: Wire<In, bool>,
    /// Handler memory.
    pub handler: LinePort<{ HANDLER_LINE }>,
    /// Packet buffer.
    pub packet: LinePort<{ PACKET_LINE }>,
    /// L1 of each cluster.
    pub l1: [LinePort<{ L1_LINE }>; shape.clusters],
    read_decoders: [LineDecoder<{ shape }>; shape.readers],
    write_decoders: [LineDecoder<{ shape }>; shape.writers],
    read_turns: [LineTurn<{ shape.readers }>; shape.memories()],
    write_turns: [LineTurn<{ shape.writers }>; shape.memories()],
    read_rests: [LineRest; shape.clusters],
    write_rests: [LineRest; shape.clusters],
    /// Accesses that were offered in the clock before.
    read_lines: [Reg<{ MOST }>; shape.readers],
    lines: [Reg<{ MOST }>; shape.writers],
    strobes: [Reg<{ LINE_BYTES }>; shape.writers],
    data: [Reg<{ LINE_DATA }>; shape.writers],
    returns: [LineReturn<{ shape }>; shape.readers],
    /// Data of the memories.
    held: [Reg<{ LINE_DATA }>; shape.memories()],
}

/// The number of the one bit that is 1.
#[kernel]
fn number_of(bits: Sig) -> Sig {
    let digits = word_of((0..address_width(bits.width())).map(|digit| {
        let numbers = (0..bits.width()).filter(|number| number >> digit & 1 == 1);
        let ones = word_of(numbers.map(|number| bits[number]));
        ones.any()
    }));
    digits
}

/// The input of a number.
fn chosen(inputs: &[Sig], number: Sig) -> Sig {
    let [_, _, ..] = inputs else {
        return inputs[0];
    };
    let half = inputs.len().next_power_of_two() / 2;
    let (low, high) = inputs.split_at(half);
    let is_high = number.slice(half.ilog2() as usize, 1).any();
    first(&[(is_high, chosen(high, number))], chosen(low, number))
}

/// A line may be granted at a memory: it is no L1 that rests.
#[kernel]
fn may_go(none: Sig<bool>, rests: &[LineRestHandles], memory: usize) -> Sig<bool> {
    match memory {
        0 | 1 => constant(lit(1, 1))[0],
        _ => {
            let rest = &rests[memory - 2];
            rest.granted = !none;
            !rest.rests
        }
    }
}

#[kernel(LineCrossbar, suffix = format!("{}x{}x{}", shape.readers, shape.writers, shape.clusters))]
fn update() {
    for (number, reader) in read.iter().enumerate() {
        read_decoders[number].line = reader.line;
        read_lines[number] = reader.line.slice(0, MOST);
    }
    for (number, writer) in write.iter().enumerate() {
        write_decoders[number].line = writer.line;
        lines[number] = writer.line.slice(0, MOST);
        strobes[number] = writer.strobe;
        data[number] = writer.data;
    }
    let readable = word_of(read_decoders.iter().map(|decoder| decoder.is_there));
    let writable = word_of(write_decoders.iter().map(|decoder| decoder.is_there));
    let memories: Vec<_> = [handler, packet].into_iter().chain(l1).collect();
    for (number, memory) in memories.iter().enumerate() {
        let bits = memory.read_line.width();
        let turn = &read_turns[number];
        let may_read = may_go(turn.none, &read_rests, number);
        for (from, reader) in read.iter().enumerate() {
            turn.requests[from] = reader.valid && read_decoders[from].memory[number] && may_read;
        }
        turn.counts = readable;
        memory.read = reg_reset(!turn.none, false);
        memory.read_line = reg(chosen(&read_lines, turn.number).slice(0, bits));

        let turn = &write_turns[number];
        let may_write = may_go(turn.none, &write_rests, number);
        for (from, writer) in write.iter().enumerate() {
            let asks = writer.valid && write_decoders[from].memory[number] && may_write;
            let can_wait = number < 2 && from != 0;
            let is_held = hold && write_decoders[0].memory[number];
            turn.requests[from] = if can_wait { asks && !is_held } else { asks };
        }
        turn.counts = writable;
        let strobe = chosen(&strobes, turn.number);
        memory.write_strobe = reg(if turn.none { 0 } else { strobe });
        memory.write_line = reg(chosen(&lines, turn.number).slice(0, bits));
        memory.write_data = reg(chosen(&data, turn.number));
        held[number] = memory.read_data;
    }
    for (number, writer) in write.iter().enumerate() {
        writer.ready = or_all(write_turns.iter().map(|turn| turn.grants[number]));
        writer.failed = !write_decoders[number].is_there;
    }
    for (number, reader) in read.iter().enumerate() {
        let decoder = &read_decoders[number];
        reader.ready = or_all(read_turns.iter().map(|turn| turn.grants[number]));
        reader.failed = !decoder.is_there;
        let back = &returns[number];
        back.accepted = reader.ready && decoder.is_there;
        back.memory = number_of(decoder.memory);
        for (place, data) in held.iter().enumerate() {
            back.held[place] = *data;
        }
        reader.data_valid = back.data_valid;
        reader.data = back.data;
    }
}

/// [`LineCrossbar`].
pub(crate) const ENTRY: Entry = entry!(part CrossbarShape::BLOCK, LineCrossbar(CrossbarShape):
    "joins those that read and write lines with the memories of the clusters");
