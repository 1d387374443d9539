//! Local data memory of a pipeline, with atomic operations and reservations.
//!
//! ```text
//!             +--------+     +-----+
//!  s    =====>| atomic |====>| RAM |=====+====> read data of s and host
//!  host =====>| first, |     +-----+     |
//!         +==>| then s |                 |
//!         |   +--------+   +----------+  |
//!         +================| new word |<=+
//!                          +----------+
//! ```
//!
//! # Contract
//! - **Addresses:** the memory is at `base`. `refused` is high for every other address: such an offer does nothing.
//! - **Loads and stores:** one clock each. A load that is taken in clock t has its word on `read_data` in clock t + 1. A store
//!   is written at the end of its clock: a load in the next one sees it.
//! - **Atomic operations:** the old word is on `read_data` in clock t + 1, the new one is written at the end of clock t + 2.
//!   The memory takes nothing in these two clocks.
//! - **Reservations:** each thread has one, of a word. `lr.w` is a load that reserves its word. `sc.w` drops its thread's
//!   reservation. If it was of this word, it stores as an atomic operation does. `read_data` in clock t + 1 is 0 then, else 1.
//! - **Lost reservations:** a store, atomic operation or successful `sc.w` cancels those of all other threads on its word; a
//!   write of the host, those of all threads. `trap` cancels that of `trap_thread`, also one that is made in the same clock.
//! - **Host:** served in a clock without an offer of the pipeline. It reads and writes as the pipeline does.
//! - **Read data** is valid for one clock, and is the word before a write of the same clock.
//! - **Paths:** `s_refused` follows `s_address`, and `host_ready` follows `s_valid`; `s_ready` follows a register.
//! - **Reset:** cancels all reservations and an atomic operation that has not written. Contents are undefined at power-up.
//!
//! Source: the RISC-V manual, "A" extension; the functions are those of [`spinneret_isa::TABLE`].

use super::HpuDataIn;
use crate::entry::{Checked, ParameterError};
use spinneret_isa::Op;
use spinneret_verilog::prelude::*;

/// Bytes of a word.
const BYTES: usize = 4;

/// Parameters of the memory.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "hpu_memory", check)]
pub struct MemoryShape {
    /// Threads that can hold a reservation, a power of two.
    #[parameter(8, range = 2..=16, power_of_two)]
    pub threads: usize,
    /// Words of 32 bits, a power of two.
    #[parameter(4096, range = 2..=1 << 20, power_of_two)]
    pub words: usize,
    /// Address of the first byte, a multiple of the size.
    #[parameter(0x1000_0000, range = 0..=0xffff_fff8_u64)]
    pub base: u64,
}

impl MemoryShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        checked.multiple_of("base", (BYTES * self.words) as u64, "the size in bytes")
    }
}

/// A port for reads and writes by word number.
#[interface(WordsIn, words: usize)]
pub struct Words {
    /// An access is offered.
    pub valid: Wire<Out, bool>,
    /// The access takes place in this clock.
    pub ready: Wire<In, bool>,
    /// It is a write.
    pub is_write: Wire<Out, bool>,
    /// Number of the word.
    pub address: Wire<Out, { address_width(words) }>,
    /// Bytes that are written.
    pub strobe: Wire<Out, { BYTES }>,
    /// Word to write.
    pub data: Wire<Out, 32>,
    /// The word that was read, one clock after the access.
    pub read_data: Wire<In, 32>,
}

/// Local data memory of a pipeline.
#[module(shape: MemoryShape, bits: usize = address_width(shape.words))]
pub struct HpuMemory {
    /// Accesses of the pipeline.
    pub s: HpuDataIn<{ shape.threads }>,
    /// A thread has trapped: its reservation ends.
    pub trap: Wire<In, bool>,
    /// That thread.
    pub trap_thread: Wire<In, { address_width(shape.threads) }>,
    /// Accesses from outside.
    pub host: WordsIn<{ shape.words }>,
    memory: ByteRam<{ RamStyle::Block }, { shape.words }, { BYTES }>,
    /// Threads with a reservation, and its word.
    reserved: [Reg<bool, Reset>; shape.threads],
    reserved_word: [Reg<{ bits }>; shape.threads],
    /// First clock after an atomic operation: the new word is computed.
    computes: Reg<bool, Reset>,
    /// First and second clock; its word, its thread, and the new word in the second one.
    is_open: Reg<bool, Reset>,
    open_word: Reg<{ bits }>,
    open_thread: Reg<{ address_width(shape.threads) }>,
    result: Reg<32>,
}

