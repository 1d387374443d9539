//! Parameters of the egress path, and the numbers that follow from them.

use crate::axi::{AxiExtras, AxiShape, LENGTH_BITS, PAGE_BITS};
use crate::entry::{Checked, ParameterError};
use crate::stream::{AxisShape, SideFields};
use spinneret_regmap::pspin::{PACKET_BASE, PACKET_BYTES, nic_command};
use spinneret_verilog::prelude::*;

/// Commands that the path can have besides those that wait for their answer: in its queues, and read but not complete.
const OPEN_MARGIN: usize = 16;
/// Lines of a burst at most, if 4 KiB have more.
const MOST_BURST_BITS: usize = 6;

/// Parameters that the reads of frames depend on.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "frame_reader")]
pub struct ReadShape {
    /// Width of a line in bits, a power of two.
    #[parameter(512, range = 16..=1024, power_of_two, name = "data_width")]
    pub data: usize,
    /// Width of an address in bits.
    #[parameter(32, range = 16..=64, name = "address_width")]
    pub address: usize,
    /// Longest frame in bytes.
    #[parameter(spinneret_regmap::MAX_FRAME, range = 256..=16384)]
    pub max_frame: usize,
    /// Width of a command's id in bits.
    #[parameter(6, range = 1..=16, name = "id_width")]
    pub id: usize,
}

impl ReadShape {
    /// Bytes of a line, which is as long as a beat.
    fn line_bytes(self) -> usize {
        self.data / 8
    }

    /// Bits of an address within a line.
    pub(crate) fn offset(self) -> usize {
        self.line_bytes().trailing_zeros() as usize
    }

    /// Width of the number of a line in memory.
    pub(crate) fn line(self) -> usize {
        self.address - self.offset()
    }

    /// Beats of the longest frame.
    pub(crate) fn most_beats(self) -> usize {
        self.max_frame.div_ceil(self.line_bytes())
    }

    /// Width of a length minus 1.
    pub(crate) fn length(self) -> usize {
        bit_width(self.max_frame - 1)
    }

    /// Width of a number of beats, or of lines minus 1: a frame has one line more than beats at most.
    pub(crate) fn beats(self) -> usize {
        bit_width(self.most_beats())
    }

    /// Bits of a line's number within the block of memory that bursts stay in.
    pub(crate) fn block(self) -> usize {
        MOST_BURST_BITS.min(PAGE_BITS - self.offset())
    }

    /// A frame after its reads.
    pub(crate) fn frame(self) -> FrameFields {
        FrameFields::new(self.offset(), self.beats())
    }
}

