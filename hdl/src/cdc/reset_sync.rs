//! A reset that comes from anywhere.
//!
//! ```text
//!                 +----------+   +----------+
//!  rst_async ====>| register |==>| register |====> rst
//!                 +----------+   +----------+
//! ```
//!
//! # Contract
//! - **Latency:** both edges of the reset are at `rst` after the second edge of `clk` after them; after the third
//!   if they come with an edge.
//! - **Throughput:** a reset, and a pause of it, must last for more than a clock to be seen.
//! - **Clock:** must run for a reset to be seen, as all registers of this project have synchronous resets. A
//!   stopped clock needs no reset; `rst` is active before the first edge of the clock is over.
//! - **Reset:** none; `rst` is active at power-up.
//! - **Constraints:** [`CrossingKind::ResetSync`](super::CrossingKind::ResetSync).

use super::limits::STAGES;
use spinneret_verilog::prelude::*;

/// Brings a reset into a clock; both of its edges are synchronous to it.
#[hardware]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ResetSync {
    /// Clock of the output.
    pub clk: Signal<In, Clock>,
    /// Reset of any origin, active high.
    pub rst_async: Wire<In, bool>,
    /// The reset in this clock.
    pub rst: Wire<Out, bool>,
    #[new((0..STAGES).map(|_| Reg::starting_with(true).with(RegAttribute::AsyncReg)).collect())]
    stage: Vec<Reg<bool>>,
}

impl Logic for ResetSync {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk => self.stage);
        self.stage[0].d.next = self.rst_async.val();
        for stage in 1..STAGES {
            self.stage[stage].d.next = self.stage[stage - 1].q.val();
        }
        self.rst.next = self.stage[STAGES - 1].q.val();
    }
}
