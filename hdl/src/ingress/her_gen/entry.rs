//! The HER generator in the catalog.

use super::{HerShape, PspinHerGen};
use crate::entry::{Entry, Parameters as _, Variant};

/// The HER generator.
pub(crate) const ENTRY: Entry = Entry::shipped(
    HerShape::BLOCK,
    "tells the cluster of every packet, with its execution context",
    HerShape::parameters,
    |values| Ok(Box::new(PspinHerGen::new(HerShape::new(values)?))),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    ENTRY.model(
        "pspin_her_gen_board",
        &[
            ("message_id_width", 10),
            ("length_width", 16),
            ("context_in_message_id", 1),
            ("transfer_limit", 128),
        ],
    ),
    ENTRY.model(
        "pspin_her_gen_odd",
        &[
            ("message_id_width", 12),
            ("address_width", 17),
            ("host_address_width", 40),
            ("length_width", 11),
            ("tag_width", 9),
            ("contexts", 3),
            ("tag_message_id_width", 5),
            ("transfer_limit", 1000),
        ],
    ),
];
