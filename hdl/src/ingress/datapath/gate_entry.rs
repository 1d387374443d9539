//! The gate in the catalog, for tests and proofs of its own.

use super::shape::check_queues;
use super::{AdmissionGate, DatapathShape, entry};
use crate::entry::{Checked, Config, Entry, Parameter, ParameterError, Values, Variant};
use crate::ingress::dma::DmaShape;
use crate::stream::AxisShape;
use spinneret_verilog::prelude::Block;

/// Name of the block.
const NAME: &str = "admission_gate";

/// [`AdmissionGate`].
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    doc: "admits matched frames while there is room, and marks their beats",
    shipped: false,
    parameters: |_| parameters(),
    derived: |_| Vec::new(),
    build,
};

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model("admission_gate", &[]),
    ENTRY.model("admission_gate_stall", &[("stall", 1)]),
    // Slots of one beat; few places, so that those for metadata run out first.
    ENTRY.model(
        "admission_gate_1",
        &[("large_beats", 1), ("queue_beats", 16), ("packets", 4)],
    ),
    ENTRY.model(
        "admission_gate_block",
        &[("large_beats", 24), ("queue_beats", 128), ("packets", 16)],
    ),
];

/// Parameters with small values, with which every queue fills often.
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
            32,
            [16, 1024],
            "width of a beat in bits, a power of two",
        ),
        parameter("length_width", 16, [1, 32], "width of a length in bits"),
        parameter("tag_width", 8, [1, 128], "width of a tag in bits"),
        parameter("large_beats", 3, [1, 4095], "beats of a large slot"),
        parameter(
            "queue_beats",
            8,
            [4, 4096],
            "beats of matched frames that can wait, a power of two",
        ),
        parameter(
            "packets",
            8,
            [2, 1024],
            "frames whose metadata can wait, a power of two",
        ),
        parameter(
            "stall",
            0,
            [0, 1],
            "1: a frame waits for room, 0: it is dropped when there is none",
        ),
    ]
}

/// A gate of the reference's datapath with other widths and depths.
fn build(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let checked = Checked::new(NAME, &parameters(), values)?;
    let get = |name: &str| checked.get(name) as usize;
    if !get("data_width").is_power_of_two() {
        return Err(checked.refuse("data_width", "it is a power of two".into()));
    }
    check_queues(checked, get("large_beats"))?;
    let reference = DatapathShape::new(&entry::ENTRY.values(Config::Reference))?;
    let axis = AxisShape {
        data: get("data_width"),
        ..reference.dma.axis
    };
    let dma = DmaShape {
        axis,
        length: get("length_width"),
        tag: get("tag_width"),
        ..reference.dma
    };
    Ok(Box::new(AdmissionGate::new(DatapathShape {
        dma,
        large_beats: get("large_beats"),
        queue_beats: get("queue_beats"),
        packets: get("packets"),
        stall: get("stall") == 1,
        ..reference
    })?))
}

#[cfg(test)]
mod tests {
    use super::{ENTRY, SIMULATED};
    use crate::entry::Config;
    use crate::entry::Variant;

    #[test]
    fn models_can_be_built() {
        for (name, entry, values) in SIMULATED.iter().map(Variant::complete) {
            assert_eq!((entry.build)(&values).map(|_| ()), Ok(()), "{name}");
        }
    }

    #[test]
    fn impossible_parameters_are_refused_with_a_reason() {
        for (name, value, reason) in [
            ("data_width", 48, "it is a power of two"),
            ("packets", 6, "it is a power of two"),
            ("queue_beats", 2, "it is 4 to 4096"),
            ("queue_beats", 4, "a frame that fills a large slot needs 5 places"),
        ] {
            let mut values = ENTRY.values(Config::Reference);
            values.insert("large_beats".to_owned(), 4);
            values.insert("queue_beats".to_owned(), 8);
            values.insert(name.to_owned(), value);
            let error = (ENTRY.build)(&values).err().map(|error| error.to_string());
            let expected = format!("admission_gate: {name} = {value} is not possible: {reason}");
            assert_eq!(error, Some(expected));
        }
    }
}
