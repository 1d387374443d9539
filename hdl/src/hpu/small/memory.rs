//! The memories of a small complex: L1, handler memory and packet buffer, in block RAM with a read port and a write port.
//!
//! ```text
//!  s ==(index, bank)==+=> turn ==> read port ===> L1, handlers, packets ==> register ==> data of all
//!  read, write ==> decoder ==+===> write port ==>     ^                         |
//!                                                     +==== new word <==========+
//! ```
//!
//! # Contract
//! - **Memories:** 0 is L1 (16 KiB from [`L1_CONTEXTS`] on, with the alias), 1 handler memory, 2 the packet buffer: as many of their
//!   first bytes as the parameters say. Elsewhere `failed` is high, nothing is written, and 0 is read.
//! - **Ports:** one word is read and one is written in a clock. Of `read` and of `write` the lowest number that is valid is ready,
//!   unless the pipeline takes the port.
//! - **Turns:** where the pipeline and another one want a port in the same clock, the one that had to wait the last time takes it.
//! - **Loads and stores** take their port for one clock. Data of a read that was accepted in clock t are there in clock t + 2, as
//!   they were before a write of clock t.
//! - **Atomic operations** take both ports in clock t, and write in clock t + 3. Until then nothing else is written, and the pipeline waits.
//! - **Reservations:** each thread has one, of a word. `lr.w` reads and reserves, `sc.w` drops the reservation and takes the write
//!   port; it stores if the reservation was of its word. A store, atomic operation or successful `sc.w` of another thread cancels it,
//!   and so does a trap of the thread. Writes of others do not.
//! - **Paths:** `ready` follows the offers of this clock.
//! - **Reset** cancels reservations and an atomic operation that has not written. Memories hold anything after power-up.

use super::{DATA, DATA_BYTES, PLACE, SMALL_THREAD, SmallReadIn, SmallWordsIn, SmallWriteIn, WITHIN};
use crate::hpu::cluster::WORD;
use crate::hpu::memory::{function_of, new_word};
use spinneret_isa::Op;
use spinneret_regmap::pspin::{
    HANDLER_BASE, L1_ALIAS, L1_AREA_BYTES, L1_AREAS, L1_BASE, L1_CONTEXTS, PACKET_BASE,
};
use spinneret_verilog::prelude::*;

/// Memories.
pub(super) const BANKS: usize = 3;
/// Bytes of L1: contexts, guard, and the areas of eight HPUs.
const L1_SIZE: u32 = L1_AREAS + 8 * L1_AREA_BYTES - L1_CONTEXTS;
const _: () = assert!(L1_SIZE.is_power_of_two() && L1_CONTEXTS < L1_SIZE);
/// Threads.
const THREADS: usize = 1 << SMALL_THREAD;

/// Sizes of the memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallMemoryShape {
    /// Bytes of handler memory, a power of two.
    pub handler: u32,
    /// Bytes of the packet buffer, a power of two.
    pub packets: u32,
}

impl SmallMemoryShape {
    /// Bytes of each memory.
    fn bytes(self) -> [u32; BANKS] {
        [L1_SIZE, self.handler, self.packets]
    }

    /// Bits of the number of a word of each memory.
    fn bits(self) -> [usize; BANKS] {
        self.bytes().map(|bytes| bytes.ilog2() as usize - WITHIN)
    }

    /// Bits of the number of a word in the largest one.
    pub(super) fn index(self) -> usize {
        self.bits().into_iter().max().expect("there are memories")
    }
}

/// Which memory has a place: a bit for each. Place n of L1 is word n, whatever its higher bits are.
#[kernel]
pub(super) fn bank_of(place: Sig, shape: SmallMemoryShape) -> Sig {
    let starts =
        |base: u32, bits: usize| place.slice(bits, PLACE - bits) == u64::from(base) >> (WITHIN + bits);
    let [l1_bits, handler_bits, packet_bits] = shape.bits();
    let contexts = u64::from(L1_CONTEXTS) >> WITHIN;
    let low = place.slice(0, l1_bits);
    let starts_l1 = |base: u32| {
        starts(base, l1_bits) && low >= contexts || starts(base + L1_SIZE, l1_bits) && low < contexts
    };
    cat!(
        starts(PACKET_BASE, packet_bits),
        starts(HANDLER_BASE, handler_bits),
        starts_l1(L1_BASE) || starts_l1(L1_ALIAS)
    )
}

/// L1, handler memory and packet buffer.
#[module(shape: SmallMemoryShape, others: usize, index: usize = shape.index())]
pub struct SmallMemory {
    /// Accesses of the pipeline.
    pub s: SmallWordsIn<{ BANKS }, { index }>,
    /// A thread has trapped: its reservation ends.
    pub trap: Wire<In, bool>,
    /// That thread.
    pub trap_thread: Wire<In, { SMALL_THREAD }>,
    /// Reads of others.
    pub read: [SmallReadIn; others],
    /// Writes of others.
    pub write: [SmallWriteIn; others],
    #[new(ByteRam::new(RamStyle::Block, 1 << shape.bits()[0], DATA_BYTES))]
    l1: ByteRam,
    #[new(ByteRam::new(RamStyle::Block, 1 << shape.bits()[1], DATA_BYTES))]
    handlers: ByteRam,
    #[new(ByteRam::new(RamStyle::Block, 1 << shape.bits()[2], DATA_BYTES))]
    packets: ByteRam,
    /// The pipeline goes first at the port.
    read_turn: Reg<bool, Reset>,
    write_turn: Reg<bool, Reset>,
    /// Threads with a reservation, and its word.
    reserved: [Reg<bool, Reset>; THREADS],
    reserved_word: [Reg<{ BANKS + index + 1 }>; THREADS],
    /// An atomic operation under way, in its first, second and third clock.
    open_1: Reg<bool, Reset>,
    open_2: Reg<bool, Reset>,
    open_3: Reg<bool, Reset>,
    open_bank: Reg<{ BANKS }>,
    open_index: Reg<{ index }>,
    open_upper: Reg<bool>,
    open_function: Reg<5>,
    operand: Reg<{ WORD }>,
    result: Reg<{ WORD }>,
    /// The word that was read two clocks ago.
    word: Reg<{ DATA }>,
}

