//! Port bundles of the driver and between its parts.

use super::COMMAND;
use crate::hpu::cluster::{HPU, SLOT, THREAD, WORD};
use spinneret_isa::cause;
use spinneret_verilog::prelude::*;

/// Bits of the number of a grain of 64 bytes below 512 MiB, where all memories are.
pub const GRAIN: usize = 23;
/// Bits of the number of a protection range of a thread.
pub const RANGE: usize = 3;

/// A protection range of an HPU: its pipeline takes it as it comes.
#[interface(DriverRangeIn)]
pub struct DriverRange {
    /// A range is set.
    pub write: Wire<Out, bool>,
    /// The HPU: pipeline and thread.
    pub hpu: Wire<Out, { HPU }>,
    /// Number of the range.
    pub number: Wire<Out, { RANGE }>,
    /// Its first grain of 64 bytes.
    pub first: Wire<Out, { GRAIN }>,
    /// The grain after its last one.
    pub end: Wire<Out, { GRAIN }>,
}

/// A report that an HPU's task fails.
#[interface(DriverFaultIn)]
pub struct DriverFault {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// The HPU.
    pub hpu: Wire<Out, { HPU }>,
    /// The cause that it gives.
    pub cause: Wire<Out, { WORD }>,
}

/// Cause in the report of a thread that was reset: no instruction traps with it, as none is at an odd address.
pub const WAS_RESET: u32 = cause::INSTRUCTION_MISALIGNED;

/// A report that a thread of a pipeline entered its trap handler, or was reset.
#[interface(ThreadTrapIn)]
pub struct ThreadTrap {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// The thread.
    pub thread: Wire<Out, { THREAD }>,
    /// Why.
    pub cause: Wire<Out, 5>,
}

/// An access that took place in the clock before.
#[interface(DriverAccessIn)]
pub struct DriverAccess {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// Whose.
    pub hpu: Wire<Out, { HPU }>,
    /// It is one of the copy engine.
    pub is_dma: Wire<Out, bool>,
    /// Byte offset of the register.
    pub offset: Wire<Out, 8>,
    /// It is a store.
    pub is_write: Wire<Out, bool>,
    /// Word to store.
    pub data: Wire<Out, { WORD }>,
}

/// An offer of the clock before that waits to start something.
#[interface(DriverOfferIn)]
pub struct DriverOffer {
    /// It starts a command or copy, which is not decided yet.
    pub valid: Wire<Out, bool>,
    /// Whose.
    pub hpu: Wire<Out, { HPU }>,
    /// It starts a copy.
    pub is_dma: Wire<Out, bool>,
    /// It is made in user mode.
    pub is_user: Wire<Out, bool>,
}

/// The decision on the command or copy that an HPU starts: its next offer is accepted or refused.
#[interface(DecisionIn)]
pub struct Decision {
    /// There is one.
    pub valid: Wire<Out, bool>,
    /// The HPU.
    pub hpu: Wire<Out, { HPU }>,
    /// It is accepted.
    pub allowed: Wire<Out, bool>,
    /// The offer was refused in the clock before.
    pub refused: Wire<In, bool>,
}

/// A task is given to an HPU.
#[interface(GivenIn)]
pub struct Given {
    /// In this clock.
    pub valid: Wire<Out, bool>,
    /// The HPU.
    pub hpu: Wire<Out, { HPU }>,
    /// Slot of the task.
    pub slot: Wire<Out, { SLOT }>,
}

/// The HPUs of which traps are reported that have some property.
#[kernel]
pub(super) fn trapped(trap: &[ThreadTrapInHandles], has: impl Fn(&ThreadTrapInHandles) -> Sig<bool>) -> Sig {
    let threads = trap
        .iter()
        .map(|trap| bit_of(trap.thread, trap.valid && has(trap)));
    cat_all(&threads.rev().collect::<Vec<_>>())
}

/// The bit of a number, if a condition holds.
#[kernel]
pub(in crate::hpu::cluster) fn bit_of(number: Sig, condition: Sig<bool>) -> Sig {
    let width = 1 << number.width();
    (constant(lit(1, width)) << number) & condition.repeat(width)
}

/// The lowest bit that is set.
#[kernel]
pub(super) fn lowest(bits: Sig, width: usize) -> Sig {
    let numbers = (0..bits.width()).map(|number| (bits[number], constant(lit(number as u64, width))));
    first(&numbers.collect::<Vec<_>>(), constant(lit(0, width)))
}

/// Something is set, of each HPU that has several bits.
#[kernel]
pub(super) fn any_of_each(bits: Sig, each: usize) -> Sig {
    word_of((0..bits.width() / each).map(|number| bits.slice(number * each, each).any()))
}

/// Bits of the number of a command among those of all HPUs.
pub(super) const COMMAND_ID: usize = HPU + COMMAND;
