//! What is behind the application's ports to the cluster.

use spinneret_cluster::Program;
use std::fmt;

/// The cluster, as the rest of the NIC knows it: a model, or hardware that is simulated with the application.
pub trait Behind: fmt::Debug {
    /// Whether nothing moves at the application's ports, and nothing is on its way between it and the cluster.
    fn is_quiet(&self) -> bool;

    /// Whether the cluster has nothing to do.
    fn is_idle(&self) -> bool;

    /// Whether it holds packets that are not done with.
    fn holds_packets(&self) -> bool {
        false
    }

    /// Whether every HPU waits for packets, or has: start-up is over.
    fn is_ready(&self) -> bool;

    /// Words of standard output that were ever printed.
    fn printed(&self) -> u64;

    /// Lets the cluster go on without the application, for so many of its clocks at the most, and gives how many have passed.
    /// It stops when it needs the application.
    fn skip(&mut self, clocks: u64) -> u64;

    /// Clocks after which the cluster has something to do, if nothing comes; `None`: never.
    fn next_clocks(&self) -> Option<u64>;

    /// Puts a program into memory, unless it has to go through the BAR: then it gives false.
    fn load(&mut self, program: &Program) -> bool;

    /// Makes memories what they were after power-up, where that can be done.
    fn forget(&mut self) {}

    /// Whether it says with each access to host memory for which context it is.
    fn tells_contexts(&self) -> bool;

    /// Clusters, and HPUs of each.
    fn shape(&self) -> [u32; 2];
}
