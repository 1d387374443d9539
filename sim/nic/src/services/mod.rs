//! Services for handlers of a simulated NIC, by a host that takes time for its work.

mod calls;
mod paced;
pub mod ranks;

pub use paced::{Pace, Paced};
