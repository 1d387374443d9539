//! The resets of both sides of a set of crossings.
//!
//! ```text
//!             near_clk                       |            far_clk
//!  near_rst --+                              |
//!             +--> Ask, Release, Up --ask----|--> 2 registers, 2 more --> far_rst
//!  request  --+      |         ^             |                               |
//!                    v         +-- 2 registers, 2 more <--|-- 2 registers <--+
//!               near_link_rst
//! ```
//!
//! ```text
//!  request        __/--\_______________________________________________
//!  near_link_rst  ____/----------------------------------------\_______
//!  far_rst        __________/---------------------\____________________
//! ```
//!
//! # Contract
//! - **Start:** `near_link_rst` rises in the clock after `request` or `near_rst`, and `far_rst` when that has reached
//!   `far_clk`. A request of one clock is enough: it holds until the other side has answered.
//! - **End:** when `request` and `near_rst` are low and the far side is known to be in reset, `far_rst` falls; when that
//!   is known, `near_link_rst` does. So the far side leaves first, and each side is in reset while the other one is
//!   long enough for the crossings to see it: the rule of use of [`AsyncFifo`](super::AsyncFifo).
//! - **`far_rst` is high only while `near_link_rst` is.** While a request that came during an end waits for it, the far
//!   side is out of reset for a moment, and in reset again before `near_link_rst` falls.
//! - **Clocks:** any two. While `far_clk` does not run, `near_link_rst` stays high; when it runs again, all continues.
//! - **Latency:** `far_rst` rises with the third edge of `far_clk` after that of `near_link_rst`. After a request that
//!   lasted until the far side is known to be in reset, `far_rst` falls with the fifth edge of `far_clk` after the
//!   edge of `near_clk` that sees no request any more, and `near_link_rst` with the fifth edge of `near_clk`
//!   after the second of `far_clk` after that. Real synchronisers may take an edge more for each crossing.
//! - **Reset:** both sides are in reset at power-up. No other reset: `near_rst` is a request like the other.
//! - **Constraints:** [`CrossingKind::LinkReset`](super::CrossingKind::LinkReset).

use super::limits::STAGES;
use spinneret_verilog::prelude::*;

/// Further registers after those of a synchroniser, so that what a crossing must know is known before the
/// other side sees it.
const MARGIN: usize = 2;
/// Number of the register that the near side looks at.
pub(super) const LAST_ANSWER: usize = MARGIN - 1;

/// Where a reset of both sides is.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum LinkPhase {
    /// The far side is asked into reset, or held there.
    Ask,
    /// The far side is let out of reset.
    Release,
    /// Both sides are out of reset.
    Up,
}

/// Resets both sides of a set of crossings together, on request of the near side.
#[hardware]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct LinkReset {
    /// Clock of the near side.
    pub near_clk: Signal<In, Clock>,
    /// Reset of the near side's design; resets both sides of the crossings.
    pub near_rst: Wire<In, bool>,
    /// Holds both sides of the crossings in reset.
    pub request: Wire<In, bool>,
    /// Reset of the near side of the crossings.
    pub near_link_rst: Wire<Out, bool>,
    /// The far side is in reset, or not yet known to have left it: the same as `near_link_rst`, for those that are
    /// not reset by it.
    pub held: Wire<Out, bool>,
    /// Clock of the far side.
    pub far_clk: Signal<In, Clock>,
    /// Reset of the far side, and of its side of the crossings.
    pub far_rst: Wire<Out, bool>,
    #[new(Reg::starting_with(LinkPhase::Ask))]
    phase: Reg<LinkPhase>,
    /// A request came while the far side was let out.
    #[new(Reg::starting_with(false))]
    again: Reg<bool>,
    #[new(high())]
    down: Reg<bool>,
    #[new(source())]
    ask: Reg<bool>,
    #[new(stages())]
    answer_stage: Vec<Reg<bool>>,
    #[new(vec![high(); MARGIN])]
    answer_later: Vec<Reg<bool>>,
    /// A reason for reset.
    wanted: Wire<Local, bool>,
    /// The far side is known to be in reset.
    in_reset: Wire<Local, bool>,
    /// The far side is not known to be out of reset.
    not_out: Wire<Local, bool>,
    #[new(stages())]
    ask_stage: Vec<Reg<bool>>,
    #[new(vec![high(); MARGIN])]
    ask_later: Vec<Reg<bool>>,
    #[new(high())]
    far_down: Reg<bool>,
    #[new(vec![source(); MARGIN])]
    answer: Vec<Reg<bool>>,
    /// The far side is asked into reset, or was a moment ago.
    asked: Wire<Local, bool>,
}

