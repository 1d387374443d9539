//! The egress path: from the cluster to the wire.
//!
//! ```text
//! nic_cmd_req -> CommandIntake -> queue -> FramePlanner -> FrameReader -> queue -> m_axi_pspin_no (ar)
//!                                                   FrameRoom ^  |  |
//!                                   commands, to be answered <---+  +---> frames that are read
//! nic_cmd_resp <- Responder <---------------------- |                          |
//!                     ^------------- frames that are there <--- LineReceiver <-+-- m_axi_pspin_no (r)
//! m_axis_nic_tx <- FrameFifo <- LineAligner <------------------------|
//! ```
//!
//! # Contract
//! - **Behaviour**: a command {id, source address, length} reads `length` bytes and sends them as one frame:
//!   full beats, the last one with its bytes in the lowest lanes. tid and tdest are 0, tuser is `tx_user`.
//!   nid, fid and user_ptr are ignored.
//! - **Answers**: one for every command, in the order of the commands, never two in a clock. A command that is
//!   read is answered after its last beat on the AXI port, so its memory may be used again; the frame may
//!   still wait for the wire.
//! - **Reads** are whole lines of memory, as long as a beat and aligned: INCR, id 0, at most 64 beats, never
//!   across 4 KiB. RREADY is always 1: room for a frame is found before its first read.
//! - **Errors**: a frame of which a line was not read with OKAY is not sent at all, its command is answered, and
//!   it counts as a read error. A length of 0 or more than `max_frame`, and an address that the port
//!   cannot have or beyond which the address space ends too soon, are refused: nothing is read or sent, the
//!   command is answered in its turn and counted. `egress_dma_last_error` keeps the code of the newest error,
//!   from the clock of its answer on: 4 SLVERR, 5 DECERR (of the first bad line), 12 length, 13 address; good
//!   commands do not change it. With `error_clear` an input sets it to 0; an error in the same clock wins.
//! - **Throughput**: one line of memory a clock, from frame to frame and whatever their alignment. So n beats
//!   in n lines take n clocks, and those in n + 1 lines one more. Frames of one line leave
//!   one a clock if lines come within `commands` - 3 clocks, longest frames at full rate if the buffer has
//!   places for three.
//! - **Latency**: command to ARVALID 3 clocks, to its answer 4 if it is refused; last line to the answer 3
//!   clocks, to the first beat of the frame 5 if it has as many beats as lines, 4 if it has one less.
//! - **Backpressure**: commands wait until the buffer of `buffer_beats` beats has room for the longest frame,
//!   until less than `commands` wait for their answer, and for the AXI port. A frame that has begun leaves
//!   without a pause, as far as the wire takes it.
//! - **Order**: frames leave in the order of their commands.
//! - **Registers**: all outputs are registers, except for the constants.
//! - **Reset** (`rstn` low) discards everything inside, also reads in flight: the other side of the AXI port has
//!   to be reset as well, or to have answered before.
//! - **Reset of the cluster**: with `cluster_reset`, `cluster_held` does the same, but frames that are complete inside
//!   still leave, none is cut, and counters continue. Commands are taken again when the last of these frames has left.
//! - **Bad input**: an unrequested beat on the read channel is ignored; RID and RLAST are not
//!   checked. The write channels are idle; a response there is taken and ignored.

mod aligner;
mod command;
mod entry;
mod line;
mod part_entries;
mod reader;
mod receiver;
pub mod responder;
mod room;
mod shape;
pub mod tx_inject;

pub use aligner::LineAligner;
pub use command::{CommandIn, CommandIntake, CommandOut, FramePlanner};
pub(crate) use entry::{ENTRY, SIMULATED};
pub use line::{LineIn, LineOut};
pub(crate) use part_entries::{ALIGNER_ENTRY, READER_ENTRY, ROOM_ENTRY};
pub use reader::FrameReader;
pub use receiver::LineReceiver;
pub use responder::Responder;
pub use room::FrameRoom;
use shape::StoredFields;
pub use shape::{AnswerFields, CommandFields, DoneFields, EgressShape, FrameFields, PlanFields, ReadFields};

use crate::axi::{AxiMaster, BUFFERABLE, INCR, UNPRIVILEGED};
use crate::entry::ParameterError;
use crate::stream::{AxisOut, FrameFifo, OutputQueue, SkidBuffer};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_verilog::prelude::*;

/// Commands that can wait for their plan.
const COMMANDS: usize = 4;
/// Reads that can wait for the port.
const BURSTS: usize = 4;

/// Event that is counted after those of the responder: a frame was sent.
const SENT: usize = responder::EVENTS;

