//! The gate in the catalog, for tests and proofs of its own.

use super::{AdmissionGate, GateShape};
use crate::entry::{Entry, Parameters as _, Variant};

/// [`AdmissionGate`].
pub(crate) const ENTRY: Entry = Entry::part(
    GateShape::BLOCK,
    "admits matched frames while there is room, and marks their beats",
    GateShape::parameters,
    |values| Ok(Box::new(AdmissionGate::new(GateShape::new(values)?)?)),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
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
            ("data_width", 48, "it must be a power of two"),
            ("packets", 6, "it must be a power of two"),
            ("queue_beats", 2, "it must be from 4 to 4096"),
            (
                "queue_beats",
                4,
                "it must be at least 5, for a frame that fills a large slot",
            ),
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
