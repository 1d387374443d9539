//! What all commands share: how they fail, which files they may touch, what they print, and values of their options.

mod failure;
mod files;
mod print;
mod store;
mod values;

pub use failure::Failure;
pub(crate) use files::Files;
pub(crate) use print::{print, print_folded, tell, tell_failure};
pub(crate) use store::Store;
pub(crate) use values::{megabits, megahertz, seconds};