/// Reads what commands of the cluster name, and sends it as frames.
#[hardware(
    shape: EgressShape,
    error = ParameterError,
    frame = shape.frame(),
    read: ReadFields = ReadFields::new(shape),
    stored: StoredFields = StoredFields::new(shape),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PspinEgressDatapath {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Port into the cluster's memory; nothing is written.
    pub m_axi_pspin_no: AxiMaster<{ shape.axi() }>,
    /// Frames to the wire.
    pub m_axis_nic_tx: AxisOut<{ shape.axis() }>,
    /// Commands; every one is a raw packet, so only id, address and length matter.
    pub nic_cmd_req: CommandIn<{ shape.command_id() }, { shape.source }, { shape.address }>,
    /// A command is answered.
    pub nic_cmd_resp_valid: Wire<Out, bool>,
    /// Its id.
    pub nic_cmd_resp_id: Wire<Out, { shape.command_id() }>,
    /// Code of the newest error; 0: there was none.
    pub egress_dma_last_error: Wire<Out, { responder::ERROR_BITS }>,
    /// Frames that the wire took, modulo 2^32; beyond the public design.
    pub egress_frames_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Commands whose read failed, modulo 2^32; beyond the public design.
    pub egress_read_error_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Commands that were refused, modulo 2^32; beyond the public design.
    pub egress_refused_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Forgets the newest error; only with `error_clear`.
    pub egress_dma_error_clear: Optional<Wire<In, bool>, { shape.error_clear }>,
    /// The cluster is held in reset; only with `cluster_reset`.
    pub cluster_held: Optional<Wire<In, bool>, { shape.cluster_reset }>,
    reset: Wire<Local, bool>,
    /// Reset of what lies before the buffer.
    path_reset: Wire<Local, bool>,
    /// The cluster was reset, and frames from before may be in the buffer.
    emptying: Optional<Reg<bool, Reset>, { shape.cluster_reset }>,
    /// Nothing was at the buffer's output in the clock before.
    quiet: Optional<Reg<bool, Reset>, { shape.cluster_reset }>,
    intake: CommandIntake<{ shape }>,
    commands: Checked<OutputQueue<{ CommandFields::new(shape).width }, { COMMANDS }>>,
    planner: FramePlanner<{ shape }>,
    plans: Checked<SkidBuffer<{ PlanFields::new(shape).width }>>,
    reader: FrameReader<{ shape }>,
    room: FrameRoom<{ shape.buffer_beats }, { shape.most_beats() }>,
    bursts: Checked<OutputQueue<{ read.width }, { BURSTS }>>,
    frames: Checked<OutputQueue<{ frame.width }, { shape.commands }>>,
    receiver: LineReceiver<{ shape.data }, { frame }>,
    aligner: LineAligner<{ shape.data }, { shape.beats() }>,
    buffer: Checked<FrameFifo<{ stored.width }, { shape.buffer_beats }>>,
    answers: Checked<OutputQueue<{ AnswerFields::new(shape).width }, { shape.commands }>>,
    dones: Checked<OutputQueue<{ DoneFields::new().width }, { shape.commands }>>,
    responder: Responder<{ shape }>,
    counters: EventCounters<{ responder::EVENTS + 1 }>,
    sent: Wire<Local, bool>,
}

