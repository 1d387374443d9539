//! Parameters of the host DMA, the numbers that follow from them, and its blocks in the catalog.

use crate::axi::{AxiExtras, AxiShape, PAGE_BITS, UserWidths};
use crate::entry::{Checked, ParameterError};
use spinneret_verilog::prelude::*;

/// The windows of host memory that confine transfers.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "host_guard")]
pub struct GuardShape {
    /// Width of a host address in bits.
    #[parameter(64, range = 32..=64, name = "address_width")]
    pub address: usize,
    /// Execution contexts, each of which has a window.
    #[parameter(4, range = 1..=16, name = "contexts")]
    pub windows: usize,
}

impl GuardShape {
    /// Bits that tell the contexts apart, at least one.
    pub fn context(self) -> usize {
        address_width(self.windows)
    }
}

/// Width of the size of a window in bits.
pub const WINDOW_SIZE_BITS: usize = 32;

/// Parameters of the host DMA and of its halves, checked.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(check)]
pub struct HostDmaShape {
    /// Width of a beat in bits, a power of two.
    #[parameter(512, range = 32..=1024, power_of_two, name = "data_width", verilog = "DATA_WIDTH")]
    pub data: usize,
    /// Width of a host address in bits.
    #[parameter(64, range = 13..=64, name = "address_width", verilog = "ADDR_WIDTH")]
    pub address: usize,
    /// Width of an AXI id in bits.
    #[parameter(8, board = 6, range = 1..=32, name = "id_width", verilog = "ID_WIDTH")]
    pub id: usize,
    /// Width of a descriptor's length in bits.
    #[parameter(16, range = 13..=32, name = "dma_len_width", verilog = "DMA_LEN_WIDTH")]
    pub length: usize,
    /// Width of a descriptor's tag in bits.
    #[parameter(16, range = 1..=32, name = "dma_tag_width", verilog = "DMA_TAG_WIDTH")]
    pub tag: usize,
    /// Width of a descriptor's immediate data in bits.
    #[parameter(32, range = 1..=64, name = "imm_width", verilog = "DMA_IMM_WIDTH")]
    pub immediate: usize,
    /// Width of the number of a RAM in bits.
    #[parameter(4, range = 1..=16, name = "ram_sel_width", verilog = "RAM_SEL_WIDTH")]
    pub ram_select: usize,
    /// Width of the address of a byte in the RAM in bits.
    #[parameter(20, range = 12..=32, name = "ram_addr_width", verilog = "RAM_ADDR_WIDTH")]
    pub ram_address: usize,
    /// Segments of the RAM, a power of two.
    #[parameter(2, range = 1..=16, power_of_two, name = "ram_seg_count", verilog = "RAM_SEG_COUNT")]
    pub segments: usize,
    /// Width of a segment in bits, a power of two.
    #[parameter(256, board = 512, range = 16..=1024, power_of_two)]
    #[parameter(name = "ram_seg_data_width", verilog = "RAM_SEG_DATA_WIDTH")]
    pub segment_data: usize,
    /// Width of a user signal in bits.
    #[parameter(1, board = 4, range = 1..=64, name = "awuser_width", verilog = "AWUSER_WIDTH")]
    pub awuser: usize,
    /// Width of a user signal in bits.
    #[parameter(1, board = 4, range = 1..=64, name = "wuser_width", verilog = "WUSER_WIDTH")]
    pub wuser: usize,
    /// Width of a user signal in bits.
    #[parameter(1, board = 4, range = 1..=64, name = "buser_width", verilog = "BUSER_WIDTH")]
    pub buser: usize,
    /// Width of a user signal in bits.
    #[parameter(1, board = 4, range = 1..=64, name = "aruser_width", verilog = "ARUSER_WIDTH")]
    pub aruser: usize,
    /// Width of a user signal in bits.
    #[parameter(1, board = 4, range = 1..=64, name = "ruser_width", verilog = "RUSER_WIDTH")]
    pub ruser: usize,
    /// Descriptors that can be in flight, a power of two.
    #[parameter(64, range = 2..=256, power_of_two)]
    pub writes: usize,
    /// Descriptors that can be in flight, a power of two.
    #[parameter(64, range = 2..=256, power_of_two)]
    pub reads: usize,
    /// Bytes of RAM that each half uses as a ring, a power of two.
    #[parameter(16384, range = 4096..=1 << 20, power_of_two)]
    pub ring_bytes: usize,
    /// 1: the host windows of the execution contexts confine transfers.
    #[parameter(0, board = 1)]
    pub guard: bool,
    /// Execution contexts that have a window, with `guard`.
    #[parameter(4, range = 1..=16, name = "contexts")]
    pub windows: usize,
    /// 1: there is AWATOP, and atomic operations are refused.
    #[parameter(0, board = 1, name = "atop")]
    pub atomics: bool,
    /// 1: transfers in flight outlive a reset of this side.
    #[parameter(0, board = 1)]
    pub drain: bool,
}

