//! Parameters of the HER generator, the numbers that follow from them, and its entry in the catalog.

use super::PspinHerGen;
use super::ports::ContextsOut;
use crate::entry::{Checked, Entry, ParameterError, Variant};
use spinneret_regmap::message_id::{CONTEXT_BITS, ID_BITS, QUEUE_BITS};
use spinneret_regmap::pspin::packet_size::{SIZE_BITS, SUM_BITS};
use spinneret_verilog::prelude::*;

/// Parameters of the HER generator, checked.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "pspin_her_gen", check)]
pub struct HerShape {
    /// Width of the message id in a HER in bits.
    #[parameter(32, board = 10, range = 1..=32, name = "message_id_width", verilog = "C_MSGID_WIDTH")]
    pub message_id: usize,
    /// Width of an address in L2, and of a size in a HER, in bits.
    #[parameter(32, range = 2..=64, name = "address_width", verilog = "AXI_ADDR_WIDTH")]
    pub address: usize,
    /// Width of a host address in bits.
    #[parameter(64, range = 1..=64, name = "host_address_width", verilog = "AXI_HOST_ADDR_WIDTH")]
    pub host_address: usize,
    /// Width of a packet's length in bits.
    #[parameter(32, board = 16, range = 2..=32, name = "length_width", verilog = "LEN_WIDTH")]
    pub length: usize,
    /// Width of the packet tag in bits.
    #[parameter(64, range = 4..=128, name = "tag_width", verilog = "TAG_WIDTH")]
    pub tag: usize,
    /// Execution contexts.
    #[parameter(4, range = 1..=4)]
    pub contexts: usize,
    /// Bits of the message id in the tag.
    #[parameter(32, range = 1..=32, name = "tag_message_id_width")]
    pub tag_message_id: usize,
    /// 1: bits 3:2 of a HER's message id are its context, between those of the id, so that contexts share no queue.
    #[parameter(0, board = 1)]
    pub context_in_message_id: bool,
    /// 1: packets of a context that is at its bound of slots are dropped.
    #[parameter(0, board = 1)]
    pub slot_bounds: bool,
    /// Most bytes of a packet that the cluster copies to L1; 0: all of it.
    #[parameter(0, range = 0..=u32::MAX)]
    transfer_limit: u64,
    /// 1: a packet's metadata and its HER have the sum of its IP payload.
    #[parameter(0)]
    pub payload_sum: bool,
}

impl HerShape {
    /// Bits of a context's number.
    pub const CONTEXT_BITS: usize = CONTEXT_BITS as usize;
    /// Lowest bits of a message's id, which stay lowest if its HER has the context as well.
    pub(super) const LOW_ID_BITS: usize = ID_BITS as usize;

    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let refuse = |parameter, reason| Err(checked.refuse(parameter, reason));
        let all = self.tag_message_id + 1 + Self::CONTEXT_BITS;
        if self.tag < all {
            let id = self.tag_message_id;
            let reason =
                format!("it must be at least {all}: message id ({id}), end of message (1) and context (2)");
            return refuse("tag_width", reason);
        }
        if self.length > self.address {
            let reason = format!("it must be at most {}, the bits of an address", self.address);
            return refuse("length_width", reason);
        }
        if self.payload_sum && self.address < SIZE_BITS + SUM_BITS {
            let reason = "it must be at least 32 with payload_sum: a size of 15 bits and the sum of 17";
            return refuse("address_width", reason.into());
        }
        if self.context_in_message_id && self.message_id < QUEUE_BITS as usize {
            let reason = "it must be at least 4: 2 bits of the id and 2 of the context";
            return refuse("message_id_width", reason.into());
        }
        Ok(())
    }

    /// Most bytes that the cluster is asked to copy to L1; none if all of a packet is copied.
    pub fn transfer_limit(self) -> Option<u64> {
        // No packet is longer than a length can say.
        (self.transfer_limit != 0 && self.transfer_limit < 1 << self.length).then_some(self.transfer_limit)
    }

    /// Width of the sum of a packet; 0 without the option.
    pub(super) fn sum_width(self) -> usize {
        if self.payload_sum { SUM_BITS } else { 0 }
    }

    /// Lowest bits of the message id in the tag, as far as a HER shows them.
    pub(super) fn id_bits(self) -> usize {
        self.her_id_bits().min(self.tag_message_id)
    }

    /// Bits of a HER's message id that come from the tag's.
    pub(super) fn her_id_bits(self) -> usize {
        if self.context_in_message_id {
            self.message_id - Self::CONTEXT_BITS
        } else {
            self.message_id
        }
    }

    /// Lowest bits of a tag, as far as a HER depends on them.
    pub(super) fn tag_bits(self) -> usize {
        self.id_bits() + 1 + Self::CONTEXT_BITS
    }

    /// Width of a packed context.
    pub fn context_width(self) -> usize {
        ContextsOut::place(1, self.host_address).width
    }
}

/// A packet on its way to its HER.
#[record(shape: HerShape)]
pub struct PacketFields {
    /// Its address in L2.
    pub address: Field<{ shape.address }>,
    /// Its length in bytes.
    pub length: Field<{ shape.length }>,
    /// Number of its context.
    pub context_number: Field<{ HerShape::CONTEXT_BITS }>,
    /// It is the last of its message.
    pub is_last: Field<1>,
    /// Its message, as far as a HER says it.
    pub message_id: Field<{ shape.id_bits() }>,
}

/// The HER generator.
pub(crate) const ENTRY: Entry = entry!(shipped HerShape::BLOCK, PspinHerGen(HerShape):
    "tells the cluster of every packet, with its execution context");

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    ENTRY.variant(
        "pspin_her_gen_board",
        "message_id_width=10 length_width=16 context_in_message_id=1 \
         transfer_limit=128",
    ),
    ENTRY.variant(
        "pspin_her_gen_odd",
        "message_id_width=12 address_width=17 host_address_width=40 length_width=11 \
         tag_width=9 contexts=3 tag_message_id_width=5 transfer_limit=1000",
    ),
];
