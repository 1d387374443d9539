//! Registers of contexts among the host's memory: weights, budgets, rates and counters.
//!
//! ```text
//!  write ==+==> m_write              lines of memories
//!          +==> weight, budget, rate
//!  read  ==+==> m_read
//!          +==> counters of contexts
//! ```
//!
//! # Contract
//! - **Registers** are those of [`spinneret_regmap::shares`], a line for each context.
//! - **Writes:** a word whose four strobes are not all 1 is left as it is; so are counters, and a weight of 0. A line is taken at once.
//! - **Reads** have their line after [`READ_CLOCKS`], with 0 where there is no register. Settings read as they were written last.
//! - **Other lines** pass in the same clock. `failed` is high for addresses around the registers (bits 24 and 21 are 1).
//! - **Paths:** combinational between `write` and `m_write`, `read` and `m_read`; `weight`, `budget` and `rate` are registers.
//! - **Reset** keeps the settings.

use super::{
    ContextBytes, ContextSetting, ContextShape, ContextTotals, LINE, LINE_DATA, LineRead, LineReadIn,
    LineWrite, LineWriteIn, OFFSET, RATE, READ_CLOCKS, TotalFields, WEIGHT, WORD,
};
use crate::entry::Entry;
use spinneret_regmap::{CONTEXTS, Register, pspin, shares};
use spinneret_verilog::prelude::*;

/// Bits of a line's number that are 1 around the registers, and not both 1 in memories.
const PLACES: [usize; 2] = [
    (pspin::PROGRAM_BASE ^ pspin::HANDLER_BASE).trailing_zeros() as usize - OFFSET,
    (shares::BASE ^ pspin::PROGRAM_BASE).trailing_zeros() as usize - OFFSET,
];

/// Registers of contexts among the host's memory.
#[module(shape: ContextShape = ContextShape::NIC)]
pub struct ContextRegisters {
    /// Writes of the host.
    pub write: LineWriteIn,
    /// Those to other memories.
    pub m_write: LineWrite,
    /// Reads of the host.
    pub read: LineReadIn,
    /// Those of other memories.
    pub m_read: LineRead,
    /// Weights.
    pub weight: ContextSetting<{ shape.context() }, { WEIGHT }>,
    /// Budgets.
    pub budget: ContextSetting<{ shape.context() }, { WORD }>,
    /// Rates of packets that are sent.
    pub rate: ContextSetting<{ shape.context() }, { RATE }>,
    /// Counters.
    pub totals: ContextTotals<{ shape.context() }>,
    /// Bytes of copies to the host, of copies from it, and of packets that are sent.
    pub bytes: [ContextBytes<{ shape.context() }>; 3],
    #[new(Ram::new(RamStyle::Distributed, shape.contexts, WEIGHT).holding("weights", vec![initial(&shares::WEIGHT).into(); shape.contexts]))]
    weights: Ram,
    #[new(Ram::new(RamStyle::Distributed, shape.contexts, WORD).holding("budgets", vec![initial(&shares::BUDGET).into(); shape.contexts]))]
    budgets: Ram,
    #[new(Ram::new(RamStyle::Distributed, shape.contexts, RATE).holding("zero", Vec::new()))]
    rates: Ram,
}

/// The value of a setting after power-up.
pub(super) fn initial(setting: &Register) -> u32 {
    setting.reset.value(0).expect("settings have one")
}

/// The lowest bit of a register in the line of its context.
fn bit(register: &Register) -> usize {
    8 * register.offset as usize
}

/// A line is one of the registers' region, and one of a context.
#[kernel]
fn is_here(line: Sig, context: usize) -> [Sig<bool>; 2] {
    let above = line.slice(context, LINE - context);
    [
        line[PLACES[0]] && line[PLACES[1]],
        above == u64::from(shares::BASE) >> (OFFSET + context),
    ]
}

#[kernel(ContextRegisters)]
fn update() {
    let bits = shape.context();
    assert!(shape.contexts == CONTEXTS as usize);
    /// Writes.
    let [is_ours, exists] = is_here(write.line, bits);
    m_write.valid = write.valid && !is_ours;
    m_write.line = write.line;
    m_write.strobe = write.strobe;
    m_write.data = write.data;
    write.ready = is_ours || m_write.ready;
    write.failed = if is_ours { !exists } else { m_write.failed };
    let sets = write.valid && is_ours && exists;
    let is_whole = |register: &Register| write.strobe.slice(register.offset as usize, WORD / 8).all();
    let written = reg(write.line.slice(0, bits));
    let new_weight = write.data.slice(bit(&shares::WEIGHT), WEIGHT);
    weight.write = reg_reset(sets && is_whole(&shares::WEIGHT) && new_weight.any(), false);
    weight.context = written;
    weight.value = reg(new_weight);
    budget.write = reg_reset(sets && is_whole(&shares::BUDGET), false);
    budget.context = written;
    budget.value = reg(write.data.slice(bit(&shares::BUDGET), WORD));
    rate.write = reg_reset(sets && is_whole(&shares::EGRESS_RATE), false);
    rate.context = written;
    rate.value = reg(write.data.slice(bit(&shares::EGRESS_RATE), RATE));
    rates.write(rate.write, rate.context, rate.value);
    weights.write(weight.write, weight.context, weight.value);
    budgets.write(budget.write, budget.context, budget.value);

    /// Reads.
    let [is_ours, exists] = is_here(read.line, bits);
    m_read.valid = read.valid && !is_ours;
    m_read.line = read.line;
    read.ready = is_ours || m_read.ready;
    read.failed = if is_ours { !exists } else { m_read.failed };
    let taken = staged("taken", 0, (read.valid && is_ours && exists).word()).reset_to(0);
    let asked = staged("asked", 0, read.line.slice(0, bits)).at(READ_CLOCKS - 1);
    totals.context = asked;
    for port in &bytes {
        port.context = asked;
    }
    let fields = TotalFields::new();
    let counts = fields.of(totals.words);
    let words = [
        (&shares::WEIGHT, weights.read(0, asked)),
        (&shares::BUDGET, budgets.read(0, asked)),
        (&shares::EGRESS_RATE, rates.read(0, asked)),
        (&shares::HOST_WRITTEN, bytes[0].bytes),
        (&shares::HOST_READ, bytes[1].bytes),
        (&shares::SENT, bytes[2].bytes),
        (&shares::TASKS, counts.tasks),
        (&shares::CLOCKS, counts.clocks),
        (&shares::BUDGET_ENDS, counts.budget_ends),
        (&shares::FAILURES, counts.failures),
    ];
    let is_read = taken.at(READ_CLOCKS - 1)[0];
    let line = wire(LINE_DATA);
    line = m_read.data;
    for (register, word) in words {
        let width = word.width();
        let own = reg_reset(word & is_read.repeat(width), 0);
        line.slice(bit(register), width) = m_read.data.slice(bit(register), width) | own;
    }
    read.data_valid = m_read.data_valid || taken.at(READ_CLOCKS)[0];
    read.data = line;
}

/// [`ContextRegisters`].
pub(crate) const ENTRY: Entry = entry!(part "context_registers", ContextRegisters():
    "weights, budgets, rates and counters of contexts, among the host's memory");
