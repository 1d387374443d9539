//! A line of memory with its place in a frame.

use spinneret_verilog::prelude::*;

/// A line out of a block, which is taken whenever it is there.
#[interface(LineIn, data: usize, offset = (data / 8).trailing_zeros() as usize)]
pub struct LineOut {
    /// The bytes of memory.
    pub data: Wire<Out, { data }>,
    /// Place of the frame's first byte in its first line.
    pub offset: Wire<Out, { offset }>,
    /// Bytes of the frame's last beat, minus 1.
    pub tail: Wire<Out, { offset }>,
    /// The line is the first of its frame.
    pub first: Wire<Out, bool>,
    /// The line is the last of its frame.
    pub last: Wire<Out, bool>,
    /// The frame has as many beats as lines.
    pub even: Wire<Out, bool>,
    /// This line, or one of the frame before it, could not be read.
    pub error: Wire<Out, bool>,
    /// The line is there.
    pub valid: Wire<Out, bool>,
}
