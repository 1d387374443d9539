//! The egress path: from the cluster to the wire.
//!
//! ```text
//! nic_cmd_req -> CommandIntake -> queue -> FramePlanner -> FrameReader -> queue -> m_axi_pspin_no (ar)
//!                                                   FrameRoom ^  |  |
//!                                   commands, to be answered <---+  +---> frames that are read
//! nic_cmd_resp <- Responder <---------------------- |                          |
//!                     ^------------- frames that are there <--- LineReceiver <-+-- m_axi_pspin_no (r)
//! m_axis_nic_tx <- FrameFifo <- LineAligner <------------------------|
//! m_axis_nic_rx <-----|  |<---- side bands <- packet                 (with `pass`)
//! ```
//!
//! # Contract
//! - **Behaviour**: a command {id, source address, length} reads `length` bytes and sends them as one frame:
//!   full beats, the last one with its bytes in the lowest lanes. tid and tdest are 0, tuser is `tx_user`.
//!   nid, fid and user_ptr are ignored, except that with `pass` bit 31 of fid chooses the way.
//! - **Pass**: a command with bit 31 of fid set sends its frame to `m_axis_nic_rx`, and the other bits of fid are the
//!   address of a slot of the packet buffer. tuser (with error bit 0), tdest and tid are those that `packet` announced last for
//!   this slot before the command is answered, in all beats; 0 at power-up. An address at which no slot can start is refused as
//!   a wrong address.
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
//! - **Backpressure**: frames of both ways share the buffer and their order, so a frame that its side does not take holds back
//!   all frames after it. Commands wait until the buffer of `buffer_beats` beats has room for the longest frame,
//!   until less than `commands` wait for their answer, and for the AXI port. A frame that has begun leaves
//!   without a pause, as far as the wire takes it.
//! - **Order**: frames leave in the order of their commands.
//! - **Registers**: all outputs are registers, except for the constants and, with `pass`, the valids of both streams, which are
//!   one gate after registers.
//! - **Reset** (`rstn` low) discards everything inside, also reads in flight: the other side of the AXI port has
//!   to be reset as well, or to have answered before.
//! - **Reset of the cluster**: with `cluster_reset`, `cluster_held` does the same, but frames that are complete inside
//!   still leave, none is cut, and counters continue. Commands are taken again when the last of these frames has left.
//!   `egress_dropped_reset_o` counts the commands that were taken and whose frames were not complete.
//! - **Bad input**: an unrequested beat on the read channel is ignored; RID and RLAST are not
//!   checked. The write channels are idle; a response there is taken and ignored.

mod commands;
mod lines;
mod reads;
pub mod rx_inject;
mod shape;
pub mod tx_inject;

pub use commands::{CommandIn, CommandOut, Responder};
pub(crate) use lines::ALIGNER_ENTRY;
pub use lines::{AlignerShape, LineAligner, LineIn, LineOut, LineReceiver};
pub use reads::{FrameReader, FrameRoom, RoomShape};
pub(crate) use reads::{READER_ENTRY, ROOM_ENTRY};
use shape::StoredFields;
pub use shape::{
    AnswerFields, CommandFields, DoneFields, EgressShape, FrameFields, PlanFields, ReadFields, ReadShape,
    WayFields,
};

use crate::axi::{AxiMaster, AxiMasterHandles, BUFFERABLE, INCR, UNPRIVILEGED};
use crate::entry::{Entry, ParameterError, Values, Variant};
use crate::stream::{AxisOut, FrameFifo, OutputQueue, PacketSideIn, SkidBuffer};
use crate::{COUNTER_WIDTH, EventCounters};
use spinneret_regmap::pspin::nic_command;
use spinneret_verilog::prelude::*;

/// The egress path.
pub(crate) const ENTRY: Entry = entry!(shipped EgressShape::BLOCK, PspinEgressDatapath(EgressShape)?:
    "from the cluster to the wire: reads what commands name and sends it as frames")
