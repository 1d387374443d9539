//! Reasons for a trap.

use std::fmt;

/// Why a hart went to its trap handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// A jump to an odd address. Never taken by this hart, since jumps clear the lowest bit of their target.
    InstructionMisaligned,
    /// No program may be fetched from here; the trap value is the address of the instruction.
    InstructionFault,
    /// Not an instruction, or not allowed here; the trap value holds its bits.
    Illegal,
    /// `ebreak`; the trap value is its address.
    Breakpoint,
    /// A load or load-reserved from an address that is no multiple of its width.
    LoadMisaligned,
    /// The bus refused a load; the trap value is the address.
    LoadFault,
    /// A store or atomic operation to an address that is no multiple of its width.
    StoreMisaligned,
    /// The bus refused a store or an atomic operation; the trap value is the address.
    StoreFault,
    /// `ecall` in user mode.
    EnvironmentCallU,
    /// `ecall` in machine mode.
    EnvironmentCallM,
    /// A cause from outside, such as a watchdog: the number is what `mcause` reads.
    Custom(u32),
}

impl Trap {
    /// What `mcause` reads.
    pub const fn cause(self) -> u32 {
        match self {
            Trap::InstructionMisaligned => 0,
            Trap::InstructionFault => 1,
            Trap::Illegal => 2,
            Trap::Breakpoint => 3,
            Trap::LoadMisaligned => 4,
            Trap::LoadFault => 5,
            Trap::StoreMisaligned => 6,
            Trap::StoreFault => 7,
            Trap::EnvironmentCallU => 8,
            Trap::EnvironmentCallM => 11,
            Trap::Custom(cause) => cause,
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trap::InstructionMisaligned => "misaligned jump",
            Trap::InstructionFault => "instruction fetch not allowed",
            Trap::Illegal => "illegal instruction",
            Trap::Breakpoint => "breakpoint",
            Trap::LoadMisaligned => "misaligned load",
            Trap::LoadFault => "load not allowed",
            Trap::StoreMisaligned => "misaligned store",
            Trap::StoreFault => "store not allowed",
            Trap::EnvironmentCallU => "environment call from user mode",
            Trap::EnvironmentCallM => "environment call from machine mode",
            Trap::Custom(cause) => return write!(f, "trap with cause {cause}"),
        })
    }
}
