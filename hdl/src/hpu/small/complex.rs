//! Eight HPUs with their memories, scheduler and commands, for FPGAs of 24,000 LUT4 such as the ECP5-25.
//!
//! ```text
//!  her, feedback <===> MessageScheduler <===> ClusterDriver ==copies, commands==> SmallCopier ==> send, host
//!                                               ^                                  |  ^
//!                                     registers |                                  v  |
//!  HpuPipeline (8 threads) ==> SmallPort =======+=> SmallMemory <== words =========+==+== ni, no, access
//!      ^                           +==> stdout
//!      +== program <== access
//! ```
//!
//! # Contract
//! - **Handlers** find what they find in [`HpuComplex`](crate::hpu::cluster::HpuComplex) with one cluster: the same HERs, tasks, registers,
//!   commands, protection ranges, budgets and traps, by the same scheduler and driver, with two contexts of eight queues.
//! - **Memories** are at their addresses, with fewer bytes: L1 has contexts, guard and stacks (16 KiB), handler memory and packet
//!   buffer as many as the parameters say, from their start. Access elsewhere is a fault. There are no scratchpads.
//! - **Packets are not copied** to L1: the task's packet is that in the packet buffer, and what a handler changes there is seen by the
//!   next handler of the packet. The whole packet can be accessed, of any size.
//! - **Queues:** context is bit 2 of a message id, as with other clusters (bit 3 is 0). Bits 4, 1 and 0 are the queue in it.
//! - **Packets in** are written at `ni`, **packets out** read at `no`: AXI of 64 bits, see [`SmallWriter`].
//! - **Commands, copies:** [`SmallCopier`]. Ids of commands to the NIC are HPU and number.
//! - **Host access:** a word of 64 bits of any memory, of program memory (write only; halves whose strobes are not all 1 are left as they
//!   are) or of the weight and budget of a context (write only). A read takes four clocks or more, a write of program memory two.
//! - **HPUs** run while `runs` is high. A reset of them ends their tasks as failures, as in [`HpuCluster`](crate::hpu::cluster::HpuCluster).
//! - **Standard output:** {HPU, character}, first-word fall-through.
//! - **Idle:** no task, command, copy or packet is inside.
//! - **Reset** is synchronous, and discards everything but the contents of the memories, weights and budgets.

use super::memory::SmallMemoryShape;
use super::port::PRINTED;
use super::{
    DATA, SMALL_CONTEXT, SMALL_OWN_QUEUE, SMALL_SLAVE, SMALL_THREAD, SmallAccessIn, SmallCopier, SmallHost,
    SmallMemory, SmallPort, SmallReader, SmallWriter, WITHIN,
};
use crate::axi::{AxiReadTarget, AxiWriteTarget};
use crate::egress::CommandOut;
use crate::entry::{Entry, ParameterError};
use crate::hpu::cluster::driver::{CLUSTER, WAS_RESET};
use crate::hpu::cluster::{
    ClusterDriver, ContextShape, HOST_ADDRESS, MESSAGE_ID, MessageScheduler, OWN_ID, SchedulerShape, THREAD,
    WEIGHT, WORD,
};
use crate::hpu::{HpuPipeline, HpuShape};
use crate::ingress::her_gen::{FeedbackOut, HerIn};
use crate::stream::{Fifo, FifoConfig, FrameOut, StreamIn, StreamOut};
use spinneret_regmap::{pspin, shares};
use spinneret_verilog::prelude::*;

/// Contexts and their queues.
const CONTEXTS: ContextShape = ContextShape {
    contexts: 1 << SMALL_CONTEXT,
    queues: 1 << SMALL_OWN_QUEUE,
};
/// Queues of all.
const QUEUES: usize = CONTEXTS.contexts * CONTEXTS.queues;
/// Readers and writers of memory.
const NETWORK: usize = 0;
const COPIES: usize = 1;
const HOST: usize = 2;
const OTHERS: usize = 3;
/// Threads of the pipeline.
const THREADS: usize = 1 << SMALL_THREAD;

