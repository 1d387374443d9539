//! Registers one after the other, for what comes from another clock.
//!
//! ```text
//!            +----------+   +----------+
//!  d =======>| register |==>| register |====> q
//!            +----------+   +----------+
//! ```

use spinneret_verilog::prelude::*;

/// Registers of a synchroniser one after the other: the first may be undecided for a moment, the second is
/// read a clock later.
pub(super) const STAGES: usize = 2;

/// A register of a synchroniser, and its value at power-up.
pub(super) fn stage<T: Value>(start: T) -> Reg<T> {
    Reg::starting_with(start).with(RegAttribute::AsyncReg)
}

/// A register that a synchroniser of another clock looks at, and its value at power-up.
pub(super) fn source<T: Value>(start: T) -> Reg<T> {
    Reg::starting_with(start).with(RegAttribute::DontTouch)
}

/// Sends a value through registers one after the other; returns the last.
#[kernel]
pub(super) fn through<T>(registers: &[Sig<T>], value: Sig<T>) -> Sig<T> {
    registers.iter().fold(value, |before, register| {
        *register = before;
        *register
    })
}

/// Brings bits into a clock, each for itself.
///
/// # Contract
/// - **Latency:** a bit that is still for more than a clock is at `q` after the second edge of `clk` after its
///   change; after the third if the change comes with an edge.
/// - **Throughput:** a bit must be still for more than a clock to be seen.
/// - **Relation:** bits that change together may arrive one clock apart, so they must mean something each for
///   itself. For words there are [`BusSync`](super::BusSync) and [`AsyncFifo`](super::AsyncFifo).
/// - **Input:** `d` comes from registers, without logic after them that could glitch.
/// - **Reset:** none; `q` is 0 at power-up.
/// - **Constraints:** [`CrossingKind::LevelSync`](super::CrossingKind::LevelSync).
/// # Parameters
/// `width` is at least 1.
#[module(no_clock, width: usize)]
pub struct LevelSync {
    /// Clock of the output.
    pub clk: Signal<In, Clock>,
    /// Bits of another clock.
    pub d: Wire<In, { width }>,
    /// The bits in this clock.
    pub q: Wire<Out, { width }>,
    #[new(stage(Word::zero(width)))]
    stage: [Reg; STAGES],
}

#[kernel(LevelSync { d, q, stage }, parameters(WIDTH = self._width))]
fn update() {
    q = through(&stage, d);
}

/// Brings a reset into a clock; both of its edges are synchronous to it.
///
/// # Contract
/// - **Latency:** both edges of the reset are at `rst` after the second edge of `clk` after them; after the third
///   if they come with an edge.
/// - **Throughput:** a reset, and a pause of it, must last for more than a clock to be seen.
/// - **Clock:** must run for a reset to be seen, as all registers of this project have synchronous resets. A
///   stopped clock needs no reset; `rst` is active before the first edge of the clock is over.
/// - **Reset:** none; `rst` is active at power-up.
/// - **Constraints:** [`CrossingKind::ResetSync`](super::CrossingKind::ResetSync).
#[module(no_clock)]
pub struct ResetSync {
    /// Clock of the output.
    pub clk: Signal<In, Clock>,
    /// Reset of any origin, active high.
    pub rst_async: Wire<In, bool>,
    /// The reset in this clock.
    pub rst: Wire<Out, bool>,
    #[new(stage(true))]
    stage: [Reg<bool>; STAGES],
}

#[kernel(ResetSync { rst_async, rst, stage })]
fn update() {
    rst = through(&stage, rst_async);
}

/// Brings the pointer of the other side of a crossing, and whether that side rests, into this clock.
///
/// The pointer changes in one bit at a time, so what comes out is one that the other side has or had. Neither has
/// a reset: it would stand between the clocks.
#[module(no_clock, width: usize)]
pub(super) struct FarView {
    /// Clock of this side.
    pub clk: Signal<In, Clock>,
    /// Pointer of the other side, a register there.
    pub pointer: Wire<In, { width }>,
    /// The other side is in reset; a register there.
    pub resting: Wire<In, bool>,
    /// The pointer, a little later.
    pub pointer_seen: Wire<Out, { width }>,
    /// The other side is in reset, a little later.
    pub resting_seen: Wire<Out, bool>,
    #[new(stage(Word::zero(width)))]
    pointer_stage: [Reg; STAGES],
    #[new(stage(true))]
    resting_stage: [Reg<bool>; STAGES],
}

#[kernel(
    FarView { pointer, resting, pointer_seen, resting_seen, pointer_stage, resting_stage },
    parameters(POINTER = self._width)
)]
fn update() {
    pointer_seen = through(&pointer_stage, pointer);
    resting_seen = through(&resting_stage, resting);
}