/// A strobe of a word in its half of a place.
#[kernel]
fn placed(strobe: Sig, upper: Sig<bool>) -> Sig {
    cat!(strobe & upper.repeat(4), strobe & (!upper).repeat(4))
}

#[kernel(SmallMemory)]
fn update() {
    // The offer of the pipeline, and which ports it needs.
    let (function, is_atomic) = (s.atomic.slice(0, 5), s.atomic[5]);
    let is_lr = is_atomic && function == function_of(Op::LrW);
    let is_sc = is_atomic && function == function_of(Op::ScW);
    let is_amo = is_atomic && !is_lr && !is_sc;
    let needs_read = !s.is_write && !is_sc;
    let needs_write = s.is_write || is_sc || is_amo;
    let others_read = or_all(read.iter().map(|read| read.valid));
    let others_write = or_all(write.iter().map(|write| write.valid));

    let is_open = open_1 || open_2 || open_3;
    let may_read = !others_read || read_turn;
    let may_write = !others_write || write_turn;
    let can = !is_open && (may_read || !needs_read) && (may_write || !needs_write);
    let takes = s.valid && can;
    s.ready = can;
    (open_1, open_2, open_3) = (takes && is_amo, open_1, open_2);
    if s.valid && needs_read && others_read && !is_open {
        read_turn = !takes;
    }
    if s.valid && needs_write && others_write && !is_open {
        write_turn = !takes;
    }

    // The read port.
    let takes_read = takes && needs_read;
    let mut reads = Vec::new();
    reads.push((takes_read, cat!(s.bank, s.index)));
    for (number, port) in read.iter().enumerate() {
        let bank = bank_of(port.place, shape);
        port.ready = (0..number).fold(!takes_read, |free, other| free && !read[other].valid);
        port.failed = !bank.any();
        port.data = word;
        reads.push((port.valid, cat!(bank, port.place.slice(0, index))));
    }
    let last = reads.len() - 1;
    let (read_index, read_bank) = first(&reads[..last], reads[last].1).split_at(index);

    // The write port.
    let same = word_of(
        reserved
            .iter()
            .zip(&reserved_word)
            .map(|(held, of)| *held && *of == cat!(s.bank, s.index, s.upper)),
    );
    let holds = same[s.thread];
    let stores = takes && (s.is_write || is_sc && holds);
    let takes_write = takes && needs_write;
    let may_others = !is_open && !takes_write;
    let own = if open_3 {
        let strobe = placed(constant(lit(15, 4)), open_upper);
        cat!(open_bank, open_index, strobe, result, result)
    } else {
        let strobe = placed(s.strobe & stores.repeat(4), s.upper);
        cat!(s.bank, s.index, strobe, s.data, s.data)
    };
    let mut writes = Vec::new();
    writes.push((!may_others, own));
    for (number, port) in write.iter().enumerate() {
        let bank = bank_of(port.place, shape);
        port.ready = (0..number).fold(may_others, |free, other| free && !write[other].valid);
        port.failed = !bank.any();
        let strobe = port.strobe & port.valid.repeat(DATA_BYTES);
        writes.push((
            port.valid,
            cat!(bank, port.place.slice(0, index), strobe, port.data),
        ));
    }
    let last = writes.len() - 1;
    let (data, rest) = first(&writes[..last], writes[last].1).split_at(DATA);
    let (strobe, rest) = rest.split_at(DATA_BYTES);
    let (write_index, write_bank) = rest.split_at(index);

    // The memories.
    let bank_before = reg(read_bank);
    let memories = [&l1, &handlers, &packets];
    for (number, (memory, bits)) in memories.into_iter().zip(shape.bits()).enumerate() {
        memory.read_enable = true;
        memory.read_addr = read_index.slice(0, bits);
        memory.write(
            strobe & write_bank[number].repeat(DATA_BYTES),
            write_index.slice(0, bits),
            data,
        );
    }
    let words = [l1.read_data, handlers.read_data, packets.read_data];
    word = or_all((0..BANKS).map(|number| words[number] & bank_before[number].repeat(DATA)));

    // Atomic operations and the data of the pipeline.
    if takes {
        (open_bank, open_index, open_upper) = (s.bank, s.index, s.upper);
        (open_function, operand) = (function, s.data);
    }
    let was_upper = reg(reg(s.upper));
    let (low, high) = word.split_at(WORD);
    let old = if was_upper { high } else { low };
    result = new_word(open_function, old, operand);
    let (was_sc, has_failed) = (reg(reg(is_sc)), reg(reg(!holds)));
    s.read_data = if was_sc {
        has_failed.word().resize(WORD)
    } else {
        old
    };

    // Reservations.
    let cancels = stores || takes && is_amo;
    for (number, held) in reserved.iter().enumerate() {
        let is_own = s.thread == number;
        if takes && is_lr && is_own {
            *held = true;
            reserved_word[number] = cat!(s.bank, s.index, s.upper);
        } else if takes && is_sc && is_own || cancels && same[number] && !is_own {
            *held = false;
        }
        if trap && trap_thread == number {
            *held = false;
        }
    }
}
