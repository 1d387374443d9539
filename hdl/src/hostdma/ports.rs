//! The ports towards Corundum's DMA, in the order of the public design's ports.

use super::{GuardShape, HostDmaShape, WINDOW_SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Descriptors of reads.
#[derive(LogicInterface, Clone, Debug)]
pub struct ReadDescOut {
    /// Where the data is in host memory.
    pub dma_addr: Wire<Out>,
    /// Number of the RAM; always 0.
    pub ram_sel: Wire<Out>,
    /// Where it goes in the RAM.
    pub ram_addr: Wire<Out>,
    /// How many bytes, at least 1.
    pub len: Wire<Out>,
    /// What the status will carry.
    pub tag: Wire<Out>,
    /// The descriptor is there.
    pub valid: Wire<Out, bool>,
    /// The descriptor is taken in this cycle.
    pub ready: Wire<In, bool>,
}

impl ReadDescOut {
    /// Ports of the given widths.
    pub fn new(shape: HostDmaShape) -> Self {
        Self {
            dma_addr: Wire::word(shape.axi.address),
            ram_sel: Wire::word(shape.ram.select),
            ram_addr: Wire::word(shape.ram.address),
            len: Wire::word(shape.length),
            tag: Wire::word(shape.tag),
            valid: Wire::bit(),
            ready: Wire::bit(),
        }
    }
}

/// Descriptors of writes.
#[derive(LogicInterface, Clone, Debug)]
pub struct WriteDescOut {
    /// Where the data goes in host memory.
    pub dma_addr: Wire<Out>,
    /// Number of the RAM; always 0.
    pub ram_sel: Wire<Out>,
    /// Where it is in the RAM.
    pub ram_addr: Wire<Out>,
    /// Immediate data; always 0.
    pub imm: Wire<Out>,
    /// There is immediate data; never.
    pub imm_en: Wire<Out, bool>,
    /// How many bytes, at least 1.
    pub len: Wire<Out>,
    /// What the status will carry.
    pub tag: Wire<Out>,
    /// The descriptor is there.
    pub valid: Wire<Out, bool>,
    /// The descriptor is taken in this cycle.
    pub ready: Wire<In, bool>,
}

impl WriteDescOut {
    /// Ports of the given widths.
    pub fn new(shape: HostDmaShape) -> Self {
        Self {
            dma_addr: Wire::word(shape.axi.address),
            ram_sel: Wire::word(shape.ram.select),
            ram_addr: Wire::word(shape.ram.address),
            imm: Wire::word(shape.immediate),
            imm_en: Wire::bit(),
            len: Wire::word(shape.length),
            tag: Wire::word(shape.tag),
            valid: Wire::bit(),
            ready: Wire::bit(),
        }
    }
}

/// How descriptors went; there is no ready.
#[derive(LogicInterface, Clone, Debug)]
pub struct StatusIn {
    /// Tag of the descriptor.
    pub tag: Wire<In>,
    /// 0, or why it failed.
    pub error: Wire<In>,
    /// The status is there.
    pub valid: Wire<In, bool>,
}

/// Width of the error of a status in bits.
pub const ERROR_BITS: usize = 4;

impl StatusIn {
    /// Ports for tags of that width.
    pub fn new(tag: usize) -> Self {
        Self {
            tag: Wire::word(tag),
            error: Wire::word(ERROR_BITS),
            valid: Wire::bit(),
        }
    }
}

/// Writes into the RAM, segments side by side.
#[derive(LogicInterface, Clone, Debug)]
pub struct RamWriteOut {
    /// Bytes that are written.
    pub cmd_be: Wire<Out>,
    /// Words that are written.
    pub cmd_addr: Wire<Out>,
    /// Data.
    pub cmd_data: Wire<Out>,
    /// Bit s: there is a command for segment s.
    pub cmd_valid: Wire<Out>,
    /// Bit s: segment s takes its command in this cycle.
    pub cmd_ready: Wire<In>,
    /// Bit s: the oldest command of segment s that was not done is done.
    pub done: Wire<In>,
}

impl RamWriteOut {
    /// Ports of the given widths.
    pub fn new(shape: HostDmaShape) -> Self {
        let (ram, count) = (shape.ram, shape.ram.segments);
        Self {
            cmd_be: Wire::word(count * ram.enables()),
            cmd_addr: Wire::word(count * ram.word_address()),
            cmd_data: Wire::word(count * ram.data),
            cmd_valid: Wire::word(count),
            cmd_ready: Wire::word(count),
            done: Wire::word(count),
        }
    }
}

/// Reads from the RAM, segments side by side.
#[derive(LogicInterface, Clone, Debug)]
pub struct RamReadOut {
    /// Words that are read.
    pub cmd_addr: Wire<Out>,
    /// Bit s: there is a command for segment s.
    pub cmd_valid: Wire<Out>,
    /// Bit s: segment s takes its command in this cycle.
    pub cmd_ready: Wire<In>,
    /// What was read.
    pub resp_data: Wire<In>,
    /// Bit s: the data of segment s is there.
    pub resp_valid: Wire<In>,
    /// Always all ones: commands are only given when there is room for the data.
    pub resp_ready: Wire<Out>,
}

impl RamReadOut {
    /// Ports of the given widths.
    pub fn new(shape: HostDmaShape) -> Self {
        let (ram, count) = (shape.ram, shape.ram.segments);
        Self {
            cmd_addr: Wire::word(count * ram.word_address()),
            cmd_valid: Wire::word(count),
            cmd_ready: Wire::word(count),
            resp_data: Wire::word(count * ram.data),
            resp_valid: Wire::word(count),
            resp_ready: Wire::word(count),
        }
    }
}

/// The windows of host memory, side by side.
#[derive(LogicInterface, Clone, Debug)]
pub struct GuardIn {
    /// Transfers are not held to the windows.
    pub open: Wire<In, bool>,
    /// A transfer is held to the window of the context in the lowest bits of AWUSER or ARUSER, not to any window.
    pub by_context: Wire<In, bool>,
    /// Bit c: execution context c is enabled.
    pub enabled: Wire<In>,
    /// Where its window starts.
    pub base: Wire<In>,
    /// Its bytes.
    pub size: Wire<In>,
}

impl GuardIn {
    /// Ports of the given widths.
    pub fn new(shape: GuardShape) -> Self {
        Self {
            open: Wire::bit(),
            by_context: Wire::bit(),
            enabled: Wire::word(shape.windows),
            base: Wire::word(shape.windows * shape.address),
            size: Wire::word(shape.windows * WINDOW_SIZE_BITS),
        }
    }
}
