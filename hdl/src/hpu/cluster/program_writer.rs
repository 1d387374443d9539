//! Takes the lines of program memory out of a stream of writes, and writes them word by word.
//!
//! ```text
//!  s ==+==> m                     lines of the other memories
//!      +==> word 0, 1, ... 15 ==> program
//! ```
//!
//! # Contract
//! - **Program memory** is written in whole words: a word whose four strobes are not all 1 is left as it is. Every line takes 16
//!   clocks. It is accepted in the last one, so that with the answer to its burst all pipelines have their words.
//! - **Other lines** pass in the same clock. `failed` is high for addresses around program memory (bit 24 is 1).
//! - **Paths:** combinational between `s` and `m`; the outputs to the program memories are registers.
//! - **Reset:** a line that is offered begins again.

use super::{LINE, LINE_DATA, LineWrite, LineWriteIn, OFFSET, PROGRAM_ADDR, WORD};
use crate::entry::Entry;
use spinneret_regmap::pspin;
use spinneret_verilog::prelude::*;

/// Words of a line.
const WORDS: usize = LINE_DATA / WORD;
/// Bits of the number of a word in its line.
const PLACE: usize = WORDS.trailing_zeros() as usize;
/// Bits of the number of a line of program memory.
const ROW: usize = PROGRAM_ADDR - PLACE;
/// The bit of a line's number that is 1 around program memory, and 0 in the other memories.
const PROGRAM_BIT: usize = (pspin::PROGRAM_BASE ^ pspin::HANDLER_BASE).trailing_zeros() as usize - OFFSET;

/// Takes the lines of program memory out of a stream of writes.
#[module]
pub struct ProgramWriter {
    /// Writes.
    pub s: LineWriteIn,
    /// Those to other memories.
    pub m: LineWrite,
    /// A word of program memory is written.
    pub program_write: Wire<Out, bool>,
    /// Its number.
    pub program_addr: Wire<Out, { PROGRAM_ADDR }>,
    /// The word.
    pub program_data: Wire<Out, { WORD }>,
    /// The word of the line whose turn it is.
    place: Reg<{ PLACE }, Reset>,
}

#[kernel(ProgramWriter)]
fn update() {
    let is_here = s.line[PROGRAM_BIT];
    m.valid = s.valid && !is_here;
    m.line = s.line;
    m.strobe = s.strobe;
    m.data = s.data;
    let is_program = s.line.slice(ROW, LINE - ROW) == u64::from(pspin::PROGRAM_BASE) >> (OFFSET + ROW);
    s.ready = if is_here {
        !is_program || place.all()
    } else {
        m.ready
    };
    s.failed = if is_here { !is_program } else { m.failed };
    let writes = s.valid && is_program;
    if writes {
        place = place + 1;
    }
    let is_whole = word_of((0..WORDS).map(|word| s.strobe.slice(WORD / 8 * word, WORD / 8).all()));
    program_write = reg_reset(writes && is_whole[place], false);
    program_addr = reg(cat!(s.line.slice(0, ROW), place));
    program_data = reg(s.data.at(cat!(place, lit(0, address_width(WORD))), WORD));
}

/// [`ProgramWriter`].
pub(crate) const ENTRY: Entry = entry!(part "program_writer", ProgramWriter():
    "writes lines of program memory word by word");
