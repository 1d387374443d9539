//! The host library for programs in C. cbindgen makes `host/include/spinneret.h` from these files
//! (`tests/header.rs`).
//!
//! ```text
//! spinneret_* ── ffi: checks strings, pointers and buffers of the caller; results; catches panics; handles
//! ```
//!
//! Other libraries for C use [`ffi`] as well.

// Names are those of the header. Types without `repr(C)` are handles, which the header names and does not describe.
#![allow(non_camel_case_types)]

mod addresses;
mod calls;
mod context;
#[doc(hidden)]
pub mod ffi;
#[doc(hidden)]
mod memory;
mod nic;
mod services;
mod slmp;

pub use addresses::*;
pub use calls::*;
pub use context::*;
pub use ffi::*;
pub use memory::*;
pub use nic::*;
pub use services::*;
pub use slmp::*;
