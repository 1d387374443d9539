//! Benches of the blocks of a cluster.

pub mod driver;
