//! The BAR in the catalog.

use super::{BarShape, SpinneretBar};
use crate::entry::{Entry, Parameters as _, Variant};

/// The BAR.
pub(crate) const ENTRY: Entry = Entry::shipped(
    BarShape::BLOCK,
    "leads the host's accesses to the control registers and to the cluster's memory",
    BarShape::parameters,
    |values| Ok(Box::new(SpinneretBar::new(BarShape::new(values)?))),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    // As on a board, with a patience that a test can wait for.
    ENTRY.model(ENTRY.name, &[("timeout_cycles", 200)]),
    // A small BAR without registers, one lane, and hardly any patience.
    ENTRY.model(
        "spinneret_bar_small",
        &[
            ("address_width", 20),
            ("data_width", 32),
            ("id_width", 1),
            ("timeout_cycles", 2),
        ],
    ),
    // A large BAR, of which most is outside.
    ENTRY.model(
        "spinneret_bar_large",
        &[
            ("address_width", 26),
            ("data_width", 128),
            ("id_width", 4),
            ("timeout_cycles", 32),
        ],
    ),
];
