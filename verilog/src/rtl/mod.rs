//! The language of kernels: a kernel is Rust that runs once and builds a tree.
//!
//! Signals are [`Sig`], handles that can be copied; `#[kernel]` rewrites what Rust cannot overload (`if`, `match`, `=`,
//! comparisons) into calls of [`control`]. The back-end takes the tree where it asks a block for its `hdl`.

pub mod control;
mod handle;
mod merge;
mod pattern;
mod pipeline;
mod sig;
mod signed;
pub(crate) mod tree;

pub use crate::emit::ir::CheckKind;
pub use handle::{
    Bundle, ByteRamPorts, Handle, Handshake, Maybe, Payload, PortOf, RamPorts, Table, below, in_domain,
};
pub use pipeline::{Staged, staged};
pub(crate) use sig::sig;
pub use sig::{
    Operand, Packable, Part, Places, Sig, cat, cat_all, constant, first, or_all, pack, reg, reg_reset, sum,
    wire, wire_bit, word_of,
};
pub use signed::{OnSigned, Signed, SignedOperand};
pub use tree::{BlockClock, Clocking};

use crate::emit::Metadata;
use crate::lang::Describe;
use rust_hdl::prelude::Verilog;

/// Runs a kernel for the back-end: what `hdl` of a block in this language does.
pub fn elaborate<T: Describe + ?Sized>(
    suffix: Option<String>,
    numbers: &[(&str, usize, Option<&str>)],
    clock: Option<BlockClock>,
    clocking: Vec<Clocking>,
    kernel: impl FnOnce(),
) -> Verilog {
    tree::build(|| {
        tree::with(|tree| {
            tree.metadata = Metadata::of::<T>(suffix, numbers);
            tree.clock = clock.map(|clock| clock.clock);
            tree.reset = clock.and_then(|clock| clock.reset);
            tree.reset_is_low = clock.is_some_and(|clock| clock.reset_is_low);
            tree.clocking = clocking;
        });
        kernel();
    });
    Verilog::Empty
}
