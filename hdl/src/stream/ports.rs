//! Port bundles of streams.
//!
//! Inside the design a stream carries one packed word a beat. All streams obey the ready/valid rules of AXI4-Stream (AMBA IHI
//! 0051, section 2.2): valid never waits for ready, and the payload is stable while valid is high and ready is low.
//!
//! AXI4-Stream itself is at the border of the big blocks, where its signals are packed and unpacked: `{tuser, tdest, tid, tkeep,
//! tdata}` is the data of a frame stream, with a separate tlast.

use spinneret_verilog::prelude::*;

/// A stream out of a block.
#[interface(StreamIn, width: usize)]
pub struct StreamOut {
    /// Payload.
    pub data: Wire<Out, { width }>,
    /// The payload is there.
    pub valid: Wire<Out, bool>,
    /// The payload is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// A stream of frames out of a block.
#[interface(FrameIn, width: usize)]
pub struct FrameOut {
    /// Payload of the beat.
    pub data: Wire<Out, { width }>,
    /// The beat is the last of its frame.
    pub last: Wire<Out, bool>,
    /// The beat is there.
    pub valid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// Widths of an AXI4-Stream, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisShape {
    /// Width of tdata; a whole number of bytes.
    pub data: usize,
    /// Width of tid.
    pub id: usize,
    /// Width of tdest.
    pub dest: usize,
    /// Width of tuser.
    pub user: usize,
}

impl AxisShape {
    /// Width of tkeep: one bit a byte.
    pub fn keep(self) -> usize {
        self.data / 8
    }

    /// Where the signals of a packed beat lie.
    pub fn fields(self) -> AxisFields {
        AxisFields::new(self)
    }
}

/// A packed beat.
#[record(shape: AxisShape)]
pub struct AxisFields {
    /// tdata.
    pub data: Field<{ shape.data }>,
    /// tkeep.
    pub keep: Field<{ shape.keep() }>,
    /// tid.
    pub id: Field<{ shape.id }>,
    /// tdest.
    pub dest: Field<{ shape.dest }>,
    /// tuser.
    pub user: Field<{ shape.user }>,
}

/// The side band of a frame without its error bit, bit 0 of tuser.
#[record(shape: AxisShape)]
pub struct SideFields {
    /// tid.
    pub id: Field<{ shape.id }>,
    /// tdest.
    pub dest: Field<{ shape.dest }>,
    /// tuser without bit 0; tuser has 2 bits at least.
    pub user: Field<{ shape.user - 1 }>,
}

/// The side band of a packet in the packet buffer, out of a block.
#[interface(PacketSideIn, place: usize, side: usize)]
pub struct PacketSideOut {
    /// Bits of the address of the packet's slot in which slots differ.
    pub place: Wire<Out, { place }>,
    /// Side band of its frame, as [`SideFields`] says.
    pub side: Wire<Out, { side }>,
    /// A packet is announced in this cycle.
    pub valid: Wire<Out, bool>,
}

/// An AXI4-Stream out of a block.
#[interface(AxisIn, shape: AxisShape)]
pub struct AxisOut {
    /// Payload, the first byte of the packet in the lowest bits.
    pub tdata: Wire<Out, { shape.data }>,
    /// Bytes of the beat that belong to the packet.
    pub tkeep: Wire<Out, { shape.keep() }>,
    /// The beat is there.
    pub tvalid: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub tready: Wire<In, bool>,
    /// The beat is the last of its packet.
    pub tlast: Wire<Out, bool>,
    /// Stream identifier.
    pub tid: Wire<Out, { shape.id }>,
    /// Routing information.
    pub tdest: Wire<Out, { shape.dest }>,
    /// Sideband, such as timestamp and error bit.
    pub tuser: Wire<Out, { shape.user }>,
}

/// Packs an AXI4-Stream into a frame stream; wires only.
#[module(no_clock, shape: AxisShape)]
pub struct AxisPack {
    /// The AXI4-Stream.
    pub s_axis: AxisIn<{ shape }>,
    /// The packed beats.
    pub m: FrameOut<{ shape.fields().width }>,
}

#[kernel(
    AxisPack,
    parameters(DATA = shape.data, ID = shape.id, DEST = shape.dest, USER = shape.user),
    numbers(WIDTH = DATA + DATA / 8 + ID + DEST + USER),
)]
fn update() {
    m.data = cat!(s_axis.tuser, s_axis.tdest, s_axis.tid, s_axis.tkeep, s_axis.tdata);
    m.last = s_axis.tlast;
    m.valid = s_axis.tvalid;
    s_axis.tready = m.ready;
}

/// Unpacks a frame stream into an AXI4-Stream; wires only.
#[module(no_clock, shape: AxisShape)]
pub struct AxisUnpack {
    /// The packed beats.
    pub s: FrameIn<{ shape.fields().width }>,
    /// The AXI4-Stream.
    pub m_axis: AxisOut<{ shape }>,
}

#[kernel(
    AxisUnpack,
    parameters(DATA = shape.data, ID = shape.id, DEST = shape.dest, USER = shape.user),
    numbers(DEST_AT = DATA + DATA / 8 + ID, USER_AT = DEST_AT + DEST, WIDTH = USER_AT + USER),
)]
fn update() {
    let fields = shape.fields();
    m_axis.tdata = s.data.field(fields.data);
    m_axis.tkeep = s.data.field(fields.keep);
    m_axis.tid = s.data.field(fields.id);
    m_axis.tdest = s.data.field(fields.dest);
    m_axis.tuser = s.data.field(fields.user);
    m_axis.tlast = s.last;
    m_axis.tvalid = s.valid;
    s.ready = m_axis.tready;
}
