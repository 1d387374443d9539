//! The testbench of `pspin_ctrl_regs`.
//!
//! ```text
//!  LiteMaster => s_axil [pspin_ctrl_regs] outputs, stdout => Surroundings
//!                                         live inputs     <=
//! ```
//!
//! The surroundings drive what the registers show, and compare every output in every cycle with the contract:
//! the table's model in `spinneret_regmap`, with the clocks that the block promises around it.

mod behaviour;
mod bench;
mod contract;
mod layout;
mod measure;
mod ports;
mod round;
mod surroundings;
mod traffic;

pub use behaviour::{Behaviour, behaviours};
pub use bench::Bench;
pub use layout::Layout;
pub use measure::{Measured, measure};
pub use round::{Totals, run_round};
pub use surroundings::{Activity, Surroundings};
pub use traffic::{Access, Traffic};
