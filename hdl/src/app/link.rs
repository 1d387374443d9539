//! The border between the core's clock and the cluster's.

use super::AppShape;
use crate::axi::{AxiMaster, AxiTarget, PSPIN};
use crate::cdc::{AsyncFifo, AxiCrossing, LevelSync, LinkReset};
use crate::egress::CommandIn;
use crate::entry::ParameterError;
use crate::ingress::her_gen::{FeedbackIn, HerOut};
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
#[hardware(
    shape: AppShape,
    error = ParameterError,
    axi = shape.cluster_axi(),
    host = shape.host_axi(),
    her = shape.ingress.her,
    clusters = shape.own.clusters,
    queues = shape.own.queues,
    command = shape.egress.command_id(),
    burst = shape.own.burst_places,
    slave = shape.wrap_axi(),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
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
    pub hers: StreamIn<{ shape.her_place().width }>,
    /// Packets that are done with, packed.
    pub frees: StreamOut<{ shape.free_place().width }>,
    /// Commands, packed.
    pub commands: StreamOut<{ shape.command_place().width }>,
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
    host_crossing: Checked<AxiCrossing<{ axi }, { shape.own.word_places }>>,
    host_dma_crossing: Checked<AxiCrossing<{ host }, { burst }>>,
    her_fifo: Checked<AsyncFifo<{ shape.her_place().width }, { shape.own.word_places }>>,
    free_fifo: Checked<AsyncFifo<{ shape.free_place().width }, { shape.own.word_places }>>,
    command_fifo: Checked<AsyncFifo<{ shape.command_place().width }, { shape.own.word_places }>>,
    response_fifo: Checked<AsyncFifo<{ command }, { shape.response_places() }>>,
    stdout_fifo: Checked<AsyncFifo<{ STDOUT_BITS }, { shape.own.burst_places }>>,
    near_rst: Wire<Local, bool>,
    far_rst: Wire<Local, bool>,
}

