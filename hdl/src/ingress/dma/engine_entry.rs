//! The write engine in the catalog, for proofs of its own.

use super::{DmaShape, WriteEngine, entry};
use crate::entry::{Config, Entry, ParameterError, Parameters as _, Values};
use spinneret_verilog::prelude::*;

/// [`WriteEngine`].
pub(crate) const ENTRY: Entry = Entry::part(
    "write_engine",
    "writes marked beats into slots by AXI bursts, and tells which packets are written",
    EngineShape::parameters,
    build,
);

/// The parameters that matter inside; narrower than those of the blocks that are shipped, for small proofs.
#[derive(Parameters)]
#[parameters(block = ENTRY.name)]
struct EngineShape {
    /// Width of a beat in bits, a power of two.
    #[parameter(512, range = 16..=1024, power_of_two, name = "data_width")]
    data: usize,
    /// Width of an address in bits.
    #[parameter(32, range = 12..=64, name = "address_width")]
    address: usize,
    /// Width of a length in bits.
    #[parameter(32, range = 1..=32, name = "length_width")]
    length: usize,
    /// Width of a tag in bits.
    #[parameter(64, range = 1..=128, name = "tag_width")]
    tag: usize,
    /// Beats of a burst at most, a power of two.
    #[parameter(2, range = 2..=16, power_of_two)]
    burst_beats: usize,
    /// Bursts that can wait for their response, a power of two.
    #[parameter(64, range = 4..=1024, power_of_two)]
    bursts: usize,
}

/// An engine of the reference's DMA with other widths and depths.
fn build(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let inner = EngineShape::new(values)?;
    Ok(Box::new(WriteEngine::new(DmaShape {
        data: inner.data,
        address: inner.address,
        length: inner.length,
        tag: inner.tag,
        burst_beats: inner.burst_beats,
        bursts: inner.bursts,
        ..DmaShape::new(&entry::ENTRY.values(Config::Reference))?
    })?))
}
