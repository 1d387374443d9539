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

mod behaviour;
mod bench;
mod command;
mod judge;
mod measure;
mod model;
mod round;
mod setup;
mod traffic;
mod watch;

pub use behaviour::{Behaviour, behaviours};
pub use bench::{EgressBench, PIECE};
pub use command::{Command, Fault};
pub use judge::LineFaults;
pub use measure::{Place, Rate, measure};
pub use model::Outcome;
pub use round::{Totals, cycles_of_longest, longest_frames, run_round};
pub use setup::Setup;
pub use traffic::random_command;
