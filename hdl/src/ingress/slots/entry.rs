//! The slot pool in the catalog, for proofs and figures of its own.

use super::{PoolLayout, SlotPool};
use crate::catalog::Entry;

/// Name of the block.
const NAME: &str = "slot_pool";

/// [`SlotPool`].
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "holds the free slots of both classes, and judges frees",
    shipped: false,
    parameters: |_| PoolLayout::parameters(),
    derived: |_| Vec::new(),
    build: |values| Ok(Box::new(SlotPool::new(PoolLayout::new(NAME, values)?)?)),
};
