//! The slots of the packet buffer: their places, the free ones, and the owners of the others.

mod free_list;
mod layout;
mod pool;

pub use free_list::FreeList;
pub(crate) use layout::ENTRY;
pub use layout::{PoolLayout, SlotClass};
pub use pool::{SlotFinder, SlotPool};

use spinneret_verilog::prelude::*;

/// A value after 1, 2, ... `cycles` cycles, in a line of registers.
pub(super) fn delayed<T>(value: Sig<T>, cycles: usize, register: impl Fn(Sig<T>) -> Sig<T>) -> Vec<Sig<T>> {
    let next = |last: &mut Sig<T>, _| {
        *last = register(*last);
        Some(*last)
    };
    (0..cycles).scan(value, next).collect()
}
