//! The stand-in with the port names that bus models expect.

use super::ClusterStub;
use super::ports::{WrapMaster, WrapMasterTarget, WrapSlaveDriver};
use super::shape::{ADDRESS, COMMAND_ID, HOST_ADDRESS, MESSAGE_ID, StubShape, USER};
use crate::axi::{ATOP_BITS, AxiMaster, AxiSlave, UserWidths};
use crate::entry::ParameterError;
use crate::stream::StreamIn;
use spinneret_verilog::prelude::*;

/// Gives the ports of a slave of the cluster the names of AXI; wires only.
#[hardware]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct NamedSlave {
    /// With the names of AXI.
    pub s_axi: AxiSlave<{ StubShape::slave() }, { USERS }>,
    /// Atomic operation.
    pub s_axi_awatop: Wire<In, { ATOP_BITS }>,
    /// With the names of the cluster.
    pub m: WrapSlaveDriver,
}

/// Widths of the user signals.
const USERS: UserWidths = UserWidths {
    aw: USER,
    w: USER,
    b: USER,
    ar: USER,
    r: USER,
};

impl Logic for NamedSlave {
    #[kernel]
    fn update(&mut self) {
        self.m.aw_addr_i.next = self.s_axi.awaddr.val();
        self.m.aw_prot_i.next = self.s_axi.awprot.val();
        self.m.aw_region_i.next = self.s_axi.awregion.val();
        self.m.aw_len_i.next = self.s_axi.awlen.val();
        self.m.aw_size_i.next = self.s_axi.awsize.val();
        self.m.aw_burst_i.next = self.s_axi.awburst.val();
        self.m.aw_lock_i.next = self.s_axi.awlock.val();
        self.m.aw_atop_i.next = self.s_axi_awatop.val();
        self.m.aw_cache_i.next = self.s_axi.awcache.val();
        self.m.aw_qos_i.next = self.s_axi.awqos.val();
        self.m.aw_id_i.next = self.s_axi.awid.val();
        self.m.aw_user_i.next = self.s_axi.awuser.val();
        self.m.aw_valid_i.next = self.s_axi.awvalid.val();
        self.s_axi.awready.next = self.m.aw_ready_o.val();
        self.m.ar_addr_i.next = self.s_axi.araddr.val();
        self.m.ar_prot_i.next = self.s_axi.arprot.val();
        self.m.ar_region_i.next = self.s_axi.arregion.val();
        self.m.ar_len_i.next = self.s_axi.arlen.val();
        self.m.ar_size_i.next = self.s_axi.arsize.val();
        self.m.ar_burst_i.next = self.s_axi.arburst.val();
        self.m.ar_lock_i.next = self.s_axi.arlock.val();
        self.m.ar_cache_i.next = self.s_axi.arcache.val();
        self.m.ar_qos_i.next = self.s_axi.arqos.val();
        self.m.ar_id_i.next = self.s_axi.arid.val();
        self.m.ar_user_i.next = self.s_axi.aruser.val();
        self.m.ar_valid_i.next = self.s_axi.arvalid.val();
        self.s_axi.arready.next = self.m.ar_ready_o.val();
        self.m.w_data_i.next = self.s_axi.wdata.val();
        self.m.w_strb_i.next = self.s_axi.wstrb.val();
        self.m.w_user_i.next = self.s_axi.wuser.val();
        self.m.w_last_i.next = self.s_axi.wlast.val();
        self.m.w_valid_i.next = self.s_axi.wvalid.val();
        self.s_axi.wready.next = self.m.w_ready_o.val();
        self.s_axi.rdata.next = self.m.r_data_o.val();
        self.s_axi.rresp.next = self.m.r_resp_o.val();
        self.s_axi.rlast.next = self.m.r_last_o.val();
        self.s_axi.rid.next = self.m.r_id_o.val();
        self.s_axi.ruser.next = self.m.r_user_o.val();
        self.s_axi.rvalid.next = self.m.r_valid_o.val();
        self.m.r_ready_i.next = self.s_axi.rready.val();
        self.s_axi.bresp.next = self.m.b_resp_o.val();
        self.s_axi.bid.next = self.m.b_id_o.val();
        self.s_axi.buser.next = self.m.b_user_o.val();
        self.s_axi.bvalid.next = self.m.b_valid_o.val();
        self.m.b_ready_i.next = self.s_axi.bready.val();
    }
}

