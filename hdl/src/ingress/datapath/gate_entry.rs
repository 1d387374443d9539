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
    use super::SIMULATED;
    use crate::entry::Variant;

    #[test]
    fn models_can_be_built() {
        for (name, entry, values) in SIMULATED.iter().map(Variant::complete) {
            assert_eq!((entry.build)(&values).map(|_| ()), Ok(()), "{name}");
        }
    }
}
