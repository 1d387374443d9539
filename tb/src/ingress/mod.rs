//! The ingress path, `pspin_ingress_datapath`, between bus models and its reference model.
//!
//! ```text
//! Packet -> PacketSource -> [ path ] -> BypassSink: beat by beat as sent
//!                             |  |  \-> AxiSlave -> SlotUses: who writes into which slot
//!                             |  \----> HERs -> Model: in order, with the bytes that are in memory
//!                             \<------- Releases: frees in any order, and wrong ones
//! ```
//!
//! Everything that comes out is compared in the cycle in which it comes; the counters are compared whenever
//! nothing is under way. What the bench expects follows from the path's [`Setup`].

mod bench;
mod config;
mod counters;
mod model;
mod packet;
mod round;
mod slots;
mod traffic;

pub use bench::IngressBench;
pub use config::{Behaviour, CONTEXTS, Contexts, FIELDS, Outcome, Setup};
pub use counters::{Cause, Counters, Drops, Occupancy, Refusals};
pub use packet::{BypassSink, OddBeat, Packet, PacketSource};
pub use round::{Load, MARK, Path, Totals, load_mark, marked, measure, run_round};
pub use slots::{Class, Release, Slot, SlotMap, SlotRange};
pub use traffic::{Named, behaviours, random_contexts, random_packet};
