//! RGMII: four bits at each edge of a clock of 125 MHz, and the state of the link between frames.
//!
//! The registers at the pins, which are the vendor's, give and take both halves of a clock at once.
//!
//! Source: Reduced Gigabit Media Independent Interface, version 2.0, sections 3.3 and 3.4.

use super::{BYTE, GmiiIn, GmiiOut, LinkOut};
use crate::entry::Entry;
use spinneret_verilog::prelude::*;

/// Bits at an edge.
pub const NIBBLE: usize = BYTE / 2;
/// State of a link that is up, with 1 Gb/s, full duplex: {duplex, speed (2), up}.
const GIGABIT: u64 = 0b1101;
/// Clocks between frames in which a new state of the link has to be the same.
const STEADY: u64 = 4;
/// Bits of their number.
const CLOCKS: usize = 2;

/// Both halves of a clock, out of registers at the pins.
#[interface(HalvesIn)]
pub struct HalvesOut {
    /// Bits with the rising edge: the lower ones of a byte.
    pub low: Wire<Out, { NIBBLE }>,
    /// Bits with the falling edge after it.
    pub high: Wire<Out, { NIBBLE }>,
    /// Control with the rising edge: the byte is valid.
    pub valid: Wire<Out, bool>,
    /// Control with the falling edge: valid, inverted with an error.
    pub control: Wire<Out, bool>,
}

/// Receives bytes and the state of the link.
///
/// # Contract
/// - **Bytes** are at `m` in the clock after they came, while the link is up.
/// - **Link:** without valid byte and error, both halves are {full duplex, speed (2), up} (in-band status). A state that is the same in 4
///   such clocks one after the other, with bytes or errors between them or not, holds from the next clock on: up is 1 Gb/s with full duplex. Until
///   then the one before holds; at power-up it is down. So it never changes within a frame.
/// - **Other links,** of 10 or 100 Mb/s or half duplex, are refused: nothing comes from them, and `refused` is high for a clock, the second
///   after the start of each of their frames. So are frames on a link that is down.
/// - **Reset:** none.
#[module(no_clock)]
pub struct RgmiiReceiver {
    /// Clock of the line.
    pub clk: Signal<In, Clock>,
    /// Both halves of a clock.
    pub s: HalvesIn,
    /// Bytes.
    pub m: GmiiOut,
    /// State of the link.
    pub link: LinkOut,
    data: Reg<{ BYTE }>,
    #[new(Reg::starting_with(false))]
    valid: Reg<bool>,
    #[new(Reg::starting_with(false))]
    error: Reg<bool>,
    /// The clock before had a valid byte.
    #[new(Reg::starting_with(false))]
    was_valid: Reg<bool>,
    /// The last state.
    #[new(Reg::starting_with(Word::zero(NIBBLE)))]
    seen: Reg,
    /// Clocks with that state.
    #[new(Reg::starting_with(Word::zero(CLOCKS)))]
    clocks: Reg,
    #[new(Reg::starting_with(false).with(RegAttribute::DontTouch))]
    up: Reg<bool>,
    #[new(Reg::starting_with(false))]
    refused: Reg<bool>,
}

#[kernel(RgmiiReceiver)]
fn update() {
    data = cat!(s.high, s.low);
    valid = s.valid;
    error = s.valid != s.control;
    was_valid = valid;

    let (state, again) = data.split_at(NIBBLE);
    let is_same = state == again;
    if !valid && !error {
        if state != seen || !is_same {
            seen = state;
            clocks = is_same.word().resize(CLOCKS);
        } else if clocks == STEADY - 1 {
            up = state == GIGABIT;
        } else {
            clocks = clocks + 1;
        }
    }
    m.d = data;
    m.valid = valid && up;
    m.error = error;
    link.up = up;
    refused = valid && !was_valid && !up;
    link.refused = refused;
}

/// Sends bytes.
///
/// # Contract
/// - **Bytes** are at the registers of the pins in the clock after they came.
/// - **Reset:** none.
#[module(no_clock)]
pub struct RgmiiTransmitter {
    /// Clock of the line.
    pub clk: Signal<In, Clock>,
    /// Bytes.
    pub s: GmiiIn,
    /// Both halves of a clock.
    pub m: HalvesOut,
    data: Reg<{ BYTE }>,
    #[new(Reg::starting_with(false))]
    valid: Reg<bool>,
    #[new(Reg::starting_with(false))]
    control: Reg<bool>,
}

#[kernel(RgmiiTransmitter)]
fn update() {
    data = s.d;
    valid = s.valid;
    control = s.valid != s.error;
    (m.low, m.high) = data.split_at(NIBBLE);
    m.valid = valid;
    m.control = control;
}

/// [`RgmiiReceiver`].
pub(crate) const RECEIVER: Entry = entry!(part "rgmii_receiver", RgmiiReceiver():
    "receives bytes and the state of the link by RGMII");

/// [`RgmiiTransmitter`].
pub(crate) const TRANSMITTER: Entry =
    entry!(part "rgmii_transmitter", RgmiiTransmitter(): "sends bytes by RGMII");