/// Bits 31:27 of an atomic instruction.
pub(super) fn function_of(op: Op) -> u64 {
    let row = op.row().expect("atomic instructions are in the table");
    u64::from_str_radix(&row.bits[..5], 2).expect("functions have no free bits")
}

/// The word that an atomic operation writes.
#[kernel]
pub(super) fn new_word(function: Sig, old: Sig, operand: Sig) -> Sig {
    let is = |op| function == function_of(op);
    /// Signed words compare as unsigned ones whose highest bit is inverted.
    let is_signed = is(Op::AmominW) || is(Op::AmomaxW);
    let sign = cat!(is_signed, lit(0, 31));
    let is_less = (old ^ sign) < (operand ^ sign);
    let is_min = is(Op::AmominW) || is(Op::AmominuW);
    let is_max = is(Op::AmomaxW) || is(Op::AmomaxuW);
    let keeps = is_min && is_less || is_max && !is_less;
    first(
        &[
            (is(Op::AmoaddW), old + operand),
            (is(Op::AmoxorW), old ^ operand),
            (is(Op::AmoandW), old & operand),
            (is(Op::AmoorW), old | operand),
            (keeps, old),
        ],
        operand,
    )
}

#[kernel(HpuMemory, suffix = shape.suffix())]
fn update() {
    let (number, above) = s.address.slice(2, 30).split_at(bits);
    s.refused = above != shape.base >> (2 + bits);
    s.ready = !is_open;
    host.ready = !is_open && !s.valid;
    let takes = s.valid && !is_open && !s.refused;
    let (function, is_atomic) = (s.atomic.slice(0, 5), s.atomic[5]);
    let is_lr = takes && is_atomic && function == function_of(Op::LrW);
    let is_sc = takes && is_atomic && function == function_of(Op::ScW);
    let is_amo = takes && is_atomic && !is_lr && !is_sc;
    if takes {
        assume!(!s.address.slice(0, 2).any(), "addresses are those of words");
        assume!(!is_atomic || s.strobe.all(), "atomic accesses are of whole words");
        assume!(!is_atomic || !s.is_write, "a store is not atomic");
    }

    /// The access of this clock; the write of an atomic operation is a store of its thread.
    let (word, thread, strobe, data) = if is_open {
        (open_word, open_thread, constant(lit(15, BYTES)), result)
    } else if s.valid {
        (number, s.thread, s.strobe, s.data)
    } else {
        (host.address, s.thread, host.strobe, host.data)
    };
    let is_of_thread = is_open || s.valid;
    let ends = is_open && !computes;
    let stores = ends || takes && s.is_write || host.valid && host.ready && host.is_write;
    memory.read_addr = word;
    memory.read_enable = true;
    memory.write(strobe & stores.repeat(BYTES), word, data);

    /// Reservations.
    let places = reserved.iter().zip(&reserved_word);
    let same = word_of(places.map(|(held, of)| *held && *of == word));
    let holds = same[s.thread];
    for (number, held) in reserved.iter().enumerate() {
        let is_own = is_of_thread && thread == number;
        if is_lr && is_own {
            *held = true;
            reserved_word[number] = word;
        } else if is_sc && is_own || stores && same[number] && !is_own {
            *held = false;
        }
        if trap && trap_thread == number {
            *held = false;
        }
    }

    computes = is_amo || is_sc && holds;
    is_open = is_amo || is_sc && holds || computes;
    (open_word, open_thread) = (word, thread);
    let (last_function, operand) = (reg(function), reg(s.data));
    result = new_word(last_function, memory.read_data, operand);

    let (was_sc, has_failed) = (reg(is_sc), reg(!holds));
    let answer = has_failed.word().resize(32);
    s.read_data = if was_sc { answer } else { memory.read_data };
    host.read_data = memory.read_data;
}
