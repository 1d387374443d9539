//! What the calls of libc refuse, besides what every service does.

use crate::server::Refusal;

/// The application has not allowed the call.
pub const NOT_ALLOWED: Refusal = Refusal::new("not allowed");
/// No open stream has this handle.
pub const HANDLE: Refusal = Refusal::new("no such stream");
/// A path leads out of the folder.
pub const OUTSIDE: Refusal = Refusal::new("outside of the folder");
/// A path has no end.
pub const PATH: Refusal = Refusal::new("no path");
/// A mode of `fopen` that C does not have.
pub const MODE: Refusal = Refusal::new("no such mode");
/// What a path names is no regular file.
pub const NO_FILE: Refusal = Refusal::new("not a regular file");
/// So many files are open already.
pub const FILES: Refusal = Refusal::new("too many files");
/// A standard stream cannot be closed.
pub const STANDARD: Refusal = Refusal::new("standard stream");
/// Text of `printf` would be longer than it may be.
pub const WIDE: Refusal = Refusal::new("text too long");
/// No function of the host has this number.
pub const FUNCTION: Refusal = Refusal::new("no such function");
/// A call says that it has more than it sent.
pub const SHORT: Refusal = Refusal::new("cut short");