/// Gives the ports of the cluster's master the names of AXI; wires only.
#[hardware]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct NamedMaster {
    /// With the names of the cluster.
    pub s: WrapMasterTarget,
    /// With the names of AXI.
    pub m_axi: AxiMaster<{ StubShape::master() }>,
}

impl Logic for NamedMaster {
    #[kernel]
    fn update(&mut self) {
        self.m_axi.awid.next = self.s.aw_id_o.val();
        self.m_axi.awaddr.next = self.s.aw_addr_o.val();
        self.m_axi.awlen.next = self.s.aw_len_o.val();
        self.m_axi.awsize.next = self.s.aw_size_o.val();
        self.m_axi.awburst.next = self.s.aw_burst_o.val();
        self.m_axi.awlock.next = self.s.aw_lock_o.val();
        self.m_axi.awcache.next = self.s.aw_cache_o.val();
        self.m_axi.awprot.next = self.s.aw_prot_o.val();
        self.m_axi.awvalid.next = self.s.aw_valid_o.val();
        self.s.aw_ready_i.next = self.m_axi.awready.val();
        self.m_axi.wdata.next = self.s.w_data_o.val();
        self.m_axi.wstrb.next = self.s.w_strb_o.val();
        self.m_axi.wlast.next = self.s.w_last_o.val();
        self.m_axi.wvalid.next = self.s.w_valid_o.val();
        self.s.w_ready_i.next = self.m_axi.wready.val();
        self.s.b_id_i.next = self.m_axi.bid.val();
        self.s.b_resp_i.next = self.m_axi.bresp.val();
        self.s.b_user_i.next = 0.into();
        self.s.b_valid_i.next = self.m_axi.bvalid.val();
        self.m_axi.bready.next = self.s.b_ready_o.val();
        self.m_axi.arid.next = self.s.ar_id_o.val();
        self.m_axi.araddr.next = self.s.ar_addr_o.val();
        self.m_axi.arlen.next = self.s.ar_len_o.val();
        self.m_axi.arsize.next = self.s.ar_size_o.val();
        self.m_axi.arburst.next = self.s.ar_burst_o.val();
        self.m_axi.arlock.next = self.s.ar_lock_o.val();
        self.m_axi.arcache.next = self.s.ar_cache_o.val();
        self.m_axi.arprot.next = self.s.ar_prot_o.val();
        self.m_axi.arvalid.next = self.s.ar_valid_o.val();
        self.s.ar_ready_i.next = self.m_axi.arready.val();
        self.s.r_id_i.next = self.m_axi.rid.val();
        self.s.r_data_i.next = self.m_axi.rdata.val();
        self.s.r_resp_i.next = self.m_axi.rresp.val();
        self.s.r_last_i.next = self.m_axi.rlast.val();
        self.s.r_user_i.next = 0.into();
        self.s.r_valid_i.next = self.m_axi.rvalid.val();
        self.m_axi.rready.next = self.s.r_ready_o.val();
    }
}

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
    pub ni: AxiSlave<{ StubShape::slave() }, { USERS }>,
    /// Packets to the egress path.
    pub no: AxiSlave<{ StubShape::slave() }, { USERS }>,
    /// The host.
    pub host: AxiSlave<{ StubShape::slave() }, { USERS }>,
    /// Memory of the host.
    pub m_axi: AxiMaster<{ StubShape::master() }>,
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
    names: [NamedSlave; 3],
    master: NamedMaster,
    wrap: Checked<ClusterStub<{ shape }>>,
}

