//! The application: everything of ours, between Corundum's ports and the cluster's.
//!
//! # Contract
//! - **Interface 0**: frames that match a rule go to the cluster, all others pass; see
//!   [`PspinIngressDatapath`]. Frames of the cluster join those of the host; see [`PspinTxInject`].
//! - **BAR**: cluster memory and control registers; see [`SpinneretBar`] and [`PspinCtrlRegs`].
//! - **Reset of the cluster** (`cl.ctrl[1]`, or a clock that is not running) takes all that is on its way to or from the
//!   cluster with it, and nothing else: unmatched frames, frames of the host and registers go on, and frames that
//!   are complete still leave. Matched packets are dropped and counted while it lasts. Counters go on. Contexts are taken
//!   again while `her.valid` is 1, and are gone while it is 0.
//! - **Reset** (`rst`) is the core's: everything is forgotten, and the cluster reset.
//! - **Names** of ports are those of `mqnic_app_block` and of `pspin_wrap`, the latter without `_i` and `_o`.

use super::bundles::{CompletionIn, CompletionOut, CorundumRam, StatisticsOut};
use super::wrap::{WrapMaster, WrapSlave};
use super::{AppShape, ClusterLink, STDOUT_BITS, StatisticsReporter};
use crate::COUNTER_WIDTH;
use crate::axi::{AxiLiteMaster, AxiLiteSlave, AxiMaster};
use crate::bar::SpinneretBar;
use crate::egress::PspinEgressDatapath;
use crate::egress::tx_inject::PspinTxInject;
use crate::entry::{ParameterError, Values};
use crate::hostdma::psdpram::SpinneretPsdpram;
use crate::hostdma::{PspinHostmemDma, ReadDescOut, StatusIn, WriteDescOut};
use crate::ingress::datapath::PspinIngressDatapath;
use crate::ingress::her_gen::{ContextsOut, MetaPack};
use crate::regs::{PspinCtrlRegs, counter_places};
use crate::stream::{AxisIn, AxisOut};
use spinneret_regmap::{COUNTER_WORDS, ingress};
use spinneret_verilog::prelude::*;

/// Those of the counters that are no counts, but levels.
const LEVELS: std::ops::Range<usize> = ingress::LEVELS.start as usize..ingress::LEVELS.end as usize;
/// Width of an address in the BAR.
const BAR_ADDRESS_BITS: usize = 24;
/// Flags for message processing queues in the registers.
const QUEUE_FLAGS: usize = 16;

