//! The parts of blocks, on top of rust-hdl.
//!
//! Blocks are rust-hdl blocks. This module adds widths that are run-time numbers ([`Word`], [`Wire`]), registers with
//! reset ([`Reg`]), memories ([`Ram`], [`ByteRam`]), and containers for arrays, named parts and optional parts.

mod called;
mod describe;
mod heaped;
mod memory;
mod named;
mod optional;
mod record;
mod reg;
mod wire;
mod word;

/// The methods that rust-hdl requires of blocks that run in Rust. These blocks are only shown to the back-end.
macro_rules! only_shown {
    () => {
        fn connect_all(&mut self) {}
        fn update_all(&mut self) {}
        fn has_changed(&self) -> bool {
            false
        }
    };
}
use only_shown;

pub use called::{Called, Names};
pub use describe::{Describe, clog2};
pub use heaped::Heaped;
pub use memory::{ByteRam, Memory, Ram, RamStyle, address_width, bit_width};
pub use named::Named;
pub use optional::Optional;
pub(crate) use record::parts_of;
pub use record::{Field, Layout, Place, Placed};
pub use reg::{Reg, RegAttribute};
pub use spinneret_kernel::{Parameters, interface, kernel, module, record};
pub use wire::{Value, Wire};
pub use word::{Word, fill, lit};
