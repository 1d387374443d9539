//! Parameters of the allocator, and where its slots lie.

use super::SlotClass;
use super::entry::{NAME, parameters};
use crate::catalog::{Checked, Config, ParameterError, Values};

/// Parameters of the allocator, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocLayout {
    /// Width of a packet's length.
    pub length_width: usize,
    /// Width of a packet's tag.
    pub tag_width: usize,
    /// Width of an address.
    pub address_width: usize,
    /// Width of the message id in the feedback.
    pub message_id_width: usize,
    /// The large slots, at the start of the buffer.
    pub large: SlotClass,
    /// The small slots, behind the large ones.
    pub small: SlotClass,
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
        let refuse = |parameter: &str, reason: String| checked.refuse(parameter, reason);
        let alignment = get("alignment");
        if !alignment.is_power_of_two() {
            return Err(refuse("alignment", "it is a power of two".into()));
        }
        for parameter in ["buffer_base", "large_slot_size", "small_slot_size"] {
            if get(parameter) % alignment != 0 {
                let reason = format!("it is a multiple of the alignment, {alignment}");
                return Err(refuse(parameter, reason));
            }
        }
        let (large_size, small_size) = (get("large_slot_size"), get("small_slot_size"));
        if small_size >= large_size {
            let reason = format!("it is less than large_slot_size, {large_size}");
            return Err(refuse("small_slot_size", reason));
        }
        let lengths = (1_u64 << get("length_width")) - 1;
        if large_size > lengths {
            let reason = format!("a length of {} bits reaches {lengths} only", get("length_width"));
            return Err(refuse("large_slot_size", reason));
        }
        let (base, size) = (get("buffer_base"), get("buffer_size"));
        let addresses = 1_u64 << get("address_width");
        if size > addresses || base > addresses - size {
            let width = get("address_width");
            let reason = format!("the buffer at {base:#x} ends beyond addresses of {width} bits");
            return Err(refuse("buffer_size", reason));
        }
        let (large_bytes, small_bytes) = (large_size * get("large_slots"), small_size * get("small_slots"));
        if large_bytes > size {
            let reason = format!(
                "a buffer of {size} bytes has room for {} of {large_size} bytes",
                size / large_size
            );
            return Err(refuse("large_slots", reason));
        }
        if small_bytes > size - large_bytes {
            let left = size - large_bytes;
            let reason = format!(
                "the large slots leave {left} bytes, room for {} of {small_size} bytes",
                left / small_size
            );
            return Err(refuse("small_slots", reason));
        }
        let class = |base, size, slots| SlotClass {
            base,
            size,
            count: get(slots) as usize,
        };
        Ok(Self {
            length_width: get("length_width") as usize,
            tag_width: get("tag_width") as usize,
            address_width: get("address_width") as usize,
            message_id_width: get("message_id_width") as usize,
            large: class(base, large_size, "large_slots"),
            small: class(base + large_bytes, small_size, "small_slots"),
            stall: get("stall") == 1,
        })
    }

    /// Levels of the trees that find a slot from its address: the same for both classes.
    pub(super) fn tree_levels(self) -> usize {
        self.large.tree_levels().max(self.small.tree_levels())
    }

    /// Cycles from taking a free to judging it.
    pub fn free_latency(self) -> usize {
        self.tree_levels() + 2
    }

    /// Width of the number of the slot that is filled in after reset.
    pub(super) fn fill_width(self) -> usize {
        self.large.index_width().max(self.small.index_width())
    }

    /// Cycles after reset until every slot is in its list.
    pub(super) fn fill_cycles(self) -> usize {
        self.large.count.max(self.small.count)
    }
}
