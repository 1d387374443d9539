//! L1 of a cluster: eight banks behind a port for lines and one for the words of each pipeline.
//!
//! ```text
//!  line =====> register ==+                                   +==> line
//!                         v                                   |
//!  words 0 ============> bank 0 to 7, one read and one write =+==> 16 to 1, register ==> words 0
//!  words 1 ============>  ^                                   +==> 16 to 1, register ==> words 1
//!                         +======== atomic unit <=======================================+
//! ```
//!
//! # Contract
//! - **Banks:** bits 5:3 of a byte address are the bank. In each clock a bank does one read and one write.
//! - **Lines** are never refused, and use the ports of all banks one clock after the offer. A line read stops loads and atomic
//!   instructions in that clock, a line write stores and atomic instructions.
//! - **Words:** an offer takes place in its clock if it is one to this memory (`is_here`) and `ready` is 1. Except for stores, its word
//!   is on `read_data` two clocks later. A load, line read or atomic instruction sees the word before a write of its clock.
//! - **Turns:** two offers of one clock meet if they need the same bank and both load, both store, or one is atomic, or if both are atomic. Then
//!   the pipeline whose turn it is goes on. It changes every four clocks, once for each slot of a thread. An atomic instruction that has
//!   to wait for the last operation does not count. An offer elsewhere counts like one to this memory, so that `ready` does not wait for
//!   the decoded address.
//! - **Atomic operations** read, compute, and write three clocks after their offer, or in the next clock without a line write. Meanwhile
//!   their bank takes no words. The next atomic instruction is taken nine clocks after the offer or later: so each
//!   thread has a slot for loads and stores in between, and the slot after that of the last operation is the first for the next one.
//! - **Line writes during an atomic operation** are not lost: the operation takes place before them, so the bytes that they write stay.
//! - **Reservations:** each thread has one, of a line. `lr.w` loads and reserves. `sc.w` drops the thread's reservation, and
//!   stores like an atomic operation if it was of its line. Its word is 0 then, else 1.
//! - **Lost reservations:** a store, atomic operation or successful `sc.w` cancels those of all other threads of the cluster on its line, a
//!   line write all on its line, and `trap` that of its thread.
//! - **Paths:** `ready` is two levels of logic from the offers of both pipelines and registers.
//! - **Reset** cancels reservations and the atomic operation that has not written. Contents are undefined at power-up.

use super::{HPUS, LinePortIn, PIPELINES, THREAD, THREADS, Turn};
use crate::entry::Entry;
use crate::hpu::memory::{function_of, new_word};
use spinneret_isa::Op;
use spinneret_verilog::prelude::*;

/// Banks of L1.
const BANKS: usize = 8;
/// Bytes of a bank's word.
const BANK_BYTES: usize = 8;
/// Bits of the number of a word within its line: its bank, and the half of the bank's word.
const WITHIN: usize = 4;
/// Clock of an atomic operation in which it writes.
const WRITES: u64 = 3;
/// Clock of an atomic operation after which another one may be offered.
const LAST: u64 = 8;

/// Parameters of L1.
#[derive(Parameters, Clone, Copy, Debug)]
#[parameters(block = "cluster_l1")]
pub struct L1Shape {
    /// Lines of 64 bytes, a power of two.
    #[parameter(4096, range = 2..=4096, power_of_two)]
    pub lines: usize,
    /// 1: banks are UltraRAM; else block RAM.
    #[parameter(1)]
    pub ultra: bool,
}

impl L1Shape {
    fn style(&self) -> RamStyle {
        if self.ultra {
            RamStyle::Ultra
        } else {
            RamStyle::Block
        }
    }
}

