//! A gigabit port: its MAC, and the crossings between the clocks of its line and the system's.
//!
//! ```text
//!  rx_clk                                |         clk
//!  rx ==> MacReceiver => BeatPacker =====|=> AsyncFifo ==> m, with m_error
//!              +--events, pause time-----|=> AsyncFifo ==> received, and pause time --+
//!  tx_clk                                |                                            |
//!  tx <== MacTransmitter <= BeatUnpacker |= AsyncFifo <=== s                          |
//!              +-holds- PauseTimer <=====|= BusSync <---------------------------------+
//!              +--events-----------------|=> BusSync ==> sent, underrun
//! ```
//!
//! # Contract
//! - **Receive:** frames leave at `m` as [`MacReceiver`](super::MacReceiver) gives them, in beats as [`BeatFields`](super::BeatFields) says;
//!   `m_error` with the last beat: the frame must not be used. `m_ready` has to be high always, as the line does not wait.
//! - **Send:** frames of `s` as [`MacTransmitter`](super::MacTransmitter) sends them. `s` has to give a beat at least every 8 clocks of `tx_clk`
//!   from the first of a frame to its last, else `underrun`.
//! - **Pause:** a good pause frame holds the transmitter, as [`PauseTimer`](super::PauseTimer) says, within 12 clocks of `tx_clk` and 6 of `clk`.
//! - **Events:** `received` and `sent`, `underrun` are high for one clock for each. Bits of `received`, the lowest first: good, bad FCS, runt,
//!   giant, coding, no delimiter, pause, refused: the first seven are those of [`ReceiveEvents`](super::ReceiveEvents), the last is `link_refused`.
//! - **Clocks:** `clk` has at least half the frequency of `rx_clk`, and a quarter of that of `tx_clk`. `rx_clk` may stand; then nothing is received.
//! - **Reset:** `rst` resets all, and frames inside are lost. A side whose clock stands comes out of it when the clock runs.

use super::{
    BEAT, BeatPacker, BeatUnpacker, GmiiIn, GmiiOut, LinkIn, MacReceiver, MacTransmitter, PauseTimer, QUANTA,
    ReceiverShape,
};
use crate::cdc::{AsyncFifo, BusSync, LevelSync, LinkReset};
use crate::entry::{Entry, ParameterError};
use crate::stream::{FrameIn, FrameOut};
use spinneret_verilog::prelude::*;

/// Kinds of events of a receiver.
pub const RECEIVED: usize = 8;
/// Bits of the number of an event.
const EVENT: usize = RECEIVED.trailing_zeros() as usize;
/// The number of a pause frame.
const PAUSE: usize = 6;
/// Places of the queues between clocks.
const PLACES: usize = 16;

/// A gigabit port between its line and the system's clock.
#[module(shape: ReceiverShape, error = ParameterError)]
pub struct EthernetPort {
    /// System clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset of the system.
    pub rst: Wire<In, bool>,
    /// Clock of the bytes that are received.
    pub rx_clk: Signal<In, Clock>,
    /// Bytes that are received.
    pub rx: GmiiIn,
    /// State of the link, in `rx_clk`.
    pub link: LinkIn,
    /// Clock of the bytes that are sent.
    pub tx_clk: Signal<In, Clock>,
    /// Bytes that are sent.
    pub tx: GmiiOut,
    /// Frames that were received.
    pub m: FrameOut<{ BEAT }>,
    /// With the last beat of `m`: the frame must not be used.
    pub m_error: Wire<Out, bool>,
    /// Frames to send.
    pub s: FrameIn<{ BEAT }>,
    /// The link is up.
    pub is_up: Wire<Out, bool>,
    /// Ends of received frames.
    pub received: Wire<Out, { RECEIVED }>,
    /// A frame was sent.
    pub sent: Wire<Out, bool>,
    /// A frame broke off.
    pub underrun: Wire<Out, bool>,
    rx_reset: LinkReset,
    receiver: Checked<MacReceiver<{ shape }>>,
    packer: BeatPacker,
    beats_in: Checked<AsyncFifo<{ BEAT + 2 }, { PLACES }>>,
    events_in: Checked<AsyncFifo<{ QUANTA + EVENT }, { PLACES }>>,
    up_sync: LevelSync<1>,
    tx_reset: LinkReset,
    beats_out: Checked<AsyncFifo<{ BEAT + 1 }, { PLACES }>>,
    unpacker: BeatUnpacker,
    pause_sync: BusSync<{ QUANTA }>,
    timer: PauseTimer,
    transmitter: MacTransmitter,
    sent_sync: BusSync<1>,
}

