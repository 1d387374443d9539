//! `spinneret match` as its users see it: outputs, messages and exit codes of the real binary.

mod bench;
mod errors;
mod relative;
mod results;
