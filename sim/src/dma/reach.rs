//! How the DMA of one direction reaches the RAM.

use super::config::Transfer;
use super::inside::InsideRam;
use super::ram::{RamShape, SegmentedRam};

/// How the DMA of one direction reaches the RAM.
#[derive(Debug)]
pub(super) enum Reach {
    /// It is beside the design, and the DMA reaches its contents at once.
    Beside(SegmentedRam),
    /// It is in the design, and the DMA reaches it through ports.
    Inside(Box<InsideRam>),
}

impl Reach {
    /// How its bytes are spread over its segments.
    pub(super) fn shape(&self) -> RamShape {
        match self {
            Self::Beside(ram) => ram.shape(),
            Self::Inside(ram) => ram.shape(),
        }
    }

    /// Clocks that the DMA itself needs for these bytes; those at ports follow from the ports.
    pub(super) fn clocks(&self, address: u64, len: u64) -> u64 {
        match self {
            Self::Beside(ram) => ram.shape().lines(address, len),
            Self::Inside(_) => 0,
        }
    }

    /// A descriptor covers these bytes from now on. What is in use of a RAM in the design is the design's business.
    pub(super) fn begin(&self, transfer: Transfer, address: u64, len: u64) -> Result<(), String> {
        match (self, transfer) {
            (Self::Beside(ram), Transfer::ToHost) => ram.begin_to_host(address, len),
            (Self::Beside(ram), Transfer::FromHost) => ram.begin_from_host(address, len),
            (Self::Inside(_), _) => Ok(()),
        }
    }

    /// A descriptor does not cover these bytes any more; `unread` says that the design has to read them.
    pub(super) fn end(&self, address: u64, len: u64, unread: bool) {
        if let Self::Beside(ram) = self {
            ram.end_transfer(address, len, unread);
        }
    }

    /// Transfers under way at the ports of the RAM.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Beside(_) => 0,
            Self::Inside(ram) => ram.len(),
        }
    }
}
