//! The host library for programs in C. `host/include/spinneret.h` is made from these files.
//!
//! ```text
//! spinneret_* ── border: strings, places and buffers of the caller; results; panics end here
//!      └─────── handles: what the caller has, by numbers that are never used twice
//! ```

// Names are those of the header.
#![allow(non_camel_case_types)]

mod border;
mod context;
mod handles;
mod memory;
mod nic;
mod rules;

pub use border::*;
pub use context::*;
pub use memory::*;
pub use nic::*;
pub use rules::*;
