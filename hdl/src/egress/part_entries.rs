//! Parts of the egress path in the catalog, for proofs of their own.

use super::{EgressShape, FrameReader, FrameRoom, LineAligner, entry};
use crate::entry::{Checked, Config, Entry, ParameterError, Parameters as _, Values};
use spinneret_verilog::prelude::*;

/// [`FrameReader`].
pub(crate) const READER_ENTRY: Entry = Entry::part(
    "frame_reader",
    "reads the lines of frames by bursts that stay in their block of memory",
    ReaderShape::parameters,
    build_reader,
);

/// [`FrameRoom`].
pub(crate) const ROOM_ENTRY: Entry = Entry::part(
    "frame_room",
    "counts the places of the frame buffer that nobody has a claim to",
    RoomShape::parameters,
    |values| {
        let shape = RoomShape::new(values)?;
        Ok(Box::new(FrameRoom::new(shape.places, shape.most)))
    },
);

/// [`LineAligner`].
pub(crate) const ALIGNER_ENTRY: Entry = Entry::part(
    "line_aligner",
    "makes beats of lines, whatever place of a line a frame starts at",
    AlignerShape::parameters,
    |values| {
        let shape = AlignerShape::new(values)?;
        Ok(Box::new(LineAligner::new(shape.data_width, shape.beats_width)))
    },
);

#[derive(Parameters)]
#[parameters(block = READER_ENTRY.name)]
struct ReaderShape {
    /// Width of a line in bits, a power of two.
    #[parameter(512, range = 16..=1024, power_of_two)]
    data_width: usize,
    /// Width of an address in bits.
    #[parameter(32, range = 16..=64)]
    address_width: usize,
    /// Longest frame in bytes.
    #[parameter(spinneret_regmap::MAX_FRAME, range = 256..=16384)]
    max_frame: usize,
    /// Width of a command's id in bits.
    #[parameter(6, range = 1..=16)]
    id_width: usize,
}

fn build_reader(values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let shape = ReaderShape::new(values)?;
    Ok(Box::new(FrameReader::new(EgressShape {
        data: shape.data_width,
        address: shape.address_width,
        max_frame: shape.max_frame,
        // An id is as wide as this number of commands needs.
        clusters: 1,
        cores: 1,
        core_commands: 1 << shape.id_width,
        ..EgressShape::new(&entry::ENTRY.values(Config::Reference))?
    })))
}

#[derive(Parameters)]
#[parameters(block = ROOM_ENTRY.name, check)]
struct RoomShape {
    /// Beats of the buffer.
    #[parameter(512, range = 2..=16384)]
    places: usize,
    /// Beats of the longest frame.
    #[parameter(150, range = 1..=8192)]
    most: usize,
}

impl RoomShape {
    fn check(&self, checked: Checked<'_>) -> Result<(), ParameterError> {
        let needed = 2 * self.most;
        if self.places < needed {
            let reason = format!("it must be at least {needed}, for two of the longest frames");
            return Err(checked.refuse("places", reason));
        }
        Ok(())
    }
}

#[derive(Parameters)]
#[parameters(block = ALIGNER_ENTRY.name)]
struct AlignerShape {
    /// Width of a line and of a beat in bits, a power of two.
    #[parameter(512, range = 16..=1024, power_of_two)]
    data_width: usize,
    /// Width of a number of beats in bits.
    #[parameter(8, range = 1..=16)]
    beats_width: usize,
}
