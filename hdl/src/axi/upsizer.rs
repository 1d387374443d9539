//! AXI4 from a narrow port to a wide one.
//!
//! ```text
//!  s ==AW=> widened ===> SkidBuffer ======> m
//!     |---> lane ------> queue --+
//!    ==W=> SkidBuffer =========> beat register ==> m
//!    <=B====================================== m
//!    ==AR=> widened ===> SkidBuffer ======> m
//!     |---> lane, beats > queue --+
//!    <=R= register <=== beat register <======== m
//! ```
//!
//! # Contract
//! - **Behaviour**: a burst of narrow beats becomes a burst of as few wide beats as it touches; its address is that of the first
//!   of them. Bytes of a wide beat outside of the burst have no strobe. Each narrow beat of a read has the response of the wide one
//!   that it is part of.
//! - **Bursts** are incrementing and have the narrow port's width; their first address may be anywhere in its beat. Others are not
//!   detected, which assertions do in simulations.
//! - **Order**: reads are answered in the order of their addresses, whatever their ids. Write responses pass as they come.
//! - **Throughput**: one narrow beat a clock, from burst to burst, each way.
//! - **Latency**: AW and AR 1 clock. A wide beat of a write is there two clocks after its last narrow one, a narrow beat of a read
//!   two clocks after its wide one or one clock after the narrow one before it. Responses to writes take no clock.
//! - **Backpressure**: data of a write waits for its address. 4 bursts each way can wait for their data.
//! - **Paths**: `s_rready` to `m_rready`, and the channel B; all other outputs are registers, or join two.
//! - **Reset** discards everything inside; both sides are reset with it.

use super::{
    AxiAddressInHandles, AxiAddressOutHandles, AxiExtras, AxiMaster, AxiShape, AxiTarget, INCR, LENGTH_BITS,
};
use crate::entry::{Checked as Values, Entry, ParameterError, Variant};
use crate::stream::{OutputQueue, SkidBuffer};
use spinneret_verilog::prelude::*;

/// Bits of AxPROT, AxCACHE and AxLOCK.
const KIND: usize = 3 + 4 + 1;
/// Bursts of a direction that can wait for their data.
const BURSTS: usize = 4;

/// Widths of an [`AxiUpsizer`] in bits.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = "axi_upsizer", check)]
pub struct UpsizerShape {
    /// Width of an address in bits.
    #[parameter(32, range = 12..=64, name = "address_width")]
    pub address: usize,
    /// Width of an id in bits.
    #[parameter(6, range = 1..=32, name = "id_width")]
    pub id: usize,
    /// Width of a narrow beat in bits.
    #[parameter(128, range = 8..=512, power_of_two, name = "data_width")]
    pub data: usize,
    /// Width of a wide beat in bits.
    #[parameter(512, range = 16..=1024, power_of_two, name = "wide_width")]
    pub wide: usize,
}

impl UpsizerShape {
    fn check(&self, values: Values<'_>) -> Result<(), ParameterError> {
        if self.wide <= self.data {
            let reason = format!("it must be more than data_width, {}", self.data);
            return Err(values.refuse("wide_width", reason));
        }
        Ok(())
    }

    /// From one port to another one, whose data is wider.
    pub fn between(narrow: AxiShape, wide: AxiShape) -> Self {
        Self {
            address: narrow.address,
            id: narrow.id,
            data: narrow.data,
            wide: wide.data,
        }
    }

    fn port(self, data: usize) -> AxiShape {
        AxiShape {
            address: self.address,
            data,
            id: self.id,
            extras: AxiExtras::NONE,
        }
    }

    /// The port that asks.
    pub fn narrow(self) -> AxiShape {
        self.port(self.data)
    }

    /// The port that is asked.
    pub fn wide(self) -> AxiShape {
        self.port(self.wide)
    }

    /// Narrow beats of a wide one.
    pub fn lanes(self) -> usize {
        self.wide / self.data
    }

    /// Bits of the number of a narrow beat in its wide one.
    pub fn lane(self) -> usize {
        self.wide().beat_bits() - self.narrow().beat_bits()
    }
}

