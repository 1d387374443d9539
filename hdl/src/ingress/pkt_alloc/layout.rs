//! Parameters of the allocator.

use crate::entry::{Checked, ParameterError};
use crate::ingress::slots::PoolLayout;
use spinneret_verilog::prelude::*;

/// Parameters of the allocator, checked.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "pspin_pkt_alloc", check)]
pub struct AllocLayout {
    /// Width of a packet's length in bits.
    #[parameter(32, board = 16, range = 8..=32, verilog = "LEN_WIDTH")]
    pub length_width: usize,
    /// Width of the packet tag in bits.
    #[parameter(64, range = 1..=128, verilog = "TAG_WIDTH")]
    pub tag_width: usize,
    /// Width of the message id in the feedback in bits.
    #[parameter(32, board = 10, range = 1..=32, verilog = "MSGID_WIDTH")]
    pub message_id_width: usize,
    /// Where the slots lie.
    #[parameters]
    pub slots: PoolLayout,
    /// 1: a packet waits for a slot, 0: it is dropped when there is none.
    #[parameter(0)]
    pub stall: bool,
}

impl AllocLayout {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let lengths = (1_u64 << self.length_width) - 1;
        if self.slots.large_slot_size > lengths {
            let reason = format!(
                "it must be at most {lengths}: a length has {} bits",
                self.length_width
            );
            return Err(checked.refuse("large_slot_size", reason));
        }
        Ok(())
    }
}