/// Everything of ours between Corundum and the cluster.
#[hardware(
    values: &Values,
    error = ParameterError,
    shape = AppShape::new(values)?,
    host = shape.host,
    inject = shape.inject,
    egress = shape.egress,
    her = shape.ingress.her,
    cluster = shape.cluster_axi(),
    command = egress.command_id(),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SpinneretApp {
    /// The core's clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset of the core, active high.
    pub rst: Wire<In, bool>,
    /// The cluster's clock.
    pub cluster_clk: Signal<In, Clock>,
    /// It is running; belongs to no clock.
    pub cluster_running: Wire<In, bool>,
    /// The application BAR.
    pub s_axil_app_ctrl: AxiLiteSlave<{ BAR_ADDRESS_BITS }, { COUNTER_WIDTH }>,
    /// Descriptors of reads from host memory.
    pub m_axis_data_dma_read_desc: ReadDescOut<{ host }>,
    /// Their statuses.
    pub s_axis_data_dma_read_desc_status: StatusIn<{ host.tag }>,
    /// Descriptors of writes to host memory.
    pub m_axis_data_dma_write_desc: WriteDescOut<{ host }>,
    /// Their statuses.
    pub s_axis_data_dma_write_desc_status: StatusIn<{ host.tag }>,
    /// The RAM for data from host memory, written by Corundum.
    pub data_dma_ram: CorundumRam<{ shape.ram }>,
    /// Frames from the host.
    pub s_axis_if_tx: AxisIn<{ inject.axis() }>,
    /// Frames to the wire.
    pub m_axis_if_tx: AxisOut<{ inject.axis() }>,
    /// Completions from the wire.
    pub s_axis_if_tx_cpl: CompletionIn<{ inject }>,
    /// Completions to the host.
    pub m_axis_if_tx_cpl: CompletionOut<{ inject }>,
    /// Frames from the wire.
    pub s_axis_if_rx: AxisIn<{ shape.ingress.matcher.axis() }>,
    /// Frames to the host.
    pub m_axis_if_rx: AxisOut<{ shape.ingress.matcher.axis() }>,
    /// Increments of statistics.
    pub m_axis_stat: StatisticsOut,
    /// Reset of the cluster, active low.
    pub cluster_rstn: Wire<Out, bool>,
    /// Fetch enable of each cluster.
    pub cl_fetch_en: Wire<Out, { shape.own.clusters }>,
    /// End of computation of each cluster.
    pub cl_eoc: Wire<In, { shape.own.clusters }>,
    /// Busy of each cluster.
    pub cl_busy: Wire<In, { shape.own.clusters }>,
    /// Message processing queues that are full.
    pub mpq_full: Wire<In, { shape.own.queues }>,
    /// Packets into L2.
    pub ni_slave: WrapSlave<{ cluster }>,
    /// Frames out of L2 and L1.
    pub no_slave: WrapSlave<{ cluster }>,
    /// Accesses of the host.
    pub host_slave: WrapSlave<{ cluster }>,
    /// Accesses to host memory.
    pub host_master: WrapMaster<{ shape.host_axi() }>,
    /// The cluster takes the HER.
    pub her_ready: Wire<In, bool>,
    /// The HER is there.
    pub her_valid: Wire<Out, bool>,
    /// Message of the packet.
    pub her_msgid: Wire<Out, { her.message_id }>,
    /// The packet is the last of its message.
    pub her_is_eom: Wire<Out, bool>,
    /// Its address in L2.
    pub her_addr: Wire<Out, { her.address }>,
    /// Its size in bytes.
    pub her_size: Wire<Out, { her.address }>,
    /// Bytes of it that are copied to L1.
    pub her_xfer_size: Wire<Out, { her.address }>,
    /// The context that serves it.
    pub her_meta: ContextsOut<1, { her.host_address }>,
    /// The packet is taken back.
    pub feedback_ready: Wire<Out, bool>,
    /// A packet is done with.
    pub feedback_valid: Wire<In, bool>,
    /// Its address.
    pub feedback_her_addr: Wire<In, { her.address }>,
    /// Its size.
    pub feedback_her_size: Wire<In, { her.address }>,
    /// Its message.
    pub feedback_msgid: Wire<In, { her.message_id }>,
    /// The command is taken.
    pub nic_cmd_req_ready: Wire<Out, bool>,
    /// The command is there.
    pub nic_cmd_req_valid: Wire<In, bool>,
    /// Its id.
    pub nic_cmd_req_id: Wire<In, { command }>,
    /// Network id.
    pub nic_cmd_req_nid: Wire<In, 32>,
    /// Flow id.
    pub nic_cmd_req_fid: Wire<In, 32>,
    /// Address of the first byte.
    pub nic_cmd_req_src_addr: Wire<In, { egress.source }>,
    /// Number of bytes.
    pub nic_cmd_req_length: Wire<In, { egress.address }>,
    /// For the user.
    pub nic_cmd_req_user_ptr: Wire<In, 64>,
    /// A command is done.
    pub nic_cmd_resp_valid: Wire<Out, bool>,
    /// Its id.
    pub nic_cmd_resp_id: Wire<Out, { command }>,
    /// The word of standard output is taken.
    pub stdout_rd_en: Wire<Out, bool>,
    /// The oldest word of standard output.
    pub stdout_dout: Wire<In, { STDOUT_BITS }>,
    /// It is there.
    pub stdout_data_valid: Wire<In, bool>,
    rstn: Wire<Local, bool>,
    /// The cluster, or the link to it, is in reset.
    held: Wire<Local, bool>,
    cluster_path_rstn: Wire<Local, bool>,
    bar: Heaped<SpinneretBar<{ shape.bar }>>,
    regs: Heaped<PspinCtrlRegs<{ shape.registers()? }>>,
    link: Heaped<Checked<ClusterLink<{ shape }>>>,
    ingress: Heaped<Checked<PspinIngressDatapath<{ shape.ingress }>>>,
    egress: Heaped<Checked<PspinEgressDatapath<{ egress }>>>,
    inject: Heaped<Checked<PspinTxInject<{ inject }>>>,
    host: Heaped<Checked<PspinHostmemDma<{ host }>>>,
    /// What Corundum reads from, for writes to host memory.
    write_ram: SpinneretPsdpram<{ shape.ram }>,
    /// What Corundum writes to, for reads from host memory.
    read_ram: SpinneretPsdpram<{ shape.ram }>,
    context: MetaPack<{ her }>,
    statistics: StatisticsReporter<{ COUNTER_WORDS }, { LEVELS }, { shape.own.first_statistic }>,
    counters: Wire<Local, { COUNTER_WORDS * COUNTER_WIDTH }>,
    #[new(shape)]
    _shape: AppShape,
}