.derives(derived);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    ENTRY.variant(ENTRY.name, ""),
    // Everything small, so that every queue fills often, and what the reference does not have.
    ENTRY.variant(
        "pspin_egress_datapath_small",
        "data_width=128 address_width=20 host_address_width=24 max_frame=1000 buffer_beats=128 \
         commands=4 user_width=17 tx_user=0x10000 error_clear=1",
    ),
    ENTRY.variant("pspin_egress_datapath_board", "").of_boards(),
    // Narrow beats, with a buffer of as many bytes.
    ENTRY.variant("pspin_egress_datapath_w64", "data_width=64 buffer_beats=4096"),
    ENTRY.variant("pspin_egress_datapath_w128", "data_width=128 buffer_beats=2048"),
    ENTRY.variant("pspin_egress_datapath_w256", "data_width=256 buffer_beats=1024"),
    // For an FPGA of 24,000 LUTs: one cluster, frames of 1518 bytes.
    ENTRY.variant(
        "pspin_egress_datapath_lean",
        "data_width=64 id_width=1 dest_width=1 user_width=1 host_address_width=32 clusters=1 cores=8 core_commands=1 max_frame=1518 \
         buffer_beats=512 commands=8",
    ),
];

/// Verilog parameters that follow from the others.
fn derived(values: &Values) -> Vec<(&'static str, u64)> {
    let of = |shape: EgressShape| {
        let axi = shape.axi();
        let widths = [
            ("AXIS_IF_KEEP_WIDTH", shape.axis().keep()),
            ("AXI_DATA_WIDTH", axi.data),
            ("AXI_STRB_WIDTH", axi.strobes()),
            ("CMD_ID_WIDTH", shape.command_id()),
            // Widths inside of the public design, which no port shows.
            ("LEN_WIDTH", axi.address),
            ("TAG_WIDTH", 32),
        ];
        widths.map(|(name, width)| (name, width as u64)).to_vec()
    };
    EgressShape::new(values).map(of).unwrap_or_default()
}

/// Commands that can wait for their plan.
const COMMANDS: usize = 4;
/// Reads that can wait for the port.
const BURSTS: usize = 4;

/// Events that are counted after those of the responder: a frame was sent, a frame was passed, and a reset of the cluster
/// took a command.
const SENT: usize = commands::EVENTS;
const PASSED: usize = commands::EVENTS + 1;
const RESET: usize = commands::EVENTS + 2;
const EVENTS: usize = commands::EVENTS + 3;

