//! Parameters of the host DMA, and the numbers that follow from them.

use super::entry::parameters;
use crate::axi::{AxiShape, PAGE_BITS, UserWidths};
use crate::entry::{Checked, Config, ParameterError, Values};
use spinneret_verilog::prelude::address_width;

/// Widths of the segmented RAM of Corundum's DMA, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamShape {
    /// The number of a RAM.
    pub select: usize,
    /// The address of a byte.
    pub address: usize,
    /// How many segments there are.
    pub segments: usize,
    /// A word of a segment.
    pub data: usize,
}

impl RamShape {
    /// Bytes of a word of a segment.
    pub fn enables(self) -> usize {
        self.data / 8
    }

    /// The address of a word of a segment.
    pub fn word_address(self) -> usize {
        self.address - (self.segments * self.enables()).trailing_zeros() as usize
    }
}

/// The windows of host memory that transfers are held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardShape {
    /// How many windows there are: one for each execution context.
    pub windows: usize,
    /// Width of an address in bits.
    pub address: usize,
}

impl GuardShape {
    /// Bits that tell the contexts apart, at least one.
    pub fn context(self) -> usize {
        address_width(self.windows)
    }
}

/// Width of the size of a window in bits.
pub const WINDOW_SIZE_BITS: usize = 32;

/// Parameters of the host DMA, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostDmaShape {
    /// Widths of the AXI port.
    pub axi: AxiShape,
    /// Widths of its user signals.
    pub user: UserWidths,
    /// Widths of the RAM.
    pub ram: RamShape,
    /// Width of a descriptor's length in bits.
    pub length: usize,
    /// Width of a descriptor's tag in bits.
    pub tag: usize,
    /// Width of immediate data in bits.
    pub immediate: usize,
    /// Descriptors for writes that can be in flight, a power of two.
    pub writes: usize,
    /// Descriptors for reads that can be in flight, a power of two.
    pub reads: usize,
    /// Beats that each half's ring holds, a power of two.
    pub lines: usize,
    /// Whether transfers are held to windows.
    pub guard: bool,
    /// How many windows there are.
    pub windows: usize,
    /// Whether there is AWATOP.
    pub atomics: bool,
    /// Whether transfers in flight outlive a reset of this side.
    pub drain: bool,
}