/// Parameters of a small complex.
#[derive(Parameters, Clone, Copy, Debug, PartialEq, Eq)]
#[parameters(block = ENTRY.name)]
pub struct SmallShape {
    /// KiB of program memory.
    #[parameter(16, range = 8..=32, power_of_two)]
    pub program_kib: usize,
    /// KiB of handler memory.
    #[parameter(16, range = 4..=64, power_of_two)]
    pub handler_kib: usize,
    /// KiB of the packet buffer.
    #[parameter(16, range = 4..=64, power_of_two)]
    pub packet_kib: usize,
    /// Characters of standard output that can wait.
    #[parameter(64, range = 4..=1024, power_of_two)]
    pub stdout_characters: usize,
}

impl SmallShape {
    fn memory(self) -> SmallMemoryShape {
        SmallMemoryShape {
            handler: (self.handler_kib << 10) as u32,
            packets: (self.packet_kib << 10) as u32,
        }
    }

    fn program_words(self) -> usize {
        self.program_kib << 8
    }

    fn pipeline(self) -> HpuShape {
        HpuShape {
            threads: THREADS,
            ranges: 8,
            registers: true,
            multiplies: true,
            counts: true,
            program_words: self.program_words(),
            program_base: pspin::PROGRAM_BASE.into(),
            memory_clocks: 2,
            trace: false,
        }
    }

    fn scheduler() -> SchedulerShape {
        SchedulerShape {
            clusters: 1,
            queues: QUEUES,
            cells: 2 * QUEUES,
            tasks: crate::hpu::cluster::driver::SLOTS,
            contexts: CONTEXTS.contexts,
        }
    }
}

/// Eight HPUs with their memories, scheduler and commands.
#[module(shape: SmallShape, error = ParameterError, program: usize = address_width(shape.program_words()))]
pub struct SmallComplex {
    /// The HPUs run.
    pub runs: Wire<In, bool>,
    /// Every HPU has asked for a task since it began to run.
    pub active: Wire<Out, bool>,
    /// Nothing is inside.
    pub idle: Wire<Out, bool>,
    /// Packets from the ingress path.
    pub ni: AxiWriteTarget<{ SMALL_SLAVE }>,
    /// Packets to the egress path.
    pub no: AxiReadTarget<{ SMALL_SLAVE }>,
    /// Packets to be done.
    pub her: HerIn<{ WORD }, { HOST_ADDRESS }, { MESSAGE_ID }>,
    /// Packets that are done.
    pub feedback: FeedbackOut<{ WORD }, { WORD }, { MESSAGE_ID }>,
    /// Packets to be sent.
    pub send: CommandOut<{ OWN_ID }, { HOST_ADDRESS }, { WORD }>,
    /// One of them is sent.
    pub sent: Wire<In, bool>,
    /// Its id.
    pub sent_id: Wire<In, { OWN_ID }>,
    /// Requests for the host.
    pub host: SmallHost,
    /// Bytes for the host.
    pub host_out: FrameOut<{ DATA }>,
    /// Bytes from the host.
    pub host_in: StreamIn<{ DATA }>,
    /// Accesses of the host.
    pub access: SmallAccessIn,
    /// Characters of standard output.
    pub stdout: StreamOut<{ PRINTED }>,
    #[new(HpuPipeline::new(shape.pipeline()))]
    pipeline: HpuPipeline,
    #[new(SmallPort::new(shape.memory()))]
    port: SmallPort,
    #[new(SmallMemory::new(shape.memory(), OTHERS))]
    memory: SmallMemory,
    #[new(MessageScheduler::new(SmallShape::scheduler())?)]
    scheduler: MessageScheduler,
    #[new(ClusterDriver::new(CONTEXTS, true)?)]
    driver: ClusterDriver,
    copier: SmallCopier,
    packets_in: SmallWriter,
    #[new(SmallReader::new()?)]
    packets_out: SmallReader,
    #[new(Fifo::new(FifoConfig::distributed(PRINTED, shape.stdout_characters))?)]
    printed: Fifo,
    /// A thread, another one in each clock, and clocks until all threads are reported as reset.
    turn: Reg<{ SMALL_THREAD }, Reset>,
    resets: Reg<{ SMALL_THREAD + 1 }, Reset>,
    /// The upper half of a word of program memory is written; a read of the host has been accepted.
    is_upper: Reg<bool, Reset>,
    asked: Reg<3, Reset>,
    found: Reg<bool>,
}

