//! A language for hardware in Rust, and its back-end, which writes readable, explicit SystemVerilog.

// The `#[kernel]` attribute names this crate by its name, also inside of it.
extern crate self as spinneret_verilog;

mod emit;
pub mod lang;
pub mod prelude;
pub mod rtl;

pub use emit::{
    Child, Design, Error, Instance, Library, Module, Parameter, Port, PortDirection, TopOptions, generate,
};

#[cfg(test)]
#[path = "../tests/random/mod.rs"]
mod random;

/// The examples of the language's page.
#[cfg(doctest)]
#[doc = include_str!("../../docs/language.md")]
struct LanguagePage;
