//! A line of memory with its place in a frame.

use spinneret_verilog::prelude::*;

/// A line into a block.
#[derive(LogicInterface, Clone, Debug)]
pub struct LineIn {
    /// The bytes of memory.
    pub data: Wire<In>,
    /// Place of the frame's first byte in its first line.
    pub offset: Wire<In>,
    /// Bytes of the frame's last beat, minus 1.
    pub tail: Wire<In>,
    /// The line is the first of its frame.
    pub first: Wire<In, bool>,
    /// The line is the last of its frame.
    pub last: Wire<In, bool>,
    /// The frame has as many beats as lines.
    pub even: Wire<In, bool>,
    /// This line, or one of the frame before it, could not be read.
    pub error: Wire<In, bool>,
    /// The line is there.
    pub valid: Wire<In, bool>,
}

/// A line out of a block.
#[derive(LogicInterface, Clone, Debug)]
pub struct LineOut {
    /// The bytes of memory.
    pub data: Wire<Out>,
    /// Place of the frame's first byte in its first line.
    pub offset: Wire<Out>,
    /// Bytes of the frame's last beat, minus 1.
    pub tail: Wire<Out>,
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

macro_rules! bundle {
    ($($name:ident)+) => {$(
        impl $name {
            /// Ports for lines of `data` bits.
            pub fn new(data: usize) -> Self {
                let offset = (data / 8).trailing_zeros() as usize;
                Self {
                    data: Wire::word(data),
                    offset: Wire::word(offset),
                    tail: Wire::word(offset),
                    first: Wire::bit(),
                    last: Wire::bit(),
                    even: Wire::bit(),
                    error: Wire::bit(),
                    valid: Wire::bit(),
                }
            }
        }
    )+};
}

bundle! { LineIn LineOut }

impl LineOut {
    /// Feeds the other side.
    pub fn join(&mut self, other: &mut LineIn) {
        self.data.join(&mut other.data);
        self.offset.join(&mut other.offset);
        self.tail.join(&mut other.tail);
        self.first.join(&mut other.first);
        self.last.join(&mut other.last);
        self.even.join(&mut other.even);
        self.error.join(&mut other.error);
        self.valid.join(&mut other.valid);
    }
}
