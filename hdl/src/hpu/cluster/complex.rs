//! The clusters with their memories, scheduler and ports, in place of PsPIN's `pspin_wrap`.
//!
//! ```text
//!  her, feedback <====> MessageScheduler <====> HpuCluster x n ==commands==> HostCopier ==> nic_cmd, host_master
//!                                               |   |     ^                    |
//!                                  far accesses v   | copies, lines of L1      | lines
//!                                       WordServer  |     |                    |
//!                                               |   v     v                    v
//!  ni_slave, no_slave, host_slave ==lines==> LineCrossbar ==> LineMemory: handler memory, packet buffer
//!                       +==> ProgramWriter ==> pipelines
//!                       +==> ContextRegisters ==> weights, budgets, rates
//! ```
//!
//! # Contract
//! - **Memories** are those of PsPIN, with their addresses. The slave `ni` writes and `no` reads them; `host` does both, and writes program
//!   memory; reads of it end with DECERR. [`ContextRegisters`] are there for the host alone. One line is written and one is read in a clock in each memory.
//! - **HPUs** of cluster c run while bit c of `cl_fetch_en_i` is set. `cl_busy_o` is that bit. `cl_eoc_o` is 0.
//! - **HERs, tasks, feedback:** [`MessageScheduler`]. `pspin_active_o`: every HPU has asked for a task.
//! - **Queues:** the lowest bits of a message id are its queue, two of them below the bits of its context. `mpq_full_o` has 16 bits: one is set
//!   if a queue is full whose number ends with it. With 2 clusters and 16 queues the ports are those of `pspin_wrap`.
//! - **Commands:** [`HostCopier`]. Ids of commands to the NIC are cluster, HPU, number.
//! - **Standard output** is first-word-fall-through: the oldest word is at `stdout_dout` while `stdout_data_valid` is 1, and `stdout_rd_en`
//!   takes it. HPUs that print wait while it is full.
//! - **Reset** (`rst_ni` low) is synchronous and discards everything but the contents of the memories.

use super::{
    ContextRegisters, ContextShape, CrossbarShape, HANDLER_LINE, HOST_ADDRESS, HOST_PORT, HostCopier,
    HostShape, HpuCluster, LINE_DATA, LineCrossbar, LineMemory, LineMemoryShape, LineReader, LineWriter,
    MESSAGE_ID, MessageScheduler, OWN_ID, PACKET_LINE, PIPELINES, ProgramWriter, QUEUE, READ_CLOCKS, SLAVE,
    SchedulerShape, WORD, WordServer, check_cells, message_of, queue_of,
};
use crate::app::stub::SIDED;
use crate::axi::{AxiMaster, AxiTarget, PSPIN_WRAP};
use crate::egress::CommandOut;
use crate::entry::{Checked as Values, Entry, ParameterError};
use crate::ingress::her_gen::{FeedbackOut, HerIn};
use crate::stream::{Fifo, FifoConfig};
use spinneret_regmap::{MPQS, message_id};
use spinneret_verilog::prelude::*;

/// Readers and writers of lines; the copiers of the clusters follow.
const WORDS: usize = 0;
const NETWORK: usize = 1;
const HOST: usize = 2;
const COPIES: usize = 3;
const CLUSTERS: usize = 4;
/// Flags for full queues.
const FLAGS: usize = MPQS as usize;

/// Parameters of the clusters.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = ENTRY.name, check)]
pub struct ComplexShape {
    /// Clusters of eight HPUs.
    #[parameter(2, range = 1..=8, power_of_two, verilog = "N_CLUSTERS")]
    pub clusters: usize,
    /// Message processing queues, a power of two.
    #[parameter(16, range = 16..=256, power_of_two, name = "mpqs", verilog = "N_MPQ")]
    pub queues: usize,
    /// Packets inside, at least two for each queue.
    #[parameter(128, range = 32..=512, power_of_two)]
    pub cells: usize,
    /// Words of stdout that can wait, a power of two.
    #[parameter(1024, range = 4..=8192, power_of_two)]
    pub stdout_words: usize,
}

impl ComplexShape {
    /// That many clusters, with queues and cells for their HPUs.
    pub fn of_clusters(clusters: usize) -> Self {
        let (queues, cells) = if clusters > 2 {
            (64, 64 * clusters)
        } else {
            (16, 128)
        };
        Self {
            clusters,
            queues,
            cells,
            stdout_words: 1024,
        }
    }

    fn check(&self, checked: Values<'_>) -> Result<(), ParameterError> {
        check_cells(self.cells, self.queues, checked)
    }

    fn contexts(self) -> ContextShape {
        let contexts = ContextShape::NIC.contexts;
        ContextShape {
            contexts,
            queues: self.queues / contexts,
        }
    }

