//! A stand-in for the PsPIN cluster, so that everything around it can be elaborated and simulated without
//! third-party source. It executes no handlers.
//!
//! ```text
//!  ni_slave, no_slave, host_slave => StubSlave x 3 --+--> StubMemory
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
mod burst;
mod copy;
mod entry;
mod fetch;
mod memory;
mod read_port;
mod sequencer;
mod shape;
mod slave;
mod write_port;

pub use bench::PspinWrapBench;
pub use burst::StubBurst;
pub use copy::HostCopy;
pub(crate) use entry::{BENCH_ENTRY, ENTRY, SIMULATED};
pub use fetch::HostFetch;
pub use memory::{RoundRobin, StubMemory};
pub use read_port::StubReadPort;
pub use sequencer::HerSequencer;
pub use shape::{StubShape, operation};
pub use slave::StubSlave;
pub use write_port::StubWritePort;

use crate::axi::{AxiMaster, AxiTarget, BUFFERABLE, INCR, PSPIN_WRAP, UNPRIVILEGED};
use crate::egress::CommandOut;
use crate::entry::ParameterError;
use crate::ingress::her_gen::{FeedbackOut, HerIn};
use crate::stream::{Fifo, FifoConfig};
use fetch::HOST_LINE;
use sequencer::HerFields;
use shape::{ADDRESS, COMMAND_ID, HOST_ADDRESS, MESSAGE_ID, OFFSET, USER};
use spinneret_regmap::message_id::{CONTEXT_BITS, ID_BITS};
use spinneret_verilog::prelude::*;

/// Names with a direction after them.
const SIDED: Names = Names {
    input: "_i",
    output: "_o",
    ..Names::OF_FIELDS
};
/// The numbers of those who use the memory.
const NIC_IN: usize = 0;
const NIC_OUT: usize = 1;
const HOST: usize = 2;
const HERS: usize = 3;

/// A stand-in for the PsPIN cluster, with the ports of the public design's wrapper.
#[hardware(
    shape: StubShape,
    error = ParameterError,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    reset: Wire<Local, bool>,
    memory: StubMemory<{ shape }>,
    slaves: [Checked<StubSlave<{ shape }>>; HERS],
    hers: Checked<Fifo<{ FifoConfig::distributed(HerFields::WIDTH, shape.hers).registered() }>>,
    sequencer: HerSequencer,
    /// The context of the HER.
    asker: Wire<Local, { CONTEXT_BITS as usize }>,
    fetch: HostFetch<{ shape }>,
    copy: HostCopy<{ shape }>,
    stdout: Checked<Fifo<{ FifoConfig::block(ADDRESS, shape.stdout_words) }>>,
    /// A cluster has its fetch enable.
    enabled: Reg<bool, Reset>,
    busy: Reg<bool, Reset>,
    /// A HER was done since the reset.
    worked: Reg<bool, Reset>,
    ended: Reg<bool, Reset>,
    place: StubBurst<{ shape }>,
    target: StubBurst<{ shape }>,
}

