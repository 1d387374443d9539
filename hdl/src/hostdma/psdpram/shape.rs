//! Sizes of a segmented RAM.

use super::entry::{NAME, parameters};
use crate::entry::{Checked, Config, ParameterError, Values};

/// Sizes of a segmented RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsdpramShape {
    /// Bytes in all segments together, a power of two.
    pub size: usize,
    /// Segments side by side, a power of two.
    pub segments: usize,
    /// Width of a segment in bits, a power of two.
    pub segment_data: usize,
    /// Width of a byte address in bits.
    pub address: usize,
}

impl PsdpramShape {
    /// The shape that parameter values by name describe.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        for name in ["size", "ram_seg_count", "ram_seg_data_width"] {
            if !checked.get(name).is_power_of_two() {
                return Err(checked.refuse(name, "it is a power of two".into()));
            }
        }
        let get = |name| checked.get(name) as usize;
        let shape = Self {
            size: get("size"),
            segments: get("ram_seg_count"),
            segment_data: get("ram_seg_data_width"),
            address: get("ram_addr_width"),
        };
        let least = 2 * shape.row_bytes();
        if shape.size < least {
            let reason = format!("two lines of all segments are {least} bytes");
            return Err(checked.refuse("size", reason));
        }
        if shape.size.trailing_zeros() as usize > shape.address {
            let reason = format!("it reaches {} bytes only", 1_u64 << shape.address);
            return Err(checked.refuse("ram_addr_width", reason));
        }
        Ok(shape)
    }

    /// Bytes of a segment's line.
    pub fn segment_bytes(self) -> usize {
        self.segment_data / 8
    }

    /// Bytes of a line of all segments.
    fn row_bytes(self) -> usize {
        self.segments * self.segment_bytes()
    }

    /// Lines of a segment.
    pub fn lines(self) -> usize {
        self.size / self.row_bytes()
    }

    /// Bits that number the lines of a segment.
    pub fn line_bits(self) -> usize {
        self.lines().trailing_zeros() as usize
    }

    /// Width of a segment's address at the ports, in bits.
    pub fn segment_address(self) -> usize {
        self.address - self.row_bytes().trailing_zeros() as usize
    }
}
