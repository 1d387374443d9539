//! The egress path, `pspin_egress_datapath`, between bus models and its reference model.
//!
//! ```text
//! Command --> ChannelSource --> [ path ] --> StreamSink: frames, byte by byte as the memory has them
//!                                 |  |
//!    AxiSlave, LineJudge: bursts <  > OutputWatch: answers, errors, what never changes
//! ```
//!
//! Everything that comes out is compared in the cycle in which it comes; the counters are compared whenever
//! nothing is under way. What the bench expects follows from the path's [`Setup`].

mod bench;
mod command;
mod config;
mod model;
mod round;

pub use bench::EgressBench;
pub use command::{Command, Fault, random_command};
pub use config::{Behaviour, LineFaults, PIECE, Setup, behaviours};
pub use model::Outcome;
pub use round::{Place, Rate, Totals, cycles_of_longest, longest_frames, measure, run_round};
