//! Where the slots lie in the packet buffer.

use super::SlotClass;
use crate::entry::{Checked, Parameter, ParameterError, Values};

/// The slots of both classes, checked: they lie in the buffer and do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLayout {
    /// Width of an address.
    pub address_width: usize,
    /// The large slots, at the start of the buffer.
    pub large: SlotClass,
    /// The small slots, behind the large ones.
    pub small: SlotClass,
}

impl PoolLayout {
    /// Parameters of the slots, with the values of the reference configuration; every block that holds a
    /// pool lists them among its own.
    pub fn parameters() -> Vec<Parameter> {
        let parameter = |name, value, [min, max]: [u64; 2], verilog, doc| Parameter {
            name,
            value,
            min,
            max,
            verilog: Some(verilog),
            doc,
        };
        let bytes = [1, 1 << 32];
        let slots = [1, 65536];
        let bases = [0, (1 << 48) - 1];
        let large_bytes = "bytes of a large slot, at least those of the largest packet that is to fit";
        let alignment = "bytes that every slot is aligned to, a power of two";
        vec![
            parameter(
                "address_width",
                32,
                [8, 48],
                "ADDR_WIDTH",
                "width of an address in bits",
            ),
            parameter(
                "buffer_base",
                0x1c10_0000,
                bases,
                "BUF_START",
                "address of the packet buffer",
            ),
            parameter(
                "buffer_size",
                512 * 1024,
                bytes,
                "BUF_SIZE",
                "size of the packet buffer in bytes",
            ),
            parameter("large_slot_size", 1536, bytes, "SLOT0_SIZE", large_bytes),
            parameter("large_slots", 256, slots, "SLOT0_COUNT", "number of large slots"),
            parameter(
                "small_slot_size",
                128,
                bytes,
                "SLOT1_SIZE",
                "bytes of a small slot",
            ),
            parameter("small_slots", 1024, slots, "SLOT1_COUNT", "number of small slots"),
            parameter("alignment", 64, [1, 4096], "PKT_MEM_ALIGNMENT", alignment),
        ]
    }

    /// Checks the values of [`PoolLayout::parameters`] among those of `block`, whose name errors carry.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(block: &'static str, values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(block, &Self::parameters(), values)?;
        let get = |name: &str| checked.get(name);
        check_alignment(checked)?;
        let (large_size, small_size) = (get("large_slot_size"), get("small_slot_size"));
        if small_size >= large_size {
            let reason = format!("it is less than large_slot_size, {large_size}");
            return Err(checked.refuse("small_slot_size", reason));
        }
        let large_bytes = check_buffer(checked)?;
        let base = get("buffer_base");
        let class = |base, size, slots| SlotClass {
            base,
            size,
            count: get(slots) as usize,
        };
        Ok(Self {
            address_width: get("address_width") as usize,
            large: class(base, large_size, "large_slots"),
            small: class(base + large_bytes, small_size, "small_slots"),
        })
    }

    /// What tells modules for these slots from those for others.
    pub(super) fn variant(self, tracked: bool) -> String {
        format!("{}_{}", self.large.name(), self.small.variant(tracked))
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

    /// Cycles in which slots are filled in after reset.
    pub(super) fn fill_cycles(self) -> usize {
        self.large.count.max(self.small.count)
    }
}

/// The alignment is a power of two, and everything is aligned to it.
fn check_alignment(checked: Checked) -> Result<(), ParameterError> {
    let alignment = checked.get("alignment");
    if !alignment.is_power_of_two() {
        return Err(checked.refuse("alignment", "it is a power of two".into()));
    }
    for parameter in ["buffer_base", "large_slot_size", "small_slot_size"] {
        if !checked.get(parameter).is_multiple_of(alignment) {
            let reason = format!("it is a multiple of the alignment, {alignment}");
            return Err(checked.refuse(parameter, reason));
        }
    }
    Ok(())
}

/// The addresses reach the end of the buffer, and all slots fit into it; returns the bytes of the large ones.
fn check_buffer(checked: Checked) -> Result<u64, ParameterError> {
    let get = |name: &str| checked.get(name);
    let (base, size) = (get("buffer_base"), get("buffer_size"));
    let addresses = 1_u64 << get("address_width");
    if size > addresses || base > addresses - size {
        let width = get("address_width");
        let reason = format!("the buffer at {base:#x} ends beyond addresses of {width} bits");
        return Err(checked.refuse("buffer_size", reason));
    }
    let (large_size, small_size) = (get("large_slot_size"), get("small_slot_size"));
    let (large_bytes, small_bytes) = (large_size * get("large_slots"), small_size * get("small_slots"));
    if large_bytes > size {
        let reason = format!(
            "a buffer of {size} bytes has room for {} of {large_size} bytes",
            size / large_size
        );
        return Err(checked.refuse("large_slots", reason));
    }
    if small_bytes > size - large_bytes {
        let left = size - large_bytes;
        let reason = format!(
            "the large slots leave {left} bytes, room for {} of {small_size} bytes",
            left / small_size
        );
        return Err(checked.refuse("small_slots", reason));
    }
    Ok(large_bytes)
}

#[cfg(test)]
mod tests {
    use super::PoolLayout;
    use crate::entry::Values;

    fn values() -> Values {
        let all = PoolLayout::parameters().into_iter();
        all.map(|parameter| (parameter.name.to_owned(), parameter.value))
            .collect()
    }

    #[test]
    fn small_slots_lie_behind_the_large_ones() {
        let layout = PoolLayout::new("some_block", &values()).expect("the reference configuration");
        assert_eq!(
            (layout.large.base, layout.large.last()),
            (0x1c10_0000, 0x1c15_fa00)
        );
        assert_eq!(
            (layout.small.base, layout.small.last()),
            (0x1c16_0000, 0x1c17_ff80)
        );
        assert_eq!(layout.free_latency(), 5);
    }

    #[test]
    fn errors_carry_the_name_of_the_block() {
        for (name, value, reason) in [
            ("address_width", 7, "it is 8 to 48"),
            (
                "small_slots",
                1025,
                "the large slots leave 131072 bytes, room for 1024 of 128 bytes",
            ),
        ] {
            let mut values = values();
            values.insert(name.to_owned(), value);
            let error = PoolLayout::new("some_block", &values).map_err(|error| error.to_string());
            let expected = format!("some_block: {name} = {value} is not possible: {reason}");
            assert_eq!(error, Err(expected));
        }
    }
}
