//! Who may hold the cluster between two instructions.

use super::Cluster;
use crate::rv::Trap;
use std::fmt;

/// A debugger. HPUs are named by their numbers: those of cluster 0 first.
///
/// Every call has the whole cluster, in the middle of a clock. No time passes before the call returns, so a run that is
/// held is the same run, clock by clock.
pub trait Debugger {
    /// Somebody has the time for what came from outside: between two clocks, and also while the cluster has nothing to do.
    fn attend(&mut self, cluster: &mut Cluster);

    /// An HPU is about to execute the instruction at its program counter: whether it shall. If not, it is asked again in
    /// the next clock.
    fn before(&mut self, cluster: &mut Cluster, hpu: usize) -> bool;

    /// It has executed one.
    fn after(&mut self, cluster: &mut Cluster, hpu: usize);

    /// What a handler is about to do ends it: the instruction at its program counter traps, or its time is over. The trap
    /// comes after the call, unless the instruction does not trap any more.
    fn faulted(&mut self, cluster: &mut Cluster, hpu: usize, trap: Trap);
}

/// The place of a debugger.
#[derive(Default)]
pub(crate) struct Attached(pub(crate) Option<Box<dyn Debugger>>);

/// A copy of a cluster is debugged by nobody.
impl Clone for Attached {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attached").field(&self.0.is_some()).finish()
    }
}