impl Logic for ClusterStub {
    #[kernel]
    fn update(&mut self) {
        let (clusters, queues) = (self._shape.clusters, self._shape.queues);
        self.reset.next = !self.rst_ni.val();
        clocked!(self.clk_i, self.reset => self.memory, self.slaves, self.hers, self.sequencer, self.fetch, self.copy,
            self.stdout, self.enabled, self.busy, self.worked, self.ended);
        /// The slaves and the memory.
        connect!(self.ni_slave => self.slaves[NIC_IN].port);
        connect!(self.no_slave => self.slaves[NIC_OUT].port);
        connect!(self.host_slave => self.slaves[HOST].port);
        for user in 0..HERS {
            connect!(self.slaves[user].write => self.memory.write[user]);
            connect!(self.slaves[user].read => self.memory.read[user]);
            self.slaves[user].memory_data.next = self.memory.data.val();
        }
        connect!(self.fetch.write => self.memory.write[HERS]);
        connect!(self.copy.read => self.memory.read[HERS]);
        self.copy.memory_data.next = self.memory.data.val();
        /// HERs come in.
        self.enabled.d.next = self.cl_fetch_en_i.val().any();
        self.her.ready.next = self.hers.s.ready.val() && self.enabled.q.val();
        self.hers.s.valid.next = self.her.valid.val() && self.enabled.q.val();
        self.hers.s.data.next = cat!(
            self.her.meta.ph_addr.val().slice(0, operation::COUNT),
            self.her.meta.handler_mem_addr.val(),
            self.her.meta.host_mem_addr.val(),
            self.her.msgid.val(),
            self.her.xfer_size.val(),
            self.her.size.val(),
            self.her.addr.val()
        );
        self.sequencer.her_addr.next = self.hers.m.data.val().slice(HerFields::ADDRESS, ADDRESS);
        self.sequencer.her_size.next = self.hers.m.data.val().slice(HerFields::SIZE, ADDRESS);
        self.sequencer.her_message.next = self.hers.m.data.val().slice(HerFields::MESSAGE, MESSAGE_ID);
        self.asker.next = self
            .sequencer
            .her_message
            .val()
            .slice(ID_BITS as usize, CONTEXT_BITS as usize);
        self.sequencer.her_operations.next = self
            .hers
            .m
            .data
            .val()
            .slice(HerFields::OPERATIONS, operation::COUNT);
        self.sequencer.her_valid.next = self.hers.m.valid.val();
        self.hers.m.ready.next = self.sequencer.her_done.val();
        /// From the host.
        self.target.address.next = self.hers.m.data.val().slice(HerFields::HANDLER, ADDRESS);
        self.target.size.next = 0.into();
        self.target.kind.next = INCR.into();
        self.fetch.start.next = self.sequencer.fetch_start.val();
        self.fetch.host_line.next = self.hers.m.data.val().slice(HerFields::HOST + OFFSET, HOST_LINE);
        self.fetch.line.next = self.target.line.val();
        self.sequencer.fetch_done.next = self.fetch.done.val();
        /// To the host.
        self.place.address.next = self.hers.m.data.val().slice(HerFields::ADDRESS, ADDRESS);
        self.place.size.next = 0.into();
        self.place.kind.next = INCR.into();
        self.copy.start.next = self.sequencer.copy_start.val();
        self.copy.source.next = self.hers.m.data.val().slice(HerFields::ADDRESS, OFFSET);
        self.copy.source_line.next = self.place.line.val();
        self.copy.size.next = self.hers.m.data.val().slice(HerFields::SIZE, ADDRESS);
        self.copy.host.next = self.hers.m.data.val().slice(HerFields::HOST, HOST_ADDRESS);
        self.sequencer.copy_done.next = self.copy.done.val();
        self.sequencer.failed.next = self.fetch.failed.val() || self.copy.failed.val();
        if self.fetch.failed.val() {
            self.sequencer.code.next = self.fetch.code.val();
        } else {
            self.sequencer.code.next = self.copy.code.val();
        }
        self.host_master.aw.addr.next = cat!(self.copy.aw_line.val(), lit(0, OFFSET));
        self.host_master.aw.prot.next = UNPRIVILEGED.into();
        self.host_master.aw.region.next = 0.into();
        self.host_master.aw.len.next = self.copy.aw_len.val();
        self.host_master.aw.size.next = (OFFSET as u64).into();
        self.host_master.aw.burst.next = INCR.into();
        self.host_master.aw.lock.next = false;
        self.host_master.aw.atop.next = 0.into();
        self.host_master.aw.cache.next = BUFFERABLE.into();
        self.host_master.aw.qos.next = 0.into();
        self.host_master.aw.id.next = 0.into();
        self.host_master.aw.user.next = self.asker.val().resize(USER);
        self.host_master.aw.valid.next = self.copy.aw_valid.val();
        self.copy.aw_ready.next = self.host_master.aw.ready.val();
        self.host_master.ar.addr.next = cat!(self.fetch.ar_line.val(), lit(0, OFFSET));
        self.host_master.ar.prot.next = UNPRIVILEGED.into();
        self.host_master.ar.region.next = 0.into();
        self.host_master.ar.len.next = 0.into();
        self.host_master.ar.size.next = (OFFSET as u64).into();
        self.host_master.ar.burst.next = INCR.into();
        self.host_master.ar.lock.next = false;
        self.host_master.ar.cache.next = BUFFERABLE.into();
        self.host_master.ar.qos.next = 0.into();
        self.host_master.ar.id.next = 0.into();
        self.host_master.ar.user.next = self.asker.val().resize(USER);
        self.host_master.ar.valid.next = self.fetch.ar_valid.val();
        self.fetch.ar_ready.next = self.host_master.ar.ready.val();
        self.host_master.w.data.next = self.copy.w_data.val();
        self.host_master.w.strb.next = self.copy.w_strb.val();
        self.host_master.w.user.next = 0.into();
        self.host_master.w.last.next = self.copy.w_last.val();
        self.host_master.w.valid.next = self.copy.w_valid.val();
        self.copy.w_ready.next = self.host_master.w.ready.val();
        self.fetch.r_data.next = self.host_master.r.data.val();
        self.fetch.r_resp.next = self.host_master.r.resp.val();
        self.fetch.r_valid.next = self.host_master.r.valid.val();
        self.host_master.r.ready.next = true;
        self.copy.b_resp.next = self.host_master.b.resp.val();
        self.copy.b_valid.next = self.host_master.b.valid.val();
        self.host_master.b.ready.next = true;
        /// Commands.
        self.nic_cmd_req.valid.next = self.sequencer.command_valid.val();
        self.nic_cmd_req.id.next = self.sequencer.command_id.val();
        self.nic_cmd_req.nid.next = 0.into();
        self.nic_cmd_req.fid.next = 0.into();
        self.nic_cmd_req.src_addr.next = self.sequencer.command_source.val().resize(HOST_ADDRESS);
        self.nic_cmd_req.length.next = self.sequencer.command_length.val();
        self.nic_cmd_req.user_ptr.next = 0.into();
        self.sequencer.command_ready.next = self.nic_cmd_req.ready.val();
        self.sequencer.response_valid.next = self.nic_cmd_resp_valid_i.val();
        self.sequencer.response_id.next = self.nic_cmd_resp_id_i.val();
        /// Words; one that finds no room is dropped.
        self.stdout.s.data.next = self.sequencer.word.val();
        self.stdout.s.valid.next = self.sequencer.word_valid.val();
        self.stdout_dout.next = self.stdout.m.data.val();
        self.stdout_data_valid.next = self.stdout.m.valid.val();
        self.stdout.m.ready.next = self.stdout_rd_en.val();
        /// Feedback.
        self.feedback.valid.next = self.sequencer.feedback_valid.val();
        self.feedback.her_addr.next = self.hers.m.data.val().slice(HerFields::ADDRESS, ADDRESS);
        self.feedback.her_size.next = self.hers.m.data.val().slice(HerFields::XFER_SIZE, ADDRESS);
        self.feedback.msgid.next = self.hers.m.data.val().slice(HerFields::MESSAGE, MESSAGE_ID);
        self.sequencer.feedback_ready.next = self.feedback.ready.val();
        /// Status.
        self.busy.d.next = self.hers.level.val().any();
        if self.sequencer.her_done.val() {
            self.worked.d.next = true;
        }
        self.ended.d.next = self.worked.q.val() && !self.hers.level.val().any();
        self.cl_busy_o.next = fill(self.busy.q.val(), clusters);
        self.cl_eoc_o.next = fill(self.ended.q.val(), clusters);
        self.pspin_active_o.next = self.busy.q.val();
        self.mpq_full_o.next = fill(self.hers.almost_full.val(), queues);
    }
}
