//! The application: all logic between Corundum's ports and the cluster's.
//!
//! # Contract
//! - **Interface 0**: frames that match a rule go to the cluster, all others pass; see
//!   [`PspinIngressDatapath`]. Frames of the cluster join those of the host; see [`PspinTxInject`].
//! - **BAR**: cluster memory and control registers; see [`SpinneretBar`] and [`PspinCtrlRegs`].
//! - **Events** become messages for interrupts; see [`EventLines`] and [`SpinneretEvents`].
//! - **Reset of the cluster** (`cl.ctrl[1]`, or a stopped clock) discards all traffic to and from the cluster, and nothing
//!   else: unmatched frames, frames of the host and registers continue, and complete frames still leave. Matched packets are
//!   dropped and counted while it lasts. Counters continue. Contexts are taken again while `her.valid` is 1; while it is 0
//!   there are none.
//! - **Reset** (`rst`) is the core's: everything is reset, including the cluster.
//! - **Names** of ports are those of `mqnic_app_block` and of `pspin_wrap`, the latter without `_i` and `_o`.

use super::lines::EventLines;
use super::{AppShape, ClusterLink, STDOUT_BITS, StatisticsOut, StatisticsReporter};
use crate::COUNTER_WIDTH;
use crate::axi::{AxiMaster, AxiShape, AxiTarget, PSPIN};
use crate::bar::SpinneretBar;
use crate::egress::CommandIn;
use crate::egress::PspinEgressDatapath;
use crate::egress::tx_inject::{CompletionIn, CompletionOut, PspinTxInject};
use crate::entry::{ParameterError, Values};
use crate::events::{MessageOut, SpinneretEvents};
use crate::hostdma::psdpram::SpinneretPsdpram;
use crate::hostdma::{CorundumRam, PspinHostmemDma, ReadDescOut, StatusIn, WriteDescOut};
use crate::ingress::datapath::PspinIngressDatapath;
use crate::ingress::her_gen::{FeedbackIn, HerOut};
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

