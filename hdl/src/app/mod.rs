//! The application: what Corundum and PsPIN are joined by.
//!
//! ```text
//!  mqnic_app_block (text from a table, corundum/)
//!  +------------------------------------------------------------------------------+
//!  |  SpinneretApp, core's clock                             cluster's clock      |
//!  |  BAR --> SpinneretBar --> PspinCtrlRegs ==LevelSync, LinkReset==> cl_*       |
//!  |               |                   ^=======AsyncFifo============== stdout_*   |
//!  |               +===========================AxiCrossing===========> host_slave |
//!  |  if_rx 0 --> PspinIngressDatapath ========AxiCrossing===========> ni_slave   |   pspin_wrap, or
//!  |                |    ^=====================2 AsyncFifo===========> her, free  |   the stand-in
//!  |  if_rx 0 <-- PspinRxInject <--+                                              |
//!  |  if_tx 0 <-- PspinTxInject <- PspinEgress ==AxiCrossing=========> no_slave   |
//!  |                                    ^======2 AsyncFifo============ commands   |
//!  |  DMA <----- SpinneretPsdpram, PspinHostmemDma <==AxiCrossing== host_master   |
//!  |  stat <---- StatisticsReporter                                               |
//!  |  irq <----- SpinneretEvents <- EventLines                                    |
//!  +------------------------------------------------------------------------------+
//! ```
//!
//! # Contract
//! - **Interface 0**: frames that match a rule go to the cluster, all others pass; see
//!   [`PspinIngressDatapath`]. Frames that handlers pass join the latter; see [`PspinRxInject`]. Frames of the cluster join those
//!   of the host; see [`PspinTxInject`].
//! - **BAR**: cluster memory and control registers; see [`SpinneretBar`] and [`PspinCtrlRegs`].
//! - **Events** become messages for interrupts; see [`EventLines`] and [`SpinneretEvents`].
//! - **Reset of the cluster** (`cl.ctrl[1]`, or a stopped clock) discards all traffic to and from the cluster, and nothing
//!   else: unmatched frames, frames of the host and registers continue, and complete frames still leave. Matched packets are
//!   dropped and counted while it lasts. Counters continue. Contexts are taken again while `her.valid` is 1; while it is 0
//!   there are none.
//!   Elements on their way between the clocks are discarded on both sides at once.
//! - **Reset** (`rst`) is the core's: everything is reset, including the cluster.
//! - **Names** of ports are those of `mqnic_app_block` and of `pspin_wrap`, the latter without `_i` and `_o`.

pub mod corundum;
mod lines;
mod shape;
mod sources;
mod statistics;
pub mod stub;

pub use lines::EventLines;
pub use shape::{AppParameters, AppShape};
pub use sources::{
    APP_INSTANCE, AppError, AppOptions, AppSources, Cluster, SourceFile, TOP, design, sources,
};
pub use statistics::{ID_BITS, INCREMENT_BITS, ReporterShape, StatisticsOut, StatisticsReporter};
pub(crate) use statistics::{REPORTER_ENTRY, SIMULATED};

use crate::COUNTER_WIDTH;
use crate::axi::{AxiMaster, AxiShape, AxiTarget, AxiUpsizer, PSPIN};
use crate::bar::SpinneretBar;
use crate::cdc::{AsyncFifo, AxiCrossing, LevelSync, LinkReset};
use crate::egress::rx_inject::PspinRxInject;
use crate::egress::tx_inject::{CompletionIn, CompletionOut, PspinTxInject};
use crate::egress::{CommandIn, CommandOut, PspinEgressDatapath};
use crate::entry::{Entry, ParameterError, Parameters as _, Values};
use crate::events::{MessageOut, SpinneretEvents};
use crate::hostdma::psdpram::SpinneretPsdpram;
use crate::hostdma::{CorundumRam, PspinHostmemDma, ReadDescOut, StatusIn, WriteDescOut};
use crate::ingress::datapath::PspinIngressDatapath;
use crate::ingress::her_gen::{FeedbackIn, FeedbackOut, HerOut};
use crate::regs::PspinCtrlRegs;
use crate::stream::{AxisIn, AxisOut};
use spinneret_regmap::COUNTER_WORDS;
use spinneret_verilog::prelude::*;