#[kernel(SmallComplex)]
fn update() {
    // HPUs. While they are in reset, and at least for one turn, their threads are reported as trapped.
    let are_reset = resets.any();
    turn = turn + 1;
    if !runs {
        resets = THREADS as u64;
    } else if are_reset {
        resets = resets - 1;
    }
    pipeline.rst = rst || !runs || are_reset;
    pipeline.hart_base = 0;
    pipeline.stop = driver.stop;
    let range = driver.range;
    pipeline.range.write = range.write;
    pipeline.range.thread = range.hpu;
    pipeline.range.number = range.number;
    pipeline.range.first = range.first;
    pipeline.range.end = range.end;
    let trap = pipeline.trap || are_reset;
    let trap_thread = if are_reset { turn } else { pipeline.trap_thread };
    let trap_cause = if are_reset {
        constant(lit(WAS_RESET.into(), 5))
    } else {
        pipeline.trap_cause
    };
    port.s = pipeline.m;
    port.next_address = pipeline.next_address;
    memory.s = port.memory;
    memory.trap = trap;
    memory.trap_thread = trap_thread;

    // The driver has two ports, each for half of the HPUs' traps; accesses all come at the first one.
    driver.s[0] = port.registers;
    driver.s[1].valid = false;
    driver.s[1].hpu = 0;
    driver.s[1].is_dma = false;
    driver.s[1].offset = 0;
    driver.s[1].is_write = false;
    driver.s[1].data = 0;
    driver.s[1].is_user = false;
    for half in 0..2 {
        driver.trap[half].valid = trap && trap_thread[THREAD] == (half == 1);
        driver.trap[half].thread = trap_thread.slice(0, THREAD);
        driver.trap[half].cause = trap_cause;
    }
    driver.cluster = Word::zero(CLUSTER);
    driver.task = scheduler.task[0];
    scheduler.finished[0] = driver.finished;
    active = driver.asked;
    idle = reg_reset(driver.idle && copier.idle && !scheduler.active, false);

    // HERs and feedback.
    let (inside, own) = (scheduler.her, her.msgid);
    let of_context = own.slice(2, SMALL_CONTEXT);
    inside.msgid = cat!(of_context, own[4], own.slice(0, 2));
    inside.is_eom = her.is_eom;
    inside.addr = her.addr;
    inside.size = her.size;
    inside.xfer_size = her.xfer_size;
    inside.meta = her.meta;
    inside.handshake() = her.handshake();
    let done = scheduler.feedback;
    feedback.her_addr = done.her_addr;
    feedback.her_size = done.her_size;
    let (low, queue) = done.msgid.split_at(2);
    feedback.msgid = cat!(queue[0], lit(0, 1), queue[1], low).resize(MESSAGE_ID);
    feedback.handshake() = done.handshake();

    // Commands and copies.
    copier.copy = driver.copy;
    copier.command = driver.command;
    send = copier.send;
    copier.sent = sent;
    copier.sent_id = sent_id;
    host = copier.host;
    host_out = copier.host_out;
    copier.host_in = host_in;
    printed.s = port.stdout;
    stdout = printed.m;

    // Packets.
    packets_in.aw = ni.aw;
    packets_in.w = ni.w;
    ni.b = packets_in.b;
    packets_out.ar = no.ar;
    no.r = packets_out.r;
    memory.write[NETWORK] = packets_in.write;
    memory.read[NETWORK] = packets_out.read;
    memory.write[COPIES] = copier.write;
    memory.read[COPIES] = copier.read;

    // Accesses of the host: program memory, registers of contexts, or memory.
    let starts = |base: u32, bytes: u32| {
        let bits = bytes.ilog2() as usize;
        access.place.slice(bits - WITHIN, 32 - bits) == u64::from(base >> bits)
    };
    let is_program = starts(pspin::PROGRAM_BASE, (shape.program_kib << 10) as u32);
    let stride = shares::STRIDE.ilog2() as usize;
    let is_context = starts(shares::BASE, shares::STRIDE << SMALL_CONTEXT);
    let is_setting = is_context && !access.place.slice(0, stride - WITHIN).any();
    let is_other = is_program || is_context;
    let is_write = access.valid && access.is_write;
    let (low, high) = access.data.split_at(WORD);
    let (low_strobe, high_strobe) = (access.strobe.slice(0, 4).all(), access.strobe.slice(4, 4).all());

    let writes_program = is_write && is_program;
    is_upper = writes_program && !is_upper;
    pipeline.program_write = reg_reset(
        writes_program && if is_upper { high_strobe } else { low_strobe },
        false,
    );
    pipeline.program_addr = reg(cat!(access.place.slice(0, program - 1), is_upper));
    pipeline.program_data = reg(if is_upper { high } else { low });

    let setting = reg(access.place.slice(stride - WITHIN, SMALL_CONTEXT));
    let weight = low.slice(0, WEIGHT);
    let sets = is_write && is_setting;
    scheduler.weight.write = reg_reset(sets && low_strobe && weight.any(), false);
    scheduler.weight.context = setting;
    scheduler.weight.value = reg(weight);
    driver.budget.write = reg_reset(sets && high_strobe, false);
    driver.budget.context = setting;
    driver.budget.value = reg(high);
    scheduler.totals.context = Word::zero(SMALL_CONTEXT);

    let (read, write) = (&memory.read[HOST], &memory.write[HOST]);
    let is_asked = asked.any();
    write.valid = is_write && !is_other;
    write.place = access.place;
    write.strobe = access.strobe;
    write.data = access.data;
    read.valid = access.valid && !access.is_write && !is_other && !is_asked;
    read.place = access.place;
    asked = cat!(asked.slice(0, 2), read.valid && read.ready);
    if !is_asked {
        found = !read.failed;
    }
    // The word is there in the second clock after the read was accepted, and is given in the third one.
    access.read_data = reg(read.data);
    let is_read = asked[2];
    access.ready = first(
        &[
            (!access.is_write && !is_other, is_read.word()),
            (!access.is_write, constant(lit(1, 1))),
            (is_program, is_upper.word()),
            (is_context, constant(lit(1, 1))),
        ],
        write.ready.word(),
    )[0];
    access.failed = if access.is_write {
        !is_other && write.failed
    } else {
        is_other || !found
    };
}

/// [`SmallComplex`].
pub(crate) const ENTRY: Entry = entry!(part "small_complex", SmallComplex(SmallShape)?:
    "eight HPUs in one pipeline with memories and scheduler, for small FPGAs");

/// [`SmallComplex`] for the testbench, with little room for standard output, so that it is full at times.
pub(crate) const BENCH: Entry = Entry::part(
    "small_bench",
    "a small complex with little room for standard output, for the testbench",
    |_| Vec::new(),
    |_| {
        let shape = SmallShape {
            program_kib: 16,
            handler_kib: 16,
            packet_kib: 16,
            stdout_characters: 4,
        };
        Ok(Box::new(SmallComplex::new(shape)?))
    },
);
