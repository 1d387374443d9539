//! Many simulated NICs, and the cables and switches between them, in one simulated time.
//!
//! ```text
//!  application   application                 a thread for each NIC
//!       |             |                                |
//!     NIC a         NIC b      switch                 Port: sends, and exchanges with the others
//!       +---- cable --|---------+ |                    |
//!                     +- cable ---+                  EpochLoop: one for each process
//!                                                      |
//!                                                    Ranks: alone, or over MPI
//! ```
//!
//! Time passes in lockstep epochs. A frame reaches the other end of a cable one latency after it was sent. So if
//! nothing happens before time M, every node can simulate up to M + the shortest latency (the lookahead) without
//! hearing from the others. Then they exchange frames, and the next epoch starts at the next event. Epochs depend on
//! simulated time only, so the results are the same, byte for byte, on one thread, on many and on several ranks
//! (Chandy and Misra 1979; Nicol 1993 calls such windows synchronous conservative).
//!
//! This crate does not know what a NIC is: it is whatever drives a [`Port`].

mod cable;
mod capture;
mod epochs;
mod port;
mod ranks;
mod report;
mod switch;
pub mod topology;
pub mod units;

pub use cable::{Cable, Counts, Delivery, Faults};
pub use epochs::{FabricError, NodeTask, Observer, Settings, run};
pub use port::Port;
pub use ranks::{Alone, Local, MpiRanks, Peers, Ranks, RanksError};
pub use report::{CableReport, NicReport, NicSample, PortReport, Report, Sample, SwitchReport};
pub use switch::SwitchCounts;
pub use topology::{Topology, TopologyError};

/// A point in simulated time, or a duration, in picoseconds.
pub type Ps = u64;

/// Overhead of a frame on the wire in bytes: preamble 8, check sequence 4, gap 12 (IEEE 802.3, clauses 3 and 4).
pub const OVERHEAD_BYTES: u64 = 24;
/// Smallest Ethernet frame without its check sequence; shorter ones are padded.
pub const MIN_FRAME_BYTES: usize = 60;
/// Largest frame without its check sequence.
pub const MAX_FRAME_BYTES: usize = 9216;

/// FNV-1a over 64 bits (the hash of draft-eastlake-fnv); not for protection against attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Takes in some bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Takes in a number.
    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// The number.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// Why a NIC, and time with it, waits for something outside of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExternalWait {
    /// Its application has not connected.
    ApplicationToConnect,
    /// Its application has neither waited nor computed.
    ApplicationToAct,
}

/// The simulation was stopped, or another part of it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the fabric was stopped")]
pub struct Stopped;

/// Why a NIC terminates before the end of the simulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeExit {
    /// It was stopped, which is not a failure.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// It has failed; the text is a sentence.
    #[error("{0}")]
    Failed(String),
}

/// How much earlier than a frame arrives, or than it asks for, a NIC may act: it skips whole clocks of its cluster.
/// Horizons stay this far behind the lookahead.
pub const SLACK_PS: Ps = 50_000;
