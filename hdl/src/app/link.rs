//! The border between the core's clock and the cluster's.

use super::AppShape;
use crate::axi::{AxiMaster, AxiTarget, PSPIN};
use crate::cdc::{AsyncFifo, AxiCrossing, LevelSync, LinkReset};
use crate::egress::{CommandIn, CommandOut};
use crate::entry::ParameterError;
use crate::ingress::her_gen::{FeedbackIn, FeedbackOut, HerOut};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Width of a word of the handlers' standard output.
pub const STDOUT_BITS: usize = 32;

/// Everything that crosses between the core and the cluster.
///
/// ```text
///   core's clock          |          cluster's clock
///   ni, no, host =====AxiCrossing====> ni_slave, no_slave, host_slave
///   host_dma <========AxiCrossing===== host_master
///   hers =============AsyncFifo======> her
///   frees <===========AsyncFifo======= feedback
///   commands <========AsyncFifo======= nic_cmd_req
///   responses ========AsyncFifo======> nic_cmd_resp
///   stdout <==========AsyncFifo======= stdout_*
///   fetch, states ====LevelSync======> cl_*, mpq_full
///   request, held ====LinkReset======> cluster_rstn
/// ```
///
/// While the cluster is held in reset, `held` is 1 and nothing crosses. Elements in flight are discarded on both
/// sides at once.
#[module(
    shape: AppShape,
    error = ParameterError,
    axi = shape.cluster_axi(),
    host = shape.host_axi(),
    her = shape.ingress.her,
    clusters = shape.own.clusters,
    queues = shape.own.queues,
    command = shape.egress.command_id(),
    slave = shape.wrap_axi(),
    burst = shape.own.burst_places,
    word = shape.own.word_places,
    her_width = HerOut::place(her.address, her.host_address, her.message_id).width,
    free_width = FeedbackOut::place(her.address, her.address, her.message_id).width,
    command_width = CommandOut::place(command, shape.egress.source, shape.egress.address).width,
)]
pub struct ClusterLink {
    /// The core's clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset of the core.
    pub rst: Wire<In, bool>,
    /// The cluster is to be held in reset.
    pub request: Wire<In, bool>,
    /// It is, or the link to it is.
    pub held: Wire<Out, bool>,
    /// The cluster's clock is running, in the core's clock.
    pub running: Wire<Out, bool>,
    /// Fetch enable of each cluster.
    pub fetch_enable: Wire<In, { clusters }>,
    /// End of computation of each cluster.
    pub eoc: Wire<Out, { clusters }>,
    /// Busy of each cluster.
    pub busy: Wire<Out, { clusters }>,
    /// Message processing queues that are full.
    pub queues_full: Wire<Out, { queues }>,
    /// Packets for L2.
    pub ni: AxiTarget<{ axi }>,
    /// Frames out of L2 or L1.
    pub no: AxiTarget<{ axi }>,
    /// Accesses of the host.
    pub host: AxiTarget<{ axi }>,
    /// Accesses of the cluster to host memory.
    pub host_dma: AxiMaster<{ host }>,
    /// HERs, packed.
    pub hers: StreamIn<{ her_width }>,
    /// Packets that are done with, packed.
    pub frees: StreamOut<{ free_width }>,
    /// Commands, packed.
    pub commands: StreamOut<{ command_width }>,
    /// Ids of commands that are done; always ready, as the cluster has a place for each of its commands.
    pub responses: StreamIn<{ command }>,
    /// Words of the handlers' standard output.
    pub stdout: StreamOut<{ STDOUT_BITS }>,
    /// The cluster's clock.
    pub cluster_clk: Signal<In, Clock>,
    /// Its clock is running; belongs to no clock.
    pub cluster_running: Wire<In, bool>,
    /// Its reset, active low.
    pub cluster_rstn: Wire<Out, bool>,
    /// The cluster's side of `fetch_enable`.
    pub cl_fetch_en: Wire<Out, { clusters }>,
    /// Of `eoc`.
    pub cl_eoc: Wire<In, { clusters }>,
    /// Of `busy`.
    pub cl_busy: Wire<In, { clusters }>,
    /// Of `queues_full`.
    pub mpq_full: Wire<In, { queues }>,
    /// Of `ni`.
    pub ni_slave: Called<AxiMaster<{ slave }>, { PSPIN }>,
    /// Of `no`.
    pub no_slave: Called<AxiMaster<{ slave }>, { PSPIN }>,
    /// Of `host`.
    pub host_slave: Called<AxiMaster<{ slave }>, { PSPIN }>,
    /// Of `host_dma`.
    pub host_master: Called<AxiTarget<{ shape.to_host_axi() }>, { PSPIN }>,
    /// The cluster's side of `hers`.
    pub her: HerOut<{ her.address }, { her.host_address }, { her.message_id }>,
    /// Of `frees`.
    pub feedback: FeedbackIn<{ her.address }, { her.address }, { her.message_id }>,
    /// Of `commands`.
    pub nic_cmd_req: CommandIn<{ command }, { shape.egress.source }, { shape.egress.address }>,
    /// A command is done.
    pub nic_cmd_resp_valid: Wire<Out, bool>,
    /// Its id.
    pub nic_cmd_resp_id: Wire<Out, { command }>,
    /// The word at `stdout_dout` is taken.
    pub stdout_rd_en: Wire<Out, bool>,
    /// The oldest word of standard output.
    pub stdout_dout: Wire<In, { STDOUT_BITS }>,
    /// It is there.
    pub stdout_data_valid: Wire<In, bool>,
    running_sync: LevelSync<1>,
    reset: LinkReset,
    fetch_sync: LevelSync<{ clusters }>,
    state_sync: LevelSync<{ 2 * clusters + queues }>,
    ni_crossing: Checked<AxiCrossing<{ axi }, { burst }>>,
    no_crossing: Checked<AxiCrossing<{ axi }, { burst }>>,
    host_crossing: Checked<AxiCrossing<{ axi }, { word }>>,
    host_dma_crossing: Checked<AxiCrossing<{ host }, { burst }>>,
    her_fifo: Checked<AsyncFifo<{ her_width }, { word }>>,
    free_fifo: Checked<AsyncFifo<{ free_width }, { word }>>,
    command_fifo: Checked<AsyncFifo<{ command_width }, { word }>>,
    /// With a place for every id that a command can have.
    response_fifo: Checked<AsyncFifo<{ command }, { 1 << command }>>,
    stdout_fifo: Checked<AsyncFifo<{ STDOUT_BITS }, { burst }>>,
}

