//! Places of nodes and cables in a topology.

use serde::{Deserialize, Serialize};

/// A NIC or a switch, by its place in [`Topology::nodes`](crate::Topology::nodes).
pub(crate) type NodeNumber = usize;

/// A direction of a cable: that which sends from an end of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Way {
    /// The cable, by its place in [`Topology::cables`](crate::Topology::cables).
    pub(crate) cable: u32,
    /// The end that sends, 0 or 1.
    pub(crate) from: u8,
}

impl Way {
    /// The end that receives, 0 or 1.
    pub(crate) fn to(self) -> usize {
        1 - usize::from(self.from)
    }

    /// Its place among all ways.
    pub(crate) fn index(self) -> usize {
        2 * self.cable as usize + usize::from(self.from)
    }
}
