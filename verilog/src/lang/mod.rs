//! The language hardware is written in, on top of rust-hdl.
//!
//! Blocks are rust-hdl blocks; this module adds what a generator needs beyond them: widths that are
//! run-time numbers ([`Word`], [`Wire`]), registers with reset ([`Reg`]), memories ([`Ram`], [`ByteRam`]), and
//! the attribute [`macro@kernel`] with its helpers.

mod arithmetic;
pub mod build;
mod byte_ram;
mod called;
mod clocked;
pub mod connect;
mod describe;
mod heaped;
mod named;
mod optional;
mod packed;
mod ram;
mod record;
mod reg;
mod wire;
mod word;

pub use byte_ram::ByteRam;
pub use called::Called;
pub use clocked::Clocked;
pub use connect::Names;
pub(crate) use describe::metadata;
pub use describe::{Describe, clog2, comments};
pub use heaped::Heaped;
pub use named::Named;
pub use optional::Optional;
pub use packed::{Packed, Port};
pub use ram::{Ram, RamStyle, address_width, bit_width};
pub(crate) use record::parts_of;
pub use record::{Field, Layout, Place, of_field, pack_hdl};
pub use reg::{Reg, RegAttribute};
pub use spinneret_kernel::{Describe, Parameters, hardware, interface, kernel, module, record};
pub use wire::{Value, Wire};
pub use word::{Word, fill, lit, word};
