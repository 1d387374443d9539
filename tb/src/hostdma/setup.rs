//! What a host DMA was generated with, as far as its bench depends on it.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::Values;
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
        let model = catalog::simulated()
            .into_iter()
            .find(|(name, _, _)| name == M::NAME);
        let (_, _, values) = model.unwrap_or_else(|| panic!("{} is not in the catalog", M::NAME));
        Self::new(&values)
    }

    /// That of these parameter values.
    ///
    /// # Panics
    /// If a value is missing.
    fn new(values: &Values) -> Self {
        let get = |name: &str| {
            let value = values.get(name).copied();
            value.unwrap_or_else(|| panic!("the host DMA has no parameter {name}"))
        };
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
