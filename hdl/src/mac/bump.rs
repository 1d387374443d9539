//! A bump in the wire: two gigabit ports, each of which sends what the other one receives.
//!
//! ```text
//!  port 0 ==m, m_error==> FrameFifo ==s==> port 1          counters of each port ==> value
//!         <==s== FrameFifo <==m, m_error==
//! ```
//!
//! Port 0 goes to a host, port 1 to a network. Between the ports frames are beats of 64 bits in the system's clock.
//!
//! # Contract
//! - **Frames:** each good frame that port p receives leaves the other port as it came, in order, or is dropped whole and counted:
//!   `no_room` when the queue cannot hold it, `no_link` when the other port's link is down as the frame ends. Frames with an error, and
//!   pause frames, which are for the port alone, are dropped.
//! - **Counters:** `select` = 16 p + n reads counter n of port p, in `value` 2 clocks later. Each has 32 bits and wraps.
//!   `0` good, `1` bad FCS, `2` runt, `3` giant, `4` coding, `5` no delimiter, `6` pause, `7` refused: one for each end of a received frame.
//!   `8` no_room, `9` no_link: good frames of this port that were dropped. `10` sent, `11` underrun: frames that this port sent. Others are 0.
//!   So good(p) = no_room(p) + no_link(p) + sent(1 - p) once all is quiet. Underruns do not happen with the clocks below.
//! - **Throughput:** full rate in both directions from 64 to 1522 bytes, without a loss while `tx_clk` is not slower than the
//!   other port's `rx_clk`, and for 128 beats of the difference if it is: 20 MB of frames at 50 ppm.
//! - **Latency:** a frame leaves when it has come as a whole. From the last byte of its FCS to the first of the preamble: at most 12 clocks of
//!   lines and 12 of the system, if nothing is ahead of it.
//! - **Clocks:** as [`EthernetPort`]. A port whose `rx_clk` stands sends all the same.
//! - **Reset:** drops what is inside, and clears the counters.

use super::{BEAT, EthernetPort, GmiiIn, GmiiOut, LinkIn, RECEIVED, ReceiverShape};
use crate::entry::{Entry, ParameterError};
use crate::stream::FrameFifo;
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Counters of a port.
const COUNTERS: usize = RECEIVED + 4;
/// Bits of the number of a counter.
const NUMBER: usize = 4;
/// Bits of port and number of a counter.
pub const SELECT: usize = NUMBER + 1;

/// Beats of the queue of a direction: 4 KiB.
const QUEUE: usize = 512;

/// Parameters of the bump.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = ENTRY.name)]
pub struct BumpShape {
    /// Bytes of the longest frame with its FCS.
    #[parameter(super::LONGEST, range = 64..=9622)]
    pub longest: usize,
    /// Beats of 8 bytes that the queue of each direction holds.
    #[parameter(QUEUE, range = 8..=65536, power_of_two)]
    pub beats: usize,
}

impl BumpShape {
    /// Frames as IEEE 802.3 has them, and queues for two of the longest.
    pub const STANDARD: Self = Self {
        longest: super::LONGEST,
        beats: QUEUE,
    };

    /// The receiver of a port.
    fn receiver(self) -> ReceiverShape {
        ReceiverShape {
            longest: self.longest,
        }
    }
}

/// Two gigabit ports that pass on frames to each other.
#[module(shape: BumpShape, error = ParameterError, _ = shape.checked()?)]
pub struct EthernetBump {
    /// System clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset of the system.
    pub rst: Wire<In, bool>,
    /// Clock of the bytes that are sent.
    pub tx_clk: Signal<In, Clock>,
    /// Clock of the bytes that port 0 receives.
    pub rx0_clk: Signal<In, Clock>,
    /// Bytes that port 0 receives.
    pub rx0: GmiiIn,
    /// State of the link of port 0.
    pub link0: LinkIn,
    /// Bytes that port 0 sends.
    pub tx0: GmiiOut,
    /// Clock of the bytes that port 1 receives.
    pub rx1_clk: Signal<In, Clock>,
    /// Bytes that port 1 receives.
    pub rx1: GmiiIn,
    /// State of the link of port 1.
    pub link1: LinkIn,
    /// Bytes that port 1 sends.
    pub tx1: GmiiOut,
    /// Bit p: the link of port p is up, in the system's clock.
    pub up: Wire<Out, 2>,
    /// Bit p: port p has received a good frame, for one clock.
    pub good: Wire<Out, 2>,
    /// Port and number of a counter.
    pub select: Wire<In, { SELECT }>,
    /// That counter.
    pub value: Wire<Out, { COUNTER_WIDTH }>,
    #[new(EthernetPort::new(shape.receiver())?)]
    ports: [EthernetPort; 2],
    #[new(FrameFifo::new(BEAT, shape.beats)?)]
    queues: [FrameFifo; 2],
    #[new(EventCounters::new(COUNTERS))]
    counters: [EventCounters; 2],
}

#[kernel(
    EthernetBump {
        clk, rst, tx_clk, rx0_clk, rx0, link0, tx0, rx1_clk, rx1, link1, tx1, up, good, select, value, ports, queues,
        counters, shape
    },
    suffix = self._shape.beats
)]
fn update() {
    for port in &ports {
        port.clk = clk;
        port.rst = rst;
        port.tx_clk = tx_clk;
    }
    ports[0].rx_clk = rx0_clk;
    ports[0].rx = rx0;
    ports[0].link = link0;
    tx0 = ports[0].tx;
    ports[1].rx_clk = rx1_clk;
    ports[1].rx = rx1;
    ports[1].link = link1;
    tx1 = ports[1].tx;

    let mut values = Vec::new();
    for from in 0..2 {
        let (source, target, queue) = (&ports[from], &ports[1 - from], &queues[from]);
        queue.s = source.m;
        queue.drop_frame = source.m_error || !target.is_up;
        target.s = queue.m;
        /// The frame that has just ended is not good, so the receiver has counted it.
        let was_bad = reg(source.m_error);
        let lost = queue.dropped && !was_bad;
        counters[from].events = cat!(
            source.underrun,
            source.sent,
            lost && !queue.dropped_overflow,
            lost && queue.dropped_overflow,
            source.received
        );
        values.extend(counters[from].counts.iter().copied());
        values.extend((COUNTERS..1 << NUMBER).map(|_| constant(lit(0, COUNTER_WIDTH))));
    }
    up = word_of([ports[0].is_up, ports[1].is_up]);
    good = word_of([ports[0].received[0], ports[1].received[0]]);

    let selected = reg(select);
    values.reverse();
    value = reg(cat_all(&values).at(
        cat!(selected, lit(0, COUNTER_WIDTH.trailing_zeros() as usize)),
        COUNTER_WIDTH,
    ));
}

/// [`EthernetBump`].
pub(crate) const ENTRY: Entry = entry!(part "ethernet_bump", EthernetBump(BumpShape)?:
    "two gigabit ports that pass on frames to each other");