/// Reads what commands of the cluster name, and sends it as frames.
#[module(
    shape: EgressShape,
    error = ParameterError,
    reads: ReadShape = shape.reads(),
    frame = reads.frame(),
    read: ReadFields = ReadFields::new(reads),
    stored: StoredFields = StoredFields::new(reads),
    way: WayFields = shape.way(),
    side: usize = shape.side().width,
    // Bits that a command has besides its plan, and a beat besides its bytes.
    way_width = shape.with_pass(way.width),
    route_width = shape.with_pass(1 + side),
    events = if shape.pass || shape.cluster_reset { EVENTS } else { SENT + 1 },
    room = RoomShape { places: shape.buffer_beats, most: reads.most_beats() },
    aligner = AlignerShape { data_width: shape.data, beats_width: reads.beats() },
)]
pub struct PspinEgressDatapath {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Port into the cluster's memory; nothing is written.
    pub m_axi_pspin_no: AxiMaster<{ shape.axi() }>,
    /// Frames to the wire.
    pub m_axis_nic_tx: AxisOut<{ shape.axis() }>,
    /// Frames to the host; only with `pass`.
    pub m_axis_nic_rx: Optional<AxisOut<{ shape.rx_axis() }>, { shape.pass }>,
    /// Side bands of packets; only with `pass`.
    pub packet: Optional<PacketSideIn<{ way.place.width }, { side }>, { shape.pass }>,
    /// Commands; every one is a raw packet, so only id, address, length and, with `pass`, fid matter.
    pub nic_cmd_req: CommandIn<{ shape.command_id() }, { shape.source }, { shape.address }>,
    /// A command is answered.
    pub nic_cmd_resp_valid: Wire<Out, bool>,
    /// Its id.
    pub nic_cmd_resp_id: Wire<Out, { shape.command_id() }>,
    /// Code of the newest error; 0: there was none.
    pub egress_dma_last_error: Wire<Out, { commands::ERROR_BITS }>,
    /// Frames that the wire took, modulo 2^32; beyond the public design.
    pub egress_frames_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Commands whose read failed, modulo 2^32; beyond the public design.
    pub egress_read_error_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Commands that were refused, modulo 2^32; beyond the public design.
    pub egress_refused_o: Wire<Out, { COUNTER_WIDTH }>,
    /// Frames that the host took, modulo 2^32; only with `pass`.
    pub egress_passed_o: Optional<Wire<Out, { COUNTER_WIDTH }>, { shape.pass }>,
    /// Commands that a reset of the cluster took, modulo 2^32; only with `cluster_reset`.
    pub egress_dropped_reset_o: Optional<Wire<Out, { COUNTER_WIDTH }>, { shape.cluster_reset }>,
    /// Forgets the newest error; only with `error_clear`.
    pub egress_dma_error_clear: Optional<Wire<In, bool>, { shape.error_clear }>,
    /// The cluster is held in reset; only with `cluster_reset`.
    pub cluster_held: Optional<Wire<In, bool>, { shape.cluster_reset }>,
    /// The cluster was reset, and frames from before may be in the buffer.
    emptying: Optional<Reg<bool, Reset>, { shape.cluster_reset }>,
    /// Nothing was at the buffer's output in the clock before.
    quiet: Optional<Reg<bool, Reset>, { shape.cluster_reset }>,
    /// Commands that were taken, did not fail, and whose frames are not complete.
    open: Optional<Reg<{ shape.open_bits() }, Reset>, { shape.cluster_reset }>,
    /// Commands: {way, command}.
    commands: Checked<OutputQueue<{ way_width + CommandFields::new(reads).width }, { COMMANDS }, 0>>,
    /// Plans: {way, plan}.
    plans: Checked<SkidBuffer<{ way_width + PlanFields::new(reads).width }>>,
    reader: FrameReader<{ reads }>,
    room: FrameRoom<{ room }>,
    bursts: Checked<OutputQueue<{ read.width }, { BURSTS }, 0>>,
    frames: Checked<OutputQueue<{ frame.width }, { shape.commands }, 0>>,
    /// Ways of the frames that are being read.
    ways: Optional<Checked<OutputQueue<{ way.width }, { shape.commands }, 0>>, { shape.pass }>,
    /// Side bands of the packets in the packet buffer, by the places of their slots.
    sides: Optional<Ram<{ RamStyle::Ultra }, { 1 << way.place.width }, { side }>, { shape.pass }>,
    receiver: LineReceiver<{ shape.data }, { frame }>,
    aligner: LineAligner<{ aligner }>,
    /// Beats: {to the host, side band, beat}.
    buffer: Checked<FrameFifo<{ route_width + stored.width }, { shape.buffer_beats }>>,
    answers: Checked<OutputQueue<{ AnswerFields::new(reads).width }, { shape.commands }, 0>>,
    dones: Checked<OutputQueue<{ DoneFields::new().width }, { shape.commands }, 0>>,
    responder: Responder<{ reads }>,
    counters: EventCounters<{ events }>,
}

/// A port that only reads: one id, whole lines, always ready.
#[kernel]
fn only_reads(shape: ReadShape, axi: AxiMasterHandles) {
    for address in [axi.aw, axi.ar] {
        *address.id = 0;
        *address.size = shape.offset();
        *address.burst = INCR;
        *address.lock = false;
        *address.cache = BUFFERABLE;
        address.prot = UNPRIVILEGED;
    }
    axi.aw.addr = 0;
    *axi.aw.len = 0;
    axi.aw.valid = false;
    axi.w.data = 0;
    axi.w.strb = 0;
    *axi.w.last = false;
    axi.w.valid = false;
    axi.b.ready = true;
    axi.r.ready = true;
}

