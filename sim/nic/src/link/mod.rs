//! Two NICs at the ends of a cable, in one simulation.
//!
//! ```text
//! host A: Sender                                                        host B: MessageReceiver
//!    | transmit      ^ take_host                                              ^ host memory
//!    v               |                                                        |
//!  NIC A: other traffic passes <====== Cable, each way ======> NIC B: handlers for SLMP
//! ```

mod cable;
mod pair;
mod transfer;

pub use cable::{Cable, Faults, Losses};
pub use pair::Pair;
pub use transfer::{Transfer, TransferError, Transferred, transfer};
