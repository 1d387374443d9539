//! Serial lines, and a matching engine behind one.

mod console;
mod frames;
mod line;
pub mod protocol;
mod shape;
mod store;

pub use console::UartMatch;
pub use shape::{ConsoleShape, Timing};
pub(crate) use shape::{ENTRY, SIMULATED};

/// Bits of a byte.
const BYTE: usize = 8;