impl Logic for ClusterLink {
    #[kernel]
    fn update(&mut self) {
        let shape = self._shape;
        let (clusters, queues) = (shape.own.clusters, shape.own.queues);
        /// Resets: the cluster has none but ours, and without a clock it is as good as in reset.
        self.running_sync.clk.next = self.clk.val();
        self.running_sync.d.next = word(self.cluster_running.val());
        self.running.next = self.running_sync.q.val().get_bit(0);
        self.reset.near_clk.next = self.clk.val();
        self.reset.near_rst.next = self.rst.val();
        self.reset.request.next = self.request.val() || !self.running_sync.q.val().get_bit(0);
        self.reset.far_clk.next = self.cluster_clk.val();
        self.near_rst.next = self.reset.near_link_rst.val();
        self.held.next = self.reset.near_link_rst.val();
        self.far_rst.next = self.reset.far_rst.val();
        self.cluster_rstn.next = !self.reset.far_rst.val();
        /// Levels.
        self.fetch_sync.clk.next = self.cluster_clk.val();
        self.fetch_sync.d.next = self.fetch_enable.val();
        self.cl_fetch_en.next = self.fetch_sync.q.val();
        self.state_sync.clk.next = self.clk.val();
        self.state_sync.d.next = cat!(self.mpq_full.val(), self.cl_busy.val(), self.cl_eoc.val());
        self.eoc.next = self.state_sync.q.val().slice(0, clusters);
        self.busy.next = self.state_sync.q.val().slice(clusters, clusters);
        self.queues_full.next = self.state_sync.q.val().slice(2 * clusters, queues);
        /// AXI towards the cluster.
        self.ni_crossing.s_clk.next = self.clk.val();
        self.ni_crossing.s_rst.next = self.near_rst.val();
        self.ni_crossing.m_clk.next = self.cluster_clk.val();
        self.ni_crossing.m_rst.next = self.far_rst.val();
        connect!(self.ni => self.ni_crossing.s);
        connect!(self.ni_crossing.m => self.ni_slave);
        self.no_crossing.s_clk.next = self.clk.val();
        self.no_crossing.s_rst.next = self.near_rst.val();
        self.no_crossing.m_clk.next = self.cluster_clk.val();
        self.no_crossing.m_rst.next = self.far_rst.val();
        connect!(self.no => self.no_crossing.s);
        connect!(self.no_crossing.m => self.no_slave);
        self.host_crossing.s_clk.next = self.clk.val();
        self.host_crossing.s_rst.next = self.near_rst.val();
        self.host_crossing.m_clk.next = self.cluster_clk.val();
        self.host_crossing.m_rst.next = self.far_rst.val();
        connect!(self.host => self.host_crossing.s);
        connect!(self.host_crossing.m => self.host_slave);
        /// AXI from the cluster.
        self.host_dma_crossing.s_clk.next = self.cluster_clk.val();
        self.host_dma_crossing.s_rst.next = self.far_rst.val();
        self.host_dma_crossing.m_clk.next = self.clk.val();
        self.host_dma_crossing.m_rst.next = self.near_rst.val();
        connect!(self.host_master => self.host_dma_crossing.s);
        connect!(self.host_dma_crossing.m => self.host_dma);
        /// HERs.
        self.her_fifo.s_clk.next = self.clk.val();
        self.her_fifo.s_rst.next = self.near_rst.val();
        self.her_fifo.m_clk.next = self.cluster_clk.val();
        self.her_fifo.m_rst.next = self.far_rst.val();
        connect!(self.hers => self.her_fifo.s);
        self.her.unpack(self.her_fifo.m.data.val());
        connect!(self.her_fifo.m => self.her; valid, ready);
        /// Packets that are done with.
        self.free_fifo.s_clk.next = self.cluster_clk.val();
        self.free_fifo.s_rst.next = self.far_rst.val();
        self.free_fifo.m_clk.next = self.clk.val();
        self.free_fifo.m_rst.next = self.near_rst.val();
        self.free_fifo.s.data.next = self.feedback.pack();
        connect!(self.feedback => self.free_fifo.s; valid, ready);
        connect!(self.free_fifo.m => self.frees);
        /// Commands and their responses.
        self.command_fifo.s_clk.next = self.cluster_clk.val();
        self.command_fifo.s_rst.next = self.far_rst.val();
        self.command_fifo.m_clk.next = self.clk.val();
        self.command_fifo.m_rst.next = self.near_rst.val();
        self.command_fifo.s.data.next = self.nic_cmd_req.pack();
        connect!(self.nic_cmd_req => self.command_fifo.s; valid, ready);
        connect!(self.command_fifo.m => self.commands);
        self.response_fifo.s_clk.next = self.clk.val();
        self.response_fifo.s_rst.next = self.near_rst.val();
        self.response_fifo.m_clk.next = self.cluster_clk.val();
        self.response_fifo.m_rst.next = self.far_rst.val();
        connect!(self.responses => self.response_fifo.s);
        self.nic_cmd_resp_valid.next = self.response_fifo.m.valid.val();
        self.nic_cmd_resp_id.next = self.response_fifo.m.data.val();
        self.response_fifo.m.ready.next = true;
        /// Standard output.
        self.stdout_fifo.s_clk.next = self.cluster_clk.val();
        self.stdout_fifo.s_rst.next = self.far_rst.val();
        self.stdout_fifo.m_clk.next = self.clk.val();
        self.stdout_fifo.m_rst.next = self.near_rst.val();
        self.stdout_fifo.s.data.next = self.stdout_dout.val();
        self.stdout_fifo.s.valid.next = self.stdout_data_valid.val();
        self.stdout_rd_en.next = self.stdout_data_valid.val() && self.stdout_fifo.s.ready.val();
        connect!(self.stdout_fifo.m => self.stdout);
    }
}
