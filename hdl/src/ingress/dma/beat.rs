//! A beat on its way to the packet buffer.

use spinneret_verilog::prelude::*;

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