/// Makes wide beats of narrow ones, and narrow ones of those that are read.
#[module(
    shape: UpsizerShape,
    narrow: AxiShape = shape.narrow(),
    wide: AxiShape = shape.wide(),
    lane: usize = shape.lane(),
    // A burst without the bits within a beat: {kind, length, line}.
    burst_width = shape.id + KIND + LENGTH_BITS + shape.address - wide.beat_bits(),
    error = ParameterError,
)]
pub struct AxiUpsizer {
    /// Bursts in.
    pub s: AxiTarget<{ narrow }>,
    /// Bursts out.
    pub m: AxiMaster<{ wide }>,
    writes: Checked<SkidBuffer<{ burst_width }>>,
    reads: Checked<SkidBuffer<{ burst_width }>>,
    /// Lanes of the first beats of writes.
    write_lanes: Checked<OutputQueue<{ lane }, { BURSTS }, 0>>,
    /// Reads: {beats minus 1, lane of the first}.
    read_bursts: Checked<OutputQueue<{ LENGTH_BITS + lane }, { BURSTS }, 0>>,
    /// Data of writes, a clock later than their addresses: {last, strobes, data}.
    beats: Checked<SkidBuffer<{ 1 + narrow.strobes() + narrow.data }>>,
    data: [Reg<{ narrow.data }>; shape.lanes()],
    strobes: [Reg<{ narrow.strobes() }>; shape.lanes()],
    data_last: Reg<bool>,
    data_valid: Reg<bool, Reset>,
    /// After the first beat of a write.
    writing: Reg<bool, Reset>,
    /// After the first narrow beat of a wide one.
    in_beat: Reg<bool, Reset>,
    write_lane: Reg<{ lane }>,
    wide_data: Reg<{ wide.data }>,
    wide_resp: Reg<2>,
    wide_id: Reg<{ wide.id }>,
    wide_valid: Reg<bool, Reset>,
    /// After the first beat of a read.
    reading: Reg<bool, Reset>,
    read_lane: Reg<{ lane }>,
    read_left: Reg<{ LENGTH_BITS }>,
    answer_data: Reg<{ narrow.data }>,
    answer_resp: Reg<2>,
    answer_id: Reg<{ narrow.id }>,
    answer_last: Reg<bool>,
    answer_valid: Reg<bool, Reset>,
}

/// The lane of a burst's first beat, and what [`send`] needs of the burst.
#[kernel]
fn widened(shape: UpsizerShape, burst: &AxiAddressInHandles) -> (Sig, Sig) {
    let (low, high) = (shape.narrow().beat_bits(), shape.wide().beat_bits());
    if burst.valid {
        assert!(
            *burst.burst == INCR && *burst.size == low,
            "a burst is incrementing and as wide as the port"
        );
    }
    let lane = burst.addr.slice(low, high - low);
    /// Number of the last narrow beat, from the first lane of the first wide beat on.
    let last = lane.resize(LENGTH_BITS + 1) + burst.len.resize(LENGTH_BITS + 1);
    let line = burst.addr.slice(high, shape.address - high);
    let length = (last >> (high - low)).slice(0, LENGTH_BITS);
    let kind = cat!(burst.prot, *burst.cache, *burst.lock, *burst.id);
    (lane, cat!(kind, length, line))
}

/// Sends a burst to the wide port.
#[kernel]
fn send(shape: UpsizerShape, burst: &AxiAddressOutHandles, word: Sig) {
    let high = shape.wide().beat_bits();
    let (line, rest) = word.split_at(shape.address - high);
    let (length, kind) = rest.split_at(LENGTH_BITS);
    burst.addr = cat!(line, lit(0, high));
    *burst.len = length;
    *burst.size = high;
    *burst.burst = INCR;
    *burst.id = kind.slice(0, shape.id);
    *burst.lock = kind[shape.id];
    *burst.cache = kind.slice(shape.id + 1, 4);
    burst.prot = kind.slice(shape.id + 5, 3);
}

