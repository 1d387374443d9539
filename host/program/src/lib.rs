//! Handlers as the compiler leaves them, and where they go in the cluster's memory: what software on the host and models of
//! the cluster both have to know.
//!
//! - [`Program`] reads an ELF file: segments, handlers by name, variables by name;
//! - [`map`] has the cluster's memories.
#![forbid(unsafe_code)]

pub mod map;
mod program;
mod stage;

pub use program::{Function, Program, ProgramError, Segment, Variable};
pub use stage::{Code, Stage, main_handler};
