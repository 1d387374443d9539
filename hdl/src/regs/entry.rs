//! The control registers in the catalog.

use super::{PspinCtrlRegs, RegsShape};
use crate::entry::{Entry, Variant};

/// The control registers.
pub(crate) const ENTRY: Entry = Entry::shipped(
    RegsShape::BLOCK,
    "control and status registers of everything, behind AXI4-Lite",
    RegsShape::parameters,
    |values| Ok(Box::new(PspinCtrlRegs::new(RegsShape::new(values)?))),
)
.derives(|_| vec![("STRB_WIDTH", 4)]);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.model(ENTRY.name, &[]),
    ENTRY.model("pspin_ctrl_regs_board", &[]).of_boards(),
    // More of everything, and addresses beyond the window.
    ENTRY.model(
        "pspin_ctrl_regs_odd",
        &[
            ("address_width", 20),
            ("num_clusters", 5),
            ("num_mpq", 9),
            ("extended", 1),
            ("caps_features", 0x2a),
            ("caps_core_clock_khz", 322_265),
        ],
    ),
];