#[kernel(
    PspinEgressDatapath {
        rstn, m_axi_pspin_no, m_axis_nic_tx, m_axis_nic_rx, packet, nic_cmd_req, nic_cmd_resp_valid, nic_cmd_resp_id,
        egress_dma_last_error, egress_frames_o, egress_read_error_o, egress_refused_o, egress_passed_o,
        egress_dropped_reset_o, egress_dma_error_clear, cluster_held, emptying, quiet, open, commands, plans, reader,
        room, bursts, frames, ways, sides, receiver, aligner, buffer, answers, dones, responder, counters, shape, reads,
        read, stored, way, side
    },
)]
fn update() {
    let axi = m_axi_pspin_no;
    /// Reset of all that lies before the buffer.
    let path_reset = if shape.cluster_reset {
        !rstn || *cluster_held || *emptying
    } else {
        !rstn
    };
    for rst in [
        commands.rst,
        plans.rst,
        reader.rst,
        room.rst,
        bursts.rst,
        frames.rst,
        receiver.rst,
        aligner.rst,
        answers.rst,
        dones.rst,
        responder.rst,
    ] {
        rst = path_reset;
    }
    if shape.cluster_reset {
        /// A frame that is there comes to the output at once, so two clocks without one mean that there is none.
        *quiet = *emptying && !buffer.m.valid;
        if *cluster_held {
            *emptying = true;
        } else if *quiet && !buffer.m.valid && !open.any() {
            *emptying = false;
        }
    }
    if shape.pass {
        ways.rst = path_reset;
    }
    only_reads(reads, axi);
    /// Commands become plans.
    let asked = commands::command(reads, nic_cmd_req.id, nic_cmd_req.src_addr, nic_cmd_req.length);
    if shape.pass {
        let (unit, places) = (shape.unit_bits(), way.place.width);
        let (slot, pass) = nic_cmd_req.fid.split_at(nic_command::SLOT_BITS);
        let (low, high) = slot.split_at(unit + places);
        commands.s.data = cat!(pass, low.slice(unit, places), asked);
        if pass.any() && (low.slice(0, unit).any() || high != shape.buffer_base >> (unit + places)) {
            commands.s.data[CommandFields::new(reads).wrong_address.at] = true;
        }
    } else {
        commands.s.data = asked;
    }
    commands.s.valid = nic_cmd_req.valid;
    nic_cmd_req.ready = commands.s.ready;
    let (command, command_way) = commands.m.data.split_at(CommandFields::new(reads).width);
    let plan = commands::plan(reads, command);
    plans.s.data = if shape.pass { cat!(command_way, plan) } else { plan };
    plans.s.valid = commands.m.valid;
    commands.m.ready = plans.s.ready;
    /// Plans become reads.
    let (planned, planned_way) = plans.m.data.split_at(PlanFields::new(reads).width);
    reader.plan.data = planned;
    reader.plan.handshake() = plans.m.handshake();
    room.need = reader.need;
    room.take = reader.take;
    reader.roomy = room.roomy;
    answers.s = reader.answer;
    frames.s = reader.frame;
    bursts.s = reader.burst;
    let burst = read.of(bursts.m.data);
    axi.ar.addr = cat!(burst.line, lit(0, reads.offset()));
    *axi.ar.len = burst.length;
    axi.ar.valid = bursts.m.valid;
    bursts.m.ready = axi.ar.ready;
    /// Lines become beats.
    receiver.data = axi.r.data;
    receiver.response = axi.r.resp;
    receiver.valid = axi.r.valid;
    receiver.frame = frames.m;
    aligner.line = receiver.line;
    let keep_above = aligner.keep.slice(1, shape.axis().keep() - 1);
    let filled = pack!(stored {
        data: aligner.data,
        keep_above
    });
    buffer.s.data = if shape.pass {
        /// Ways go with the frames that are read. There is a place for each, as for the frames.
        ways.s.data = planned_way;
        ways.s.valid = reader.frame.valid;
        ways.m.ready = receiver.frame.ready;
        sides.write(packet.valid, packet.place, packet.side);
        let line = receiver.line;
        let line_way = way.of(ways.m.data);
        sides.read_enable = line.valid;
        sides.read_addr = line_way.place;
        /// Where the line in the aligner goes, and where the one before it went, whose frame may have a beat left.
        let now = cat!(reg(line_way.pass), sides.read_data);
        let before = reg(now);
        let flush = reg_reset(reg_reset(line.valid && line.last && line.even, false), false);
        cat!(if flush { before } else { now }, filled)
    } else {
        filled
    };
    /// The frame that was coming in when the cluster was reset is forgotten.
    let forget = if shape.cluster_reset { path_reset } else { false };
    buffer.s.valid = forget || aligner.valid;
    buffer.s.last = forget || aligner.last;
    buffer.drop_frame = forget || aligner.bad;
    room.dropped = aligner.valid && aligner.last && aligner.bad;
    room.dropped_beats = aligner.count;
    /// Frames; no beat is without its first byte.
    let (stored_beat, route) = buffer.m.data.split_at(stored.width);
    let beat = stored.of(stored_beat);
    m_axis_nic_tx.tdata = beat.data;
    m_axis_nic_tx.tkeep = cat!(beat.keep_above, true);
    m_axis_nic_tx.tlast = buffer.m.last;
    m_axis_nic_tx.tid = 0;
    m_axis_nic_tx.tdest = 0;
    m_axis_nic_tx.tuser = shape.tx_user;
    let (to_wire, passed) = if shape.pass {
        let fields = shape.side().of(route.slice(0, side));
        let to_host = route[side];
        m_axis_nic_rx.tdata = beat.data;
        m_axis_nic_rx.tkeep = cat!(beat.keep_above, true);
        m_axis_nic_rx.tlast = buffer.m.last;
        m_axis_nic_rx.tid = fields.id;
        m_axis_nic_rx.tdest = fields.dest;
        m_axis_nic_rx.tuser = cat!(fields.user, false);
        m_axis_nic_rx.tvalid = buffer.m.valid && to_host;
        buffer.m.ready = if to_host {
            m_axis_nic_rx.tready
        } else {
            m_axis_nic_tx.tready
        };
        (
            buffer.m.valid && !to_host,
            m_axis_nic_rx.tvalid && m_axis_nic_rx.tready,
        )
    } else {
        buffer.m.ready = m_axis_nic_tx.tready;
        (buffer.m.valid, constant(lit(0, 1))[0])
    };
    m_axis_nic_tx.tvalid = to_wire;
    let sent = to_wire && m_axis_nic_tx.tready;
    room.sent = buffer.m.valid && buffer.m.ready;
    /// Answers. There is a place for what is known of every frame that waits for its answer.
    responder.answer = answers.m;
    dones.s.data = receiver.done;
    dones.s.valid = receiver.done_valid;
    responder.done = dones.m;
    nic_cmd_resp_valid = responder.valid;
    nic_cmd_resp_id = responder.id;
    egress_dma_last_error = responder.last_error;
    responder.clear = if shape.error_clear {
        *egress_dma_error_clear
    } else {
        false
    };
    /// An answer that a reset of the cluster takes is none.
    let events = if shape.cluster_reset {
        responder.events & (!path_reset).repeat(commands::EVENTS)
    } else {
        responder.events
    };
    let lost = if shape.cluster_reset {
        /// Commands and ends of frames are counted a clock later, so a reset takes those that are open two clocks after it.
        let taken = reg_reset(nic_cmd_req.valid && nic_cmd_req.ready, false);
        let complete = reg_reset(!forget && aligner.valid && aligner.last && !aligner.bad, false);
        let failed = reg_reset(events.any(), false);
        let was_reset = reg_reset(reg_reset(path_reset, false), false);
        let lost = was_reset && open.any();
        let bits = shape.open_bits();
        let ended = sum([complete, failed, lost].map(|bit| bit.word()), bits);
        *open = *open + taken.word().resize(bits) - ended;
        lost
    } else {
        constant(lit(0, 1))[0]
    };
    let sent_last = sent && buffer.m.last;
    counters.events = if shape.pass || shape.cluster_reset {
        cat!(lost, passed && buffer.m.last, sent_last, events)
    } else {
        cat!(sent_last, events)
    };
    if shape.pass {
        *egress_passed_o = counters.counts[PASSED];
    }
    if shape.cluster_reset {
        *egress_dropped_reset_o = counters.counts[RESET];
    }
    egress_frames_o = counters.counts[SENT];
    egress_read_error_o = counters.counts[commands::READ_ERROR];
    egress_refused_o = counters.counts[commands::REFUSED];
}
