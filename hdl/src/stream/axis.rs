//! AXI4-Stream at the border of the big blocks (AMBA IHI 0051).
//!
//! Inside, a beat travels packed: `{tuser, tdest, tid, tkeep, tdata}` as the data of a frame stream,
//! with a separate tlast.

use super::{FrameIn, FrameOut};
use spinneret_verilog::prelude::*;

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
#[hardware(shape: AxisShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AxisPack {
    /// The AXI4-Stream.
    pub s_axis: AxisIn<{ shape }>,
    /// The packed beats.
    pub m: FrameOut<{ shape.fields().width }>,
}

impl Logic for AxisPack {
    #[kernel(
        parameters(
            DATA = self._shape.data,
            ID = self._shape.id,
            DEST = self._shape.dest,
            USER = self._shape.user
        ),
        numbers(WIDTH = DATA + DATA / 8 + ID + DEST + USER)
    )]
    fn update(&mut self) {
        self.m.data.next = cat!(
            self.s_axis.tuser.val(),
            self.s_axis.tdest.val(),
            self.s_axis.tid.val(),
            self.s_axis.tkeep.val(),
            self.s_axis.tdata.val()
        );
        self.m.last.next = self.s_axis.tlast.val();
        self.m.valid.next = self.s_axis.tvalid.val();
        self.s_axis.tready.next = self.m.ready.val();
    }
}

/// Unpacks a frame stream into an AXI4-Stream; wires only.
#[hardware(shape: AxisShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AxisUnpack {
    /// The packed beats.
    pub s: FrameIn<{ shape.fields().width }>,
    /// The AXI4-Stream.
    pub m_axis: AxisOut<{ shape }>,
}

impl Logic for AxisUnpack {
    #[kernel(
        parameters(
            DATA = self._shape.data,
            ID = self._shape.id,
            DEST = self._shape.dest,
            USER = self._shape.user
        ),
        numbers(
            DEST_AT = DATA + DATA / 8 + ID,
            USER_AT = DEST_AT + DEST,
            WIDTH = USER_AT + USER
        )
    )]
    fn update(&mut self) {
        let fields = self._shape.fields();
        self.m_axis.tdata.next = self.s.data.val().field(fields.data);
        self.m_axis.tkeep.next = self.s.data.val().field(fields.keep);
        self.m_axis.tid.next = self.s.data.val().field(fields.id);
        self.m_axis.tdest.next = self.s.data.val().field(fields.dest);
        self.m_axis.tuser.next = self.s.data.val().field(fields.user);
        self.m_axis.tlast.next = self.s.last.val();
        self.m_axis.tvalid.next = self.s.valid.val();
        self.s.ready.next = self.m_axis.tready.val();
    }
}
