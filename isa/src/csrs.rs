//! The control and status registers of our handler processor.
//!
//! Other cores that the simulator knows have more or fewer; `CsrSet` in `sim/cluster` tells them apart.
//!
//! Source: The RISC-V Instruction Set Manual, volume II (20211203), chapters 2 and 3. As there, bits 11:10 of a number are 3 if
//! the register is read-only, and bits 9:8 are the lowest mode that may use it.

use super::pattern;

/// A mode of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Mode of handlers.
    User,
    /// Mode of the runtime.
    Machine,
}

/// Effect of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// The register takes the bits that it can hold.
    Stored,
    /// Nothing.
    Ignored,
    /// It is an illegal instruction.
    Illegal,
}

/// A register, or several that read the same.
#[derive(Clone, Copy, Debug)]
pub struct CsrRow {
    /// Its name in assembly; of several registers a range.
    pub name: &'static str,
    /// Bits 11 to 0 of its number; `?` is any, `_` only separates.
    pub bits: &'static str,
    /// The lowest mode that may read it.
    pub mode: Mode,
    /// Effect of a write in machine mode.
    pub writes: Writes,
    /// The constant that it reads, if it is one.
    pub value: Option<u32>,
    /// Its contents, in words.
    pub is: &'static str,
    /// Mask and value of `bits`.
    pattern: (u32, u32),
}

impl CsrRow {
    /// The row of a number; none if there is no such register.
    pub fn of(number: u32) -> Option<&'static Self> {
        CSRS.iter().find(|row| number & row.pattern.0 == row.pattern.1)
    }

    /// Whether the row is one register.
    pub fn is_one(&self) -> bool {
        self.pattern.0 == 0xfff
    }
}

macro_rules! csrs {
    ($($name:literal $bits:literal $mode:ident $writes:ident $value:expr, $is:literal;)+) => {
        /// All registers. At most one row fits a number.
        pub const CSRS: &[CsrRow] = &[$(CsrRow {
            name: $name,
            bits: $bits,
            mode: Mode::$mode,
            writes: Writes::$writes,
            value: $value,
            is: $is,
            pattern: pattern($bits),
        },)+];
    };
}

/// RV32 with A, C, I, M, user mode, and instructions of our own.
const MISA: u32 = 1 << 30 | 1 << 23 | 1 << 20 | 1 << 12 | 1 << 8 | 1 << 2 | 1;

csrs! {
    "mstatus"            "0011_0000_0000" Machine Stored  None,       "MPRV (bit 17), MPP (12:11), MPIE (7), MIE (3)";
    "misa"               "0011_0000_0001" Machine Ignored Some(MISA), "RV32 with A, C, I, M, U, X";
    "mie"                "0011_0000_0100" Machine Ignored Some(0),    "no interrupts";
    "mtvec"              "0011_0000_0101" Machine Stored  None,       "address of the trap handler, bits 31:2";
    "mcounteren"         "0011_0000_0110" Machine Ignored Some(7),    "cycle, time and instret in user mode";
    "mstatush"           "0011_0001_0000" Machine Ignored Some(0),    "little-endian";
    "mcountinhibit"      "0011_0010_0000" Machine Ignored Some(0),    "all counters run";
    "mhpmevent3"         "0011_0010_0011" Machine Ignored Some(0),    "no event";
    "mhpmevent4-7"       "0011_0010_01??" Machine Ignored Some(0),    "no event";
    "mhpmevent8-15"      "0011_0010_1???" Machine Ignored Some(0),    "no event";
    "mhpmevent16-31"     "0011_0011_????" Machine Ignored Some(0),    "no event";
    "mscratch"           "0011_0100_0000" Machine Stored  None,       "a word of the trap handler";
    "mepc"               "0011_0100_0001" Machine Stored  None,       "address of the trapped instruction, bits 31:1";
    "mcause"             "0011_0100_0010" Machine Stored  None,       "cause of the trap, bits 4:0";
    "mtval"              "0011_0100_0011" Machine Stored  None,       "address of the trapped access or fetch, or 0";
    "mip"                "0011_0100_0100" Machine Ignored Some(0),    "no interrupts";
    "mcycle"             "1011_0000_0000" Machine Ignored None,       "clocks since reset";
    "minstret"           "1011_0000_0010" Machine Ignored None,       "instructions since reset";
    "mcycleh"            "1011_1000_0000" Machine Ignored None,       "upper half";
    "minstreth"          "1011_1000_0010" Machine Ignored None,       "upper half";
    "mhpmcounter3,h"     "1011_?000_0011" Machine Ignored Some(0),    "no event";
    "mhpmcounter4-7,h"   "1011_?000_01??" Machine Ignored Some(0),    "no event";
    "mhpmcounter8-15,h"  "1011_?000_1???" Machine Ignored Some(0),    "no event";
    "mhpmcounter16-31,h" "1011_?001_????" Machine Ignored Some(0),    "no event";
    "cycle"              "1100_0000_0000" User    Illegal None,       "mcycle";
    "time"               "1100_0000_0001" User    Illegal None,       "mcycle";
    "instret"            "1100_0000_0010" User    Illegal None,       "minstret";
    "cycleh"             "1100_1000_0000" User    Illegal None,       "mcycleh";
    "timeh"              "1100_1000_0001" User    Illegal None,       "mcycleh";
    "instreth"           "1100_1000_0010" User    Illegal None,       "minstreth";
    "hpmcounter3,h"      "1100_?000_0011" User    Illegal Some(0),    "no event";
    "hpmcounter4-7,h"    "1100_?000_01??" User    Illegal Some(0),    "no event";
    "hpmcounter8-15,h"   "1100_?000_1???" User    Illegal Some(0),    "no event";
    "hpmcounter16-31,h"  "1100_?001_????" User    Illegal Some(0),    "no event";
    "mvendorid"          "1111_0001_0001" Machine Illegal Some(0),    "not assigned";
    "marchid"            "1111_0001_0010" Machine Illegal Some(0),    "not assigned";
    "mimpid"             "1111_0001_0011" Machine Illegal Some(0),    "not assigned";
    "mhartid"            "1111_0001_0100" Machine Illegal None,       "number of the HPU";
    "mconfigptr"         "1111_0001_0101" Machine Illegal Some(0),    "no configuration";
}

#[cfg(test)]
mod tests {
    use super::{CSRS, CsrRow, Mode, Writes};

    #[test]
    fn at_most_one_row_fits_a_number() {
        for row in CSRS {
            let digits = row.bits.chars().filter(|bit| *bit != '_').count();
            assert_eq!(digits, 12, "{}", row.name);
        }
        for number in 0..0x1000 {
            let fits = |row: &&CsrRow| number & row.pattern.0 == row.pattern.1;
            assert!(CSRS.iter().filter(fits).count() <= 1, "{number:#x}");
        }
    }

    #[test]
    fn numbers_say_who_may_read_and_write() {
        for number in 0..0x1000 {
            let Some(row) = CsrRow::of(number) else { continue };
            assert_eq!(row.writes == Writes::Illegal, number >> 10 == 3, "{number:#x}");
            assert!(row.mode == Mode::Machine || number >> 8 & 3 == 0, "{number:#x}");
            assert!(row.value.is_none() || row.writes != Writes::Stored, "{number:#x}");
        }
    }
}
