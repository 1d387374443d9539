//! The valve in the catalog, for proofs of its own.

use super::FrameValve;
use crate::entry::{Entry, Parameters as _};
use spinneret_verilog::prelude::*;

/// [`FrameValve`].
pub(crate) const ENTRY: Entry = Entry::part(
    "frame_valve",
    "keeps matched frames whole when the cluster is reset",
    ValveShape::parameters,
    |values| {
        let ValveShape { data, length, tag } = ValveShape::new(values)?;
        Ok(Box::new(FrameValve::new(data, tag + length)))
    },
);

/// Parameters with small values: nothing depends on them but widths.
#[derive(Parameters)]
#[parameters(block = ENTRY.name)]
struct ValveShape {
    /// Width of a beat in bits, a power of two.
    #[parameter(16, range = 16..=1024, power_of_two, name = "data_width")]
    data: usize,
    /// Width of a length in bits.
    #[parameter(1, range = 1..=32, name = "length_width")]
    length: usize,
    /// Width of a tag in bits.
    #[parameter(1, range = 1..=128, name = "tag_width")]
    tag: usize,
}
