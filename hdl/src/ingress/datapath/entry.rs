//! The ingress path in the catalog.

use super::{DatapathShape, PathShape, PspinIngressDatapath};
use crate::entry::{Config, Entry, Parameter, Parameters as _, Variant};
use crate::ingress::dma::{self, DmaShape};
use crate::ingress::her_gen::HerShape;
use crate::ingress::pkt_match::MatchShape;
use crate::ingress::slots::PoolLayout;

/// The ingress path.
pub(crate) const ENTRY: Entry = Entry::shipped(
    "pspin_ingress_datapath",
    "from the wire to the cluster: matches packets, writes them into slots, makes HERs",
    parameters,
    |values| Ok(Box::new(PspinIngressDatapath::new(DatapathShape::new(values)?)?)),
)
.derives(dma::ENTRY.derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    // Everything small, so that every queue fills and every slot is used often; jumbo slots.
    ENTRY.model(
        "pspin_ingress_datapath_small",
        &[
            ("data_width", 128),
            ("inspected_bytes", 64),
            ("buffer_frames", 0),
            ("length_width", 16),
            ("buffer_base", 0x1c10_0400),
            ("large_slot_size", 9664),
            ("large_slots", 5),
            ("small_slot_size", 192),
            ("small_slots", 11),
            ("bursts", 4),
            ("her_queue", 2),
            ("free_queue", 2),
            ("queue_beats", 1024),
            ("packets", 8),
            ("her_message_id_width", 10),
            ("context_in_message_id", 1),
        ],
    ),
    // The same path that waits for slots instead of dropping packets.
    ENTRY.model(
        "pspin_ingress_datapath_stall",
        &[("large_slots", 4), ("small_slots", 8), ("stall", 1)],
    ),
    ENTRY.model("pspin_ingress_datapath_board", &[]).of_boards(),
];

/// Parameters of the parts that follow from others here.
const DERIVED: &[&str] = &["burst_beats", "tag_message_id_width"];

/// Parameters of the slots for which the public design has no names here.
const UNNAMED: &[&str] = &[
    "large_slot_size",
    "large_slots",
    "small_slot_size",
    "small_slots",
    "alignment",
];

/// Parameters with their values in a configuration: those of the parts, and its own.
///
/// What several parts have has one value, which has to suit all of them.
pub(super) fn parameters(config: Config) -> Vec<Parameter> {
    let parts = [
        MatchShape::parameters(config),
        DmaShape::parameters(config),
        HerShape::parameters(config),
        PoolLayout::parameters(config),
        PathShape::parameters(config),
    ];
    let mut all: Vec<Parameter> = Vec::new();
    for mut parameter in parts.concat() {
        if DERIVED.contains(&parameter.name) {
            continue;
        }
        if let Some(earlier) = all.iter_mut().find(|earlier| earlier.name == parameter.name) {
            earlier.min = earlier.min.max(parameter.min);
            earlier.max = earlier.max.min(parameter.max);
            continue;
        }
        if UNNAMED.contains(&parameter.name) {
            parameter.verilog = None;
        }
        all.push(parameter);
    }
    all
}
