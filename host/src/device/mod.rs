//! NICs as software reaches them: what they all do, and those that there are.

pub mod chardev;
mod contract;
mod mapping;
mod open;
pub mod socket;
pub mod vfio;

pub use contract::{Address, Area, Device, DeviceError};
pub use mapping::{Mapping, SharedMemory};
pub use open::{OpenDevice, OpenError};