impl Logic for PspinEgressDatapath {
    #[kernel]
    fn update(&mut self) {
        let (data, keep) = (self._shape.data, self._shape.axis().keep());
        let offset = self._shape.offset();
        let (read, stored) = (self._read, self._stored);
        self.reset.next = !self.rstn.val();
        clocked!(self.clk, self.reset => self.buffer, self.counters);
        if self._shape.cluster_reset {
            clocked!(self.clk, self.reset => self.emptying, self.quiet);
            self.path_reset.next = self.reset.val() || self.cluster_held.val() || self.emptying.q.val();
            /// A frame that is there comes to the output at once, so two clocks without one mean that there is none.
            self.quiet.d.next = self.emptying.q.val() && !self.buffer.m.valid.val();
            if self.cluster_held.val() {
                self.emptying.d.next = true;
            } else if self.quiet.q.val() && !self.buffer.m.valid.val() {
                self.emptying.d.next = false;
            }
        } else {
            self.path_reset.next = self.reset.val();
        }
        clocked!(self.clk, self.path_reset => self.commands, self.plans, self.reader, self.room, self.bursts,
            self.frames, self.receiver, self.aligner, self.answers, self.dones, self.responder);
        /// Constants: one id, whole lines, no writes, always ready.
        self.m_axi_pspin_no.aw.id.next = 0.into();
        self.m_axi_pspin_no.aw.addr.next = 0.into();
        self.m_axi_pspin_no.aw.len.next = 0.into();
        self.m_axi_pspin_no.aw.size.next = (offset as u64).into();
        self.m_axi_pspin_no.aw.burst.next = INCR.into();
        self.m_axi_pspin_no.aw.lock.next = false;
        self.m_axi_pspin_no.aw.cache.next = BUFFERABLE.into();
        self.m_axi_pspin_no.aw.prot.next = UNPRIVILEGED.into();
        self.m_axi_pspin_no.aw.valid.next = false;
        self.m_axi_pspin_no.w.data.next = Word::zero(data);
        self.m_axi_pspin_no.w.strb.next = Word::zero(keep);
        self.m_axi_pspin_no.w.last.next = false;
        self.m_axi_pspin_no.w.valid.next = false;
        self.m_axi_pspin_no.b.ready.next = true;
        self.m_axi_pspin_no.ar.id.next = 0.into();
        self.m_axi_pspin_no.ar.size.next = (offset as u64).into();
        self.m_axi_pspin_no.ar.burst.next = INCR.into();
        self.m_axi_pspin_no.ar.lock.next = false;
        self.m_axi_pspin_no.ar.cache.next = BUFFERABLE.into();
        self.m_axi_pspin_no.ar.prot.next = UNPRIVILEGED.into();
        self.m_axi_pspin_no.r.ready.next = true;
        /// Commands become plans.
        self.intake.id.next = self.nic_cmd_req.id.val();
        self.intake.source.next = self.nic_cmd_req.src_addr.val();
        self.intake.length.next = self.nic_cmd_req.length.val();
        self.commands.s.data.next = self.intake.command.val();
        connect!(self.nic_cmd_req => self.commands.s; valid, ready);
        self.planner.command.next = self.commands.m.data.val();
        self.plans.s.data.next = self.planner.plan.val();
        connect!(self.commands.m => self.plans.s; valid, ready);
        /// Plans become reads.
        connect!(self.plans.m => self.reader.plan);
        connect!(self.reader => self.room; need, take, roomy);
        connect!(self.reader.answer => self.answers.s);
        connect!(self.reader.frame => self.frames.s);
        connect!(self.reader.burst => self.bursts.s);
        self.m_axi_pspin_no.ar.addr.next = cat!(self.bursts.m.data.val().field(read.line), lit(0, offset));
        self.m_axi_pspin_no.ar.len.next = self.bursts.m.data.val().field(read.length);
        connect!(self.bursts.m => self.m_axi_pspin_no.ar; valid, ready);
        /// Lines become beats.
        self.receiver.data.next = self.m_axi_pspin_no.r.data.val();
        self.receiver.response.next = self.m_axi_pspin_no.r.resp.val();
        self.receiver.valid.next = self.m_axi_pspin_no.r.valid.val();
        connect!(self.frames.m => self.receiver.frame);
        connect!(self.receiver.line => self.aligner.line);
        self.buffer.s.data.next = pack!(stored {
            data: self.aligner.data.val(),
            keep_above: self.aligner.keep.val().slice(1, keep - 1),
        });
        connect!(self.aligner => self.buffer.s; last, valid);
        self.buffer.drop_frame.next = self.aligner.bad.val();
        if self._shape.cluster_reset {
            /// The frame that was coming in when the cluster was reset is forgotten.
            if self.path_reset.val() {
                self.buffer.s.valid.next = true;
                self.buffer.s.last.next = true;
                self.buffer.drop_frame.next = true;
            }
        }
        self.room.dropped.next =
            self.aligner.valid.val() && self.aligner.last.val() && self.aligner.bad.val();
        self.room.dropped_beats.next = self.aligner.count.val();
        /// Frames; no beat is without its first byte.
        self.m_axis_nic_tx.tdata.next = self.buffer.m.data.val().field(stored.data);
        self.m_axis_nic_tx.tkeep.next = cat!(self.buffer.m.data.val().field(stored.keep_above), true);
        self.m_axis_nic_tx.tlast.next = self.buffer.m.last.val();
        self.m_axis_nic_tx.tvalid.next = self.buffer.m.valid.val();
        self.m_axis_nic_tx.tid.next = 0.into();
        self.m_axis_nic_tx.tdest.next = 0.into();
        self.m_axis_nic_tx.tuser.next = self._shape.tx_user.into();
        self.buffer.m.ready.next = self.m_axis_nic_tx.tready.val();
        self.sent.next = self.buffer.m.valid.val() && self.m_axis_nic_tx.tready.val();
        self.room.sent.next = self.sent.val();
        /// Answers.
        connect!(self.answers.m => self.responder.answer);
        /// There is a place for what is known of every frame that waits for its answer.
        self.dones.s.data.next = self.receiver.done.val();
        self.dones.s.valid.next = self.receiver.done_valid.val();
        connect!(self.dones.m => self.responder.done);
        self.nic_cmd_resp_valid.next = self.responder.valid.val();
        self.nic_cmd_resp_id.next = self.responder.id.val();
        self.egress_dma_last_error.next = self.responder.last_error.val();
        if self._shape.error_clear {
            self.responder.clear.next = self.egress_dma_error_clear.val();
        } else {
            self.responder.clear.next = false;
        }
        self.counters.events.next = cat!(
            self.sent.val() && self.buffer.m.last.val(),
            self.responder.events.val()
        );
        self.egress_frames_o.next = self.counters.counts[SENT].val();
        self.egress_read_error_o.next = self.counters.counts[responder::READ_ERROR].val();
        self.egress_refused_o.next = self.counters.counts[responder::REFUSED].val();
    }
}
