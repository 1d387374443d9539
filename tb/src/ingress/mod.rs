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

mod behaviour;
mod bench;
mod contexts;
mod counters;
mod measure;
mod model;
mod packet;
mod release;
mod rest;
mod round;
mod setup;
mod slots;
mod traffic;
mod wire;
mod writes;

pub use behaviour::{Behaviour, Outcome};
pub use bench::IngressBench;
pub use contexts::{CONTEXTS, Contexts, FIELDS};
pub use counters::{Cause, Counters, Drops, Occupancy, Refusals};
pub use measure::{Load, MARK, Path, load_mark, marked, measure};
pub use packet::{OddBeat, Packet};
pub use release::Release;
pub use round::{Totals, run_round};
pub use setup::Setup;
pub use slots::{Class, Slot, SlotMap, SlotRange};
pub use traffic::{Named, behaviours, random_contexts, random_packet};
pub use wire::{BypassSink, PacketSource};
