//! The testbench of `pspin_ctrl_regs`.
//!
//! ```text
//!  LiteMaster => s_axil [pspin_ctrl_regs] outputs, stdout => Surroundings
//!                                         live inputs     <=
//! ```
//!
//! The surroundings drive what the registers show, and compare every output in every cycle with the contract:
//! the table's model in `spinneret_regmap`, with the clocks that the block promises around it.

mod bench;
mod contract;
mod ports;
mod round;

pub use bench::{Access, Behaviour, Bench, Traffic, behaviours};
pub use contract::{Activity, Surroundings};
pub use ports::Layout;
pub use round::{Measured, Totals, measure, run_round};
