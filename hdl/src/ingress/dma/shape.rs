//! Parameters of the ingress DMA, the numbers and records that follow from them, and its entries in the catalog.

use crate::axi::{AxiExtras, AxiShape};
use crate::stream::AxisShape;
use spinneret_verilog::prelude::*;

/// Parameters of the ingress DMA, checked.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "pspin_ingress_dma")]
pub struct DmaShape {
    /// Width of a beat in bits, on the stream and on the AXI port, a power of two.
    #[parameter(512, range = 64..=1024, power_of_two, name = "data_width", verilog = "AXIS_IF_DATA_WIDTH")]
    pub data: usize,
    /// Width of tid in bits.
    #[parameter(1, range = 1..=64, name = "id_width", verilog = "AXIS_IF_RX_ID_WIDTH")]
    pub id: usize,
    /// Width of tdest in bits.
    #[parameter(8, range = 1..=64, name = "dest_width", verilog = "AXIS_IF_RX_DEST_WIDTH")]
    pub dest: usize,
    /// Width of tuser in bits.
    #[parameter(16, board = 97, range = 1..=256, name = "user_width", verilog = "AXIS_IF_RX_USER_WIDTH")]
    pub user: usize,
    /// Width of an address in bits.
    #[parameter(32, range = 16..=64, name = "address_width", verilog = "AXI_ADDR_WIDTH")]
    pub address: usize,
    /// Width of an AXI id in bits.
    #[parameter(8, range = 1..=32, name = "axi_id_width", verilog = "AXI_ID_WIDTH")]
    pub axi_id: usize,
    /// Width of a length in bits.
    #[parameter(32, board = 16, range = 13..=32, name = "length_width", verilog = "LEN_WIDTH")]
    pub length: usize,
    /// Width of a tag in bits.
    // The ingress path has the side band of a frame in it.
    #[parameter(64, range = 1..=512, name = "tag_width", verilog = "TAG_WIDTH")]
    pub tag: usize,
    /// Largest ordinary frame in bytes; longer ones are written as well.
    #[parameter(1500, range = 64..=16384, verilog = "INGRESS_DMA_MTU")]
    pub mtu: usize,
    /// Beats of a burst at most, a power of two; a burst starts when all its beats are there.
    #[parameter(2, range = 2..=16, power_of_two)]
    pub burst_beats: usize,
    /// Bursts that can wait for their response, a power of two.
    #[parameter(64, range = 4..=1024, power_of_two)]
    pub bursts: usize,
    /// Packets that can wait for the HER generator.
    // In addition to the one at the port, as in the other queue.
    #[parameter(32, range = 2..=1024, power_of_two)]
    pub her_queue: usize,
    /// Slots of failed packets that can wait for the allocator.
    #[parameter(8, range = 2..=1024, power_of_two)]
    pub free_queue: usize,
}

impl DmaShape {
    /// Widths of the packet stream.
    pub fn axis(self) -> AxisShape {
        AxisShape {
            data: self.data,
            id: self.id,
            dest: self.dest,
            user: self.user,
        }
    }

    /// Widths of the AXI port.
    pub fn axi(self) -> AxiShape {
        AxiShape {
            address: self.address,
            data: self.data,
            id: self.axi_id,
            extras: AxiExtras::NONE,
        }
    }

    /// Width of a packet as it travels: {tag, length, address}.
    pub(crate) fn packet(self) -> usize {
        self.tag + self.length + self.address
    }

    /// Width of the metadata of a packet without its address: {tag, length}.
    pub(crate) fn meta(self) -> usize {
        self.tag + self.length
    }

    /// Width of the record of a burst, or of the end of a packet without one:
    /// {over, bad, no slot, last of its packet, has a response, address of the packet}.
    pub(crate) fn record_width(self) -> usize {
        self.address + 5
    }

    /// A beat with its marks.
    pub(crate) fn beat(self) -> BeatFields {
        BeatFields::new(self.data)
    }

    /// Width of a number of beats of a frame.
    pub(crate) fn beats_width(self) -> usize {
        self.length - self.beat_bits()
    }

    /// Width of what a frame is compared with: {misplaced, one beat, strobes of the last, beats after the first}.
    pub(crate) fn plan(self) -> usize {
        2 + self.beat().keep.width + self.beats_width()
    }

    /// Width of a number of beats of a burst.
    pub(crate) fn block_bits(self) -> usize {
        self.burst_beats.trailing_zeros() as usize
    }

    /// Bits of an address within a beat.
    pub(crate) fn beat_bits(self) -> usize {
        self.beat().keep.width.trailing_zeros() as usize
    }
}

/// A marked beat. The flags say everything that the writer needs to know of a frame, so that it never must count.
#[record(data: usize)]
pub struct BeatFields {
    /// The data.
    pub data: Field<{ data }>,
    /// The strobes: one bit a byte.
    pub keep: Field<{ data / 8 }>,
    /// The frame ends with this beat.
    pub last: Field<1>,
    /// The beat lies after the slot and is not written. Of such beats only the last of a frame comes.
    pub beyond: Field<1>,
    /// The beat makes its packet fail.
    pub bad: Field<1>,
    /// With `beyond`: the frame has bytes after the slot.
    pub over: Field<1>,
    /// A burst ends with this beat at the latest, as the frame or its room in the slot does.
    pub cut: Field<1>,
}