/// A register that is high at power-up.
fn high() -> Reg<bool> {
    Reg::starting_with(true)
}

/// One that a synchroniser looks at.
fn source() -> Reg<bool> {
    high().with(RegAttribute::DontTouch)
}

/// The registers of a synchroniser.
fn stages() -> Vec<Reg<bool>> {
    vec![high().with(RegAttribute::AsyncReg); STAGES]
}

impl Logic for LinkReset {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.near_clk => self.phase, self.again, self.down, self.ask);
        clocked!(self.near_clk => self.answer_stage, self.answer_later);
        clocked!(self.far_clk => self.ask_stage, self.ask_later, self.far_down, self.answer);

        self.answer_stage[0].d.next = self.answer[LAST_ANSWER].q.val();
        self.ask_stage[0].d.next = self.ask.q.val();
        for stage in 1..STAGES {
            self.answer_stage[stage].d.next = self.answer_stage[stage - 1].q.val();
            self.ask_stage[stage].d.next = self.ask_stage[stage - 1].q.val();
        }
        self.answer_later[0].d.next = self.answer_stage[STAGES - 1].q.val();
        self.ask_later[0].d.next = self.ask_stage[STAGES - 1].q.val();
        self.answer[0].d.next = self.far_down.q.val();
        for later in 1..MARGIN {
            self.answer_later[later].d.next = self.answer_later[later - 1].q.val();
            self.ask_later[later].d.next = self.ask_later[later - 1].q.val();
            self.answer[later].d.next = self.answer[later - 1].q.val();
        }

        /// Late signals are trusted late: a reset of the other side as well as its end.
        self.in_reset.next = self.answer_later[MARGIN - 1].q.val();
        self.not_out.next = self.answer_stage[STAGES - 1].q.val();
        self.asked.next = self.ask_stage[STAGES - 1].q.val();
        for later in 0..MARGIN {
            self.not_out.next = self.not_out.val() || self.answer_later[later].q.val();
            self.asked.next = self.asked.val() || self.ask_later[later].q.val();
        }
        self.far_down.d.next = self.asked.val();

        self.wanted.next = self.near_rst.val() || self.request.val();
        match self.phase.q.val() {
            LinkPhase::Ask => {
                self.again.d.next = false;
                if self.in_reset.val() && !self.wanted.val() {
                    self.phase.d.next = LinkPhase::Release;
                    self.ask.d.next = false;
                }
            }
            LinkPhase::Release => {
                if self.wanted.val() {
                    self.again.d.next = true;
                }
                /// A question is over when its answer is: only then is the next one distinguishable from it.
                if !self.not_out.val() {
                    if self.wanted.val() || self.again.q.val() {
                        self.phase.d.next = LinkPhase::Ask;
                        self.ask.d.next = true;
                    } else {
                        self.phase.d.next = LinkPhase::Up;
                        self.down.d.next = false;
                    }
                }
            }
            LinkPhase::Up => {
                if self.wanted.val() {
                    self.phase.d.next = LinkPhase::Ask;
                    self.ask.d.next = true;
                    self.down.d.next = true;
                }
            }
        }
        self.near_link_rst.next = self.down.q.val();
        self.held.next = self.down.q.val();
        self.far_rst.next = self.far_down.q.val();
    }
}
