//! Causes of traps, as `mcause` has them (The RISC-V Instruction Set Manual, volume II, table 3.6).

/// A jump to an odd address.
pub const INSTRUCTION_MISALIGNED: u32 = 0;
/// No instruction can be fetched from there.
pub const INSTRUCTION_FAULT: u32 = 1;
/// Not an instruction, or not in this mode.
pub const ILLEGAL: u32 = 2;
/// `ebreak`.
pub const BREAKPOINT: u32 = 3;
/// A load from an address that is no multiple of its width.
pub const LOAD_MISALIGNED: u32 = 4;
/// A load that memory refuses.
pub const LOAD_FAULT: u32 = 5;
/// A store or atomic operation at an address that is no multiple of its width.
pub const STORE_MISALIGNED: u32 = 6;
/// A store or atomic operation that memory refuses.
pub const STORE_FAULT: u32 = 7;
/// `ecall` in user mode.
pub const CALL_OF_USER: u32 = 8;
/// `ecall` in machine mode.
pub const CALL_OF_MACHINE: u32 = 11;
/// The thread was stopped from outside, as by a watchdog: the first cause that the manual leaves to the platform.
pub const STOPPED: u32 = 24;
