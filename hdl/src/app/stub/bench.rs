//! The stand-in with the port names that bus models expect.

use super::ClusterStub;
use super::shape::{ADDRESS, COMMAND_ID, HOST_ADDRESS, MESSAGE_ID, StubShape, USER};
use crate::axi::{AxiExtras, AxiMaster, AxiTarget};
use crate::entry::ParameterError;
use crate::ingress::her_gen::ContextsIn;
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Additional inputs of bus models: no atomic operations.
const SLAVE: AxiExtras = AxiExtras {
    atop: false,
    ..AxiExtras::all(USER)
};

/// A HER as the bench takes it: {payload handler address; handler memory; host memory; size that handlers see; size;
/// address; message id}.
#[interface]
pub struct BenchHer {
    /// Message id.
    pub msgid: Wire<In, { MESSAGE_ID }>,
    /// Address of the packet.
    pub addr: Wire<In, { ADDRESS }>,
    /// Its bytes.
    pub size: Wire<In, { ADDRESS }>,
    /// Bytes that a handler sees.
    pub xfer_size: Wire<In, { ADDRESS }>,
    /// Address of the host memory.
    pub host_mem_addr: Wire<In, { HOST_ADDRESS }>,
    /// Address of the handler memory.
    pub handler_mem_addr: Wire<In, { ADDRESS }>,
    /// Address of the payload handler.
    pub ph_addr: Wire<In, { ADDRESS }>,
    /// The HER is there.
    pub valid: Wire<In, bool>,
    /// It is taken in this cycle.
    pub ready: Wire<Out, bool>,
}

/// The stand-in with the port names that bus models expect.
#[hardware(shape: StubShape, error = ParameterError)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PspinWrapBench {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Bit c: cluster c may work.
    pub fetch_enable: Wire<In, { shape.clusters }>,
    /// Bit c: cluster c has done its work.
    pub eoc: Wire<Out, { shape.clusters }>,
    /// Bit c: cluster c works.
    pub busy: Wire<Out, { shape.clusters }>,
    /// Something is being done.
    pub active: Wire<Out, bool>,
    /// Bit q: queue q is full.
    pub mpq_full: Wire<Out, { shape.queues }>,
    /// Packets from the ingress path.
    pub ni: AxiTarget<{ StubShape::slave().with(SLAVE) }>,
    /// Packets to the egress path.
    pub no: AxiTarget<{ StubShape::slave().with(SLAVE) }>,
    /// The host.
    pub host: AxiTarget<{ StubShape::slave().with(SLAVE) }>,
    /// Memory of the host.
    pub m_axi: AxiMaster<{ StubShape::master().with(AxiExtras::NONE) }>,
    /// Packets to be done.
    pub her: BenchHer,
    /// Address of a packet that is done.
    pub feedback_addr: Wire<Out, { ADDRESS }>,
    /// Bytes of it that a handler has seen.
    pub feedback_size: Wire<Out, { ADDRESS }>,
    /// Its message id.
    pub feedback_msgid: Wire<Out, { MESSAGE_ID }>,
    /// It is there.
    pub feedback_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub feedback_ready: Wire<In, bool>,
    /// Packets to be sent: {user pointer; fid; nid}, which are 0.
    pub command_zero: Wire<Out, { 2 * ADDRESS + HOST_ADDRESS }>,
    /// Id of a command.
    pub command_id: Wire<Out, { COMMAND_ID }>,
    /// Address of its bytes.
    pub command_src_addr: Wire<Out, { HOST_ADDRESS }>,
    /// How many there are.
    pub command_length: Wire<Out, { ADDRESS }>,
    /// It is there.
    pub command_valid: Wire<Out, bool>,
    /// It is taken in this cycle.
    pub command_ready: Wire<In, bool>,
    /// Ids of commands that are done; always taken.
    pub response: StreamIn<{ COMMAND_ID }>,
    /// Takes the oldest word of stdout.
    pub stdout_rd_en: Wire<In, bool>,
    /// The oldest word of stdout.
    pub stdout_dout: Wire<Out, { ADDRESS }>,
    /// There is one.
    pub stdout_data_valid: Wire<Out, bool>,
    wrap: Checked<ClusterStub<{ shape }>>,
}

impl Logic for PspinWrapBench {
    #[kernel]
    fn update(&mut self) {
        let meta = ContextsIn::place(1, HOST_ADDRESS).width;
        self.wrap.clk_i.next = self.clk.val();
        self.wrap.rst_ni.next = self.rstn.val();
        self.wrap.cl_fetch_en_i.next = self.fetch_enable.val();
        self.eoc.next = self.wrap.cl_eoc_o.val();
        self.busy.next = self.wrap.cl_busy_o.val();
        self.active.next = self.wrap.pspin_active_o.val();
        self.wrap.eos_i.next = false;
        self.mpq_full.next = self.wrap.mpq_full_o.val();
        connect!(self.ni => self.wrap.ni_slave);
        connect!(self.no => self.wrap.no_slave);
        connect!(self.host => self.wrap.host_slave);
        connect!(self.wrap.host_master => self.m_axi);
        /// HERs; what the stand-in does not look at is 0.
        connect!(self.her => self.wrap.her; valid, ready, msgid);
        self.wrap.her.is_eom.next = false;
        connect!(self.her => self.wrap.her; addr, size, xfer_size);
        self.wrap.her.meta.unpack(Word::zero(meta));
        connect!(self.her => self.wrap.her.meta; handler_mem_addr, host_mem_addr, ph_addr);
        self.feedback_addr.next = self.wrap.feedback.her_addr.val();
        self.feedback_size.next = self.wrap.feedback.her_size.val();
        self.feedback_msgid.next = self.wrap.feedback.msgid.val();
        self.feedback_valid.next = self.wrap.feedback.valid.val();
        self.wrap.feedback.ready.next = self.feedback_ready.val();
        /// Commands and words.
        self.command_zero.next = cat!(
            self.wrap.nic_cmd_req.user_ptr.val(),
            self.wrap.nic_cmd_req.fid.val(),
            self.wrap.nic_cmd_req.nid.val()
        );
        self.command_id.next = self.wrap.nic_cmd_req.id.val();
        self.command_src_addr.next = self.wrap.nic_cmd_req.src_addr.val();
        self.command_length.next = self.wrap.nic_cmd_req.length.val();
        self.command_valid.next = self.wrap.nic_cmd_req.valid.val();
        self.wrap.nic_cmd_req.ready.next = self.command_ready.val();
        self.wrap.nic_cmd_resp_valid_i.next = self.response.valid.val();
        self.wrap.nic_cmd_resp_id_i.next = self.response.data.val();
        self.response.ready.next = true;
        connect!(self => self.wrap; stdout_rd_en, stdout_dout, stdout_data_valid);
    }
}
