//! Port bundles of the pipeline, and its parameters.

use crate::entry::{Checked, ParameterError};
use spinneret_verilog::prelude::*;

/// Upper bits of an address that are known before its offer: enough for regions of 8 bytes.
pub const NEXT_ADDRESS: usize = 29;

/// The data port of a pipeline.
///
/// An offer that is neither taken nor refused is made again in a later slot of its thread with the same values, unless the
/// thread is stopped in between. `valid` never depends on `ready`.
#[interface(HpuDataIn, threads: usize)]
pub struct HpuData {
    /// An access is offered in this clock.
    pub valid: Wire<Out, bool>,
    /// The thread that makes it.
    pub thread: Wire<Out, { address_width(threads) }>,
    /// Byte address of the word: bits 1:0 are 0.
    pub address: Wire<Out, 32>,
    /// It is a store, and not atomic.
    pub is_write: Wire<Out, bool>,
    /// Bit 5: it is an atomic instruction; bits 4:0 are then bits 31:27 of the instruction.
    pub atomic: Wire<Out, 6>,
    /// Bytes that are written or read.
    pub strobe: Wire<Out, 4>,
    /// Bytes to write in their lanes; the operand of an atomic instruction.
    pub data: Wire<Out, 32>,
    /// It is made in user mode.
    pub is_user: Wire<Out, bool>,
    /// The access takes place in this clock.
    pub ready: Wire<In, bool>,
    /// There is no such address, or not for this thread: nothing happens, and `ready` is ignored.
    pub refused: Wire<In, bool>,
    /// The word before the access, one or two clocks after it, as the memory has it; after `sc.w` 0 (stored) or 1.
    pub read_data: Wire<In, 32>,
}

/// Report of an instruction that retired or trapped, in the style of the RISC-V Formal Interface: one in a clock at most.
///
/// Masks and data of memory are relative to `mem_addr`, which is the address that the instruction computed, aligned or not.
#[interface(HpuRvfiIn, threads: usize)]
pub struct HpuRvfi {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// Its thread.
    pub thread: Wire<Out, { address_width(threads) }>,
    /// The instruction; of 16 bits the upper ones are 0.
    pub insn: Wire<Out, 32>,
    /// It trapped.
    pub trap: Wire<Out, bool>,
    /// Why.
    pub cause: Wire<Out, 5>,
    /// It is one of user mode.
    pub is_user: Wire<Out, bool>,
    /// The first register that it read, or 0.
    pub rs1_addr: Wire<Out, 5>,
    /// The second one.
    pub rs2_addr: Wire<Out, 5>,
    /// The word of the first one.
    pub rs1_rdata: Wire<Out, 32>,
    /// The word of the second one.
    pub rs2_rdata: Wire<Out, 32>,
    /// The register that it wrote, or 0.
    pub rd_addr: Wire<Out, 5>,
    /// Its word.
    pub rd_wdata: Wire<Out, 32>,
    /// Address of the instruction.
    pub pc_rdata: Wire<Out, 32>,
    /// Address of the next one of the thread.
    pub pc_wdata: Wire<Out, 32>,
    /// Address of its access.
    pub mem_addr: Wire<Out, 32>,
    /// Bytes that it read.
    pub mem_rmask: Wire<Out, 4>,
    /// Bytes that it wrote.
    pub mem_wmask: Wire<Out, 4>,
    /// The bytes that it read.
    pub mem_rdata: Wire<Out, 32>,
    /// The bytes that it wrote; the operand of an atomic instruction.
    pub mem_wdata: Wire<Out, 32>,
}

/// Parameters of the pipeline.
#[derive(Parameters, Clone, Copy, Debug)]
#[parameters(block = "hpu_pipeline", check)]
pub struct HpuShape {
    /// Threads, which take turns: 4, 8 or 16.
    #[parameter(8, range = 4..=16, power_of_two)]
    pub threads: usize,
    /// Protection ranges of a thread; 0: user mode may access everything.
    #[parameter(8, range = 0..=16)]
    pub ranges: usize,
    /// 1: user mode may access the registers of a cluster whatever the ranges say.
    #[parameter(0)]
    pub registers: bool,
    /// 1: instructions that multiply and divide; else they are illegal.
    #[parameter(1)]
    pub multiplies: bool,
    /// 1: `minstret` counts; else it is 0.
    #[parameter(1)]
    pub counts: bool,
    /// Words of program memory.
    #[parameter(8192, range = 16..=65536, power_of_two)]
    pub program_words: usize,
    /// Address of program memory.
    #[parameter(0x1d00_0000, range = 0..=0xffff_0000_u64)]
    pub program_base: u64,
    /// Clocks from an access to its data.
    #[parameter(1, range = 1..=2)]
    pub memory_clocks: usize,
    /// 1: ports that say what each instruction did.
    #[parameter(0)]
    pub trace: bool,
}

/// Where threads begin, in bytes from the beginning of program memory: that of the PULP cluster.
const RESET_OFFSET: u64 = 0x80;

impl HpuShape {
    /// Address of the first instruction.
    pub(super) fn reset_vector(&self) -> u64 {
        self.program_base + RESET_OFFSET
    }

    /// With four threads an instruction is fetched before the one before it has decided: the address is that of the next one.
    pub(super) fn predicts(&self) -> bool {
        self.threads < 8
    }

    /// The stage whose next clock fetches the next instruction of a thread, if nothing redirects it.
    pub(super) fn sequential_stage(&self) -> usize {
        if self.predicts() { 3 } else { 7 }
    }

    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let size = 4 * self.program_words as u64;
        checked.multiple_of("program_base", size, "the size of program memory")
    }
}