/// The application in the catalog.
pub(crate) const ENTRY: Entry = Entry::part(
    AppParameters::BLOCK,
    "the application: everything between Corundum's interface 0 and the cluster",
    AppParameters::parameters,
    |values| Ok(Box::new(SpinneretApp::new(values)?)),
);

/// Width of an address in the BAR.
const BAR_ADDRESS_BITS: usize = 24;
/// Flags for message processing queues in the registers.
const QUEUE_FLAGS: usize = 16;
/// Width of a word of the handlers' standard output.
const STDOUT_BITS: usize = 32;

/// All logic between Corundum and the cluster.
#[module(
    values: &Values,
    error = ParameterError,
    shape: AppShape = AppShape::new(values)?,
    host = shape.host,
    inject = shape.inject,
    egress = shape.egress,
    her = shape.ingress.her,
    slave = shape.wrap_axi(),
    command = egress.command_id(),
    events = shape.events,
    axi = shape.cluster_axi(),
    clusters: usize = shape.own.clusters,
    queues: usize = shape.own.queues,
    burst = shape.own.burst_places,
    word = shape.own.word_places,
    her_width = HerOut::place(her.address, her.host_address, her.message_id).width,
    free_width = FeedbackOut::place(her.address, her.address, her.message_id).width,
    command_width = CommandOut::place(command, egress.source, egress.address).width,
)]
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
    pub cl_fetch_en: Wire<Out, { clusters }>,
    /// End of computation of each cluster.
    pub cl_eoc: Wire<In, { clusters }>,
    /// Busy of each cluster.
    pub cl_busy: Wire<In, { clusters }>,
    /// Message processing queues that are full.
    pub mpq_full: Wire<In, { queues }>,
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
    bar: Heaped<SpinneretBar<{ shape.bar }>>,
    regs: Heaped<PspinCtrlRegs<{ shape.registers()? }>>,
    ingress: Heaped<Checked<PspinIngressDatapath<{ shape.ingress }>>>,
    egress: Heaped<Checked<PspinEgressDatapath<{ egress }>>>,
    inject: Heaped<Checked<PspinTxInject<{ inject }>>>,
    rx_inject: Heaped<Checked<PspinRxInject<{ shape.ingress.matcher.axis() }>>>,
    host: Heaped<Checked<PspinHostmemDma<{ host }>>>,
    /// RAM that Corundum reads, for writes to host memory.
    write_ram: SpinneretPsdpram<{ shape.ram }>,
    /// RAM that Corundum writes, for reads from host memory.
    read_ram: SpinneretPsdpram<{ shape.ram }>,
    statistics: StatisticsReporter<{ shape.statistics() }>,
    lines: EventLines<{ shape.own.first_statistic }>,
    events: SpinneretEvents<{ events }>,
    running_sync: LevelSync<1>,
    reset: LinkReset,
    fetch_sync: LevelSync<{ clusters }>,
    state_sync: LevelSync<{ 2 * clusters + queues }>,
    /// The packets' beats, if they are narrower than the cluster's.
    ni_upsizer: Optional<Checked<AxiUpsizer<{ shape.upsizer() }>>, { shape.is_narrow() }>,
    no_upsizer: Optional<Checked<AxiUpsizer<{ shape.upsizer() }>>, { shape.is_narrow() }>,
    ni_crossing: Checked<AxiCrossing<{ axi }, { burst }>>,
    no_crossing: Checked<AxiCrossing<{ axi }, { burst }>>,
    host_crossing: Checked<AxiCrossing<{ axi }, { word }>>,
    host_dma_crossing: Checked<AxiCrossing<{ shape.host_axi() }, { burst }>>,
    her_fifo: Checked<AsyncFifo<{ her_width }, { word }>>,
    free_fifo: Checked<AsyncFifo<{ free_width }, { word }>>,
    command_fifo: Checked<AsyncFifo<{ command_width }, { word }>>,
    /// With a place for every id that a command can have.
    response_fifo: Checked<AsyncFifo<{ command }, { 1 << command }>>,
    stdout_fifo: Checked<AsyncFifo<{ STDOUT_BITS }, { burst }>>,
}

