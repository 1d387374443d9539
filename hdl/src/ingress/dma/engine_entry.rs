//! The write engine in the catalog, for proofs of its own.

use super::{DmaShape, WriteEngine, entry};
use crate::entry::{Checked, Config, Entry, Parameter, ParameterError, Values};
use crate::stream::AxisShape;
use spinneret_verilog::prelude::Block;

/// Name of the block.
const NAME: &str = "write_engine";

/// [`WriteEngine`].
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "writes marked beats into slots by AXI bursts, and tells which packets are written",
    shipped: false,
    parameters: |_| parameters(),
    derived: |_| Vec::new(),
    build,
};

/// The parameters that matter inside; narrower than those of the blocks that are shipped, for small proofs.
fn parameters() -> Vec<Parameter> {
    vec![
        Parameter::new(
            "data_width",
            512,
            [16, 1024],
            "width of a beat in bits, a power of two",
        ),
        Parameter::new("address_width", 32, [12, 64], "width of an address in bits"),
        Parameter::new("length_width", 32, [1, 32], "width of a length in bits"),
        Parameter::new("tag_width", 64, [1, 128], "width of a tag in bits"),
        Parameter::new(
            "burst_beats",
            2,
            [2, 16],
            "beats of a burst at most, a power of two",
        ),
        Parameter::new(
            "bursts",
            64,
            [4, 1024],
            "bursts that can wait for their response, a power of two",
        ),
    ]
}

/// An engine of the reference's DMA with other widths and depths.
fn build(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let checked = Checked::new(NAME, &parameters(), values)?;
    let get = |name: &str| checked.get(name) as usize;
    for name in ["data_width", "burst_beats", "bursts"] {
        if !get(name).is_power_of_two() {
            return Err(checked.refuse(name, "it is a power of two".into()));
        }
    }
    let reference = DmaShape::new(&entry::ENTRY.values(Config::Reference))?;
    let axis = AxisShape {
        data: get("data_width"),
        ..reference.axis
    };
    Ok(Box::new(WriteEngine::new(DmaShape {
        axis,
        address: get("address_width"),
        length: get("length_width"),
        tag: get("tag_width"),
        burst_beats: get("burst_beats"),
        bursts: get("bursts"),
        ..reference
    })?))
}

#[cfg(test)]
mod tests {
    use super::ENTRY;
    use crate::entry::Config;

    #[test]
    fn impossible_parameters_are_refused_with_a_reason() {
        for (name, value, reason) in [
            ("data_width", 48, "it is a power of two"),
            ("bursts", 6, "it is a power of two"),
            ("burst_beats", 1, "it is 2 to 16"),
        ] {
            let mut values = ENTRY.values(Config::Reference);
            values.insert(name.to_owned(), value);
            let error = (ENTRY.build)(&values).err().map(|error| error.to_string());
            let expected = format!("write_engine: {name} = {value} is not possible: {reason}");
            assert_eq!(error, Some(expected));
        }
    }
}
