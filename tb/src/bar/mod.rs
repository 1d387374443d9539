//! The BAR between a host, registers and a cluster, and what has to become of every access.

mod bench;
mod cluster;
mod oracle;

pub use bench::{BarBench, Behaviour};
pub use cluster::{ClusterModel, Setup, Temper};
pub use oracle::{Counters, WRITABLE};