#[kernel(
    SpinneretApp {
        clk, rst, cluster_clk, cluster_running, s_axil_app_ctrl, m_axis_data_dma_read_desc,
        s_axis_data_dma_read_desc_status, m_axis_data_dma_write_desc, s_axis_data_dma_write_desc_status, data_dma_ram,
        s_axis_if_tx, m_axis_if_tx, s_axis_if_tx_cpl, m_axis_if_tx_cpl, s_axis_if_rx, m_axis_if_rx, m_axis_stat,
        m_axis_irq, cluster_rstn, cl_fetch_en, cl_eoc, cl_busy, mpq_full, ni_slave, no_slave, host_slave, host_master,
        her, feedback, nic_cmd_req, nic_cmd_resp_valid, nic_cmd_resp_id, stdout_rd_en, stdout_dout, stdout_data_valid,
        bar, regs, ingress, egress, inject, rx_inject, host, write_ram, read_ram, statistics, lines, events, running_sync, reset,
        fetch_sync, state_sync, ni_upsizer, no_upsizer, ni_crossing, no_crossing, host_crossing, host_dma_crossing, her_fifo, free_fifo,
        command_fifo, response_fifo, stdout_fifo, shape, clusters, queues
    },
)]
fn update() {
    let rstn = !rst;
    for part in [
        bar.rstn,
        ingress.rstn,
        egress.rstn,
        inject.rstn,
        rx_inject.rstn,
        *host.dma_rstn,
        write_ram.rstn,
        read_ram.rstn,
    ] {
        part = rstn;
    }
    /// Resets: the cluster has none but ours, and without a clock it is as good as in reset.
    running_sync.d = cluster_running.word();
    let running = running_sync.q[0];
    reset.near_clk = clk;
    reset.near_rst = rst;
    reset.request = regs.aux_rst_o || !running;
    reset.far_clk = cluster_clk;
    cluster_rstn = !reset.far_rst;
    let held = reset.near_link_rst;
    host.rstn = rstn && !held;
    for part in [
        bar.cluster_held,
        *regs.cluster_held,
        *ingress.cluster_held,
        *egress.cluster_held,
    ] {
        part = held;
    }

    /// The BAR: registers, and the cluster's memory.
    bar.s_axil = s_axil_app_ctrl;
    regs.s_axil = bar.m_axil;
    host_crossing.s = bar.m_axi;
    host_slave = host_crossing.m;

    // Sides of what crosses to the cluster, and of what comes from it.
    let (near, far) = ((clk, held), (cluster_clk, reset.far_rst));
    for crossing in [&ni_crossing, &no_crossing, &host_crossing] {
        (crossing.s_clk, crossing.s_rst) = near;
        (crossing.m_clk, crossing.m_rst) = far;
    }
    for fifo in [&her_fifo, &response_fifo] {
        (fifo.s_clk, fifo.s_rst) = near;
        (fifo.m_clk, fifo.m_rst) = far;
    }
    (host_dma_crossing.s_clk, host_dma_crossing.s_rst) = far;
    (host_dma_crossing.m_clk, host_dma_crossing.m_rst) = near;
    for fifo in [&free_fifo, &command_fifo, &stdout_fifo] {
        (fifo.s_clk, fifo.s_rst) = far;
        (fifo.m_clk, fifo.m_rst) = near;
    }

    /// Control of the cluster.
    *regs.cluster_running = running;
    fetch_sync.clk = cluster_clk;
    fetch_sync.d = regs.cl_fetch_en_o;
    cl_fetch_en = fetch_sync.q;
    state_sync.d = cat!(mpq_full, cl_busy, cl_eoc);
    (regs.cl_eoc_i, regs.cl_busy_i) = state_sync.q[0..2 * clusters].split_at(clusters);
    regs.mpq_full_i = state_sync.q.slice(2 * clusters, queues).resize(QUEUE_FLAGS);
    /// Standard output.
    stdout_fifo.s.data = stdout_dout;
    stdout_fifo.s.valid = stdout_data_valid;
    stdout_rd_en = stdout_data_valid && stdout_fifo.s.ready;
    regs.stdout_dout = stdout_fifo.m.data;
    regs.stdout_data_valid = stdout_fifo.m.valid;
    stdout_fifo.m.ready = regs.stdout_rd_en;

    /// Rules and contexts.
    ingress.match_valid = regs.match_valid;
    ingress.match_mode = regs.match_mode;
    ingress.match_idx = regs.match_idx;
    ingress.match_mask = regs.match_mask;
    ingress.match_start = regs.match_start;
    ingress.match_end = regs.match_end;
    ingress.match_relative = regs.match_relative;
    ingress.her_gen_valid = regs.her_gen_valid;
    ingress.her_gen_ctx_enabled = regs.her_gen_ctx_enabled;
    ingress.her_gen = regs.her_gen;
    *ingress.slot_bound = *regs.slot_bound;
    *regs.slots_used = *ingress.slots_used_o;
    host.guard.open = !*regs.guard_enforce;
    host.guard.by_context = *regs.guard_by_context;
    host.guard.enabled = *regs.guard_enabled;
    host.guard.base = *regs.guard_base;
    host.guard.size = *regs.guard_size;

    /// From the wire to the cluster.
    ingress.s_axis_nic_rx = s_axis_if_rx;
    rx_inject.s_axis_nic_rx = ingress.m_axis_nic_rx;
    rx_inject.s_axis_pspin_rx = *egress.m_axis_nic_rx;
    m_axis_if_rx = rx_inject.m_axis_nic_rx;
    *egress.packet = *ingress.packet;
    if shape.is_narrow() {
        ni_upsizer.rst = held;
        ni_upsizer.s = ingress.m_axi_pspin_ni;
        ni_crossing.s = ni_upsizer.m;
    } else {
        ni_crossing.s = ingress.m_axi_pspin_ni;
    }
    ni_slave = ni_crossing.m;
    /// HERs, and packets that are done with.
    her_fifo.s.data = ingress.her.pack();
    her_fifo.s.valid = ingress.her.valid;
    ingress.her.ready = her_fifo.s.ready;
    her.unpack(her_fifo.m.data);
    her.valid = her_fifo.m.valid;
    her_fifo.m.ready = her.ready;
    free_fifo.s.data = feedback.pack();
    free_fifo.s.valid = feedback.valid;
    feedback.ready = free_fifo.s.ready;
    ingress.feedback.unpack(free_fifo.m.data);
    ingress.feedback.valid = free_fifo.m.valid;
    free_fifo.m.ready = ingress.feedback.ready;

    /// Commands and their responses; the cluster has a place for each of its commands.
    command_fifo.s.data = nic_cmd_req.pack();
    command_fifo.s.valid = nic_cmd_req.valid;
    nic_cmd_req.ready = command_fifo.s.ready;
    egress.nic_cmd_req.unpack(command_fifo.m.data);
    egress.nic_cmd_req.valid = command_fifo.m.valid;
    command_fifo.m.ready = egress.nic_cmd_req.ready;
    response_fifo.s.data = egress.nic_cmd_resp_id;
    response_fifo.s.valid = egress.nic_cmd_resp_valid;
    nic_cmd_resp_id = response_fifo.m.data;
    nic_cmd_resp_valid = response_fifo.m.valid;
    response_fifo.m.ready = true;
    /// From the cluster to the wire.
    *egress.egress_dma_error_clear = *regs.error_clear;
    regs.egress_dma_last_error = egress.egress_dma_last_error;
    if shape.is_narrow() {
        no_upsizer.rst = held;
        no_upsizer.s = egress.m_axi_pspin_no;
        no_crossing.s = no_upsizer.m;
    } else {
        no_crossing.s = egress.m_axi_pspin_no;
    }
    no_slave = no_crossing.m;
    inject.s_axis_pspin_tx = egress.m_axis_nic_tx;
    inject.s_axis_nic_tx = s_axis_if_tx;
    m_axis_if_tx = inject.m_axis_nic_tx;
    inject.s_axis_tx_cpl = s_axis_if_tx_cpl;
    m_axis_if_tx_cpl = inject.m_axis_tx_cpl;

    /// Host memory.
    host_dma_crossing.s = host_master;
    host.s_axi = host_dma_crossing.m;
    m_axis_data_dma_read_desc = host.m_axis_read_desc;
    host.s_axis_read_desc_status = s_axis_data_dma_read_desc_status;
    m_axis_data_dma_write_desc = host.m_axis_write_desc;
    host.s_axis_write_desc_status = s_axis_data_dma_write_desc_status;
    /// Data on its way to the host, and from it.
    write_ram.ram_wr = host.ram_wr;
    write_ram.ram_rd = data_dma_ram.rd;
    read_ram.ram_wr = data_dma_ram.wr;
    read_ram.ram_rd = host.ram_rd;

    let drivers = [
        ("ingress.matched", ingress.matched_pkts_o),
        ("ingress.bypassed", ingress.bypassed_pkts_o),
        ("ingress.hers", ingress.her_pkts_o),
        ("ingress.dropped_overload", ingress.dropped_overload_o),
        ("ingress.dropped_no_slot", ingress.dropped_no_slot_o),
        ("ingress.dropped_oversize", ingress.dropped_oversize_o),
        ("ingress.dropped_bad_frame", ingress.dropped_bad_frame_o),
        ("ingress.dropped_write_error", ingress.dropped_write_error_o),
        ("ingress.dropped_no_context", ingress.dropped_no_context_o),
        ("ingress.dropped_reset", *ingress.dropped_reset_o),
        ("ingress.refused_no_start", ingress.refused_no_start_o),
        ("ingress.refused_not_out", ingress.refused_not_out_o),
        ("ingress.refused_early", ingress.refused_early_o),
        ("ingress.dropped_bound", *ingress.dropped_bound_o),
        ("ingress.large_used", ingress.large_used_o),
        ("ingress.large_peak", ingress.large_peak_o),
        ("ingress.small_used", ingress.small_used_o),
        ("ingress.small_peak", ingress.small_peak_o),
        ("egress.frames", egress.egress_frames_o),
        ("egress.read_errors", egress.egress_read_error_o),
        ("egress.refused", egress.egress_refused_o),
        ("egress.passed", *egress.egress_passed_o),
        ("egress.dropped_reset", *egress.egress_dropped_reset_o),
        ("egress.completions", inject.tx_cpl_ours_o),
        ("egress.tag_conflicts", inject.tx_host_tag_conflict_o),
        ("host_write.bursts", host.wr_bursts_o),
        ("host_write.refused", host.wr_refused_o),
        ("host_write.outside", host.wr_outside_o),
        ("host_write.stray_status", host.wr_stray_status_o),
        ("host_write.errors", host.wr_dma_errors_o),
        ("host_read.bursts", host.rd_bursts_o),
        ("host_read.refused", host.rd_refused_o),
        ("host_read.outside", host.rd_outside_o),
        ("host_read.stray_status", host.rd_stray_status_o),
        ("host_read.errors", host.rd_dma_errors_o),
        ("bar.outside", bar.outside_o),
        ("bar.held", bar.held_o),
        ("bar.timeouts", bar.timeout_o),
        ("bar.errors", bar.errors_o),
    ];
    let counters = wire(COUNTER_WORDS * COUNTER_WIDTH);
    let mut low = 0;
    /// Counters in the order of the register table; one without a driver is an error.
    for counter in spinneret_regmap::counters() {
        let name = format!("{}.{}", counter.group, counter.name);
        for (_, value) in drivers.iter().filter(|(own, _)| *own == name) {
            counters.slice(low, value.width()) = *value;
        }
        low += counter.count as usize * COUNTER_WIDTH;
    }
    *regs.counters = counters;
    regs.alloc_dropped_pkts = ingress.alloc_dropped_pkts;
    statistics.counters = counters;
    m_axis_stat = statistics.m_axis_stat;

    /// Events.
    lines.arrived = *host.wr_arrived_o;
    lines.asker = *host.wr_arrived_context_o;
    lines.by_context = *regs.guard_by_context;
    lines.stdout_valid = stdout_fifo.m.valid;
    lines.reported = statistics.m_axis_stat.tvalid && m_axis_stat.tready;
    lines.statistic = statistics.m_axis_stat.tid;
    events.happened = lines.happened;
    events.clear = *regs.events_clear;
    events.enable = *regs.events_enable;
    events.moderation = *regs.events_moderation;
    *regs.events_pending = events.pending;
    *regs.events_sent = events.sent;
    m_axis_irq = events.m_axis_irq;
}
