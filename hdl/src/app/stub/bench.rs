//! The stand-in with the port names that bus models expect.

use super::ClusterStub;
use super::shape::{ADDRESS, COMMAND_ID, HOST_ADDRESS, MESSAGE_ID, StubShape, USER};
use crate::axi::{AxiExtras, AxiMaster, AxiTarget};
use crate::entry::ParameterError;
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
#[module(shape: StubShape, error = ParameterError)]
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

#[kernel(PspinWrapBench)]
fn update() {
    wrap.rst_ni = rstn;
    wrap.cl_fetch_en_i = fetch_enable;
    eoc = wrap.cl_eoc_o;
    busy = wrap.cl_busy_o;
    active = wrap.pspin_active_o;
    wrap.eos_i = false;
    mpq_full = wrap.mpq_full_o;
    wrap.ni_slave = ni;
    wrap.no_slave = no;
    wrap.host_slave = host;
    m_axi = wrap.host_master;
    /// HERs; what the stand-in does not look at is 0.
    wrap.her.is_eom = false;
    wrap.her.msgid = her.msgid;
    wrap.her.addr = her.addr;
    wrap.her.size = her.size;
    wrap.her.xfer_size = her.xfer_size;
    for (_, port) in wrap.her.meta.named() {
        port = Word::zero(port.width());
    }
    wrap.her.meta.handler_mem_addr = her.handler_mem_addr;
    wrap.her.meta.host_mem_addr = her.host_mem_addr;
    wrap.her.meta.ph_addr = her.ph_addr;
    wrap.her.valid = her.valid;
    her.ready = wrap.her.ready;
    let done = wrap.feedback;
    feedback_addr = done.her_addr;
    feedback_size = done.her_size;
    feedback_msgid = done.msgid;
    feedback_valid = done.valid;
    done.ready = feedback_ready;
    /// Commands and words.
    let command = wrap.nic_cmd_req;
    command_zero = cat!(command.user_ptr, command.fid, command.nid);
    command_id = command.id;
    command_src_addr = command.src_addr;
    command_length = command.length;
    command_valid = command.valid;
    command.ready = command_ready;
    wrap.nic_cmd_resp_valid_i = response.valid;
    wrap.nic_cmd_resp_id_i = response.data;
    response.ready = true;
    wrap.stdout_rd_en = stdout_rd_en;
    stdout_dout = wrap.stdout_dout;
    stdout_data_valid = wrap.stdout_data_valid;
}
