//! Packets, whoever makes or judges them: captures, the reference of the matching engine, and frames through the
//! reference or the Verilated block.
//!
//! ```text
//! pcap, pcapng --capture--> frames --matching--> reference, or the block in Verilator --> decisions
//!                     udp ---^
//! ```

pub mod capture;
pub mod matching;
pub mod reference;
mod udp;

pub use udp::{udp, udp_from};
