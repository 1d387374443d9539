//! The valve in the catalog, for proofs of its own.

use super::{DatapathShape, FrameValve, entry};
use crate::entry::{Checked, Config, Entry, Parameter, ParameterError, Values};
use crate::ingress::dma::DmaShape;
use crate::ingress::pkt_match::MatchShape;
use crate::stream::AxisShape;
use spinneret_verilog::prelude::Block;

/// Name of the block.
const NAME: &str = "frame_valve";

/// [`FrameValve`].
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "keeps matched frames whole when the cluster is reset",
    shipped: false,
    parameters: |_| parameters(),
    derived: |_| Vec::new(),
    build,
};

/// Parameters with small values: nothing depends on them but widths.
fn parameters() -> Vec<Parameter> {
    let parameter = |name, value, [min, max]: [u64; 2], doc| Parameter {
        name,
        value,
        min,
        max,
        verilog: None,
        doc,
    };
    vec![
        parameter(
            "data_width",
            16,
            [16, 1024],
            "width of a beat in bits, a power of two",
        ),
        parameter("length_width", 1, [1, 32], "width of a length in bits"),
        parameter("tag_width", 1, [1, 128], "width of a tag in bits"),
    ]
}

/// The valve of the reference's datapath with other widths.
fn build(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let checked = Checked::new(NAME, &parameters(), values)?;
    let get = |name: &str| checked.get(name) as usize;
    if !get("data_width").is_power_of_two() {
        return Err(checked.refuse("data_width", "it is a power of two".into()));
    }
    let reference = DatapathShape::new(&entry::ENTRY.values(Config::Reference))?;
    let axis = AxisShape {
        data: get("data_width"),
        ..reference.matcher.axis
    };
    Ok(Box::new(FrameValve::new(DatapathShape {
        matcher: MatchShape {
            axis,
            ..reference.matcher
        },
        dma: DmaShape {
            length: get("length_width"),
            tag: get("tag_width"),
            ..reference.dma
        },
        ..reference
    })))
}