impl HostDmaShape {
    /// Checks the parameter values of the block of that name.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(block: &'static str, values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(block, &parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name) as usize;
        for name in [
            "data_width",
            "ram_seg_data_width",
            "ram_seg_count",
            "writes",
            "reads",
            "ring_bytes",
        ] {
            if !get(name).is_power_of_two() {
                return Err(checked.refuse(name, "it is a power of two".into()));
            }
        }
        let shape = Self {
            axi: AxiShape {
                address: get("address_width"),
                data: get("data_width"),
                id: get("id_width"),
            },
            user: UserWidths {
                aw: get("awuser_width"),
                w: get("wuser_width"),
                b: get("buser_width"),
                ar: get("aruser_width"),
                r: get("ruser_width"),
            },
            ram: RamShape {
                select: get("ram_sel_width"),
                address: get("ram_addr_width"),
                segments: get("ram_seg_count"),
                data: get("ram_seg_data_width"),
            },
            length: get("dma_len_width"),
            tag: get("dma_tag_width"),
            immediate: get("imm_width"),
            writes: get("writes"),
            reads: get("reads"),
            lines: 8 * get("ring_bytes") / get("data_width"),
            guard: get("guard") == 1,
            windows: get("contexts"),
            atomics: get("atop") == 1,
            drain: get("drain") == 1,
        };
        shape.check(checked)?;
        Ok(shape)
    }

    /// Checks what depends on several parameters.
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let (data, segment) = (self.axi.data, self.ram.data);
        if segment > data || segment * self.ram.segments < data {
            let reason = format!(
                "a beat of {data} bits fills whole words, of some or all of the {} segments",
                self.ram.segments
            );
            return Err(checked.refuse("ram_seg_data_width", reason));
        }
        if checked.get("ring_bytes") > 1 << self.ram.address {
            let reason = format!("the RAM has {} bytes", 1_u64 << self.ram.address);
            return Err(checked.refuse("ring_bytes", reason));
        }
        for (name, transfers) in [("writes", self.writes), ("reads", self.reads)] {
            if transfers > 1 << self.tag {
                let reason = format!("{} bits tell only {} tags apart", self.tag, 1_u64 << self.tag);
                return Err(checked.refuse(name, reason));
            }
        }
        for (name, width) in [("awuser_width", self.user.aw), ("aruser_width", self.user.ar)] {
            if width < self.context() {
                let reason = format!(
                    "the guard finds the context in it: {} contexts need {} bits",
                    self.windows,
                    self.context()
                );
                return Err(checked.refuse(name, reason));
            }
        }
        Ok(())
    }

    /// The windows of the guard.
    pub fn guard_shape(&self) -> GuardShape {
        GuardShape {
            windows: self.windows,
            address: self.axi.address,
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
        self.axi.beat_bits()
    }

    /// Bits of the number of a beat within 4 KiB.
    pub fn row(&self) -> usize {
        PAGE_BITS - self.lane()
    }

    /// Bits of an address above those within 4 KiB.
    pub fn page(&self) -> usize {
        self.axi.address - PAGE_BITS
    }

    /// Bits of the number of a line of the ring.
    pub fn line(&self) -> usize {
        address_width(self.lines)
    }

    /// Bits of a position in the ring: one more than a line's number tells full from empty.
    pub fn position(&self) -> usize {
        self.line() + 1
    }

    /// Segments that a beat covers.
    pub fn segments_of_beat(&self) -> usize {
        self.axi.data / self.ram.data
    }

    /// Groups of so many segments; lines of the ring go to them in turn.
    pub fn groups(&self) -> usize {
        self.ram.segments / self.segments_of_beat()
    }

    /// Bits of a line's number that tell its group.
    pub fn group(&self) -> usize {
        self.groups().trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::HostDmaShape;
    use crate::entry::Config;
    use crate::hostdma::entry::{NAME, parameters};

    fn build(settings: &[(&str, u64)]) -> Result<HostDmaShape, String> {
        let parameters = parameters(Config::Reference).into_iter();
        let mut values: crate::entry::Values = parameters.map(|p| (p.name.to_owned(), p.value)).collect();
        values.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        HostDmaShape::new(NAME, &values).map_err(|error| error.to_string())
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
            (narrow.lines, narrow.line(), narrow.row(), narrow.lane()),
            (256, 8, 6, 6)
        );
    }

    #[test]
    fn impossible_parameters_are_refused_with_a_reason() {
        let beat = "a beat of 512 bits fills whole words, of some or all of the 2 segments";
        for (name, value, reason) in [
            ("ram_seg_data_width", 128, beat),
            ("ram_seg_data_width", 1024, beat),
            ("writes", 48, "it is a power of two"),
            ("ring_bytes", 2048, "it is 4096 to 1048576"),
            ("dma_tag_width", 2, "64"),
        ] {
            let error = build(&[(name, value)]).expect_err("it is not possible");
            assert!(error.contains(reason), "{error}");
        }
        let user = [
            ("guard", 1),
            ("contexts", 5),
            ("awuser_width", 3),
            ("aruser_width", 2),
        ];
        assert_eq!(
            build(&user).expect_err("it is not possible"),
            "pspin_hostmem_dma: aruser_width = 2 is not possible: the guard finds the context in it: \
             5 contexts need 3 bits"
        );
        let error = build(&[("ram_addr_width", 13)]).expect_err("it is not possible");
        assert_eq!(
            error,
            "pspin_hostmem_dma: ring_bytes = 16384 is not possible: the RAM has 8192 bytes"
        );
    }
}
