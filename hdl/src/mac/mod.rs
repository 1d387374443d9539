//! Ethernet MAC of one gigabit port, at the byte-wide GMII of IEEE 802.3, clause 35.
//!
//! ```text
//!  rxd, rx_dv, rx_er ==> MacReceiver    ==> bytes of frames, without preamble and FCS
//!                             +--pause--> PauseTimer --+
//!  txd, tx_en, tx_er <== MacTransmitter <== frames <--holds
//! ```
//!
//! [`EthernetPort`] joins them, with the crossings to the system's clock; [`EthernetBump`] is two of them, which pass on frames to each
//! other. [`ControlEndpoint`] lets a host control the board through a port. [`RgmiiReceiver`] and [`RgmiiTransmitter`] stand between GMII and the pins of RGMII.
//!
//! Both directions have a clock of 125 MHz of their own and a byte in each. Frames are without preamble, start of frame delimiter and
//! frame check sequence (FCS).

mod beats;
mod bump;
mod control;
mod crc;
mod pause;
mod port;
mod receive;
mod rgmii;
mod transmit;

pub use beats::{BEAT, BEAT_BYTES, BeatFields, BeatPacker, BeatUnpacker};
pub(crate) use beats::{PACKER, UNPACKER};
pub(crate) use bump::ENTRY as BUMP;
pub use bump::{BumpShape, EthernetBump, SELECT};
pub use control::{
    ControlEndpoint, ControlReader, ControlSender, ControlShape, EtherTypeDemux, HeardIn, HeardOut,
    HostReadIn, HostReadOut, MessageIn, MessageKeeper, MessageOut, ReplyIn, ReplyOut, SessionIn, SessionOut,
    WordsIn, WordsOut,
};
pub(crate) use control::{DEMUX, ENTRY as CONTROL, SIMULATED as CONTROL_SIMULATED};

pub(crate) use pause::ENTRY as PAUSE;
pub use pause::PauseTimer;
pub(crate) use port::ENTRY as PORT;
pub use port::{EthernetPort, RECEIVED};
pub(crate) use receive::ENTRY as RECEIVER;
pub use receive::{MacReceiver, ReceiverShape};
pub use rgmii::{HalvesIn, HalvesOut, NIBBLE, RgmiiReceiver, RgmiiTransmitter};
pub(crate) use rgmii::{RECEIVER as RGMII_RECEIVER, TRANSMITTER as RGMII_TRANSMITTER};
pub(crate) use transmit::ENTRY as TRANSMITTER;
pub use transmit::MacTransmitter;

use crate::entry::Variant;
use spinneret_verilog::prelude::*;

/// Bits of a byte.
const BYTE: usize = 8;
/// A byte of the preamble, and the start of frame delimiter after it (802.3, 3.2.1 and 3.2.2).
const PREAMBLE: u64 = 0x55;
const DELIMITER: u64 = 0xd5;
/// Bytes of the preamble, without the delimiter.
const PREAMBLE_BYTES: u64 = 7;
/// Bytes of the FCS.
const FCS_BYTES: usize = 4;
/// Bytes of the shortest frame with its FCS (802.3, 4A.4.2).
const SHORTEST: usize = 64;
/// Bytes of the longest frame with its FCS and a VLAN tag (802.3, 3.2.7), unless a receiver is built for other ones.
pub const LONGEST: usize = 1522;
/// Clocks between two frames: 96 bit times.
const GAP: u64 = 12;
/// Bits of the time of a pause, in [`QUANTUM`]s.
const QUANTA: usize = 16;
/// Clocks of a quantum: 512 bit times (802.3, 31B.2).
const QUANTUM: usize = 64;

/// Bytes of a line (GMII).
#[interface(GmiiIn)]
pub struct GmiiOut {
    /// The byte.
    pub d: Wire<Out, { BYTE }>,
    /// It is valid.
    pub valid: Wire<Out, bool>,
    /// It is wrong.
    pub error: Wire<Out, bool>,
}

/// State of a link.
#[interface(LinkIn)]
pub struct LinkOut {
    /// It is up, and carries bytes at 1 Gb/s in both directions at once. A register.
    pub up: Wire<Out, bool>,
    /// A frame came and was refused, for one clock. A register.
    pub refused: Wire<Out, bool>,
}

/// Bytes of received frames. They cannot wait.
#[interface(BytesIn)]
pub struct BytesOut {
    /// The byte.
    pub data: Wire<Out, { BYTE }>,
    /// The byte is there.
    pub valid: Wire<Out, bool>,
    /// It is the last one of its frame.
    pub last: Wire<Out, bool>,
    /// With the last byte: the frame must not be used.
    pub error: Wire<Out, bool>,
}

/// Ends of received frames, each for one clock.
#[interface(ReceiveEventsIn)]
pub struct ReceiveEvents {
    /// A good frame.
    pub good: Wire<Out, bool>,
    /// Its FCS is wrong.
    pub bad_fcs: Wire<Out, bool>,
    /// It is shorter than 64 bytes.
    pub runt: Wire<Out, bool>,
    /// It is longer than the longest one.
    pub giant: Wire<Out, bool>,
    /// The PHY reported an error in it.
    pub coding: Wire<Out, bool>,
    /// Something without a start of frame delimiter after a preamble.
    pub no_delimiter: Wire<Out, bool>,
    /// A good pause frame.
    pub pause: Wire<Out, bool>,
}

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    RECEIVER.variant(RECEIVER.name, ""),
    TRANSMITTER.variant(TRANSMITTER.name, ""),
    PAUSE.variant(PAUSE.name, ""),
    PACKER.variant(PACKER.name, ""),
    UNPACKER.variant(UNPACKER.name, ""),
    BUMP.variant(BUMP.name, ""),
    RGMII_RECEIVER.variant(RGMII_RECEIVER.name, ""),
    RGMII_TRANSMITTER.variant(RGMII_TRANSMITTER.name, ""),
];