    /// The lowest bits of the message ids of a queue.
    fn message(self, queue: usize) -> usize {
        let own = queue % self.contexts().queues;
        message_id::compose(own as u64, (queue / self.contexts().queues) as u32) as usize
    }

    /// Bits of the id of a command to the NIC.
    fn command(self) -> usize {
        address_width(self.clusters) + OWN_ID
    }

    fn scheduler(self) -> SchedulerShape {
        SchedulerShape {
            clusters: self.clusters,
            queues: self.queues,
            cells: self.cells,
            tasks: super::driver::SLOTS,
            contexts: self.contexts().contexts,
        }
    }

    fn crossbar(self) -> CrossbarShape {
        CrossbarShape {
            readers: CLUSTERS + self.clusters,
            writers: CLUSTERS + self.clusters,
            clusters: self.clusters,
        }
    }
}

/// Clusters of HPUs with the ports of `pspin_wrap`.
#[module(shape: ComplexShape, error = ParameterError)]
pub struct HpuComplex {
    /// Clock.
    pub clk_i: Signal<In, Clock>,
    /// Synchronous reset, active low.
    pub rst_ni: Wire<In, bool>,
    /// Bit c: the HPUs of cluster c run.
    pub cl_fetch_en_i: Wire<In, { shape.clusters }>,
    /// 0.
    pub cl_eoc_o: Wire<Out, { shape.clusters }>,
    /// Bit c: the HPUs of cluster c run.
    pub cl_busy_o: Wire<Out, { shape.clusters }>,
    /// Every HPU has asked for a task.
    pub pspin_active_o: Wire<Out, bool>,
    /// End of simulation; without effect.
    pub eos_i: Wire<In, bool>,
    /// Bit q: a queue is full whose number ends with q.
    pub mpq_full_o: Wire<Out, { FLAGS }>,
    /// Packets from the ingress path.
    pub ni_slave: Called<AxiTarget<{ SLAVE }>, { PSPIN_WRAP }>,
    /// Packets to the egress path.
    pub no_slave: Called<AxiTarget<{ SLAVE }>, { PSPIN_WRAP }>,
    /// The host.
    pub host_slave: Called<AxiTarget<{ SLAVE }>, { PSPIN_WRAP }>,
    /// Memory of the host.
    pub host_master: Called<AxiMaster<{ HOST_PORT }>, { PSPIN_WRAP }>,
    /// Packets to be done.
    pub her: Called<HerIn<{ WORD }, { HOST_ADDRESS }, { MESSAGE_ID }>, { SIDED }>,
    /// Packets that are done.
    pub feedback: Called<FeedbackOut<{ WORD }, { WORD }, { MESSAGE_ID }>, { SIDED }>,
    /// Packets to be sent.
    pub nic_cmd_req: Called<CommandOut<{ shape.command() }, { HOST_ADDRESS }, { WORD }>, { SIDED }>,
    /// One of them is sent.
    pub nic_cmd_resp_valid_i: Wire<In, bool>,
    /// Its id.
    pub nic_cmd_resp_id_i: Wire<In, { shape.command() }>,
    /// Takes the oldest word of stdout.
    pub stdout_rd_en: Wire<In, bool>,
    /// The oldest word of stdout.
    pub stdout_dout: Wire<Out, { WORD }>,
    /// There is one.
    pub stdout_data_valid: Wire<Out, bool>,
    scheduler: Checked<MessageScheduler<{ shape.scheduler() }>>,
    #[new(HpuCluster::new(shape.clusters, shape.contexts())?)]
    clusters: [HpuCluster; shape.clusters],
    words: WordServer<{ shape.clusters }>,
    copies: Checked<
        HostCopier<
            {
                HostShape {
                    clusters: shape.clusters,
                    contexts: ContextShape::NIC,
                }
            },
        >,
    >,
    crossbar: LineCrossbar<{ shape.crossbar() }>,
    handler: LineMemory<
        {
            LineMemoryShape {
                lines: 1 << HANDLER_LINE,
                ultra: true,
            }
        },
    >,
    packet: LineMemory<
        {
            LineMemoryShape {
                lines: 1 << PACKET_LINE,
                ultra: true,
            }
        },
    >,
    #[new(LineWriter::new()?)]
    packets_in: LineWriter,
    packets_out: Checked<LineReader<{ READ_CLOCKS }>>,
    #[new(LineWriter::new()?)]
    host_writes: LineWriter,
    host_reads: Checked<LineReader<{ READ_CLOCKS }>>,
    contexts: ContextRegisters,
    program: ProgramWriter,
    stdout: Checked<Fifo<{ FifoConfig::block(WORD, shape.stdout_words) }>>,
}

