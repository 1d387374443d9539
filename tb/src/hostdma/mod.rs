//! The host DMA, `pspin_hostmem_dma`, between bus models and its reference models.
//!
//! ```text
//! WriteRequest, ReadRequest -> AxiMaster -> [ host DMA ] -> CorundumDma -> HostMemory
//!                                                |  |
//!                                  two RamPorts -+  +- Counters
//!
//! WriteModel: pieces of bursts in the ring -> descriptors -> bytes in host memory, responses
//! ReadModel:  descriptors, beats
//! ```
//!
//! Every descriptor, status and answer is compared in the cycle in which it comes; host memory and the counters
//! are compared whenever nothing is under way. What the bench expects follows from the host DMA's [`Setup`].

mod bench;
mod config;
mod counters;
mod plan;
mod read_model;
mod round;
mod traffic;
mod write_model;

pub use bench::HostDmaBench;
pub use config::{Behaviour, Guard, Setup, Window, behaviours};
pub use counters::{Counters, HalfCounters};
pub use plan::{Piece, WritePlan, is_possible, span};
pub use round::{Latencies, Rates, Totals, latencies, rates, run_round};
pub use traffic::Traffic;