/// Widths of a segmented RAM's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamShape {
    /// Segments.
    pub segments: usize,
    /// Data of a segment in bits.
    pub data: usize,
    /// Address of a segment's word in bits.
    pub address: usize,
}

impl HostDmaShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let refuse = |parameter, reason| Err(checked.refuse(parameter, reason));
        let (data, segment) = (self.data, self.segment_data);
        if segment > data || segment * self.segments < data {
            let least = data / self.segments;
            let reason =
                format!("it must be from {least} to {data}: a beat fills whole words of the segments");
            return refuse("ram_seg_data_width", reason);
        }
        if self.ring_bytes > 1 << self.ram_address {
            let reason = format!(
                "it must be at most {}, the size of the RAM",
                1_u64 << self.ram_address
            );
            return refuse("ring_bytes", reason);
        }
        for (name, transfers) in [("writes", self.writes), ("reads", self.reads)] {
            if transfers > 1 << self.tag {
                let reason = format!(
                    "it must be at most {}: a tag has {} bits",
                    1_u64 << self.tag,
                    self.tag
                );
                return refuse(name, reason);
            }
        }
        for (name, width) in [("awuser_width", self.awuser), ("aruser_width", self.aruser)] {
            let (contexts, needed) = (self.windows, self.context());
            if width < needed {
                let reason =
                    format!("it must be at least {needed}: the guard finds one of {contexts} contexts in it");
                return refuse(name, reason);
            }
        }
        Ok(())
    }

    /// The AXI port.
    pub fn axi(&self) -> AxiShape {
        AxiShape {
            address: self.address,
            data: self.data,
            id: self.id,
            extras: AxiExtras {
                atop: self.atomics,
                routing: true,
                user: UserWidths {
                    aw: self.awuser,
                    w: self.wuser,
                    b: self.buser,
                    ar: self.aruser,
                    r: self.ruser,
                },
            },
        }
    }

    /// Widths of the RAM's ports.
    pub fn ram(&self) -> RamShape {
        RamShape {
            segments: self.segments,
            data: self.segment_data,
            address: self.segment_address(),
        }
    }

    /// Bytes of a word of a segment.
    pub fn segment_bytes(&self) -> usize {
        self.segment_data / 8
    }

    /// Width of the address of a word of a segment in bits.
    pub fn segment_address(&self) -> usize {
        self.ram_address - (self.segments * self.segment_bytes()).trailing_zeros() as usize
    }

    /// Beats that each half's ring holds, a power of two.
    pub fn lines(&self) -> usize {
        8 * self.ring_bytes / self.data
    }

    /// The windows of the guard.
    pub fn guard_shape(&self) -> GuardShape {
        GuardShape {
            address: self.address,
            windows: self.windows,
        }
    }

    /// Bits of the context that travels with a burst to the guard; none without guard.
    pub fn context(&self) -> usize {
        if self.guard {
            self.guard_shape().context()
        } else {
            0
        }
    }

    /// Bits of an address within a beat.
    pub fn lane(&self) -> usize {
        self.axi().beat_bits()
    }

    /// Bits of the number of a beat within 4 KiB.
    pub fn row(&self) -> usize {
        PAGE_BITS - self.lane()
    }

    /// Bits of an address above those within 4 KiB.
    pub fn page(&self) -> usize {
        self.address - PAGE_BITS
    }

    /// Bits of the number of a line of the ring.
    pub fn line(&self) -> usize {
        address_width(self.lines())
    }

    /// Bits of a position in the ring: one more than a line's number tells full from empty.
    pub fn position(&self) -> usize {
        self.line() + 1
    }

    /// Segments that a beat covers.
    pub fn segments_of_beat(&self) -> usize {
        self.data / self.segment_data
    }

    /// Groups of this number of segments; lines of the ring go to them in rotation.
    pub fn groups(&self) -> usize {
        self.segments / self.segments_of_beat()
    }

    /// Bits of a line's number that tell its group.
    pub fn group(&self) -> usize {
        self.groups().trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::HostDmaShape;
    use crate::entry::{Config, Parameters as _};
    use crate::hostdma::ENTRY;

    fn build(settings: &[(&str, u64)]) -> Result<HostDmaShape, String> {
        let values = ENTRY.with(Config::Reference, settings);
        HostDmaShape::of(ENTRY.name, &values).map_err(|error| error.to_string())
    }

    #[test]
    fn a_beat_covers_all_segments_or_takes_turns() {
        let narrow = build(&[]).expect("the reference is possible");
        assert_eq!(
            (narrow.segments_of_beat(), narrow.groups(), narrow.group()),
            (2, 1, 0)
        );
        let wide = build(&[("ram_seg_data_width", 512)]).expect("the board is possible");
        assert_eq!((wide.segments_of_beat(), wide.groups(), wide.group()), (1, 2, 1));
        assert_eq!(
            (narrow.lines(), narrow.line(), narrow.row(), narrow.lane()),
            (256, 8, 6, 6)
        );
    }
}
