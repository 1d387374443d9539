//! A stand-in for the PsPIN cluster, so that everything around it can be elaborated and simulated without
//! third-party source. It executes no handlers.
//!
//! ```text
//!  ni_slave, no_slave, host_slave => ports x 3 ------+--> StubMemory
//!                                                    |       |
//!  her -> queue -> HerSequencer -> HostFetch --------+       +--> HostCopy => host_master
//!                     |   |  |                                    HostFetch => host_master
//!        nic_cmd_req -+   |  +- stdout
//!           feedback -----+
//! ```
//!
//! # Contract
//! - **Memory**: lines of 64 bytes; handler and packet memory at 0x1c000000 (1.5 MiB) and program memory at 0x1d000000
//!   (32 KiB). All three slaves write and read; one line is written and one read in a clock, users in turn.
//!   DECERR outside; SLVERR for FIXED, WRAP and reserved bursts, and for beats wider than the port. Nothing of a
//!   burst that fails is written, its data is 0. Ids are returned, user signals are 0; each slave does one write burst and
//!   one read burst at a time. AWATOP, locks, protection, region, memory type and quality of service are not
//!   ignored.
//! - **HERs** are taken while there is room and a cluster has its fetch enable, and done one after another. Bits of the
//!   payload handler's address say what is done, in this order: bit 2, read the line that lies 4096 bytes after
//!   the start of the host memory into the line of the handler memory's address; bit 1, copy the packet to the host
//!   memory; bit 0, send the packet as a NIC command and wait for its response; bit 3, write the message id to
//!   stdout. Then the feedback. HERs name lines of the memory without a check: addresses outside repeat.
//! - **Host**: one burst at a time, id 0, INCR, full lines, strobes for the bytes of the packet, never across 4 KiB.
//!   AWUSER and ARUSER are the context: bits 3:2 of the message id. A response that is not OKAY
//!   writes 0xdead0000 plus the response to stdout, and work continues.
//! - **Commands** carry ids that count up from 0, nid, fid and user pointer 0. Responses with another id are ignored.
//! - **stdout** is first-word-fall-through: the oldest word is at `stdout_dout` while `stdout_data_valid` is 1, and
//!   `stdout_rd_en` takes it. The newest word is dropped when it is full.
//! - **Status**: `cl_busy_o` and `pspin_active_o` are 1 while a HER is inside, `cl_eoc_o` while none is and one was done
//!   since the reset; both follow within 2 clocks. `mpq_full_o` is all ones when no further HER can wait. `eos_i` has
//!   no effect.
//! - **Registers**: all outputs are registers, except for constants and the ready of HERs, which joins two registers.
//! - **Reset** (`rst_ni` low) is synchronous and discards everything but the contents of the memory.

mod bench;
mod host;
mod memory;
mod sequencer;
mod shape;
mod slave;

pub use bench::PspinWrapBench;
pub use host::{HostCopy, HostFetch};
pub use memory::StubMemory;
pub use sequencer::HerSequencer;
pub use shape::{StubShape, operation};

use crate::axi::{AxiMaster, AxiTarget, BUFFERABLE, INCR, LENGTH_BITS, PSPIN_WRAP, UNPRIVILEGED};
use crate::egress::CommandOut;
use crate::entry::{Entry, ParameterError, Variant};
use crate::hpu::cluster::{LineReader, LineWriter};
use crate::ingress::her_gen::{FeedbackOut, HerIn};
use crate::stream::{Fifo, FifoConfig};
use sequencer::HerFields;
use shape::{ADDRESS, COMMAND_ID, HOST_ADDRESS, MESSAGE_ID, OFFSET, USER};
use slave::{line_of, serve_read, serve_write};
use spinneret_regmap::message_id::{CONTEXT_BITS, ID_BITS};
use spinneret_verilog::prelude::*;

/// Names with a direction after them.
pub(crate) const SIDED: Names = Names {
    input: "_i",
    output: "_o",
    ..Names::OF_FIELDS
};
/// Slaves, which use the memory; the user after them is the one that works on HERs.
const SLAVES: usize = 3;

