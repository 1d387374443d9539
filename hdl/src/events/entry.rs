//! The block of events in the catalog.

use super::{EventsShape, SpinneretEvents};
use crate::entry::{Entry, Parameters as _, Variant};

/// [`SpinneretEvents`].
pub(crate) const ENTRY: Entry = Entry::shipped(
    EventsShape::BLOCK,
    "gathers events, and turns them into messages for interrupts",
    EventsShape::parameters,
    |values| Ok(Box::new(SpinneretEvents::new(EventsShape::new(values)?))),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    // A moderation that a test gets to the end of, and a number of lines that fills its vectors.
    ENTRY.model("spinneret_events_small", &[("lines", 4), ("moderation_width", 3)]),
];
