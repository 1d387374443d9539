//! Parameters of the ingress DMA, and the numbers that follow from them.

use super::BeatShape;
use super::entry::{NAME, parameters};
use crate::axi::AxiShape;
use crate::entry::{Checked, Config, ParameterError, Values};
use crate::stream::AxisShape;

/// Parameters of the ingress DMA, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaShape {
    /// Widths of the packet stream; its data is as wide as that of the AXI port.
    pub axis: AxisShape,
    /// Width of an address in bits.
    pub address: usize,
    /// Width of an AXI id in bits.
    pub id: usize,
    /// Width of a length in bits.
    pub length: usize,
    /// Width of a tag in bits.
    pub tag: usize,
    /// Beats of a burst at most, a power of two; so many are seen before a packet starts.
    pub burst_beats: usize,
    /// Bursts that can wait for their response.
    pub bursts: usize,
    /// Packets that can wait for the HER generator, beside the one at the port.
    pub her_queue: usize,
    /// Slots that can wait for the allocator, beside the one at the port.
    pub free_queue: usize,
}

impl DmaShape {
    /// Widths of the AXI port.
    pub fn axi(&self) -> AxiShape {
        AxiShape {
            address: self.address,
            data: self.axis.data,
            id: self.id,
        }
    }

    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name) as usize;
        let refuse = |parameter: &str, reason: String| checked.refuse(parameter, reason);
        let data = get("data_width");
        if !data.is_power_of_two() {
            let reason = "it is a power of two: 128, 256, 512 or 1024";
            return Err(refuse("data_width", reason.into()));
        }
        for name in ["burst_beats", "bursts", "her_queue", "free_queue"] {
            if !get(name).is_power_of_two() {
                return Err(refuse(name, "it is a power of two".into()));
            }
        }
        Ok(Self {
            axis: AxisShape {
                data,
                id: get("id_width"),
                dest: get("dest_width"),
                user: get("user_width"),
            },
            address: get("address_width"),
            id: get("axi_id_width"),
            length: get("length_width"),
            tag: get("tag_width"),
            burst_beats: get("burst_beats"),
            bursts: get("bursts"),
            her_queue: get("her_queue"),
            free_queue: get("free_queue"),
        })
    }

    /// Width of a packet as it travels: {tag, length, address}.
    pub(crate) fn packet(self) -> usize {
        self.tag + self.length + self.address
    }

    /// Width of what is known of a packet beside its place: {tag, length}.
    pub(crate) fn meta(self) -> usize {
        self.tag + self.length
    }

    /// Width of the record of a burst, or of the end of a packet without one:
    /// {over, bad, no slot, last of its packet, has a response, address of the packet}.
    pub(crate) fn record_width(self) -> usize {
        self.address + 5
    }

    /// A beat with its marks.
    pub(crate) fn beat(self) -> BeatShape {
        BeatShape { data: self.axis.data }
    }

    /// Width of a number of beats of a frame.
    pub(crate) fn beats_width(self) -> usize {
        self.length - self.beat_bits()
    }

    /// Width of what a frame is compared with: {misplaced, one beat, strobes of the last, beats behind the first}.
    pub(crate) fn plan(self) -> usize {
        2 + self.beat().keep() + self.beats_width()
    }

    /// Width of a number of beats of a burst.
    pub(crate) fn block_bits(self) -> usize {
        self.burst_beats.trailing_zeros() as usize
    }

    /// Bits of an address within a beat.
    pub(crate) fn beat_bits(self) -> usize {
        self.axis.keep().trailing_zeros() as usize
    }
}