impl Logic for PspinWrapBench {
    #[kernel]
    fn update(&mut self) {
        self.wrap.clk_i.next = self.clk.val();
        self.wrap.rst_ni.next = self.rstn.val();
        self.wrap.cl_fetch_en_i.next = self.fetch_enable.val();
        self.eoc.next = self.wrap.cl_eoc_o.val();
        self.busy.next = self.wrap.cl_busy_o.val();
        self.active.next = self.wrap.pspin_active_o.val();
        self.wrap.eos_i.next = false;
        self.mpq_full.next = self.wrap.mpq_full_o.val();
        AxiSlave::link(&mut self.ni, &mut self.names[0].s_axi);
        AxiSlave::link(&mut self.no, &mut self.names[1].s_axi);
        AxiSlave::link(&mut self.host, &mut self.names[2].s_axi);
        for slave in 0..3 {
            self.names[slave].s_axi_awatop.next = 0.into();
        }
        WrapSlaveDriver::join(&mut self.names[0].m, &mut self.wrap.ni_slave);
        WrapSlaveDriver::join(&mut self.names[1].m, &mut self.wrap.no_slave);
        WrapSlaveDriver::join(&mut self.names[2].m, &mut self.wrap.host_slave);
        WrapMaster::join(&mut self.wrap.host_master, &mut self.master.s);
        AxiMaster::link(&mut self.m_axi, &mut self.master.m_axi);
        /// HERs; what the stand-in does not look at is 0.
        self.wrap.her.valid_i.next = self.her.valid.val();
        self.her.ready.next = self.wrap.her.ready_o.val();
        self.wrap.her.msgid_i.next = self.her.msgid.val();
        self.wrap.her.is_eom_i.next = false;
        self.wrap.her.addr_i.next = self.her.addr.val();
        self.wrap.her.size_i.next = self.her.size.val();
        self.wrap.her.xfer_size_i.next = self.her.xfer_size.val();
        self.wrap.her.meta_handler_mem_addr_i.next = self.her.handler_mem_addr.val();
        self.wrap.her.meta_handler_mem_size_i.next = 0.into();
        self.wrap.her.meta_host_mem_addr_i.next = self.her.host_mem_addr.val();
        self.wrap.her.meta_host_mem_size_i.next = 0.into();
        self.wrap.her.meta_hh_addr_i.next = 0.into();
        self.wrap.her.meta_hh_size_i.next = 0.into();
        self.wrap.her.meta_ph_addr_i.next = self.her.ph_addr.val();
        self.wrap.her.meta_ph_size_i.next = 0.into();
        self.wrap.her.meta_th_addr_i.next = 0.into();
        self.wrap.her.meta_th_size_i.next = 0.into();
        self.wrap.her.meta_scratchpad_0_addr_i.next = 0.into();
        self.wrap.her.meta_scratchpad_0_size_i.next = 0.into();
        self.wrap.her.meta_scratchpad_1_addr_i.next = 0.into();
        self.wrap.her.meta_scratchpad_1_size_i.next = 0.into();
        self.wrap.her.meta_scratchpad_2_addr_i.next = 0.into();
        self.wrap.her.meta_scratchpad_2_size_i.next = 0.into();
        self.wrap.her.meta_scratchpad_3_addr_i.next = 0.into();
        self.wrap.her.meta_scratchpad_3_size_i.next = 0.into();
        self.feedback_addr.next = self.wrap.feedback.her_addr_o.val();
        self.feedback_size.next = self.wrap.feedback.her_size_o.val();
        self.feedback_msgid.next = self.wrap.feedback.msgid_o.val();
        self.feedback_valid.next = self.wrap.feedback.valid_o.val();
        self.wrap.feedback.ready_i.next = self.feedback_ready.val();
        /// Commands and words.
        self.command_zero.next = cat!(
            self.wrap.nic_cmd_req.user_ptr_o.val(),
            self.wrap.nic_cmd_req.fid_o.val(),
            self.wrap.nic_cmd_req.nid_o.val()
        );
        self.command_id.next = self.wrap.nic_cmd_req.id_o.val();
        self.command_src_addr.next = self.wrap.nic_cmd_req.src_addr_o.val();
        self.command_length.next = self.wrap.nic_cmd_req.length_o.val();
        self.command_valid.next = self.wrap.nic_cmd_req.valid_o.val();
        self.wrap.nic_cmd_req.ready_i.next = self.command_ready.val();
        self.wrap.nic_cmd_resp.valid_i.next = self.response.valid.val();
        self.wrap.nic_cmd_resp.id_i.next = self.response.data.val();
        self.response.ready.next = true;
        self.wrap.stdout_rd_en.next = self.stdout_rd_en.val();
        self.stdout_dout.next = self.wrap.stdout_dout.val();
        self.stdout_data_valid.next = self.wrap.stdout_data_valid.val();
    }
}