/// Parameters of the egress path, checked.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "pspin_egress_datapath", check)]
pub struct EgressShape {
    /// Width of a beat in bits, on the stream and on the AXI port, a power of two.
    #[parameter(512, range = 64..=1024, power_of_two, name = "data_width", verilog = "AXIS_IF_DATA_WIDTH")]
    pub data: usize,
    /// Width of tid in bits.
    #[parameter(12, range = 1..=64, name = "id_width", verilog = "AXIS_IF_TX_ID_WIDTH")]
    pub tid: usize,
    /// Width of tdest in bits.
    #[parameter(4, range = 1..=64, name = "dest_width", verilog = "AXIS_IF_TX_DEST_WIDTH")]
    pub tdest: usize,
    /// Width of tuser in bits.
    #[parameter(16, board = 17, range = 1..=128, name = "user_width", verilog = "AXIS_IF_TX_USER_WIDTH")]
    pub tuser: usize,
    /// Tuser of all frames.
    // On a board it is {tag, error}. Corundum's engine sets the highest bit of the tag in its frames, and takes no
    // completion without it, so 0 is ours.
    #[parameter(0, range = 0..=u64::MAX)]
    pub tx_user: u64,
    /// Width of the address in a command in bits.
    #[parameter(64, range = 16..=64, name = "host_address_width", verilog = "AXI_HOST_ADDR_WIDTH")]
    pub source: usize,
    /// Width of an AXI address, and of the length in a command, in bits.
    #[parameter(32, range = 16..=64, name = "address_width", verilog = "AXI_ADDR_WIDTH")]
    pub address: usize,
    /// Width of an AXI id in bits.
    #[parameter(8, range = 1..=32, name = "axi_id_width", verilog = "AXI_ID_WIDTH")]
    pub id: usize,
    /// Clusters that give commands.
    #[parameter(2, range = 1..=64, verilog = "NUM_CLUSTERS")]
    pub clusters: usize,
    /// Cores of a cluster.
    #[parameter(8, range = 1..=64, verilog = "NUM_CORES")]
    pub cores: usize,
    /// Commands of a core in flight.
    #[parameter(4, range = 1..=64, verilog = "NUM_HPU_CMDS")]
    pub core_commands: usize,
    /// Longest frame in bytes; commands for longer ones are refused.
    #[parameter(9600, range = 256..=16384)]
    pub max_frame: usize,
    /// Beats of frames that are being read or wait for the wire, a power of two.
    #[parameter(512, range = 8..=16384, power_of_two)]
    pub buffer_beats: usize,
    /// Commands that can wait for their answer, a power of two.
    #[parameter(64, range = 2..=1024, power_of_two)]
    pub commands: usize,
    /// 1: egress_dma_error_clear clears the last error, 0: there is no such input.
    #[parameter(0, board = 1)]
    pub error_clear: bool,
    /// 1: an input resets all but the frames that are complete, with the cluster.
    #[parameter(0, board = 1)]
    pub cluster_reset: bool,
    /// 1: commands may pass frames to the host instead of the wire.
    #[parameter(0, board = 1)]
    pub pass: bool,
    /// Width of tid of frames to the host in bits.
    #[parameter(8, range = 1..=64)]
    pub rx_id_width: usize,
    /// Width of tdest of frames to the host in bits.
    #[parameter(16, range = 1..=64)]
    pub rx_dest_width: usize,
    /// Width of tuser of frames to the host in bits.
    #[parameter(97, range = 2..=256)]
    pub rx_user_width: usize,
    /// Address of the packet buffer, a multiple of its size.
    #[parameter(PACKET_BASE as u64, range = 0..=(1_u64 << nic_command::SLOT_BITS) - 1)]
    pub buffer_base: u64,
    /// Bytes of the packet buffer, a power of two.
    #[parameter(PACKET_BYTES as u64, range = 256..=1_u64 << nic_command::SLOT_BITS, power_of_two)]
    pub buffer_size: u64,
    /// Bytes at whose multiples the slots of the packet buffer start, a power of two.
    #[parameter(128, range = 1..=128, power_of_two)]
    pub slot_unit: u64,
}

impl EgressShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let refuse = |parameter, reason| Err(checked.refuse(parameter, reason));
        let needed = 2 * self.reads().most_beats();
        if self.buffer_beats < needed {
            let reason = format!(
                "it must be at least {needed}, for two frames of {} bytes",
                self.max_frame
            );
            return refuse("buffer_beats", reason);
        }
        if self.command_id() == 0 {
            let reason = "it must be at least 2 with one cluster and one core: the id of a command has a bit";
            return refuse("core_commands", reason.into());
        }
        if self.tuser < 64 && self.tx_user >> self.tuser != 0 {
            let reason = format!(
                "it must be at most {}: tuser has {} bits",
                (1_u64 << self.tuser) - 1,
                self.tuser
            );
            return refuse("tx_user", reason);
        }
        checked.multiple_of("buffer_base", self.buffer_size, "buffer_size")
    }

    /// Widths of the stream to the wire.
    pub(crate) fn axis(self) -> AxisShape {
        AxisShape {
            data: self.data,
            id: self.tid,
            dest: self.tdest,
            user: self.tuser,
        }
    }

    /// Widths of the stream to the host.
    pub(crate) fn rx_axis(self) -> AxisShape {
        AxisShape {
            data: self.data,
            id: self.rx_id_width,
            dest: self.rx_dest_width,
            user: self.rx_user_width,
        }
    }

    /// Side band of a packet.
    pub(crate) fn side(self) -> SideFields {
        SideFields::new(self.rx_axis())
    }

    /// Where the frame of a command goes.
    pub(crate) fn way(self) -> WayFields {
        WayFields::new(self.place_bits())
    }

    /// Bits of a slot's address below its place in the table of side bands.
    pub(crate) fn unit_bits(self) -> usize {
        self.slot_unit.trailing_zeros() as usize
    }

    /// Width of the place of a slot in the table of side bands.
    pub(crate) fn place_bits(self) -> usize {
        (self.buffer_size / self.slot_unit).trailing_zeros() as usize
    }

    /// Width of `field` of frames that may be passed, 0 without `pass`.
    pub(crate) fn with_pass(self, width: usize) -> usize {
        if self.pass { width } else { 0 }
    }

    /// Width of a number of commands that the path has taken and whose frames are not complete.
    pub(crate) fn open_bits(self) -> usize {
        bit_width(2 * self.commands + OPEN_MARGIN)
    }

    /// Widths of the AXI port.
    pub(crate) fn axi(self) -> AxiShape {
        AxiShape {
            address: self.address,
            data: self.data,
            id: self.id,
            extras: AxiExtras::NONE,
        }
    }

    /// Width of a command's id in bits: {cluster, core, command of the core}.
    pub(crate) fn command_id(self) -> usize {
        [self.clusters, self.cores, self.core_commands]
            .map(|count| count.next_power_of_two().trailing_zeros() as usize)
            .iter()
            .sum()
    }

    /// The parameters that its reads depend on.
    pub(crate) fn reads(self) -> ReadShape {
        ReadShape {
            data: self.data,
            address: self.address,
            max_frame: self.max_frame,
            id: self.command_id(),
        }
    }
}

