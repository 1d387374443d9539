//! The stand-in for the cluster between bus models, and what has to become of every burst and HER.

mod bench;
mod hers;

pub use bench::{Behaviour, StubBench};
pub use hers::{Her, Places};
