//! Parameters of the HER generator, and the numbers that follow from them.

use super::entry::{NAME, parameters};
use super::ports::{WORD, WORDS};
use crate::entry::{Checked, Config, ParameterError, Values};

/// Parameters of the HER generator, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HerShape {
    /// Width of the message id in a HER in bits.
    pub message_id: usize,
    /// Width of an address in L2, and of a size in a HER, in bits.
    pub address: usize,
    /// Width of a host address in bits.
    pub host_address: usize,
    /// Width of a packet's length in bits.
    pub length: usize,
    /// Width of a tag in bits.
    pub tag: usize,
    /// Execution contexts.
    pub contexts: usize,
    /// Bits of the message id in the tag.
    pub tag_message_id: usize,
    /// Whether the number of the context is the lowest bits of the message id in a HER.
    pub context_in_message_id: bool,
    /// Most bytes that the cluster is asked to copy to L1; none if all of a packet is copied.
    pub transfer_limit: Option<u64>,
}

impl HerShape {
    /// Bits of a context's number.
    pub(super) const CONTEXT_BITS: usize = 2;

    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name) as usize;
        let length = get("length_width");
        let limit = checked.get("transfer_limit");
        let shape = Self {
            message_id: get("message_id_width"),
            address: get("address_width"),
            host_address: get("host_address_width"),
            length,
            tag: get("tag_width"),
            contexts: get("contexts"),
            tag_message_id: get("tag_message_id_width"),
            context_in_message_id: get("context_in_message_id") == 1,
            // No packet is longer than a length can say.
            transfer_limit: (limit != 0 && limit < 1 << length).then_some(limit),
        };
        let refuse = |parameter, reason| Err(checked.refuse(parameter, reason));
        let all = shape.tag_message_id + 1 + Self::CONTEXT_BITS;
        if shape.tag < all {
            let id = shape.tag_message_id;
            let reason = format!("message id ({id}), end of message (1) and context (2) need {all}");
            return refuse("tag_width", reason);
        }
        if length > shape.address {
            let reason = format!(
                "a size in a HER has as many bits as an address, {}",
                shape.address
            );
            return refuse("length_width", reason);
        }
        if shape.context_in_message_id && shape.message_id <= Self::CONTEXT_BITS {
            let reason = "the context takes 2 bits of it, so it is 3 at least";
            return refuse("message_id_width", reason.into());
        }
        Ok(shape)
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

    /// Width of a packet as it travels: {tag, length, address}.
    pub(super) fn packet(self) -> usize {
        self.tag_bits() + self.length + self.address
    }

    /// Width of a packed context.
    pub fn context_width(self) -> usize {
        WORDS * WORD + self.host_address
    }
}
