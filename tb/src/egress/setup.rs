//! What an egress path was generated with.

use crate::parameters::Parameters;
use spinneret_sim::model::Model;

/// What an egress path was generated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Bytes of a beat, and of a line of memory.
    pub beat: u64,
    /// Bits of an AXI address, and of the length in a command.
    pub address_bits: u32,
    /// Bits of the address in a command.
    pub source_bits: u32,
    /// Number of command ids.
    pub ids: u64,
    /// Longest frame in bytes.
    pub max_frame: u64,
    /// Beats of the frame buffer.
    pub buffer_beats: u64,
    /// Commands that can wait for their answer.
    pub commands: u64,
    /// tuser of all frames.
    pub tx_user: u128,
    /// Whether the last error can be cleared.
    pub error_clear: bool,
}

impl Setup {
    /// The parameters of a model.
    ///
    /// # Panics
    /// If the catalog has no such model.
    pub fn of<M: Model>() -> Self {
        let parameters = Parameters::of::<M>();
        let get = |name| parameters.get(name);
        Self {
            beat: get("data_width") / 8,
            address_bits: get("address_width") as u32,
            source_bits: get("host_address_width") as u32,
            ids: get("clusters") * get("cores") * get("core_commands"),
            max_frame: get("max_frame"),
            buffer_beats: get("buffer_beats"),
            commands: get("commands"),
            tx_user: get("tx_user").into(),
            error_clear: get("error_clear") == 1,
        }
    }

    /// The address behind the highest one.
    pub fn address_end(&self) -> u64 {
        1 << self.address_bits
    }

    /// Beats of a frame of that length.
    pub fn beats(&self, length: u64) -> u64 {
        length.div_ceil(self.beat)
    }

    /// Bytes of a block of memory that no burst leaves: 64 lines, or 4 KiB if those are less.
    fn block(&self) -> u64 {
        (64 * self.beat).min(4096)
    }

    /// The bursts that read a range of memory: address and beats of each.
    pub fn bursts(&self, source: u64, length: u64) -> Vec<(u64, u64)> {
        let mut line = source / self.beat;
        let end = (source + length).div_ceil(self.beat);
        let lines_of_block = self.block() / self.beat;
        let mut bursts = Vec::new();
        while line < end {
            let count = (end - line).min(lines_of_block - line % lines_of_block);
            bursts.push((line * self.beat, count));
            line += count;
        }
        bursts
    }

    /// Lines that a range of memory lies in.
    pub fn lines(&self, source: u64, length: u64) -> u64 {
        (source + length).div_ceil(self.beat) - source / self.beat
    }
}
