//! MPI's messages by the NIC, for programs in C. cbindgen makes `mpi/include/spinneret_rank.h` from these files
//! (`tests/rank_header.rs`).
//!
//! ```text
//! spinneret_rank_* ── rank, requests: numbers and pointers of the caller become buffers and requests
//!      └── spinneret_mpi::Rank, behind a lock
//! ```

// Names are those of the header. Types without `repr(C)` are handles, which the header names and does not describe.
#![allow(non_camel_case_types)]

mod rank;
mod requests;

pub use rank::*;
pub use requests::*;
