//! The slot pool in the catalog, for proofs and figures of its own.

use super::{PoolLayout, SlotPool};
use crate::entry::{Entry, Parameters as _};
use spinneret_verilog::prelude::*;

/// [`SlotPool`].
pub(crate) const ENTRY: Entry = Entry::part(
    "slot_pool",
    "holds the free slots of both classes, and judges frees",
    PoolShape::parameters,
    |values| {
        let PoolShape { layout, tracked } = PoolShape::new(values)?;
        Ok(Box::new(SlotPool::new(layout, tracked)?))
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
