//! Many simulated NICs, the cables and switches between them, and one clock for all.
//!
//! ```text
//!  application   application                 a thread for each NIC
//!       |             |                                |
//!     NIC a         NIC b      switch                 Port: sends, and meets the others
//!       +---- cable --|---------+ |                    |
//!                     +- cable ---+                  Rounds: one for each process
//!                                                      |
//!                                                    Ranks: alone, or over MPI
//! ```
//!
//! Time passes in rounds. Nothing that a NIC or a switch sends is at the other end of a cable before the cable's latency is
//! over, so from the earliest moment M at which anything can happen, everybody may go on to M + the shortest latency
//! without a word from others. What they have sent meanwhile is exchanged, and the next round begins where something happens
//! next. Rounds depend on nothing but simulated time, so they are the same on one thread, on many, and on several ranks,
//! however long each takes: the results are the same, byte for byte (Chandy and Misra 1979; Nicol 1993 calls such windows
//! synchronous conservative).
//!
//! Nothing here knows what a NIC is: it is whoever has a [`Port`].

mod cable;
mod capture;
mod digest;
mod meeting;
mod mpi;
mod number;
mod port;
mod ranks;
mod report;
mod rounds;
mod switch;
pub mod topology;
pub mod units;

pub use cable::{Cable, Counts, Delivery, Faults};
pub use digest::Digest;
pub use meeting::{Left, Outside, SLACK_PS, Stopped};
pub use mpi::MpiRanks;
pub use port::Port;
pub use ranks::{Alone, Met, Own, Ranks, RanksError};
pub use report::{CableReport, NicReport, NicSample, PortReport, Report, Sample, SwitchReport};
pub use rounds::{FabricError, Member, Settings, Watch, run};
pub use switch::SwitchCounts;
pub use topology::{Topology, TopologyError};

/// A point in simulated time, or a duration, in picoseconds.
pub type Ps = u64;

/// Bytes that a frame takes on the wire beside its own: preamble 8, check sequence 4, gap 12 (IEEE 802.3, clauses 3 and 4).
pub const OVERHEAD_BYTES: u64 = 24;
/// Smallest Ethernet frame without its check sequence; shorter ones are padded.
pub const MIN_FRAME_BYTES: usize = 60;
/// Largest frame without its check sequence.
pub const MAX_FRAME_BYTES: usize = 9216;