/// Accesses of a pipeline to the words of L1.
#[interface(L1WordsIn, bits: usize)]
pub struct L1Words {
    /// An access is offered in this clock, to this memory or another one.
    pub valid: Wire<Out, bool>,
    /// It is one to this memory.
    pub is_here: Wire<Out, bool>,
    /// The thread that makes it.
    pub thread: Wire<Out, { THREAD }>,
    /// Number of its word.
    pub word: Wire<Out, { bits + WITHIN }>,
    /// It is a store, and not atomic.
    pub is_write: Wire<Out, bool>,
    /// Bit 5: it is an atomic instruction; bits 4:0 are then bits 31:27 of the instruction.
    pub atomic: Wire<Out, 6>,
    /// Bytes that are written.
    pub strobe: Wire<Out, 4>,
    /// Bytes to write in their lanes; the operand of an atomic instruction.
    pub data: Wire<Out, 32>,
    /// The access takes place in this clock, if it is one to this memory.
    pub ready: Wire<In, bool>,
    /// The word before a load or atomic operation, two clocks after it; after `sc.w` 0 (stored) or 1. Undefined after a store.
    pub read_data: Wire<In, 32>,
}

/// L1 of a cluster.
#[module(shape: L1Shape, bits: usize = address_width(shape.lines))]
pub struct ClusterL1 {
    /// Lines.
    pub line: LinePortIn<{ bits }>,
    /// Words of each pipeline.
    pub words: [L1WordsIn<{ bits }>; PIPELINES],
    /// A thread of that pipeline has trapped: its reservation ends.
    pub trap: [Wire<In, bool>; PIPELINES],
    /// Which.
    pub trap_thread: [Wire<In, { THREAD }>; PIPELINES],
    #[new(ByteRam::new(shape.style(), shape.lines, BANK_BYTES))]
    banks: [ByteRam; BANKS],
    turn: Turn,
    /// Threads with a reservation, and its line.
    held: [Reg<bool, Reset>; HPUS],
    held_line: [Reg<{ bits }>; HPUS],
    /// Clocks since the last atomic operation was offered; 0: another one can be.
    age: Reg<4, Reset>,
    is_closed: Reg<bool, Reset>,
    /// An atomic operation has not written yet.
    is_open: Reg<bool, Reset>,
    /// The pipeline that it is from, its word, function and operand, and its result.
    open_second: Reg<bool>,
    open_word: Reg<{ bits + WITHIN }>,
    open_function: Reg<5>,
    operand: Reg<32>,
    result: Reg<32>,
    /// Bytes that it writes.
    open_strobe: Reg<4>,
}

/// Splits the number of a word: the half of the bank's word, the bank, the line.
#[kernel]
fn parts(word: Sig) -> (Sig<bool>, Sig, Sig) {
    let (within, line) = word.split_at(WITHIN);
    (within[0], within.slice(1, WITHIN - 1), line)
}

/// The strobe of a word in its half of the bank's word.
#[kernel]
fn placed(strobe: Sig, upper: Sig<bool>) -> Sig {
    cat!(strobe & upper.repeat(4), strobe & (!upper).repeat(4))
}

/// One of four words, by the upper and the lower bit of its number.
#[kernel]
fn select(number: [Sig<bool>; 2], words: [Sig; 4]) -> Sig {
    let lower = if number[1] { words[1] } else { words[0] };
    let upper = if number[1] { words[3] } else { words[2] };
    if number[0] { upper } else { lower }
}

/// An access in the clock after it took place.
struct After {
    thread: Sig,
    line: Sig,
    /// The reservations of its line.
    same: Sig,
    is_lr: Sig<bool>,
    is_sc: Sig<bool>,
    /// It is a conditional store without its reservation.
    fails: Sig<bool>,
    /// It has stored, or will do so because it is no conditional store.
    stores: Sig<bool>,
    /// A thread of the pipeline has trapped: which.
    traps: Sig<bool>,
    trapped: Sig,
}

