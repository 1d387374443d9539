//! Bits that come from another clock, each for itself.
//!
//! ```text
//!            +----------+   +----------+
//!  d =======>| register |==>| register |====> q
//!            +----------+   +----------+
//! ```
//!
//! # Contract
//! - **Latency:** a bit that is still for more than a clock is at `q` after the second edge of `clk` after its
//!   change; after the third if the change comes with an edge.
//! - **Throughput:** a bit must be still for more than a clock to be seen.
//! - **Relation:** bits that change together may arrive one clock apart, so they must mean something each for
//!   itself. For words there are [`BusSync`](super::BusSync) and [`AsyncFifo`](super::AsyncFifo).
//! - **Input:** `d` comes from registers, without logic after them that could glitch.
//! - **Reset:** none; `q` is 0 at power-up.
//! - **Constraints:** [`CrossingKind::LevelSync`](super::CrossingKind::LevelSync).

use super::limits::STAGES;
use spinneret_verilog::prelude::*;

/// Brings bits into a clock, each for itself.
/// # Parameters
/// `width` is at least 1.
#[hardware(width: usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct LevelSync {
    /// Clock of the output.
    pub clk: Signal<In, Clock>,
    /// Bits of another clock.
    pub d: Wire<In, { width }>,
    /// The bits in this clock.
    pub q: Wire<Out, { width }>,
    #[new((0..STAGES).map(|_| Reg::starting_with(Word::zero(width)).with(RegAttribute::AsyncReg)).collect())]
    stage: Vec<Reg>,
}

impl Logic for LevelSync {
    #[kernel(parameters(WIDTH = self.d.width()))]
    fn update(&mut self) {
        clocked!(self.clk => self.stage);
        self.stage[0].d.next = self.d.val();
        for stage in 1..STAGES {
            self.stage[stage].d.next = self.stage[stage - 1].q.val();
        }
        self.q.next = self.stage[STAGES - 1].q.val();
    }
}
