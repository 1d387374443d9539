//! The BAR between a host, registers and a cluster, and what has to become of every access.

mod bench;
mod cluster;
mod oracle;
mod setup;

pub use bench::{BarBench, Behaviour};
pub use cluster::{ClusterModel, Temper};
pub use oracle::{Counters, WRITABLE};
pub use setup::Setup;
