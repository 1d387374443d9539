//! Parameters of the egress path, and the numbers that follow from them.

use super::entry::{NAME, parameters};
use crate::axi::{AxiShape, PAGE_BITS};
use crate::entry::{Checked, Config, ParameterError, Values};
use crate::stream::AxisShape;

/// Lines of a burst at most, if 4 KiB have more.
const MOST_BURST_BITS: usize = 6;

/// Parameters of the egress path, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EgressShape {
    /// Widths of the stream to the wire; its data is as wide as that of the AXI port.
    pub axis: AxisShape,
    /// Width of the address in a command in bits.
    pub source: usize,
    /// Width of an AXI address, and of the length in a command, in bits.
    pub address: usize,
    /// Width of an AXI id in bits.
    pub id: usize,
    /// Width of the id of a command in bits.
    pub command_id: usize,
    /// Longest frame in bytes.
    pub max_frame: usize,
    /// Beats of frames that are read or wait for the wire, a power of two.
    pub buffer_beats: usize,
    /// Commands that can wait for their answer, a power of two.
    pub commands: usize,
    /// Constant tuser of all frames.
    pub tx_user: u64,
    /// Whether an input clears the last error.
    pub error_clear: bool,
    /// Whether the path can be reset without the frames that wait for the wire.
    pub cluster_reset: bool,
}

impl EgressShape {
    /// Checks parameter values.
    ///
    /// # Errors
    /// Names the parameter, its value and what would be possible.
    pub fn new(values: &Values) -> Result<Self, ParameterError> {
        let checked = Checked::new(NAME, &parameters(Config::Reference), values)?;
        let get = |name: &str| checked.get(name) as usize;
        let refuse = |parameter: &str, reason: String| checked.refuse(parameter, reason);
        if !get("data_width").is_power_of_two() {
            let reason = "it is a power of two: 128, 256, 512 or 1024";
            return Err(refuse("data_width", reason.into()));
        }
        for name in ["buffer_beats", "commands"] {
            if !get(name).is_power_of_two() {
                return Err(refuse(name, "it is a power of two".into()));
            }
        }
        let shape = Self {
            axis: AxisShape {
                data: get("data_width"),
                id: get("id_width"),
                dest: get("dest_width"),
                user: get("user_width"),
            },
            source: get("host_address_width"),
            address: get("address_width"),
            id: get("axi_id_width"),
            command_id: command_id_width(values),
            max_frame: get("max_frame"),
            buffer_beats: get("buffer_beats"),
            commands: get("commands"),
            tx_user: checked.get("tx_user"),
            error_clear: checked.get("error_clear") == 1,
            cluster_reset: checked.get("cluster_reset") == 1,
        };
        let needed = 2 * shape.most_beats();
        if shape.buffer_beats < needed {
            let reason = format!("two frames of {} bytes need {needed} places", shape.max_frame);
            return Err(refuse("buffer_beats", reason));
        }
        if shape.command_id == 0 {
            return Err(refuse(
                "core_commands",
                "an id of no bits names no command".into(),
            ));
        }
        if shape.axis.user < 64 && shape.tx_user >> shape.axis.user != 0 {
            let reason = format!("it does not fit a tuser of {} bits", shape.axis.user);
            return Err(refuse("tx_user", reason));
        }
        Ok(shape)
    }

    /// Widths of the AXI port.
    pub(crate) fn axi(self) -> AxiShape {
        AxiShape {
            address: self.address,
            data: self.axis.data,
            id: self.id,
        }
    }

    /// Bits of an address within a line, which is as long as a beat.
    pub(crate) fn offset(self) -> usize {
        self.axis.keep().trailing_zeros() as usize
    }

    /// Width of the number of a line in memory.
    pub(crate) fn line(self) -> usize {
        self.address - self.offset()
    }

    /// Beats of the longest frame.
    pub(crate) fn most_beats(self) -> usize {
        self.max_frame.div_ceil(self.axis.keep())
    }

    /// Width of a length minus 1.
    pub(crate) fn length(self) -> usize {
        bits(self.max_frame - 1)
    }

    /// Width of a number of beats, or of lines minus 1: a frame has one line more than beats at most.
    pub(crate) fn beats(self) -> usize {
        bits(self.most_beats())
    }

    /// Bits of a line's number within the block of memory that bursts stay in.
    pub(crate) fn block(self) -> usize {
        MOST_BURST_BITS.min(PAGE_BITS - self.offset())
    }

    /// Width of what is known of a frame behind its reads.
    pub(crate) fn frame(self) -> FrameShape {
        FrameShape {
            offset: self.offset(),
            beats: self.beats(),
        }
    }

    /// Width of a command in the queue: {length is wrong, address is wrong, id, length minus 1, address}.
    pub(crate) fn command(self) -> usize {
        2 + self.command_id + self.length() + self.address
    }

    /// Width of what waits for its answer: {address is wrong, refused, id}.
    pub(crate) fn answer(self) -> usize {
        self.command_id + 2
    }

    /// Width of a plan: {answer, beats, frame, first line}.
    pub(crate) fn plan(self) -> usize {
        self.answer() + self.beats() + self.frame().width() + self.line()
    }

    /// Width of a beat in the buffer: {strobes but the lowest, which is always 1, data}.
    pub(crate) fn stored(self) -> usize {
        self.axis.keep() - 1 + self.axis.data
    }
}

/// Where the parts of a frame's description lie: {last line is not needed for the beat before, bytes of the last
/// beat minus 1, bytes of the first line before the frame, lines minus 1}.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameShape {
    /// Width of a place within a line.
    pub offset: usize,
    /// Width of a number of lines.
    pub beats: usize,
}

impl FrameShape {
    /// Lowest bit of the place of the first byte; the lines minus 1 are at bit 0.
    pub fn offset_at(self) -> usize {
        self.beats
    }

    /// Lowest bit of the bytes of the last beat minus 1.
    pub fn tail_at(self) -> usize {
        self.beats + self.offset
    }

    /// Bit that says that the frame has as many beats as lines.
    pub fn even_at(self) -> usize {
        self.beats + 2 * self.offset
    }

    /// Width of it all.
    pub fn width(self) -> usize {
        self.even_at() + 1
    }
}

/// Width of a command's id: {cluster, core, command of the core}.
pub(super) fn command_id_width(values: &Values) -> usize {
    ["clusters", "cores", "core_commands"]
        .iter()
        .map(|name| values.get(*name).copied().unwrap_or(1))
        .map(|count| count.next_power_of_two().trailing_zeros() as usize)
        .sum()
}

/// Bits that hold the numbers 0 to `largest`.
pub(super) fn bits(largest: usize) -> usize {
    (usize::BITS - largest.leading_zeros()) as usize
}
