//! Parameters of the allocator.

use super::entry::{NAME, parameters};
use crate::entry::{Checked, Config, ParameterError, Values};
use crate::ingress::slots::PoolLayout;

/// Parameters of the allocator, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocLayout {
    /// Width of a packet's length.
    pub length_width: usize,
    /// Width of a packet's tag.
    pub tag_width: usize,
    /// Width of the message id in the feedback.
    pub message_id_width: usize,
    /// Where the slots lie.
    pub slots: PoolLayout,
    /// Whether a packet waits when there is no slot for it, instead of being dropped.
    pub stall: bool,
}

impl AllocLayout {
    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name);
        let slots = PoolLayout::new(NAME, values)?;
        let lengths = (1_u64 << get("length_width")) - 1;
        if slots.large.size > lengths {
            let reason = format!("a length of {} bits reaches {lengths} only", get("length_width"));
            return Err(checked.refuse("large_slot_size", reason));
        }
        Ok(Self {
            length_width: get("length_width") as usize,
            tag_width: get("tag_width") as usize,
            message_id_width: get("message_id_width") as usize,
            slots,
            stall: get("stall") == 1,
        })
    }
}