#[kernel(
    ClusterLink {
        clk, rst, request, held, running, fetch_enable, eoc, busy, queues_full, ni, no, host, host_dma, hers, frees,
        commands, responses, stdout, cluster_clk, cluster_running, cluster_rstn, cl_fetch_en, cl_eoc, cl_busy, mpq_full,
        ni_slave, no_slave, host_slave, host_master, her, feedback, nic_cmd_req, nic_cmd_resp_valid, nic_cmd_resp_id,
        stdout_rd_en, stdout_dout, stdout_data_valid, running_sync, reset, fetch_sync, state_sync, ni_crossing,
        no_crossing, host_crossing, host_dma_crossing, her_fifo, free_fifo, command_fifo, response_fifo, stdout_fifo,
        shape
    },
)]
fn update() {
    /// Resets: the cluster has none but ours, and without a clock it is as good as in reset.
    running_sync.d = cluster_running.word();
    running = running_sync.q[0];
    reset.near_clk = clk;
    reset.near_rst = rst;
    reset.request = request || !running_sync.q[0];
    reset.far_clk = cluster_clk;
    held = reset.near_link_rst;
    cluster_rstn = !reset.far_rst;
    /// Levels.
    fetch_sync.clk = cluster_clk;
    fetch_sync.d = fetch_enable;
    cl_fetch_en = fetch_sync.q;
    state_sync.d = cat!(mpq_full, cl_busy, cl_eoc);
    let clusters = shape.own.clusters;
    (eoc, busy) = state_sync.q[0..2 * clusters].split_at(clusters);
    queues_full = state_sync.q.slice(2 * clusters, shape.own.queues);
    // Sides of what crosses towards the cluster, and of what comes from it.
    let (near, far) = ((clk, reset.near_link_rst), (cluster_clk, reset.far_rst));
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
    /// AXI towards the cluster.
    ni_crossing.s = ni;
    ni_slave = ni_crossing.m;
    no_crossing.s = no;
    no_slave = no_crossing.m;
    host_crossing.s = host;
    host_slave = host_crossing.m;
    /// AXI from the cluster.
    host_dma_crossing.s = host_master;
    host_dma = host_dma_crossing.m;
    /// HERs.
    her_fifo.s = hers;
    her.unpack(her_fifo.m.data);
    her.valid = her_fifo.m.valid;
    her_fifo.m.ready = her.ready;
    /// Packets that are done with.
    free_fifo.s.data = feedback.pack();
    free_fifo.s.valid = feedback.valid;
    feedback.ready = free_fifo.s.ready;
    frees = free_fifo.m;
    /// Commands and their responses.
    command_fifo.s.data = nic_cmd_req.pack();
    command_fifo.s.valid = nic_cmd_req.valid;
    nic_cmd_req.ready = command_fifo.s.ready;
    commands = command_fifo.m;
    response_fifo.s = responses;
    nic_cmd_resp_valid = response_fifo.m.valid;
    nic_cmd_resp_id = response_fifo.m.data;
    response_fifo.m.ready = true;
    /// Standard output.
    stdout_fifo.s.data = stdout_dout;
    stdout_fifo.s.valid = stdout_data_valid;
    stdout_rd_en = stdout_data_valid && stdout_fifo.s.ready;
    stdout = stdout_fifo.m;
}
