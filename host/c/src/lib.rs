//! The host library for programs in C. cbindgen makes `host/include/spinneret.h` from these files
//! (`tests/header.rs`).
//!
//! ```text
//! spinneret_* ── border: strings, places and buffers of the caller; results; panics end here
//!      └─────── handles: what the caller has, by numbers that are never used twice
//! ```
//!
//! Both are there for other libraries for C, too.

// Names are those of the header. Types without `repr(C)` are handles, which the header names and does not describe.
#![allow(non_camel_case_types)]

#[doc(hidden)]
pub mod border;
mod context;
#[doc(hidden)]
pub mod handles;
mod memory;
mod network;
mod nic;
mod rules;
mod services;
mod slmp;
mod version;

pub use border::*;
pub use context::*;
pub use memory::*;
pub use network::*;
pub use nic::*;
pub use rules::*;
pub use services::*;
pub use slmp::*;
pub use version::*;