#[kernel(ClusterL1, suffix = format!("{}{}", shape.lines, if shape.ultra { "" } else { "_block" }))]
fn update() {
    let reads_line = reg_reset(line.read, false);
    let read_line = reg(line.read_line);
    let line_strobe = reg_reset(line.write_strobe, 0);
    let writes_line = reg_reset(line.write_strobe.any(), false);
    let write_line = reg(line.write_line);
    let line_data = reg(line.write_data);

    // Offers that take place.
    let has_turn = [!turn.second, turn.second];
    let [first, second] = [parts(words[0].word), parts(words[1].word)];
    let places = [first, second];
    let is_atomic = [words[0].atomic[5], words[1].atomic[5]];
    let is_same_bank = first.1 == second.1;
    let (open_half, open_bank, open_line) = parts(open_word);
    let competes = [0, 1].map(|own| words[own].valid && !(is_atomic[own] && is_closed));
    let takes = [0, 1].map(|own| {
        let (m, other) = (&words[own], 1 - own);
        let n = &words[other];
        let alike = is_atomic[own] || is_atomic[other] || m.is_write == n.is_write;
        let loses = competes[other] && !has_turn[own] && alike;
        let for_line = reads_line && !m.is_write || writes_line && (m.is_write || is_atomic[own]);
        let in_open_bank = places[own].1 == open_bank;
        let is_late = is_atomic[own] && (is_closed || n.valid && is_atomic[other] && !has_turn[own]);
        m.ready = !(is_same_bank && loses || for_line || is_open && in_open_bank || is_late);
        if m.valid {
            assume!(!m.is_write || !is_atomic[own], "a store is not atomic");
            assume!(
                !is_atomic[own] || m.strobe.all(),
                "atomic accesses are of whole words"
            );
        }
        m.valid && m.is_here && m.ready
    });
    for own in 0..PIPELINES {
        turn.waits[own] = words[own].valid && words[own].is_here && !words[own].ready;
    }

    // Banks. Data and addresses follow what may take place, only strobes what does.
    let may = |own: usize, writes: bool| competes[own] && words[own].is_write == writes;
    let yields = |writes| may(0, writes) && is_same_bank && has_turn[0];
    let ends = is_open && age == WRITES && !writes_line;
    let strobes = [
        placed(words[0].strobe, first.0),
        placed(words[1].strobe, second.0),
        placed(open_strobe, open_half),
    ];
    let twice = |word: Sig| cat!(word, word);
    for (bank, memory) in banks.iter().enumerate() {
        let in_bank = [first.1 == bank, second.1 == bank];
        let reads_second = may(1, false) && in_bank[1] && !yields(false);
        let read_word = if reads_second { second.2 } else { first.2 };
        memory.read_addr = if reads_line { read_line } else { read_word };
        memory.read_enable = true;

        // The source of a write: 0 and 1 the pipelines, 2 the atomic unit, 3 the line, whose strobe is 0 if there is none.
        let ends_here = ends && open_bank == bank;
        let writes = [0, 1].map(|own| may(own, true) && in_bank[own]);
        let is_fixed = writes_line || ends_here || !(writes[0] || writes[1]);
        let is_odd = writes_line || !ends_here && (writes[1] && !yields(true) || !writes[0]);
        let source = [is_fixed, is_odd];
        let [strobe, data] = [line_strobe, line_data].map(|of| {
            let width = of.width() / BANKS;
            of.slice(width * bank, width)
        });
        let [first_strobe, second_strobe, unit_strobe] = [
            (strobes[0], takes[0] && words[0].is_write && in_bank[0]),
            (strobes[1], takes[1] && words[1].is_write && in_bank[1]),
            (strobes[2], ends_here),
        ]
        .map(|(strobe, writes)| strobe & writes.repeat(BANK_BYTES));
        memory.write(
            strobe | unit_strobe | first_strobe | second_strobe,
            select(source, [first.2, second.2, open_line, write_line]),
            select(
                source,
                [twice(words[0].data), twice(words[1].data), twice(result), data],
            ),
        );
    }
    let all: Vec<_> = banks.iter().rev().map(|memory| memory.read_data).collect();
    let all = cat_all(&all);
    line.read_data = all;

    // One clock after an access: reservations. No line is written in the clock of a store or an atomic instruction.
    let wrote_line = reg_reset(writes_line, false);
    let after = [0, 1].map(|own| {
        let m = &words[own];
        let took = reg_reset(takes[own], false);
        let function = reg(m.atomic);
        let is = |op| took && function == 0x20 | function_of(op);
        let (is_lr, is_sc) = (is(Op::LrW), is(Op::ScW));
        let written = if own == 0 {
            writes_line
        } else {
            constant(lit(0, 1))[0]
        };
        let line = reg(if written { write_line } else { places[own].2 });
        let same = word_of((0..HPUS).map(|hpu| held[hpu] && held_line[hpu] == line));
        let thread = reg(m.thread);
        let holds = same.slice(THREADS * own, THREADS)[thread];
        After {
            thread,
            line,
            same,
            is_lr,
            fails: is_sc && !holds,
            is_sc,
            stores: took && (reg(m.is_write) || function[5] && !is_lr && !is_sc),
            traps: reg_reset(trap[own], false),
            trapped: reg(trap_thread[own]),
        }
    });
    /// Those that a conditional store ends have another clock, as no atomic instruction is taken in it.
    let ended = word_of((0..HPUS).map(|hpu| {
        let ends = |own: usize| after[own].is_sc && !after[own].fails && after[own].same[hpu];
        ends(0) || ends(1)
    }));
    let ended = reg_reset(ended, 0);
    for hpu in 0..HPUS {
        let (own, other) = (&after[hpu / THREADS], &after[1 - hpu / THREADS]);
        let number = hpu % THREADS;
        let is_own = own.thread == number;
        let is_lost = own.stores && own.same[hpu] && !is_own
            || other.stores && other.same[hpu]
            || wrote_line && after[0].same[hpu]
            || ended[hpu];
        if own.is_lr && is_own {
            held[hpu] = true;
            held_line[hpu] = own.line;
        } else if own.is_sc && is_own || is_lost {
            held[hpu] = false;
        }
        if own.traps && own.trapped == number {
            held[hpu] = false;
        }
    }

    // And the word.
    let read = [0, 1].map(|own| {
        let within = reg(words[own].word.slice(0, WITHIN));
        let word = all.at(cat!(within, lit(0, 5)), 32);
        let answer = after[own].fails.word().resize(32);
        words[own].read_data = reg(if after[own].is_sc { answer } else { word });
        word
    });
    let old = reg(if open_second { read[1] } else { read[0] });

    // The atomic unit.
    let opens = [0, 1]
        .map(|own| takes[own] && is_atomic[own] && words[own].atomic.slice(0, 5) != function_of(Op::LrW));
    let starts = opens[0] || opens[1];
    if starts {
        let opened = if opens[1] {
            (words[1].word, words[1].atomic, words[1].data)
        } else {
            (words[0].word, words[0].atomic, words[0].data)
        };
        open_second = opens[1];
        open_word = opened.0;
        open_function = opened.1.slice(0, 5);
        operand = opened.2;
        age = 1;
    } else if age == LAST {
        age = 0;
    } else if age.any() && !(is_open && age == WRITES && writes_line) {
        age = age + 1;
    }
    is_open = starts || is_open && !ends;
    is_closed = starts || is_closed && age != LAST;
    if age == 2 {
        result = new_word(open_function, old, operand);
    }
    let is_overwritten = writes_line && write_line == open_line;
    let overwritten = line_strobe.at(cat!(open_word.slice(0, WITHIN), lit(0, 2)), 4);
    open_strobe = if starts {
        constant(lit(15, 4))
    } else if after[0].fails || after[1].fails {
        constant(lit(0, 4))
    } else {
        open_strobe & !(overwritten & is_overwritten.repeat(4))
    };
}

/// [`ClusterL1`].
pub(crate) const L1: Entry = entry!(part "cluster_l1", ClusterL1(L1Shape):
    "L1 of a cluster: eight banks for lines and the words of two pipelines");