#[kernel(
    EthernetPort {
        clk, rst, rx_clk, rx, link, tx_clk, tx, m, m_error, s, is_up, received, sent, underrun, rx_reset, receiver, packer,
        beats_in, events_in, up_sync, tx_reset, beats_out, unpacker, pause_sync, timer, transmitter, sent_sync, shape
    },
    suffix = self._shape.longest
)]
fn update() {
    for (reset, far_clk) in [(&rx_reset, rx_clk), (&tx_reset, tx_clk)] {
        reset.near_clk = clk;
        reset.near_rst = rst;
        reset.request = false;
        reset.far_clk = far_clk;
    }
    let receive = (rx_clk, rx_reset.far_rst);
    let send = (tx_clk, tx_reset.far_rst);

    /// From the line.
    (receiver.clk, receiver.rst) = receive;
    receiver.rxd = rx.d;
    receiver.rx_dv = rx.valid;
    receiver.rx_er = rx.error;
    (packer.clk, packer.rst) = receive;
    packer.s = receiver.m;
    (beats_in.s_clk, beats_in.s_rst) = receive;
    (beats_in.m_clk, beats_in.m_rst) = (clk, rx_reset.near_link_rst);
    beats_in.s.data = cat!(packer.m_error, packer.m_last, packer.m_data);
    beats_in.s.valid = packer.m_valid;
    m.data = beats_in.m.data.slice(0, BEAT);
    m.last = beats_in.m.data[BEAT];
    m_error = beats_in.m.data[BEAT + 1];
    m.handshake() = beats_in.m.handshake();

    /// One event a clock at most.
    let event = receiver.event;
    let all = word_of([
        event.good,
        event.bad_fcs,
        event.runt,
        event.giant,
        event.coding,
        event.no_delimiter,
        event.pause,
        link.refused,
    ]);
    let number = word_of((0..EVENT).map(|bit| {
        let mask: u64 = (0..RECEIVED).map(|at| ((at >> bit & 1) as u64) << at).sum();
        (all & mask).any()
    }));
    (events_in.s_clk, events_in.s_rst) = receive;
    (events_in.m_clk, events_in.m_rst) = (clk, rx_reset.near_link_rst);
    events_in.s.data = cat!(receiver.quanta, number);
    events_in.s.valid = all.any();
    events_in.m.ready = true;
    let happened = events_in.m.data.slice(0, EVENT);
    received = word_of((0..RECEIVED).map(|at| events_in.m.valid && happened == at as u64));
    up_sync.clk = clk;
    up_sync.d = link.up.word();
    is_up = up_sync.q[0];

    /// To the line.
    (beats_out.s_clk, beats_out.s_rst) = (clk, tx_reset.near_link_rst);
    (beats_out.m_clk, beats_out.m_rst) = send;
    beats_out.s.data = cat!(s.last, s.data);
    beats_out.s.handshake() = s.handshake();
    (unpacker.clk, unpacker.rst) = send;
    unpacker.s.data = beats_out.m.data.slice(0, BEAT);
    unpacker.s.last = beats_out.m.data[BEAT];
    unpacker.s.handshake() = beats_out.m.handshake();
    (transmitter.clk, transmitter.rst) = send;
    transmitter.s = unpacker.m;
    tx.d = transmitter.txd;
    tx.valid = transmitter.tx_en;
    tx.error = transmitter.tx_er;

    /// Pause frames are further apart than a word needs to cross.
    (pause_sync.s_clk, pause_sync.s_rst) = (clk, tx_reset.near_link_rst);
    (pause_sync.m_clk, pause_sync.m_rst) = send;
    pause_sync.s.data = events_in.m.data.slice(EVENT, QUANTA);
    pause_sync.s.valid = received[PAUSE];
    pause_sync.m.ready = true;
    (timer.clk, timer.rst) = send;
    timer.starts = pause_sync.m.valid;
    timer.quanta = pause_sync.m.data;
    transmitter.holds = timer.holds;

    /// And so are ends of frames.
    (sent_sync.s_clk, sent_sync.s_rst) = send;
    (sent_sync.m_clk, sent_sync.m_rst) = (clk, tx_reset.near_link_rst);
    sent_sync.s.data = transmitter.underrun.word();
    sent_sync.s.valid = transmitter.sent || transmitter.underrun;
    sent_sync.m.ready = true;
    underrun = sent_sync.m.valid && sent_sync.m.data[0];
    sent = sent_sync.m.valid && !sent_sync.m.data[0];
}

/// [`EthernetPort`].
pub(crate) const ENTRY: Entry = entry!(part "ethernet_port", EthernetPort(ReceiverShape)?:
    "a gigabit port between its line and the system's clock");