#[kernel(AxiUpsizer)]
fn update() {
    /// Bursts: their beats are known from now on.
    let (write_first, write_burst) = widened(shape, &s.aw);
    writes.s.data = write_burst;
    writes.s.valid = s.aw.valid && write_lanes.s.ready;
    s.aw.ready = writes.s.ready && write_lanes.s.ready;
    write_lanes.s.data = write_first;
    write_lanes.s.valid = s.aw.valid && writes.s.ready;
    send(shape, &m.aw, writes.m.data);
    m.aw.valid = writes.m.valid;
    writes.m.ready = m.aw.ready;
    let (read_first, read_burst) = widened(shape, &s.ar);
    reads.s.data = read_burst;
    reads.s.valid = s.ar.valid && read_bursts.s.ready;
    s.ar.ready = reads.s.ready && read_bursts.s.ready;
    read_bursts.s.data = cat!(*s.ar.len, read_first);
    read_bursts.s.valid = s.ar.valid && reads.s.ready;
    send(shape, &m.ar, reads.m.data);
    m.ar.valid = reads.m.valid;
    reads.m.ready = m.ar.ready;

    /// Writes: the register fills up, lane by lane, until its last narrow beat is there.
    let write_at = if writing { write_lane } else { write_lanes.m.data };
    beats.s.data = cat!(*s.w.last, s.w.strb, s.w.data);
    beats.s.valid = s.w.valid;
    s.w.ready = beats.s.ready;
    let (beat_data, rest) = beats.m.data.split_at(narrow.data);
    let beat_strobes = rest.slice(0, narrow.strobes());
    let beat_last = rest[narrow.strobes()];
    let may_write = write_lanes.m.valid && (!data_valid || m.w.ready);
    let fills = beats.m.valid && may_write;
    let completes = write_at.all() || beat_last;
    beats.m.ready = may_write;
    write_lanes.m.ready = fills && beat_last;
    if m.w.ready {
        data_valid = false;
    }
    if fills {
        for (number, (data, strobes)) in data.iter().zip(&strobes).enumerate() {
            if write_at == number {
                *data = beat_data;
                *strobes = beat_strobes;
            } else if !in_beat {
                *strobes = 0;
            }
        }
        data_valid = completes;
        data_last = beat_last;
        in_beat = !completes;
        writing = !beat_last;
        write_lane = write_at + 1;
    }
    m.w.data = word_of_lanes(&data);
    m.w.strb = word_of_lanes(&strobes);
    *m.w.last = data_last;
    m.w.valid = data_valid;
    s.b = m.b;

    /// Reads: a wide beat stays until its last narrow one leaves.
    let (lane_first, left_first) = read_bursts.m.data.split_at(lane);
    let (read_at, left) = if reading {
        (read_lane, read_left)
    } else {
        (lane_first, left_first)
    };
    let passes = wide_valid && read_bursts.m.valid && (!answer_valid || s.r.ready);
    let over = read_at.all() || left == 0;
    let takes = !wide_valid || (passes && over);
    m.r.ready = takes;
    if takes {
        wide_valid = m.r.valid;
        wide_data = m.r.data;
        wide_resp = m.r.resp;
        wide_id = *m.r.id;
    }
    read_bursts.m.ready = passes && left == 0;
    if s.r.ready {
        answer_valid = false;
    }
    if passes {
        answer_valid = true;
        answer_data = wide_data.at(cat!(read_at, lit(0, narrow.data.ilog2() as usize)), narrow.data);
        answer_resp = wide_resp;
        answer_id = wide_id;
        answer_last = left == 0;
        reading = left != 0;
        read_lane = read_at + 1;
        read_left = left - 1;
    }
    s.r.data = answer_data;
    s.r.resp = answer_resp;
    *s.r.id = answer_id;
    *s.r.last = answer_last;
    s.r.valid = answer_valid;
}

/// The lanes of a beat, the first one lowest.
fn word_of_lanes(lanes: &[Sig]) -> Sig {
    let lanes: Vec<_> = lanes.iter().rev().copied().collect();
    cat_all(&lanes)
}

/// The block in the catalog.
pub(crate) const ENTRY: Entry =
    entry!(part UpsizerShape::BLOCK, AxiUpsizer(UpsizerShape)?: "AXI4 from a narrow port to a wide one");

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    ENTRY.variant("axi_upsizer_8", "data_width=64"),
    ENTRY.variant(
        "axi_upsizer_2",
        "data_width=32 wide_width=64 address_width=16 id_width=1",
    ),
];
