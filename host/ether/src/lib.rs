//! Control of a board over Ethernet, as `docs/boards/control.md` has it.
//!
//! ```text
//!  Session ── Request ──► Link ──► board: registers and memories
//!     ▲                    │
//!     └── answers, messages ◄┘
//! ```
//!
//! - [`Frame`]: all frames of the protocol, and their bytes;
//! - [`Session`]: the host's end: repeats requests until they are answered, applies host writes to [`HostMemory`] and answers host reads from it;
//! - [`discover`]: the boards on a wire;
//! - [`board`]: a model of the board's end, for tests of both ends.
//!
//! The crate opens no socket. A [`Link`] carries the frames.

#![forbid(unsafe_code)]

pub mod board;
mod frame;
mod session;

pub use frame::{Frame, Info, Mac};
pub use session::{Error, Found, HostMemory, Link, PATIENCE, Session, TRIES, discover};