impl Logic for SpinneretApp {
    #[kernel]
    fn update(&mut self) {
        self.rstn.next = !self.rst.val();
        self.held.next = self.link.held.val();
        self.cluster_path_rstn.next = !self.rst.val() && !self.link.held.val();
        clocked!(self.clk, self.rst => self.regs, self.statistics, self.link);
        self.bar.clk.next = self.clk.val();
        self.bar.rstn.next = self.rstn.val();
        self.ingress.clk.next = self.clk.val();
        self.ingress.rstn.next = self.rstn.val();
        self.egress.clk.next = self.clk.val();
        self.egress.rstn.next = self.rstn.val();
        self.inject.clk.next = self.clk.val();
        self.inject.rstn.next = self.rstn.val();
        self.host.clk.next = self.clk.val();
        self.host.rstn.next = self.cluster_path_rstn.val();
        self.host.dma_rstn.next = self.rstn.val();
        self.write_ram.clk.next = self.clk.val();
        self.write_ram.rstn.next = self.rstn.val();
        self.read_ram.clk.next = self.clk.val();
        self.read_ram.rstn.next = self.rstn.val();

        /// The BAR: registers, and the cluster's memory.
        AxiLiteSlave::link(&mut self.s_axil_app_ctrl, &mut self.bar.s_axil);
        AxiLiteMaster::join(&mut self.bar.m_axil, &mut self.regs.s_axil);
        AxiMaster::join(&mut self.bar.m_axi, &mut self.link.host);
        self.bar.cluster_held.next = self.held.val();

        /// Control of the cluster.
        self.link.request.next = self.regs.aux_rst_o.val();
        self.link.fetch_enable.next = self.regs.cl_fetch_en_o.val();
        self.regs.cl_eoc_i.next = self.link.eoc.val();
        self.regs.cl_busy_i.next = self.link.busy.val();
        self.regs.mpq_full_i.next = self.link.queues_full.val().resize(QUEUE_FLAGS);
        self.regs.cluster_running.next = self.link.running.val();
        self.regs.cluster_held.next = self.held.val();
        self.regs.stdout_dout.next = self.link.stdout.data.val();
        self.regs.stdout_data_valid.next = self.link.stdout.valid.val();
        self.link.stdout.ready.next = self.regs.stdout_rd_en.val();

        /// Rules and contexts.
        self.ingress.match_valid.next = self.regs.match_valid.val();
        self.ingress.match_mode.next = self.regs.match_mode.val();
        self.ingress.match_idx.next = self.regs.match_idx.val();
        self.ingress.match_mask.next = self.regs.match_mask.val();
        self.ingress.match_start.next = self.regs.match_start.val();
        self.ingress.match_end.next = self.regs.match_end.val();
        self.ingress.match_relative.next = self.regs.match_relative.val();
        self.ingress.her_gen_valid.next = self.regs.her_gen_valid.val();
        self.ingress.her_gen_ctx_enabled.next = self.regs.her_gen_ctx_enabled.val();
        ContextsOut::join(&mut self.regs.her_gen, &mut self.ingress.her_gen);
        self.host.guard.open.next = !self.regs.guard_enforce.val();
        self.host.guard.by_context.next = self.regs.guard_by_context.val();
        self.host.guard.enabled.next = self.regs.guard_enabled.val();
        self.host.guard.base.next = self.regs.guard_base.val();
        self.host.guard.size.next = self.regs.guard_size.val();

        /// From the wire to the cluster.
        AxisIn::link(&mut self.s_axis_if_rx, &mut self.ingress.s_axis_nic_rx);
        AxisOut::link(&mut self.m_axis_if_rx, &mut self.ingress.m_axis_nic_rx);
        self.ingress.cluster_held.next = self.held.val();
        AxiMaster::join(&mut self.ingress.m_axi_pspin_ni, &mut self.link.ni);
        ContextsOut::join(&mut self.ingress.her_meta, &mut self.context.meta);
        self.link.hers.data.next = cat!(
            self.context.fields.val(),
            self.ingress.her_xfer_size.val(),
            self.ingress.her_size.val(),
            self.ingress.her_addr.val(),
            self.ingress.her_is_eom.val(),
            self.ingress.her_msgid.val()
        );
        self.link.hers.valid.next = self.ingress.her_valid.val();
        self.ingress.her_ready.next = self.link.hers.ready.val();
        let (message, address) = (
            self._shape.ingress.her.message_id,
            self._shape.ingress.her.address,
        );
        self.ingress.feedback_her_addr.next = self.link.frees.data.val().slice(0, address);
        self.ingress.feedback_her_size.next = self
            .link
            .frees
            .data
            .val()
            .slice(address, self._shape.ingress.dma.length);
        self.ingress.feedback_msgid.next = self.link.frees.data.val().slice(2 * address, message);
        self.ingress.feedback_valid.next = self.link.frees.valid.val();
        self.link.frees.ready.next = self.ingress.feedback_ready.val();

        let (id, source) = (self._shape.egress.command_id(), self._shape.egress.source);
        /// From the cluster to the wire.
        self.egress.cluster_held.next = self.held.val();
        self.egress.egress_dma_error_clear.next = self.regs.error_clear.val();
        AxiMaster::join(&mut self.egress.m_axi_pspin_no, &mut self.link.no);
        self.egress.nic_cmd_req_id.next = self.link.commands.data.val().slice(0, id);
        self.egress.nic_cmd_req_nid.next = self.link.commands.data.val().slice(id, 32);
        self.egress.nic_cmd_req_fid.next = self.link.commands.data.val().slice(id + 32, 32);
        self.egress.nic_cmd_req_src_addr.next = self.link.commands.data.val().slice(id + 64, source);
        self.egress.nic_cmd_req_length.next = self.link.commands.data.val().slice(id + 64 + source, address);
        self.egress.nic_cmd_req_user_ptr.next = self
            .link
            .commands
            .data
            .val()
            .slice(id + 64 + source + address, 64);
        self.egress.nic_cmd_req_valid.next = self.link.commands.valid.val();
        self.link.commands.ready.next = self.egress.nic_cmd_req_ready.val();
        self.link.responses.data.next = self.egress.nic_cmd_resp_id.val();
        self.link.responses.valid.next = self.egress.nic_cmd_resp_valid.val();
        self.regs.egress_dma_last_error.next = self.egress.egress_dma_last_error.val();
        AxisOut::join(&mut self.egress.m_axis_nic_tx, &mut self.inject.s_axis_pspin_tx);
        AxisIn::link(&mut self.s_axis_if_tx, &mut self.inject.s_axis_nic_tx);
        AxisOut::link(&mut self.m_axis_if_tx, &mut self.inject.m_axis_nic_tx);
        self.inject.s_axis_tx_cpl_ts.next = self.s_axis_if_tx_cpl.ts.val();
        self.inject.s_axis_tx_cpl_tag.next = self.s_axis_if_tx_cpl.tag.val();
        self.inject.s_axis_tx_cpl_valid.next = self.s_axis_if_tx_cpl.valid.val();
        self.s_axis_if_tx_cpl.ready.next = self.inject.s_axis_tx_cpl_ready.val();
        self.m_axis_if_tx_cpl.ts.next = self.inject.m_axis_tx_cpl_ts.val();
        self.m_axis_if_tx_cpl.tag.next = self.inject.m_axis_tx_cpl_tag.val();
        self.m_axis_if_tx_cpl.valid.next = self.inject.m_axis_tx_cpl_valid.val();
        self.inject.m_axis_tx_cpl_ready.next = self.m_axis_if_tx_cpl.ready.val();

        /// Host memory.
        self.host.s_axi.awid.next = self.link.host_dma.awid.val();
        self.host.s_axi.awaddr.next = self.link.host_dma.awaddr.val();
        self.host.s_axi.awlen.next = self.link.host_dma.awlen.val();
        self.host.s_axi.awsize.next = self.link.host_dma.awsize.val();
        self.host.s_axi.awburst.next = self.link.host_dma.awburst.val();
        self.host.s_axi.awlock.next = self.link.host_dma.awlock.val();
        self.host.s_axi.awcache.next = self.link.host_dma.awcache.val();
        self.host.s_axi.awprot.next = self.link.host_dma.awprot.val();
        self.host.s_axi.awqos.next = 0.into();
        self.host.s_axi.awregion.next = 0.into();
        self.host.s_axi.awuser.next = self.link.host_dma_awuser.val();
        self.host.s_axi.awvalid.next = self.link.host_dma.awvalid.val();
        self.link.host_dma.awready.next = self.host.s_axi.awready.val();
        self.host.s_axi_awatop.next = self.link.host_dma_awatop.val();
        self.host.s_axi.wdata.next = self.link.host_dma.wdata.val();
        self.host.s_axi.wstrb.next = self.link.host_dma.wstrb.val();
        self.host.s_axi.wlast.next = self.link.host_dma.wlast.val();
        self.host.s_axi.wuser.next = 0.into();
        self.host.s_axi.wvalid.next = self.link.host_dma.wvalid.val();
        self.link.host_dma.wready.next = self.host.s_axi.wready.val();
        self.link.host_dma.bid.next = self.host.s_axi.bid.val();
        self.link.host_dma.bresp.next = self.host.s_axi.bresp.val();
        self.link.host_dma.bvalid.next = self.host.s_axi.bvalid.val();
        self.host.s_axi.bready.next = self.link.host_dma.bready.val();
        self.host.s_axi.arid.next = self.link.host_dma.arid.val();
        self.host.s_axi.araddr.next = self.link.host_dma.araddr.val();
        self.host.s_axi.arlen.next = self.link.host_dma.arlen.val();
        self.host.s_axi.arsize.next = self.link.host_dma.arsize.val();
        self.host.s_axi.arburst.next = self.link.host_dma.arburst.val();
        self.host.s_axi.arlock.next = self.link.host_dma.arlock.val();
        self.host.s_axi.arcache.next = self.link.host_dma.arcache.val();
        self.host.s_axi.arprot.next = self.link.host_dma.arprot.val();
        self.host.s_axi.arqos.next = 0.into();
        self.host.s_axi.arregion.next = 0.into();
        self.host.s_axi.aruser.next = self.link.host_dma_aruser.val();
        self.host.s_axi.arvalid.next = self.link.host_dma.arvalid.val();
        self.link.host_dma.arready.next = self.host.s_axi.arready.val();
        self.link.host_dma.rid.next = self.host.s_axi.rid.val();
        self.link.host_dma.rdata.next = self.host.s_axi.rdata.val();
        self.link.host_dma.rresp.next = self.host.s_axi.rresp.val();
        self.link.host_dma.rlast.next = self.host.s_axi.rlast.val();
        self.link.host_dma.rvalid.next = self.host.s_axi.rvalid.val();
        self.host.s_axi.rready.next = self.link.host_dma.rready.val();
        ReadDescOut::link(
            &mut self.m_axis_data_dma_read_desc,
            &mut self.host.m_axis_read_desc,
        );
        StatusIn::link(
            &mut self.s_axis_data_dma_read_desc_status,
            &mut self.host.s_axis_read_desc_status,
        );
        WriteDescOut::link(
            &mut self.m_axis_data_dma_write_desc,
            &mut self.host.m_axis_write_desc,
        );
        StatusIn::link(
            &mut self.s_axis_data_dma_write_desc_status,
            &mut self.host.s_axis_write_desc_status,
        );
        /// Data on its way to the host.
        self.write_ram.ram_wr_cmd_be.next = self.host.ram_wr.cmd_be.val();
        self.write_ram.ram_wr_cmd_addr.next = self.host.ram_wr.cmd_addr.val();
        self.write_ram.ram_wr_cmd_data.next = self.host.ram_wr.cmd_data.val();
        self.write_ram.ram_wr_cmd_valid.next = self.host.ram_wr.cmd_valid.val();
        self.host.ram_wr.cmd_ready.next = self.write_ram.ram_wr_cmd_ready.val();
        self.host.ram_wr.done.next = self.write_ram.ram_wr_done.val();
        self.write_ram.ram_rd_cmd_addr.next = self.data_dma_ram.rd_cmd_addr.val();
        self.write_ram.ram_rd_cmd_valid.next = self.data_dma_ram.rd_cmd_valid.val();
        self.data_dma_ram.rd_cmd_ready.next = self.write_ram.ram_rd_cmd_ready.val();
        self.data_dma_ram.rd_resp_data.next = self.write_ram.ram_rd_resp_data.val();
        self.data_dma_ram.rd_resp_valid.next = self.write_ram.ram_rd_resp_valid.val();
        self.write_ram.ram_rd_resp_ready.next = self.data_dma_ram.rd_resp_ready.val();
        /// Data on its way from the host.
        self.read_ram.ram_wr_cmd_be.next = self.data_dma_ram.wr_cmd_be.val();
        self.read_ram.ram_wr_cmd_addr.next = self.data_dma_ram.wr_cmd_addr.val();
        self.read_ram.ram_wr_cmd_data.next = self.data_dma_ram.wr_cmd_data.val();
        self.read_ram.ram_wr_cmd_valid.next = self.data_dma_ram.wr_cmd_valid.val();
        self.data_dma_ram.wr_cmd_ready.next = self.read_ram.ram_wr_cmd_ready.val();
        self.data_dma_ram.wr_done.next = self.read_ram.ram_wr_done.val();
        self.read_ram.ram_rd_cmd_addr.next = self.host.ram_rd.cmd_addr.val();
        self.read_ram.ram_rd_cmd_valid.next = self.host.ram_rd.cmd_valid.val();
        self.host.ram_rd.cmd_ready.next = self.read_ram.ram_rd_cmd_ready.val();
        self.host.ram_rd.resp_data.next = self.read_ram.ram_rd_resp_data.val();
        self.host.ram_rd.resp_valid.next = self.read_ram.ram_rd_resp_valid.val();
        self.read_ram.ram_rd_resp_ready.next = self.host.ram_rd.resp_ready.val();

        /// Counters where the register table has them; one that nobody drives is an error.
        for (low, counter) in counter_places() {
            match (counter.group, counter.name) {
                ("ingress", "matched") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.matched_pkts_o.val());
                }
                ("ingress", "bypassed") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.bypassed_pkts_o.val());
                }
                ("ingress", "hers") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.her_pkts_o.val());
                }
                ("ingress", "dropped_overload") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.dropped_overload_o.val());
                }
                ("ingress", "dropped_no_slot") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.dropped_no_slot_o.val());
                }
                ("ingress", "dropped_oversize") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.dropped_oversize_o.val());
                }
                ("ingress", "dropped_bad_frame") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.dropped_bad_frame_o.val());
                }
                ("ingress", "dropped_write_error") => {
                    self.counters.next.set_slice(
                        low,
                        COUNTER_WIDTH,
                        self.ingress.dropped_write_error_o.val(),
                    );
                }
                ("ingress", "dropped_no_context") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.dropped_no_context_o.val());
                }
                ("ingress", "dropped_reset") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.dropped_reset_o.val());
                }
                ("ingress", "refused_no_start") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.refused_no_start_o.val());
                }
                ("ingress", "refused_not_out") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.refused_not_out_o.val());
                }
                ("ingress", "refused_early") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.refused_early_o.val());
                }
                ("ingress", "large_used") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.large_used_o.val());
                }
                ("ingress", "large_peak") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.large_peak_o.val());
                }
                ("ingress", "small_used") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.small_used_o.val());
                }
                ("ingress", "small_peak") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.ingress.small_peak_o.val());
                }
                ("egress", "frames") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.egress.egress_frames_o.val());
                }
                ("egress", "read_errors") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.egress.egress_read_error_o.val());
                }
                ("egress", "refused") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.egress.egress_refused_o.val());
                }
                ("egress", "completions") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.inject.tx_cpl_ours_o.val());
                }
                ("egress", "tag_conflicts") => {
                    self.counters.next.set_slice(
                        low,
                        COUNTER_WIDTH,
                        self.inject.tx_host_tag_conflict_o.val(),
                    );
                }
                ("host_write", "bursts") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.host.wr_bursts_o.val());
                }
                ("host_write", "refused") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.host.wr_refused_o.val());
                }
                ("host_write", "outside") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.host.wr_outside_o.val());
                }
                ("host_write", "stray_status") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.host.wr_stray_status_o.val());
                }
                ("host_write", "errors") => {
                    self.counters.next.set_slice(
                        low,
                        counter.count as usize * COUNTER_WIDTH,
                        self.host.wr_dma_errors_o.val(),
                    );
                }
                ("host_read", "bursts") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.host.rd_bursts_o.val());
                }
                ("host_read", "refused") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.host.rd_refused_o.val());
                }
                ("host_read", "outside") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.host.rd_outside_o.val());
                }
                ("host_read", "stray_status") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.host.rd_stray_status_o.val());
                }
                ("host_read", "errors") => {
                    self.counters.next.set_slice(
                        low,
                        counter.count as usize * COUNTER_WIDTH,
                        self.host.rd_dma_errors_o.val(),
                    );
                }
                ("bar", "outside") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.bar.outside_o.val());
                }
                ("bar", "held") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.bar.held_o.val());
                }
                ("bar", "timeouts") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.bar.timeout_o.val());
                }
                ("bar", "errors") => {
                    self.counters
                        .next
                        .set_slice(low, COUNTER_WIDTH, self.bar.errors_o.val());
                }
                _ => {}
            }
        }
        self.regs.counters.next = self.counters.val();
        self.regs.alloc_dropped_pkts.next = self.ingress.alloc_dropped_pkts.val();
        self.statistics.counters.next = self.counters.val();
        self.m_axis_stat.tdata.next = self.statistics.m_axis_stat_tdata.val();
        self.m_axis_stat.tid.next = self.statistics.m_axis_stat_tid.val();
        self.m_axis_stat.tvalid.next = self.statistics.m_axis_stat_tvalid.val();
        self.statistics.m_axis_stat_tready.next = self.m_axis_stat.tready.val();

        /// The cluster's side.
        self.link.cluster_clk.next = self.cluster_clk.val();
        self.link.cluster_running.next = self.cluster_running.val();
        self.cluster_rstn.next = self.link.cluster_rstn.val();
        self.cl_fetch_en.next = self.link.cl_fetch_en.val();
        self.link.cl_eoc.next = self.cl_eoc.val();
        self.link.cl_busy.next = self.cl_busy.val();
        self.link.mpq_full.next = self.mpq_full.val();
        WrapSlave::link(&mut self.ni_slave, &mut self.link.ni_slave);
        WrapSlave::link(&mut self.no_slave, &mut self.link.no_slave);
        WrapSlave::link(&mut self.host_slave, &mut self.link.host_slave);
        WrapMaster::link(&mut self.host_master, &mut self.link.host_master);
        self.link.her_ready.next = self.her_ready.val();
        self.her_valid.next = self.link.her_valid.val();
        self.her_msgid.next = self.link.her_msgid.val();
        self.her_is_eom.next = self.link.her_is_eom.val();
        self.her_addr.next = self.link.her_addr.val();
        self.her_size.next = self.link.her_size.val();
        self.her_xfer_size.next = self.link.her_xfer_size.val();
        ContextsOut::link(&mut self.her_meta, &mut self.link.her_meta);
        self.feedback_ready.next = self.link.feedback_ready.val();
        self.link.feedback_valid.next = self.feedback_valid.val();
        self.link.feedback_her_addr.next = self.feedback_her_addr.val();
        self.link.feedback_her_size.next = self.feedback_her_size.val();
        self.link.feedback_msgid.next = self.feedback_msgid.val();
        self.nic_cmd_req_ready.next = self.link.nic_cmd_req_ready.val();
        self.link.nic_cmd_req_valid.next = self.nic_cmd_req_valid.val();
        self.link.nic_cmd_req_id.next = self.nic_cmd_req_id.val();
        self.link.nic_cmd_req_nid.next = self.nic_cmd_req_nid.val();
        self.link.nic_cmd_req_fid.next = self.nic_cmd_req_fid.val();
        self.link.nic_cmd_req_src_addr.next = self.nic_cmd_req_src_addr.val();
        self.link.nic_cmd_req_length.next = self.nic_cmd_req_length.val();
        self.link.nic_cmd_req_user_ptr.next = self.nic_cmd_req_user_ptr.val();
        self.nic_cmd_resp_valid.next = self.link.nic_cmd_resp_valid.val();
        self.nic_cmd_resp_id.next = self.link.nic_cmd_resp_id.val();
        self.stdout_rd_en.next = self.link.stdout_rd_en.val();
        self.link.stdout_dout.next = self.stdout_dout.val();
        self.link.stdout_data_valid.next = self.stdout_data_valid.val();
    }
}
