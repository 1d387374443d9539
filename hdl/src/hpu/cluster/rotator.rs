//! Places bytes of lines in other lines, at any distance.
//!
//! ```text
//!  step, line ===> line ===> line before        +------+
//!                   |           |          +===>| FIFO |===> placed lines
//!                   +-----------+=> turn ==+    +------+
//! ```
//!
//! # Contract
//! - **Behaviour:** byte b of a step's line, counted on through the lines of its copy, goes to place b + `turn` of a line that is
//!   written. A step that writes gives a line with the bytes of its line from 0 on at the places from `turn` on, and
//!   with the highest bytes of the line before below. Its strobes are the bytes of the copy.
//! - **Empty lines** have no strobes. They come out if they are the last of their copy, or always if `keeps`.
//! - **Throughput:** one step a clock; no step ever waits. `room` is 1 while 12 further steps fit.
//! - **Latency:** a line is at the output two clocks after its step.
//! - **Order:** that of the steps. **Reset** empties it.

use super::steps::StepFields;
use super::{LINE, LINE_BYTES, LINE_DATA};
use crate::entry::{Entry, ParameterError};
use crate::limits::Limit;
use crate::stream::{Fifo, FifoConfig, StreamOut};
use spinneret_verilog::prelude::*;

/// Steps that can be under way while the user sees that there is no more room: one that is offered, those of a read, and two
/// clocks of the rotator itself.
pub(super) const MARGIN: usize = 12;
/// Lines that can wait.
const DEPTH: usize = 32;

/// [`LineRotator`].
pub(crate) const ENTRY: Entry = Entry::part(
    "line_rotator",
    "places bytes of lines in other lines, at any distance",
    |_| vec![TAG.parameter(6)],
    |values| {
        let tag = TAG.check("line_rotator", TAG.of(values))?;
        Ok(Box::new(LineRotator::new(tag, false)?))
    },
);

/// Bits of the number of a copy.
const TAG: Limit = Limit::number("tag", [1, 16], "bits of the number of a copy");

/// A line to be written.
#[record(tag: usize)]
pub struct PlacedFields {
    /// The bytes.
    pub data: Field<{ LINE_DATA }>,
    /// Those that are written.
    pub strobe: Field<{ LINE_BYTES }>,
    /// Number of the line.
    pub to: Field<{ LINE }>,
    /// It is the last one of its copy.
    pub last: Field<1>,
    /// Nothing is written.
    pub empty: Field<1>,
    /// A read failed.
    pub failed: Field<1>,
    /// Number of the copy.
    pub tag: Field<{ tag }>,
}

/// Places bytes of lines in other lines, at any distance.
#[module(
    tag: usize,
    keeps: bool,
    error = ParameterError,
    fields: StepFields = StepFields::new(tag),
    placed: PlacedFields = PlacedFields::new(tag),
)]
pub struct LineRotator {
    /// A step comes in.
    pub valid: Wire<In, bool>,
    /// It, as [`StepFields`] says.
    pub step: Wire<In, { fields.width }>,
    /// Its line, if it has one.
    pub data: Wire<In, { LINE_DATA }>,
    /// 12 further steps fit.
    pub room: Wire<Out, bool>,
    /// Placed lines, as [`PlacedFields`] says.
    pub m: StreamOut<{ placed.width }>,
    current: Reg<{ LINE_DATA }>,
    /// All but the lowest byte, which no line that is turned has.
    previous: Reg<{ LINE_DATA - 8 }>,
    lines: Checked<Fifo<{ FifoConfig::distributed(placed.width, DEPTH).with_margin(MARGIN) }>>,
}

/// Selects bytes from a window which lies higher the less `turn` is.
#[kernel]
fn select(window: Sig, turn: Sig, step: usize, bytes: usize) -> Sig {
    let at = |number: usize| window.slice(8 * step * (3 - number), 8 * bytes);
    let (first, second) = (turn[0], turn[1]);
    let high = if first { at(3) } else { at(2) };
    let low = if first { at(1) } else { at(0) };
    if second { high } else { low }
}

#[kernel(LineRotator, suffix = format!("{tag}{}", if keeps { "_keeps" } else { "" }))]
fn update() {
    if valid {
        current = data;
        previous = current.slice(8, LINE_DATA - 8);
    }
    let (now, now_valid) = (fields.of(reg(step)), reg_reset(valid, false));
    /// Bytes 1 to 127 of both lines; then those by which the rest of the turn is less than 16, than 4, and none.
    let window = cat!(current, previous);
    let by_16 = select(window, now.turn.slice(4, 2), 16, LINE_BYTES + 15);
    let by_4 = select(by_16, now.turn.slice(2, 2), 4, LINE_BYTES + 3);
    let turned = select(by_4, now.turn.slice(0, 2), 1, LINE_BYTES);
    let ends = now.last;
    let strobe = (0..LINE_BYTES)
        .map(|lane| (!now.first || now.first_byte <= lane) && (!ends || now.last_byte >= lane) && !now.empty);
    let push = now_valid && now.writes && (keeps || !now.empty || ends);
    lines.s.valid = push;
    lines.s.data = pack!(placed {
        data: turned,
        strobe: word_of(strobe),
        to: now.to,
        last: ends,
        empty: now.empty,
        failed: now.failed,
        tag: now.tag,
    });
    if push {
        assert!(lines.s.ready, "there is room for every step");
    }
    room = !lines.almost_full;
    m = lines.m;
}
