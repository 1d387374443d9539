//! Random kernels: blocks that no person would write, to test the back-end against Rust.
//!
//! The build script writes them; see `generator/` for what they are made of.

#![allow(missing_docs, reason = "the blocks are generated and mean nothing")]
#![allow(clippy::all, reason = "generated expressions follow no style")]
#![allow(
    unused_parens,
    reason = "generated expressions keep parentheses that people would omit"
)]

use spinneret_verilog::prelude::*;

/// A block with a clock, word inputs and word outputs, which a test can drive without knowing it.
pub trait Stimulated: Block {
    /// The clock.
    fn clock(&mut self) -> &mut Signal<In, Clock>;
    /// The reset, active high.
    fn reset(&mut self) -> &mut Wire<In, bool>;
    /// Names and widths of the inputs beside clock and reset.
    fn inputs(&self) -> Vec<(&'static str, usize)>;
    /// Drives an input by its number.
    fn drive(&mut self, input: usize, value: &Word);
    /// Names and values of the outputs.
    fn outputs(&self) -> Vec<(&'static str, Word)>;
}

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
