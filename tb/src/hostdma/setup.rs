//! What a host DMA was generated with, as far as its bench depends on it.

use crate::parameters::Parameters;
use spinneret_sim::dma::RamShape;
use spinneret_sim::model::Model;

/// What a host DMA was generated with, as far as its bench depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Bytes of a beat, and of a line of a ring.
    pub beat_bytes: u64,
    /// Width of an AXI id in bits.
    pub id_bits: u32,
    /// The RAM of either half.
    pub ram: RamShape,
    /// Descriptors for writes that can be in flight.
    pub writes: u64,
    /// Descriptors for reads that can be in flight.
    pub reads: u64,
    /// How many windows the guard has, if there is one.
    pub windows: Option<usize>,
    /// Widths of AWUSER and ARUSER in bits.
    pub user_bits: [u32; 2],
    /// Whether there is AWATOP.
    pub atomics: bool,
    /// Whether transfers in flight outlive a reset.
    pub drain: bool,
}

impl Setup {
    /// That of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model, or the bench cannot test it.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        Self {
            beat_bytes: get("data_width") / 8,
            id_bits: get("id_width") as u32,
            ram: RamShape {
                segments: get("ram_seg_count"),
                segment_bytes: get("ram_seg_data_width") / 8,
                bytes: get("ring_bytes"),
            },
            writes: get("writes"),
            reads: get("reads"),
            windows: (get("guard") == 1).then(|| get("contexts") as usize),
            user_bits: ["awuser_width", "aruser_width"].map(|name| get(name) as u32),
            atomics: get("atop") == 1,
            drain: get("drain") == 1,
        }
    }

    /// Lines of a ring.
    pub fn lines(&self) -> u64 {
        self.ram.bytes / self.beat_bytes
    }
}
