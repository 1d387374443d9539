//! The AXI4 and AXI4-Lite ports of a block (AMBA IHI 0022), and what designs call them.

use super::AxiShape;
use super::channels::{
    AxiAddressIn, AxiAddressOut, AxiDataIn, AxiDataOut, AxiReadIn, AxiReadOut, AxiResponseIn, AxiResponseOut,
};
use spinneret_verilog::prelude::*;

/// The names of AMBA: `awaddr`, in the order of the public design's ports.
const AMBA: Names = Names {
    between: "",
    ..Names::OF_FIELDS
};

/// The names of AMBA for a single channel: `aw` has `awaddr`.
pub const AMBA_CHANNEL: Names = Names {
    own: "",
    ..Names::OF_FIELDS
};

/// The names of PsPIN's wrapper without what says the direction: `aw_addr`.
pub const PSPIN: Names = Names {
    order: "aw_addr aw_prot aw_region aw_len aw_size aw_burst aw_lock aw_atop aw_cache aw_qos aw_id aw_user aw_valid aw_ready \
            ar_addr ar_prot ar_region ar_len ar_size ar_burst ar_lock ar_cache ar_qos ar_id ar_user ar_valid ar_ready \
            w_data w_strb w_user w_last w_valid w_ready r_data r_resp r_last r_id r_user r_valid r_ready \
            b_resp b_id b_user b_valid b_ready",
    ..Names::OF_FIELDS
};

/// The names of PsPIN's wrapper: `aw_addr_i`, `aw_ready_o`.
pub const PSPIN_WRAP: Names = Names {
    input: "_i",
    output: "_o",
    ..PSPIN
};

/// A master; `AxiTarget` is the side that it asks.
#[interface(AxiTarget, shape: AxiShape, names = AMBA)]
pub struct AxiMaster {
    /// Writes.
    pub aw: AxiAddressOut<{ shape }, { shape.extras.user.aw }, { shape.extras.atop }>,
    /// Their data.
    pub w: AxiDataOut<{ shape }>,
    /// Their answers.
    pub b: AxiResponseIn<{ shape }>,
    /// Reads.
    pub ar: AxiAddressOut<{ shape }, { shape.extras.user.ar }, { false }>,
    /// Their answers.
    pub r: AxiReadIn<{ shape }>,
}

/// The write channels of a slave; `AxiWriteMaster` is the side that asks.
#[interface(AxiWriteMaster, shape: AxiShape, names = AMBA)]
pub struct AxiWriteTarget {
    /// Writes.
    pub aw: AxiAddressIn<{ shape }, { shape.extras.user.aw }, { shape.extras.atop }>,
    /// Their data.
    pub w: AxiDataIn<{ shape }>,
    /// Their answers.
    pub b: AxiResponseOut<{ shape }>,
}

/// The read channels of a slave; `AxiReadMaster` is the side that asks.
#[interface(AxiReadMaster, shape: AxiShape, names = AMBA)]
pub struct AxiReadTarget {
    /// Reads.
    pub ar: AxiAddressIn<{ shape }, { shape.extras.user.ar }, { false }>,
    /// Their answers.
    pub r: AxiReadOut<{ shape }>,
}