#[kernel(HpuComplex)]
fn update() {
    // Lines of the slaves. Packets only come in at one, and only go out at another.
    packets_in.aw = ni_slave.aw;
    packets_in.w = ni_slave.w;
    ni_slave.b = packets_in.b;
    packets_out.ar = no_slave.ar;
    no_slave.r = packets_out.r;
    ni_slave.ar.ready = false;
    ni_slave.r.valid = false;
    ni_slave.r.data = Word::zero(LINE_DATA);
    ni_slave.r.resp = 0;
    *ni_slave.r.id = 0;
    *ni_slave.r.last = false;
    *ni_slave.r.user = 0;
    no_slave.aw.ready = false;
    no_slave.w.ready = false;
    no_slave.b.valid = false;
    no_slave.b.resp = 0;
    *no_slave.b.id = 0;
    *no_slave.b.user = 0;
    host_writes.aw = host_slave.aw;
    host_writes.w = host_slave.w;
    host_slave.b = host_writes.b;
    host_reads.ar = host_slave.ar;
    host_slave.r = host_reads.r;
    contexts.write = host_writes.write;
    contexts.read = host_reads.read;
    program.s = contexts.m_write;
    scheduler.weight = contexts.weight;
    copies.weight = contexts.weight;
    copies.rate = contexts.rate;
    for (port, counter) in contexts.bytes.iter().zip(&copies.bytes) {
        *port = *counter;
    }
    contexts.totals = scheduler.totals;
    crossbar.write[WORDS] = words.write;
    crossbar.write[NETWORK] = packets_in.write;
    crossbar.write[HOST] = program.m;
    crossbar.write[COPIES] = copies.write;
    crossbar.read[WORDS] = words.read;
    crossbar.read[NETWORK] = packets_out.read;
    crossbar.read[HOST] = contexts.m_read;
    crossbar.read[COPIES] = copies.read;
    crossbar.hold = words.hold;
    handler.s = crossbar.handler;
    packet.s = crossbar.packet;

    // HERs, tasks, feedback.
    let own = shape.contexts().own();
    let (inside, message) = (scheduler.her, her.msgid.slice(0, address_width(shape.queues)));
    inside.msgid = queue_of(message, own);
    inside.is_eom = her.is_eom;
    inside.addr = her.addr;
    inside.size = her.size;
    inside.xfer_size = her.xfer_size;
    inside.meta = her.meta;
    inside.handshake() = her.handshake();
    let done = scheduler.feedback;
    feedback.her_addr = done.her_addr;
    feedback.her_size = done.her_size;
    feedback.msgid = message_of(done.msgid, own).resize(MESSAGE_ID);
    feedback.handshake() = done.handshake();
    let full = scheduler.full;
    let ending = |flag: usize| (0..shape.queues).filter(move |queue| shape.message(*queue) % FLAGS == flag);
    mpq_full_o = reg_reset(
        word_of((0..FLAGS).map(|flag| or_all(ending(flag).map(|queue| full[queue])))),
        0,
    );
    for (number, cluster) in clusters.iter().enumerate() {
        cluster.number = number as u64;
        cluster.runs = reg_reset(cl_fetch_en_i[number], false);
        cluster.program_write = program.program_write;
        cluster.program_address = program.program_addr;
        cluster.program_data = program.program_data;
        cluster.task = scheduler.task[number];
        cluster.budget = contexts.budget;
        scheduler.finished[number] = cluster.finished;
        copies.command[number] = cluster.command;
        let (queue, bits) = (cluster.command.queue, address_width(shape.queues));
        copies.command[number].queue = if bits < QUEUE {
            cat!(
                queue.slice(bits, QUEUE - bits),
                message_of(queue.slice(0, bits), own)
            )
        } else {
            message_of(queue, own)
        };
        for (pipeline, far) in cluster.far.iter().enumerate() {
            words.far[PIPELINES * number + pipeline] = *far;
        }
        crossbar.read[CLUSTERS + number] = cluster.read;
        crossbar.write[CLUSTERS + number] = cluster.write;
        cluster.line = crossbar.l1[number];
    }

    // Commands and standard output.
    nic_cmd_req = copies.send;
    copies.sent = nic_cmd_resp_valid_i;
    copies.sent_id = nic_cmd_resp_id_i;
    host_master = copies.m_axi;
    stdout.s = words.stdout;
    stdout_dout = stdout.m.data;
    stdout_data_valid = stdout.m.valid;
    stdout.m.ready = stdout_rd_en;

    // Status.
    cl_busy_o = reg_reset(cl_fetch_en_i, 0);
    cl_eoc_o = Word::zero(shape.clusters);
    pspin_active_o = reg_reset(word_of(clusters.iter().map(|cluster| cluster.asked)).all(), false);
}

/// [`HpuComplex`].
pub(crate) const ENTRY: Entry = entry!(part "hpu_complex", HpuComplex(ComplexShape)?:
    "clusters of HPUs with memories and scheduler, in place of pspin_wrap");
