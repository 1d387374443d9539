//! The slots of the packet buffer: their places, the free ones, and the owners of the others.

mod free_list;
mod layout;
mod pool;

pub use free_list::FreeList;
pub use layout::{PoolLayout, SlotClass};
pub use pool::{SlotFinder, SlotPool};

use crate::entry::{Entry, Parameters as _};
use spinneret_verilog::prelude::*;

/// A value after 1, 2, ... `cycles` cycles, in a line of registers.
pub(super) fn delayed<T>(value: Sig<T>, cycles: usize, register: impl Fn(Sig<T>) -> Sig<T>) -> Vec<Sig<T>> {
    let next = |last: &mut Sig<T>, _| {
        *last = register(*last);
        Some(*last)
    };
    (0..cycles).scan(value, next).collect()
}

/// [`SlotPool`].
pub(crate) const ENTRY: Entry = Entry::part(
    "slot_pool",
    "holds the free slots of both classes, and judges frees",
    PoolShape::parameters,
    |values| {
        let PoolShape { layout, tracked } = PoolShape::new(values)?;
        Ok(Box::new(SlotPool::new(layout, tracked, 0)?))
    },
);

#[derive(Parameters)]
#[parameters(block = ENTRY.name)]
struct PoolShape {
    #[parameters]
    layout: PoolLayout,
    /// 1: the cluster can free a slot only while it has it.
    #[parameter(0)]
    tracked: bool,
}
