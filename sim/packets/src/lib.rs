//! Packets: captures, the reference model of the matching engine, and frames through the model or the Verilated
//! block.
//!
//! ```text
//! pcap, pcapng --capture--> frames --matching--> reference, or the block in Verilator --> decisions
//!                  frames ---^
//! ```

pub mod capture;
mod frames;
pub mod matching;
pub mod reference {
    //! Reference models: what the hardware must do, in plain Rust and without a clock. Testbenches and commands compare
    //! the Verilated blocks with them, frame by frame.

    pub mod matcher;
}

pub use frames::{checked_protocol, checksum, echo_request, udp, udp_from};
