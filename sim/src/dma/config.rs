//! How the models of the DMA behave.

use super::Latency;
use super::page::PAGE_BYTES;
use super::ram::RamShape;
use crate::pause::Pause;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// From the RAM to host memory: Corundum's write descriptors.
    ToHost,
    /// From host memory to the RAM: Corundum's read descriptors.
    FromHost,
}

impl Transfer {
    /// The prefixes of the ports for descriptors and for their statuses, as Corundum names them.
    pub fn prefixes(self) -> [&'static str; 2] {
        match self {
            Self::ToHost => ["m_axis_write_desc", "s_axis_write_desc_status"],
            Self::FromHost => ["m_axis_read_desc", "s_axis_read_desc_status"],
        }
    }
}

/// How a [`CorundumDma`](super::CorundumDma) behaves.
#[derive(Clone, Debug)]
pub struct DmaConfig {
    /// When descriptors are not taken.
    pub descriptors: Pause,
    /// Latency in cycles before bytes begin to move: a descriptor of one line that is accepted in cycle t has its
    /// status in cycle t + 1 + latency at the earliest; each further line takes one cycle more.
    pub latency: Latency,
    /// Maximum random delay of a status in cycles; with it, statuses overtake each other.
    pub spread: u64,
    /// Which descriptors fail.
    pub faults: DmaFaults,
    /// Probability in percent that a cycle without a status has one whose tag is not in flight.
    pub unsolicited: u32,
    /// Number of tags that the design uses, from 0 on.
    pub tags: u64,
    /// The RAM that descriptors have to select.
    pub ram_sel: u64,
    /// Whether the DMA has a reset of its own, and keeps running when the design is reset.
    pub survives_reset: bool,
}

impl Default for DmaConfig {
    fn default() -> Self {
        Self {
            descriptors: Pause::Never,
            latency: Latency::exactly(0),
            spread: 0,
            faults: DmaFaults::Never,
            unsolicited: 0,
            tags: 1 << 16,
            ram_sel: 0,
            survives_reset: false,
        }
    }
}

/// Which descriptors fail. A failed descriptor to the host writes nothing, a part or everything, at random; a failed
/// one from the host leaves garbage in the RAM.
#[derive(Clone, Debug, Default)]
pub enum DmaFaults {
    /// None.
    #[default]
    Never,
    /// Each with that probability in percent, with any code from 1 to 15.
    Random {
        /// Probability of an error in percent.
        percent: u32,
    },
    /// Those that touch a host address in one of these ranges, with the code of the first such range.
    At(Vec<(RangeInclusive<u64>, u8)>),
}

/// Behaviour of the ports of a RAM, independent for each segment.
#[derive(Clone, Debug)]
pub struct RamConfig {
    /// When commands are not taken.
    pub commands: Pause,
    /// Cycles from a command to `ram_wr_done`, or to the read data; at least 1.
    pub latency: Latency,
}

impl RamConfig {
    /// Always ready, and everything after that many clocks: Corundum's RAM writes in 1 and reads in 2.
    pub fn after(cycles: u64) -> Self {
        Self {
            commands: Pause::Never,
            latency: Latency::exactly(cycles),
        }
    }
}

/// A latency between the two bounds.
pub(super) fn draw(latency: Latency, rng: &mut ChaCha8Rng) -> u64 {
    rng.random_range(latency.least..=latency.most.max(latency.least))
}

/// One transfer, as the design asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Address of the first byte in host memory.
    pub dma_addr: u64,
    /// Address of the first byte in the RAM.
    pub ram_addr: u64,
    /// Number of bytes.
    pub len: u64,
    /// Identifies the descriptor in its status.
    pub tag: u64,
}

/// A descriptor that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The descriptor.
    pub descriptor: Descriptor,
    /// The code of the status that it will get, unless the host refuses it; 0 is success.
    pub code: u8,
    /// How many of its bytes are moved, from the first on: all of them unless it fails.
    pub moved: u64,
    /// The cycle in which it was accepted.
    pub cycle: u64,
}

/// A status that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The tag of the descriptor.
    pub tag: u64,
    /// How it went; 0 is success.
    pub code: u8,
    /// Whether no descriptor with that tag was in flight.
    pub unsolicited: bool,
    /// The cycle in which it was valid.
    pub cycle: u64,
}

impl Descriptor {
    /// Checks the rules for all descriptors; `tags` is the number of tags.
    pub(super) fn check(&self, ram: RamShape, tags: u64) -> Result<(), String> {
        let Self {
            dma_addr,
            ram_addr,
            len,
            tag,
        } = *self;
        if len == 0 {
            return Err("a descriptor has no bytes".to_owned());
        }
        if dma_addr % PAGE_BYTES + len > PAGE_BYTES {
            return Err(format!(
                "a descriptor of {len} bytes at {dma_addr:#x} leaves the page of its first byte"
            ));
        }
        if ram_addr + len > ram.bytes {
            return Err(format!(
                "a descriptor of {len} bytes at {ram_addr:#x} of the RAM leaves the {} bytes that it may use",
                ram.bytes
            ));
        }
        if tag >= tags {
            return Err(format!("tag {tag} of a descriptor is not less than {tags}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Descriptor, RamShape};

    const RAM: RamShape = RamShape {
        segments: 2,
        segment_bytes: 32,
        bytes: 1024,
    };

    fn check(dma_addr: u64, ram_addr: u64, len: u64, tag: u64) -> Result<(), String> {
        let descriptor = Descriptor {
            dma_addr,
            ram_addr,
            len,
            tag,
        };
        descriptor.check(RAM, 4)
    }

    #[test]
    fn legal_descriptors_are_accepted() {
        for (dma_addr, ram_addr, len, tag) in [
            (0, 0, 1, 0),
            (0xfff, 1023, 1, 3),
            (0xc00, 0, 1024, 1),
            (u64::MAX - 9, 5, 10, 2),
        ] {
            assert_eq!(check(dma_addr, ram_addr, len, tag), Ok(()));
        }
    }

    #[test]
    fn illegal_descriptors_are_reported() {
        let text = |dma_addr, ram_addr, len, tag| check(dma_addr, ram_addr, len, tag).unwrap_err();
        assert_eq!(text(0, 0, 0, 0), "a descriptor has no bytes");
        assert_eq!(
            text(0xfff, 0, 2, 0),
            "a descriptor of 2 bytes at 0xfff leaves the page of its first byte"
        );
        assert_eq!(
            text(0, 1020, 5, 0),
            "a descriptor of 5 bytes at 0x3fc of the RAM leaves the 1024 bytes that it may use"
        );
        assert_eq!(text(0, 0, 1, 4), "tag 4 of a descriptor is not less than 4");
    }
}