/// Where the frame of a command goes.
#[record(place: usize)]
pub struct WayFields {
    /// Place of its packet in the table of side bands.
    pub place: Field<{ place }>,
    /// It goes to the host, not to the wire.
    pub pass: Field<1>,
}

/// A command in the queue.
#[record(shape: ReadShape)]
pub struct CommandFields {
    /// Address of its first byte.
    pub address: Field<{ shape.address }>,
    /// Its bytes, minus 1.
    pub last: Field<{ shape.length() }>,
    /// Its id.
    pub id: Field<{ shape.id }>,
    /// The port cannot have its address.
    pub wrong_address: Field<1>,
    /// It has no bytes, or more than the longest frame.
    pub wrong_length: Field<1>,
}

/// A command that waits for its answer.
#[record(shape: ReadShape)]
pub struct AnswerFields {
    /// Id of the command.
    pub id: Field<{ shape.id }>,
    /// It is refused.
    pub refused: Field<1>,
    /// Because of its address, and not of its length.
    pub wrong_address: Field<1>,
}

/// How a command is done.
#[record(shape: ReadShape)]
pub struct PlanFields {
    /// The first line.
    pub line: Field<{ shape.line() }>,
    /// The frame.
    pub frame: Field<{ shape.frame() }>,
    /// Its beats.
    pub beats: Field<{ shape.beats() }>,
    /// The answer.
    pub answer: Field<{ AnswerFields::new(shape) }>,
}

/// A read.
#[record(shape: ReadShape)]
pub struct ReadFields {
    /// The first line.
    pub line: Field<{ shape.line() }>,
    /// ARLEN.
    pub length: Field<{ LENGTH_BITS }>,
}

/// A beat in the buffer.
#[record(shape: ReadShape)]
pub struct StoredFields {
    /// Its bytes.
    pub data: Field<{ shape.data }>,
    /// Which of them count; the lowest always does.
    pub keep_above: Field<{ shape.line_bytes() - 1 }>,
}

/// How the reads of a frame went.
#[record()]
pub struct DoneFields {
    /// A line was bad.
    pub error: Field<1>,
    /// The first bad line said DECERR.
    pub decerr: Field<1>,
}

/// A frame after its reads.
#[record(offset: usize, beats: usize)]
pub struct FrameFields {
    /// Its lines, minus 1.
    pub lines: Field<{ beats }>,
    /// Bytes of the first line before the frame.
    pub offset: Field<{ offset }>,
    /// Bytes of the last beat, minus 1.
    pub tail: Field<{ offset }>,
    /// It has as many beats as lines: the last line is not needed for the beat before.
    pub even: Field<1>,
}
