//! Sizes of a segmented RAM.

use crate::entry::{Checked, ParameterError};
use crate::hostdma::RamShape;
use spinneret_verilog::prelude::*;

/// Sizes of a segmented RAM.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "spinneret_psdpram", check)]
pub struct PsdpramShape {
    /// Bytes, a power of two.
    #[parameter(16384, range = 2..=1 << 24, power_of_two, verilog = "SIZE")]
    pub size: usize,
    /// Segments, a power of two.
    #[parameter(2, range = 1..=16, power_of_two, name = "ram_seg_count", verilog = "RAM_SEG_COUNT")]
    pub segments: usize,
    /// Width of a segment in bits, a power of two.
    #[parameter(256, board = 512, range = 8..=1024, power_of_two)]
    #[parameter(name = "ram_seg_data_width", verilog = "RAM_SEG_DATA_WIDTH")]
    pub segment_data: usize,
    /// Width of a byte address in bits.
    #[parameter(20, range = 1..=32, name = "ram_addr_width", verilog = "RAM_ADDR_WIDTH")]
    pub address: usize,
}

impl PsdpramShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let least = 2 * self.row_bytes();
        if self.size < least {
            let reason = format!("it must be at least {least}: two lines of all segments");
            return Err(checked.refuse("size", reason));
        }
        let needed = self.size.trailing_zeros() as usize;
        if needed > self.address {
            let reason = format!("it must be at least {needed}, for {} bytes", self.size);
            return Err(checked.refuse("ram_addr_width", reason));
        }
        Ok(())
    }

    /// Widths of the ports.
    pub fn ports(self) -> RamShape {
        RamShape {
            segments: self.segments,
            data: self.segment_data,
            address: self.segment_address(),
        }
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
