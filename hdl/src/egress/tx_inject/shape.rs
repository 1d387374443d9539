//! Widths of the block that joins our frames with Corundum's.

use crate::entry::{Checked, ParameterError};
use crate::stream::AxisShape;
use spinneret_verilog::prelude::*;

/// Widths of the block that joins our frames with Corundum's, in bits.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "pspin_tx_inject", check)]
pub struct TxInjectShape {
    /// Width of tdata in bits, a multiple of 8.
    #[parameter(512, range = 8..=1024, name = "data_width", verilog = "AXIS_IF_DATA_WIDTH")]
    pub data: usize,
    /// Width of tid in bits.
    #[parameter(12, range = 1..=64, name = "id_width", verilog = "AXIS_IF_TX_ID_WIDTH")]
    pub tid: usize,
    /// Width of tdest in bits.
    #[parameter(4, range = 1..=64, name = "dest_width", verilog = "AXIS_IF_TX_DEST_WIDTH")]
    pub tdest: usize,
    /// Width of tuser in bits: error bit and tag.
    #[parameter(17, range = 3..=128, name = "user_width", verilog = "AXIS_IF_TX_USER_WIDTH")]
    pub tuser: usize,
    /// Width of the tag in bits; the highest one says whose frame it is.
    #[parameter(16, range = 2..=64, name = "tag_width", verilog = "TX_TAG_WIDTH")]
    pub tag: usize,
    /// Width of a completion's timestamp in bits.
    #[parameter(96, range = 1..=128, name = "timestamp_width", verilog = "PTP_TS_WIDTH")]
    pub timestamp: usize,
}

impl TxInjectShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        if !self.data.is_multiple_of(8) {
            return Err(checked.refuse("data_width", "it must be a multiple of 8".into()));
        }
        let needed = self.tag + 1;
        if self.tuser < needed {
            let reason = format!(
                "it must be at least {needed}: tag ({}) and error bit (1)",
                self.tag
            );
            return Err(checked.refuse("user_width", reason));
        }
        Ok(())
    }

    /// The frames.
    pub fn axis(self) -> AxisShape {
        AxisShape {
            data: self.data,
            id: self.tid,
            dest: self.tdest,
            user: self.tuser,
        }
    }

    /// The error bit in a packed beat.
    pub fn error_at(self) -> usize {
        self.axis().fields().user.at
    }

    /// The highest bit of the tag in a packed beat.
    pub fn tag_top_at(self) -> usize {
        self.axis().fields().user.at + self.tag
    }
}
