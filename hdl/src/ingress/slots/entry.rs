//! The slot pool in the catalog, for proofs and figures of its own.

use super::{PoolLayout, SlotPool};
use crate::entry::{Entry, Parameter, ParameterError, Values};
use spinneret_verilog::prelude::Block;

/// Name of the block.
const NAME: &str = "slot_pool";

/// [`SlotPool`].
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "holds the free slots of both classes, and judges frees",
    shipped: false,
    parameters: |_| parameters(),
    derived: |_| Vec::new(),
    build,
};

fn parameters() -> Vec<Parameter> {
    let tracked = Parameter {
        name: "tracked",
        value: 0,
        min: 0,
        max: 1,
        verilog: None,
        doc: "1: the cluster can free a slot only while it has it",
    };
    PoolLayout::parameters().into_iter().chain([tracked]).collect()
}

fn build(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let tracked = values.get("tracked") == Some(&1);
    Ok(Box::new(SlotPool::new(PoolLayout::new(NAME, values)?, tracked)?))
}
