//! The egress path in the catalog.

use super::{EgressShape, PspinEgressDatapath};
use crate::entry::{Entry, Parameters as _, Values, Variant};

/// The egress path.
pub(crate) const ENTRY: Entry = Entry::shipped(
    EgressShape::BLOCK,
    "from the cluster to the wire: reads what commands name and sends it as frames",
    EgressShape::parameters,
    |values| Ok(Box::new(PspinEgressDatapath::new(EgressShape::new(values)?)?)),
)
.derives(derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    // Everything small, so that every queue fills often, and what the reference does not have.
    ENTRY.model(
        "pspin_egress_datapath_small",
        &[
            ("data_width", 128),
            ("address_width", 20),
            ("host_address_width", 24),
            ("max_frame", 1000),
            ("buffer_beats", 128),
            ("commands", 4),
            ("user_width", 17),
            ("tx_user", 1 << 16),
            ("error_clear", 1),
        ],
    ),
    ENTRY.model("pspin_egress_datapath_board", &[]).of_boards(),
];

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let of = |shape: EgressShape| {
        let axi = shape.axi();
        let widths = [
            ("AXIS_IF_KEEP_WIDTH", shape.axis().keep()),
            ("AXI_DATA_WIDTH", axi.data),
            ("AXI_STRB_WIDTH", axi.strobes()),
            ("CMD_ID_WIDTH", shape.command_id()),
            // Widths inside of the public design, which no port shows.
            ("LEN_WIDTH", axi.address),
            ("TAG_WIDTH", 32),
        ];
        widths.map(|(name, width)| (name, width as u64)).to_vec()
    };
    EgressShape::new(values).map(of).unwrap_or_default()
}
