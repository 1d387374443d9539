//! The host DMA, `pspin_hostmem_dma`, between bus models and its reference models.
//!
//! ```text
//! WriteRequest, ReadRequest -> AxiMaster -> [ host DMA ] -> CorundumDma -> HostMemory
//!                                                |  |
//!                     RamWritePort, RamReadPort -+  +- Counters
//!
//! WriteModel: pieces of bursts in the ring -> descriptors -> bytes in host memory, responses
//! ReadModel:  descriptors, beats
//! ```
//!
//! Every descriptor, status and answer is compared in the cycle in which it comes; host memory and the counters
//! are compared whenever nothing is under way. What the bench expects follows from the host DMA's [`Setup`].

mod behaviour;
mod bench;
mod counters;
mod measure;
mod plan;
mod read_model;
mod rest;
mod round;
mod setup;
mod traffic;
mod windows;
mod write_model;

pub use behaviour::{Behaviour, behaviours};
pub use bench::HostDmaBench;
pub use counters::{Counters, HalfCounters};
pub use measure::{Latencies, Rates, latencies, rates};
pub use plan::{Piece, WritePlan, is_possible, span};
pub use round::{Totals, run_round};
pub use setup::Setup;
pub use traffic::Traffic;
pub use windows::{Guard, Window};
