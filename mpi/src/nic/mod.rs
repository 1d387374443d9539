//! Layouts as handlers on the NIC read them.

mod compile;
mod header;
pub mod memory;

pub use compile::{Divisor, NicLayout, NicLayoutError, Segments};
pub use header::c_header;
