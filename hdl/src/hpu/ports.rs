//! Port bundles of the pipeline.

use spinneret_verilog::prelude::*;

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
