//! Parameters of the allocator, and its entry in the catalog.

use super::PspinPktAlloc;
use crate::entry::{Checked, Entry, ParameterError, Variant};
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

/// The allocator.
pub(crate) const ENTRY: Entry = entry!(shipped AllocLayout::BLOCK, PspinPktAlloc(AllocLayout)?:
    "gives packets a slot of the packet buffer, and takes it back");

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    ENTRY.variant(
        "pspin_pkt_alloc_halves",
        "large_slots=170 small_slots=2048 length_width=16",
    ),
    ENTRY.variant(
        "pspin_pkt_alloc_tiny",
        "buffer_base=0x40 buffer_size=1024 large_slot_size=192 large_slots=3 \
         small_slot_size=64 small_slots=5 address_width=12 tag_width=16",
    ),
    ENTRY.variant(
        "pspin_pkt_alloc_odd",
        "buffer_base=0 buffer_size=256 large_slot_size=7 large_slots=36 small_slot_size=1 \
         small_slots=1 alignment=1 address_width=9 length_width=9",
    ),
    ENTRY.variant(
        "pspin_pkt_alloc_stall",
        "large_slot_size=9664 large_slots=13 small_slot_size=256 \
         small_slots=24 stall=1",
    ),
];
