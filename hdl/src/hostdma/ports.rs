//! The ports towards Corundum's DMA, in the order of the public design's ports.

use super::{GuardShape, HostDmaShape, RamShape, WINDOW_SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Descriptors of reads.
#[interface(shape: HostDmaShape)]
pub struct ReadDescOut {
    /// Where the data is in host memory.
    pub dma_addr: Wire<Out, { shape.address }>,
    /// Number of the RAM; always 0.
    pub ram_sel: Wire<Out, { shape.ram_select }>,
    /// Where it goes in the RAM.
    pub ram_addr: Wire<Out, { shape.ram_address }>,
    /// How many bytes, at least 1.
    pub len: Wire<Out, { shape.length }>,
    /// The tag of the status.
    pub tag: Wire<Out, { shape.tag }>,
    /// The descriptor is there.
    pub valid: Wire<Out, bool>,
    /// The descriptor is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// Descriptors of writes.
#[interface(shape: HostDmaShape)]
pub struct WriteDescOut {
    /// Where the data goes in host memory.
    pub dma_addr: Wire<Out, { shape.address }>,
    /// Number of the RAM; always 0.
    pub ram_sel: Wire<Out, { shape.ram_select }>,
    /// Where it is in the RAM.
    pub ram_addr: Wire<Out, { shape.ram_address }>,
    /// Immediate data; always 0.
    pub imm: Wire<Out, { shape.immediate }>,
    /// There is immediate data; never.
    pub imm_en: Wire<Out, bool>,
    /// How many bytes, at least 1.
    pub len: Wire<Out, { shape.length }>,
    /// The tag of the status.
    pub tag: Wire<Out, { shape.tag }>,
    /// The descriptor is there.
    pub valid: Wire<Out, bool>,
    /// The descriptor is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// How descriptors went; there is no ready.
#[interface(tag: usize)]
pub struct StatusIn {
    /// Tag of the descriptor.
    pub tag: Wire<In, { tag }>,
    /// 0, or why it failed.
    pub error: Wire<In, { ERROR_BITS }>,
    /// The status is there.
    pub valid: Wire<In, bool>,
}

/// Width of the error of a status in bits.
pub const ERROR_BITS: usize = 4;

/// Writes into the RAM, segments side by side.
#[interface(RamWriteIn, shape: RamShape, count = shape.segments)]
pub struct RamWriteOut {
    /// Bytes that are written.
    pub cmd_be: Wire<Out, { count * shape.data / 8 }>,
    /// Words that are written.
    pub cmd_addr: Wire<Out, { count * shape.address }>,
    /// Data.
    pub cmd_data: Wire<Out, { count * shape.data }>,
    /// Bit s: there is a command for segment s.
    pub cmd_valid: Wire<Out, { count }>,
    /// Bit s: segment s takes its command in this cycle.
    pub cmd_ready: Wire<In, { count }>,
    /// Bit s: the oldest command of segment s that was not done is done.
    pub done: Wire<In, { count }>,
}

/// Reads from the RAM, segments side by side.
#[interface(RamReadIn, shape: RamShape, count = shape.segments)]
pub struct RamReadOut {
    /// Words that are read.
    pub cmd_addr: Wire<Out, { count * shape.address }>,
    /// Bit s: there is a command for segment s.
    pub cmd_valid: Wire<Out, { count }>,
    /// Bit s: segment s takes its command in this cycle.
    pub cmd_ready: Wire<In, { count }>,
    /// The data.
    pub resp_data: Wire<In, { count * shape.data }>,
    /// Bit s: the data of segment s is there.
    pub resp_valid: Wire<In, { count }>,
    /// Bit s: it is taken.
    pub resp_ready: Wire<Out, { count }>,
}

/// The segmented RAM as Corundum sees it: writes go to one half, reads come from the other.
#[interface(shape: RamShape)]
pub struct CorundumRam {
    /// Writes.
    pub wr: RamWriteIn<{ shape }>,
    /// Reads.
    pub rd: RamReadIn<{ shape }>,
}

/// The windows of host memory, side by side.
#[interface(shape: GuardShape)]
pub struct GuardIn {
    /// The windows do not confine transfers.
    pub open: Wire<In, bool>,
    /// A transfer must be in the window of the context in the lowest bits of AWUSER or ARUSER, not in any window.
    pub by_context: Wire<In, bool>,
    /// Bit c: execution context c is enabled.
    pub enabled: Wire<In, { shape.windows }>,
    /// Where its window starts.
    pub base: Wire<In, { shape.windows * shape.address }>,
    /// Its bytes.
    pub size: Wire<In, { shape.windows * WINDOW_SIZE_BITS }>,
}