/// A stand-in for the PsPIN cluster, with the ports of the public design's wrapper.
#[module(shape: StubShape, error = ParameterError, stored: HerFields = HerFields::new())]
pub struct ClusterStub {
    /// Clock.
    pub clk_i: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rst_ni: Wire<In, bool>,
    /// Bit c: cluster c may work.
    pub cl_fetch_en_i: Wire<In, { shape.clusters }>,
    /// Bit c: cluster c has done its work.
    pub cl_eoc_o: Wire<Out, { shape.clusters }>,
    /// Bit c: cluster c works.
    pub cl_busy_o: Wire<Out, { shape.clusters }>,
    /// Something is being done.
    pub pspin_active_o: Wire<Out, bool>,
    /// End of simulation; without effect.
    pub eos_i: Wire<In, bool>,
    /// Bit q: message processing queue q is full.
    pub mpq_full_o: Wire<Out, { shape.queues }>,
    /// Packets from the ingress path.
    pub ni_slave: Called<AxiTarget<{ StubShape::slave() }>, { PSPIN_WRAP }>,
    /// Packets to the egress path.
    pub no_slave: Called<AxiTarget<{ StubShape::slave() }>, { PSPIN_WRAP }>,
    /// The host.
    pub host_slave: Called<AxiTarget<{ StubShape::slave() }>, { PSPIN_WRAP }>,
    /// Memory of the host.
    pub host_master: Called<AxiMaster<{ StubShape::master() }>, { PSPIN_WRAP }>,
    /// Packets to be done.
    pub her: Called<HerIn<{ ADDRESS }, { HOST_ADDRESS }, { MESSAGE_ID }>, { SIDED }>,
    /// Packets that are done.
    pub feedback: Called<FeedbackOut<{ ADDRESS }, { ADDRESS }, { MESSAGE_ID }>, { SIDED }>,
    /// Packets to be sent.
    pub nic_cmd_req: Called<CommandOut<{ COMMAND_ID }, { HOST_ADDRESS }, { ADDRESS }>, { SIDED }>,
    /// One of them is sent.
    pub nic_cmd_resp_valid_i: Wire<In, bool>,
    /// Its id.
    pub nic_cmd_resp_id_i: Wire<In, { COMMAND_ID }>,
    /// Takes the oldest word of stdout.
    pub stdout_rd_en: Wire<In, bool>,
    /// The oldest word of stdout.
    pub stdout_dout: Wire<Out, { ADDRESS }>,
    /// There is one.
    pub stdout_data_valid: Wire<Out, bool>,
    memory: StubMemory<{ shape }>,
    #[new(LineWriter::new()?)]
    writers: [LineWriter; SLAVES],
    readers: [Checked<LineReader<1>>; SLAVES],
    hers: Checked<Fifo<{ FifoConfig::distributed(stored.width, shape.hers).registered() }>>,
    sequencer: HerSequencer,
    fetch: HostFetch<{ shape }>,
    copy: HostCopy<{ shape }>,
    stdout: Checked<Fifo<{ FifoConfig::block(ADDRESS, shape.stdout_words) }>>,
    /// A HER was done since the reset.
    worked: Reg<bool, Reset>,
}

