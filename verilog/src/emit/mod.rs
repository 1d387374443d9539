//! The back-end: from the trees of kernels to SystemVerilog.
//!
//! A block passes through these steps, each in a module of its own:
//!
//! ```text
//! walk    block -> tree of scopes (through rust-hdl's `Probe`)
//! tables  scope -> symbol table: signals, constants, registers, instances, identifiers
//! plain   kernel in plain rust-hdl -> tree, as kernels of this crate's language build it (`rtl`)
//! elaborate  tree -> typed statements (`select`, `fold` for the expressions)
//! check   every signal is driven once, in every bit, before it is read
//! prune   drops assignments that have no effect
//! group   statements -> groups that can stand apart
//! plan    group -> port connection, combinational logic or register
//! records signals whose fields are named -> packed structs
//! module  plan -> text (`text` for the statements, `file` for what stands around)
//! loops   statements that repeat -> loops
//! library text -> modules, equal ones once, variants of one block as one with parameters (`variants`)
//! ```

mod build;
mod check;
mod design;
mod domains;
mod elaborate;
mod entry;
mod error;
mod family;
mod file;
mod fold;
mod group;
mod instances;
pub(crate) mod ir;
mod library;
mod literal;
mod loops;
mod marks;
mod metadata;
mod module;
mod names;
mod parameters;
mod plain;
mod plan;
mod prune;
mod records;
mod select;
mod store;
mod symbols;
mod tables;
mod text;
mod variants;
mod verbatim;
mod walk;

pub use design::{Child, Design, Instance, Module, Parameter, Port, PortDirection, TopOptions};
pub use error::Error;
pub use library::{Library, generate};
pub(crate) use literal::read as read_literal;
pub(crate) use metadata::Metadata;
