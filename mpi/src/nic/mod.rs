//! Layouts as handlers on the NIC read them.

mod compile;
pub mod memory;

pub use compile::{Divisor, NicLayout, NicLayoutError, Segments};
pub use memory::c_header;