#[kernel(ClusterStub)]
fn update() {
    for (number, slave) in [ni_slave, no_slave, host_slave].into_iter().enumerate() {
        let (writer, reader) = (&writers[number], &readers[number]);
        writer.aw = slave.aw;
        writer.w = slave.w;
        slave.b = writer.b;
        reader.ar = slave.ar;
        slave.r = reader.r;
        serve_write(shape, writer.write, memory.write[number]);
        serve_read(shape, reader.read, memory.read[number], memory.data);
    }
    memory.write[SLAVES] = fetch.write;
    memory.read[SLAVES] = copy.read;
    copy.memory_data = memory.data;
    /// HERs come in while a cluster has its fetch enable.
    let enabled = reg_reset(cl_fetch_en_i.any(), false);
    her.ready = hers.s.ready && enabled;
    hers.s.valid = her.valid && enabled;
    hers.s.data = pack!(stored {
        address: her.addr,
        size: her.size,
        xfer_size: her.xfer_size,
        message: her.msgid,
        host: her.meta.host_mem_addr,
        handler: her.meta.handler_mem_addr,
        operations: her.meta.ph_addr.slice(0, operation::COUNT),
    });
    let first = stored.of(hers.m.data);
    sequencer.her_size = first.size;
    sequencer.her_message = first.message;
    sequencer.her_operations = first.operations;
    sequencer.her_valid = hers.m.valid;
    hers.m.ready = sequencer.her_done;
    /// From the host.
    let (_, host_line) = first.host.split_at(OFFSET);
    fetch.start = sequencer.fetch_start;
    fetch.host_line = host_line;
    fetch.line = line_of(shape, first.handler.slice(OFFSET, ADDRESS - OFFSET));
    sequencer.fetch_done = fetch.done;
    /// To the host.
    copy.start = sequencer.copy_start;
    copy.source = first.address.slice(0, OFFSET);
    copy.source_line = line_of(shape, first.address.slice(OFFSET, ADDRESS - OFFSET));
    copy.size = first.size;
    copy.host = first.host;
    sequencer.copy_done = copy.done;
    sequencer.failed = fetch.failed || copy.failed;
    sequencer.code = if fetch.failed { fetch.code } else { copy.code };
    let (aw, ar) = (host_master.aw, host_master.ar);
    for (address, line, length) in [
        (aw, copy.aw_line, copy.aw_len),
        (ar, fetch.ar.data, constant(lit(0, LENGTH_BITS))),
    ] {
        address.addr = cat!(line, lit(0, OFFSET));
        *address.len = length;
        *address.size = OFFSET;
        *address.burst = INCR;
        *address.lock = false;
        *address.cache = BUFFERABLE;
        address.prot = UNPRIVILEGED;
        *address.qos = 0;
        *address.region = 0;
        *address.id = 0;
        *address.user = first
            .message
            .slice(ID_BITS as usize, CONTEXT_BITS as usize)
            .resize(USER);
    }
    *aw.atop = 0;
    aw.valid = copy.aw_valid;
    copy.aw_ready = aw.ready;
    ar.valid = fetch.ar.valid;
    fetch.ar.ready = ar.ready;
    host_master.w = copy.w;
    fetch.r_data = host_master.r.data;
    fetch.r_resp = host_master.r.resp;
    fetch.r_valid = host_master.r.valid;
    host_master.r.ready = true;
    copy.b_resp = host_master.b.resp;
    copy.b_valid = host_master.b.valid;
    host_master.b.ready = true;
    /// Commands.
    nic_cmd_req.valid = sequencer.command_valid;
    nic_cmd_req.id = sequencer.command_id;
    nic_cmd_req.nid = 0;
    nic_cmd_req.fid = 0;
    nic_cmd_req.src_addr = first.address.resize(HOST_ADDRESS);
    nic_cmd_req.length = first.size;
    nic_cmd_req.user_ptr = 0;
    sequencer.command_ready = nic_cmd_req.ready;
    sequencer.response_valid = nic_cmd_resp_valid_i;
    sequencer.response_id = nic_cmd_resp_id_i;
    /// Words; one that finds no room is dropped.
    stdout.s.data = sequencer.word;
    stdout.s.valid = sequencer.word_valid;
    stdout_dout = stdout.m.data;
    stdout_data_valid = stdout.m.valid;
    stdout.m.ready = stdout_rd_en;
    /// Feedback.
    feedback.valid = sequencer.feedback_valid;
    feedback.her_addr = first.address;
    feedback.her_size = first.xfer_size;
    feedback.msgid = first.message;
    sequencer.feedback_ready = feedback.ready;
    /// Status.
    let occupied = hers.level.any();
    let busy = reg_reset(occupied, false);
    if sequencer.her_done {
        worked = true;
    }
    let ended = reg_reset(worked && !occupied, false);
    cl_busy_o = busy.repeat(shape.clusters);
    cl_eoc_o = ended.repeat(shape.clusters);
    pspin_active_o = busy;
    mpq_full_o = hers.almost_full.repeat(shape.queues);
}

/// The stand-in, with the name of the public design's cluster.
pub(crate) const ENTRY: Entry = entry!(part StubShape::BLOCK, ClusterStub(StubShape)?:
    "stand-in for the PsPIN cluster: memory, and fixed things that a packet is done with");

/// The stand-in with the port names that bus models expect.
pub(crate) const BENCH_ENTRY: Entry = entry!(part "pspin_wrap_bench", PspinWrapBench(StubShape)?:
    "pspin_wrap with the port names of AXI, for its testbench");

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    BENCH_ENTRY.variant(BENCH_ENTRY.name, ""),
    // So small that queues fill often, and addresses repeat.
    BENCH_ENTRY.variant(
        "pspin_wrap_bench_small",
        "memory_bytes=16384 her_queue=2 stdout_words=4",
    ),
];
