//! Clock domain crossing: all that may lie between two clocks.
//!
//! Every path from one clock to another goes through a block of this folder, and only through registers
//! marked `ASYNC_REG`, or is stable while it is sampled. [`constraints`](fn@constraints) finds all of them
//! in a design, and [`xdc`] writes what a vendor's tool must know of them.

mod async_fifo;
mod axi_crossing;
mod bus_sync;
mod constraints;
pub(crate) mod entries;
mod link_reset;
mod synchronisers;

pub use async_fifo::AsyncFifo;
pub use axi_crossing::AxiCrossing;
pub use bus_sync::BusSync;
pub use constraints::{Crossing, CrossingKind, XdcError, constraints, xdc};
pub use link_reset::{LinkReset, LinkedFifos};
pub use synchronisers::{LevelSync, ResetSync};
