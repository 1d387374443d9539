//! Handlers as the compiler leaves them: what software on the host and models of the cluster both have to know.
//!
//! [`Program`] reads an ELF file: segments, handlers by name, variables by name.
#![forbid(unsafe_code)]

mod program;

pub use program::{Code, Stage, main_handler};
pub use program::{Function, Program, ProgramError, Segment, Variable};
