//! Bytes of frames to beats of 8 bytes, and back.

use super::{BYTE, BytesIn};
use crate::entry::Entry;
use crate::stream::{FrameIn, FrameOut};
use spinneret_verilog::prelude::*;

/// Bytes of a beat.
pub const BEAT_BYTES: usize = 8;
/// Bits of the place of a byte in a beat.
const PLACE: usize = BEAT_BYTES.trailing_zeros() as usize;
/// The place of the last byte.
const LAST_PLACE: u64 = BEAT_BYTES as u64 - 1;

/// A beat of a frame.
#[record]
pub struct BeatFields {
    /// Its bytes, the first in the lowest bits. Those after the end are of any value.
    pub data: Field<{ BEAT_BYTES * BYTE }>,
    /// Place of its last byte: 7 in each beat but the last of a frame.
    pub tail: Field<{ PLACE }>,
}

/// Bits of a beat: 64 of data, 3 of its end.
pub const BEAT: usize = BEAT_BYTES * BYTE + PLACE;

/// Packs bytes of frames into beats.
///
/// # Contract
/// - **Latency:** a beat is there in the clock after its last byte, for that clock alone.
/// - **Beats** have 8 bytes each, the last one of a frame 1 to 8. `m_last` and `m_error` are those of its last byte.
/// - **Backpressure:** none, bytes cannot wait.
/// - **Reset:** forgets the bytes of a beat that is not complete.
#[module]
pub struct BeatPacker {
    /// Bytes in.
    pub s: BytesIn,
    /// A beat, as [`BeatFields`] says.
    pub m_data: Wire<Out, { BEAT }>,
    /// The beat is there.
    pub m_valid: Wire<Out, bool>,
    /// The beat is the last of its frame.
    pub m_last: Wire<Out, bool>,
    /// With the last beat: the frame must not be used.
    pub m_error: Wire<Out, bool>,
    bytes: [Reg<{ BYTE }>; BEAT_BYTES],
    place: Reg<{ PLACE }, Reset>,
}

#[kernel(BeatPacker)]
fn update() {
    let is_end = s.last || place == LAST_PLACE;
    if s.valid {
        for (at, byte) in bytes.iter().enumerate() {
            if place == at as u64 {
                *byte = s.data;
            }
        }
        place = if is_end {
            constant(lit(0, PLACE))
        } else {
            place + 1
        };
    }
    let tail = reg(place);
    let mut parts = vec![tail];
    parts.extend(bytes.iter().rev().copied());
    m_data = cat_all(&parts);
    m_valid = reg_reset(s.valid && is_end, false);
    m_last = reg(s.last);
    m_error = reg(s.last && s.error);
}

/// Unpacks beats into bytes of frames.
///
/// # Contract
/// - **Latency:** the first byte of a beat is there in the clock after the beat is taken.
/// - **Throughput:** a byte a clock, also from a beat to the next one if that is there when the last byte is taken.
/// - **Bytes** up to the end of each beat leave in their order, the last one of a frame with `m_last`.
/// - **Paths:** `s_ready` depends on `m_ready`; `m` is registers.
/// - **Reset:** forgets the beat that is inside.
#[module]
pub struct BeatUnpacker {
    /// Beats in, as [`BeatFields`] says.
    pub s: FrameIn<{ BEAT }>,
    /// Bytes out.
    pub m: FrameOut<{ BYTE }>,
    bytes: Reg<{ BEAT_BYTES * BYTE }>,
    /// Bytes that follow the next one.
    left: Reg<{ PLACE }>,
    /// The beat is the last of its frame.
    is_last: Reg<bool>,
    /// The last byte of the beat is next.
    is_end: Reg<bool>,
    held: Reg<bool, Reset>,
}

#[kernel(BeatUnpacker)]
fn update() {
    let fields = BeatFields::new();
    let taken = held && m.ready;
    s.ready = !held || (taken && is_end);
    if s.valid && s.ready {
        let tail = s.data.field(fields.tail);
        bytes = s.data.field(fields.data);
        left = tail;
        is_end = tail == 0;
        is_last = s.last;
        held = true;
    } else if taken {
        bytes = bytes >> BYTE;
        left = left - 1;
        is_end = left == 1;
        held = !is_end;
    }
    m.data = bytes.slice(0, BYTE);
    m.last = is_last && is_end;
    m.valid = held;
}

/// [`BeatPacker`].
pub(crate) const PACKER: Entry =
    entry!(part "beat_packer", BeatPacker(): "bytes of frames to beats of 8 bytes");

/// [`BeatUnpacker`].
pub(crate) const UNPACKER: Entry =
    entry!(part "beat_unpacker", BeatUnpacker(): "beats of 8 bytes to bytes of frames");
