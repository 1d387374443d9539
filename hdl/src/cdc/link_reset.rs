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

use super::async_fifo::{AsyncFifo, cross};
use super::synchronisers::{STAGES, source, stage, through};
use crate::entry::ParameterError;
use crate::stream::{StreamIn, StreamOut};
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
#[module(no_clock)]
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
    #[clock(near_clk)]
    #[new(Reg::starting_with(LinkPhase::Ask))]
    phase: Reg<LinkPhase>,
    /// A request came while the far side was let out.
    #[clock(near_clk)]
    #[new(Reg::starting_with(false))]
    again: Reg<bool>,
    #[clock(near_clk)]
    #[new(Reg::starting_with(true))]
    down: Reg<bool>,
    #[clock(near_clk)]
    #[new(source(true))]
    ask: Reg<bool>,
    #[clock(near_clk)]
    #[new(stage(true))]
    answer_stage: [Reg<bool>; STAGES],
    #[clock(near_clk)]
    #[new(Reg::starting_with(true))]
    answer_later: [Reg<bool>; MARGIN],
    #[clock(far_clk)]
    #[new(stage(true))]
    ask_stage: [Reg<bool>; STAGES],
    #[clock(far_clk)]
    #[new(Reg::starting_with(true))]
    ask_later: [Reg<bool>; MARGIN],
    #[clock(far_clk)]
    #[new(Reg::starting_with(true))]
    far_down: Reg<bool>,
    #[clock(far_clk)]
    #[new(source(true))]
    answer: [Reg<bool>; MARGIN],
}

#[kernel(
    LinkReset {
        near_rst, request, near_link_rst, held, far_rst, phase, again, down, ask, answer_stage, answer_later, ask_stage,
        ask_later, far_down, answer
    },
)]
fn update() {
    /// Late signals are trusted late: a reset of the other side as well as its end.
    let answered = through(&answer_stage, answer[LAST_ANSWER]);
    let in_reset = through(&answer_later, answered);
    /// The far side is not known to be out of reset.
    let not_out = answer_later.iter().fold(answered, |any, later| any || *later);
    let asked = through(&ask_stage, ask);
    through(&ask_later, asked);
    /// The far side is asked into reset, or was a moment ago.
    far_down = ask_later.iter().fold(asked, |any, later| any || *later);
    through(&answer, far_down);

    /// A reason for reset.
    let wanted = near_rst || request;
    match phase {
        LinkPhase::Ask => {
            again = false;
            if in_reset && !wanted {
                phase = LinkPhase::Release;
                ask = false;
            }
        }
        LinkPhase::Release => {
            if wanted {
                again = true;
            }
            /// A question is over when its answer is: only then is the next one distinguishable from it.
            if !not_out {
                if wanted || again {
                    phase = LinkPhase::Ask;
                    ask = true;
                } else {
                    phase = LinkPhase::Up;
                    down = false;
                }
            }
        }
        LinkPhase::Up => {
            if wanted {
                phase = LinkPhase::Ask;
                ask = true;
                down = true;
            }
        }
    }
    near_link_rst = down;
    held = down;
    far_rst = far_down;
}

/// Queues there and back between two clocks, with the resets of both sides.
///
/// ```text
///  near_s ====> AsyncFifo ====> far_m
///  near_m <==== AsyncFifo <==== far_s
///  request ---> LinkReset ----> far_rst
/// ```
///
/// # Contract
/// - **Data:** as [`AsyncFifo`], each way.
/// - **Reset:** as [`LinkReset`]; both queues are emptied by it. No side ever sees an element that the other did not
///   send, whatever comes when.
#[module(no_clock, width: usize, depth: usize, error = ParameterError)]
pub struct LinkedFifos {
    /// Clock of the near side.
    pub near_clk: Signal<In, Clock>,
    /// Reset of the near side's design.
    pub near_rst: Wire<In, bool>,
    /// Holds both sides in reset.
    pub request: Wire<In, bool>,
    /// Reset of the near side of the queues.
    pub near_link_rst: Wire<Out, bool>,
    /// Elements to the far side.
    pub near_s: StreamIn<{ width }>,
    /// Elements from the far side.
    pub near_m: StreamOut<{ width }>,
    /// Clock of the far side.
    pub far_clk: Signal<In, Clock>,
    /// Reset of the far side.
    pub far_rst: Wire<Out, bool>,
    /// Elements to the near side.
    pub far_s: StreamIn<{ width }>,
    /// Elements from the near side.
    pub far_m: StreamOut<{ width }>,
    link: LinkReset,
    there: Checked<AsyncFifo<{ width }, { depth }>>,
    back: Checked<AsyncFifo<{ width }, { depth }>>,
}

#[kernel(
    LinkedFifos {
        near_clk, near_rst, request, near_link_rst, near_s, near_m, far_clk, far_rst, far_s, far_m, link, there, back
    },
)]
fn update() {
    link.near_clk = near_clk;
    link.near_rst = near_rst;
    link.request = request;
    link.far_clk = far_clk;
    near_link_rst = link.near_link_rst;
    far_rst = link.far_rst;

    let near = (near_clk, link.near_link_rst);
    let far = (far_clk, link.far_rst);
    cross(&there, near, &near_s, far, &far_m);
    cross(&back, far, &far_s, near, &near_m);
}