/// All logic between Corundum and the cluster.
#[hardware(
    values: &Values,
    error = ParameterError,
    shape = AppShape::new(values)?,
    host = shape.host,
    inject = shape.inject,
    egress = shape.egress,
    her = shape.ingress.her,
    slave = shape.wrap_axi(),
    command = egress.command_id(),
    events = shape.events,
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
    pub s_axil_app_ctrl: AxiTarget<{ AxiShape::lite(BAR_ADDRESS_BITS, COUNTER_WIDTH) }>,
    /// Descriptors of reads from host memory.
    pub m_axis_data_dma_read_desc: ReadDescOut<{ host }>,
    /// Their statuses.
    pub s_axis_data_dma_read_desc_status: StatusIn<{ host.tag }>,
    /// Descriptors of writes to host memory.
    pub m_axis_data_dma_write_desc: WriteDescOut<{ host }>,
    /// Their statuses.
    pub s_axis_data_dma_write_desc_status: StatusIn<{ host.tag }>,
    /// The RAM for data from host memory, written by Corundum.
    pub data_dma_ram: CorundumRam<{ shape.ram.ports() }>,
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
    /// Messages for interrupts: the number of a line each.
    pub m_axis_irq: MessageOut<{ address_width(events.lines) }>,
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
    pub ni_slave: Called<AxiMaster<{ slave }>, { PSPIN }>,
    /// Frames out of L2 and L1.
    pub no_slave: Called<AxiMaster<{ slave }>, { PSPIN }>,
    /// Accesses of the host.
    pub host_slave: Called<AxiMaster<{ slave }>, { PSPIN }>,
    /// Accesses to host memory.
    pub host_master: Called<AxiTarget<{ shape.to_host_axi() }>, { PSPIN }>,
    /// HERs.
    pub her: HerOut<{ her.address }, { her.host_address }, { her.message_id }>,
    /// Packets that are done with.
    pub feedback: FeedbackIn<{ her.address }, { her.address }, { her.message_id }>,
    /// Commands.
    pub nic_cmd_req: CommandIn<{ command }, { egress.source }, { egress.address }>,
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
    /// RAM that Corundum reads, for writes to host memory.
    write_ram: SpinneretPsdpram<{ shape.ram }>,
    /// RAM that Corundum writes, for reads from host memory.
    read_ram: SpinneretPsdpram<{ shape.ram }>,
    statistics: StatisticsReporter<{ COUNTER_WORDS }, { LEVELS }, { shape.own.first_statistic }>,
    lines: EventLines<{ shape.own.first_statistic }>,
    events: SpinneretEvents<{ events }>,
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
        clocked!(self.clk, self.rst => self.regs, self.statistics, self.link, self.lines,
            self.events);
        connect!(self => self.bar; clk, rstn);
        connect!(self => self.ingress; clk, rstn);
        connect!(self => self.egress; clk, rstn);
        connect!(self => self.inject; clk, rstn);
        self.host.clk.next = self.clk.val();
        self.host.rstn.next = self.cluster_path_rstn.val();
        self.host.dma_rstn.next = self.rstn.val();
        connect!(self => self.write_ram; clk, rstn);
        connect!(self => self.read_ram; clk, rstn);

        /// The BAR: registers, and the cluster's memory.
        connect!(self.s_axil_app_ctrl => self.bar.s_axil);
        connect!(self.bar.m_axil => self.regs.s_axil);
        connect!(self.bar.m_axi => self.link.host);
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
        connect!(self.regs => self.ingress;
            match_valid, match_mode, match_idx, match_mask, match_start, match_end, match_relative,
            her_gen_valid, her_gen_ctx_enabled);
        connect!(self.regs.her_gen => self.ingress.her_gen);
        self.host.guard.open.next = !self.regs.guard_enforce.val();
        self.host.guard.by_context.next = self.regs.guard_by_context.val();
        self.host.guard.enabled.next = self.regs.guard_enabled.val();
        self.host.guard.base.next = self.regs.guard_base.val();
        self.host.guard.size.next = self.regs.guard_size.val();

        /// From the wire to the cluster.
        connect!(self.s_axis_if_rx => self.ingress.s_axis_nic_rx);
        connect!(self.ingress.m_axis_nic_rx => self.m_axis_if_rx);
        self.ingress.cluster_held.next = self.held.val();
        connect!(self.ingress.m_axi_pspin_ni => self.link.ni);
        self.link.hers.data.next = self.ingress.her.pack();
        connect!(self.ingress.her => self.link.hers; valid, ready);
        self.ingress.feedback.unpack(self.link.frees.data.val());
        connect!(self.link.frees => self.ingress.feedback; valid, ready);

        /// From the cluster to the wire.
        self.egress.cluster_held.next = self.held.val();
        self.egress.egress_dma_error_clear.next = self.regs.error_clear.val();
        connect!(self.egress.m_axi_pspin_no => self.link.no);
        self.egress.nic_cmd_req.unpack(self.link.commands.data.val());
        connect!(self.link.commands => self.egress.nic_cmd_req; valid, ready);
        self.link.responses.data.next = self.egress.nic_cmd_resp_id.val();
        self.link.responses.valid.next = self.egress.nic_cmd_resp_valid.val();
        self.regs.egress_dma_last_error.next = self.egress.egress_dma_last_error.val();
        connect!(self.egress.m_axis_nic_tx => self.inject.s_axis_pspin_tx);
        connect!(self.s_axis_if_tx => self.inject.s_axis_nic_tx);
        connect!(self.inject.m_axis_nic_tx => self.m_axis_if_tx);
        connect!(self.s_axis_if_tx_cpl => self.inject.s_axis_tx_cpl);
        connect!(self.inject.m_axis_tx_cpl => self.m_axis_if_tx_cpl);

        /// Host memory.
        connect!(self.link.host_dma => self.host.s_axi);
        connect!(self.host.m_axis_read_desc => self.m_axis_data_dma_read_desc);
        connect!(self.s_axis_data_dma_read_desc_status => self.host.s_axis_read_desc_status);
        connect!(self.host.m_axis_write_desc => self.m_axis_data_dma_write_desc);
        connect!(self.s_axis_data_dma_write_desc_status => self.host.s_axis_write_desc_status);
        /// Data on its way to the host, and from it.
        connect!(self.host.ram_wr => self.write_ram.ram_wr);
        connect!(self.data_dma_ram.rd => self.write_ram.ram_rd);
        connect!(self.data_dma_ram.wr => self.read_ram.ram_wr);
        connect!(self.host.ram_rd => self.read_ram.ram_rd);

        /// Counters in the order of the register table; one without a driver is an error.
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
        connect!(self.statistics.m_axis_stat => self.m_axis_stat);

        /// Events.
        self.lines.arrived.next = self.host.wr_arrived_o.val();
        self.lines.asker.next = self.host.wr_arrived_context_o.val();
        self.lines.by_context.next = self.regs.guard_by_context.val();
        self.lines.stdout_valid.next = self.link.stdout.valid.val();
        self.lines.reported.next = self.statistics.m_axis_stat.tvalid.val() && self.m_axis_stat.tready.val();
        self.lines.statistic.next = self.statistics.m_axis_stat.tid.val();
        self.events.happened.next = self.lines.happened.val();
        self.events.clear.next = self.regs.events_clear.val();
        self.events.enable.next = self.regs.events_enable.val();
        self.events.moderation.next = self.regs.events_moderation.val();
        self.regs.events_pending.next = self.events.pending.val();
        self.regs.events_sent.next = self.events.sent.val();
        connect!(self.events.m_axis_irq => self.m_axis_irq);

        /// The cluster's side.
        connect!(self => self.link;
            cluster_clk, cluster_running, cluster_rstn, cl_fetch_en, cl_eoc, cl_busy, mpq_full);
        connect!(self.link.ni_slave => self.ni_slave);
        connect!(self.link.no_slave => self.no_slave);
        connect!(self.link.host_slave => self.host_slave);
        connect!(self.host_master => self.link.host_master);
        connect!(self.link.her => self.her);
        connect!(self.feedback => self.link.feedback);
        connect!(self.nic_cmd_req => self.link.nic_cmd_req);
        connect!(self.link => self;
            nic_cmd_resp_valid, nic_cmd_resp_id, stdout_rd_en, stdout_dout, stdout_data_valid);
    }
}
