//! [`HpuComplex`] with the port names that bus models expect.

use super::{COMMAND_ID, ComplexShape, HOST_ADDRESS, HOST_PORT, HpuComplex, MESSAGE_ID, SLAVE, WORD};
use crate::axi::{AxiExtras, AxiMaster, AxiTarget};
use crate::egress::CommandOut;
use crate::entry::{Entry, ParameterError};
use crate::ingress::her_gen::{FeedbackOut, HerIn};
use crate::stream::StreamIn;
use spinneret_regmap::MPQS;
use spinneret_verilog::prelude::*;

/// Two clusters with few cells and little room for standard output, so that both are full at times.
const SHAPE: ComplexShape = ComplexShape {
    clusters: 2,
    queues: MPQS as usize,
    cells: 2 * MPQS as usize,
    stdout_words: 64,
};
/// Additional inputs of bus models: no atomic operations.
const EXTRAS: AxiExtras = AxiExtras {
    atop: false,
    ..AxiExtras::all(4)
};

/// Two clusters, for the testbench.
#[module(error = ParameterError)]
pub struct ComplexBench {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rstn: Wire<In, bool>,
    /// Bit c: the HPUs of cluster c run.
    pub fetch_enable: Wire<In, { SHAPE.clusters }>,
    /// The same, from the clusters.
    pub busy: Wire<Out, { SHAPE.clusters }>,
    /// 0.
    pub eoc: Wire<Out, { SHAPE.clusters }>,
    /// Every HPU has asked for a task.
    pub active: Wire<Out, bool>,
    /// Full queues.
    pub mpq_full: Wire<Out, { MPQS as usize }>,
    /// Packets from the ingress path.
    pub ni: AxiTarget<{ SLAVE.with(EXTRAS) }>,
    /// Packets to the egress path.
    pub no: AxiTarget<{ SLAVE.with(EXTRAS) }>,
    /// The host.
    pub host: AxiTarget<{ SLAVE.with(EXTRAS) }>,
    /// Memory of the host.
    pub m_axi: AxiMaster<{ HOST_PORT }>,
    /// Packets to be done.
    pub her: HerIn<{ WORD }, { HOST_ADDRESS }, { MESSAGE_ID }>,
    /// Packets that are done.
    pub feedback: FeedbackOut<{ WORD }, { WORD }, { MESSAGE_ID }>,
    /// Packets to be sent.
    pub send: CommandOut<{ COMMAND_ID }, { HOST_ADDRESS }, { WORD }>,
    /// Ids of those that are sent; always taken.
    pub sent: StreamIn<{ COMMAND_ID }>,
    /// Takes the oldest word of standard output.
    pub stdout_rd_en: Wire<In, bool>,
    /// The oldest word.
    pub stdout_dout: Wire<Out, { WORD }>,
    /// There is one.
    pub stdout_data_valid: Wire<Out, bool>,
    complex: Checked<HpuComplex<{ SHAPE }>>,
}

#[kernel(ComplexBench)]
fn update() {
    complex.rst_ni = rstn;
    complex.cl_fetch_en_i = fetch_enable;
    busy = complex.cl_busy_o;
    eoc = complex.cl_eoc_o;
    active = complex.pspin_active_o;
    complex.eos_i = false;
    mpq_full = complex.mpq_full_o;
    complex.ni_slave = ni;
    complex.no_slave = no;
    complex.host_slave = host;
    m_axi = complex.host_master;
    complex.her = her;
    feedback = complex.feedback;
    send = complex.nic_cmd_req;
    complex.nic_cmd_resp_valid_i = sent.valid;
    complex.nic_cmd_resp_id_i = sent.data;
    sent.ready = true;
    complex.stdout_rd_en = stdout_rd_en;
    stdout_dout = complex.stdout_dout;
    stdout_data_valid = complex.stdout_data_valid;
}

/// [`ComplexBench`].
pub(crate) const ENTRY: Entry = Entry::part(
    "complex_bench",
    "two clusters with the port names of bus models, for the testbench",
    |_| Vec::new(),
    |_| Ok(Box::new(ComplexBench::new()?)),
);
