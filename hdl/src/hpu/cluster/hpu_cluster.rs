//! A cluster: eight HPUs in two pipelines, with their L1, tasks and copies.
//!
//! ```text
//!                    task, finished, command
//!                          ||
//!             registers +--------+ copies +--------+
//!           +==========>| driver |=======>| copier |==> read, write
//!           ||          +--------+        +--------+
//!  +----------+    +------+  | ranges, stop
//!  | pipeline |===>| port |  |
//!  |    x 2   |<-- |  x 2 |==|==================================> far
//!  +----------+ |  +------+  |            +----+
//!       ^       +-----||-----+            | L1 |<== line
//!       |             ++=================>|    |
//!    program            words             +----+
//! ```
//!
//! # Contract
//! - **HPUs** run while `runs` is high; else they are in reset, and begin at the reset vector four clocks after it rises. `mhartid` is 32
//!   times the number of the cluster and the number of the HPU.
//! - **Reset of HPUs** begins in the clock in which `runs` falls. Accesses and starts that took place go on, and no thread gets their
//!   answers; others are dropped. Tasks that HPUs hold end and fail. Reservations in L1 are cancelled.
//! - **Protection:** user mode may access its task's memory (ranges), and the registers of the driver as these say.
//! - All else is the contract of the parts.

use super::driver::{CLUSTER, WAS_RESET};
use super::hpu_port::CLUSTERS;
use super::{
    ClusterDriver, ClusterL1, Command, ContextSettingIn, ContextShape, FarAccess, HpuPort, L1_LINE, L1Shape,
    LineCopier, LinePortIn, LineRead, LineWrite, PAIR, PIPELINES, PROGRAM_ADDR, THREAD, THREADS, TaskEnd,
    WORD,
};
use crate::entry::{Entry, ParameterError};
use crate::hpu::{HpuPipeline, HpuShape};
use crate::stream::{FrameIn, StreamOut};
use spinneret_regmap::pspin;
use spinneret_verilog::prelude::*;

/// Parameters of the pipelines.
pub(super) fn pipeline() -> HpuShape {
    HpuShape {
        threads: THREADS,
        ranges: 8,
        registers: true,
        multiplies: true,
        counts: true,
        program_words: 1 << PROGRAM_ADDR,
        program_base: pspin::PROGRAM_BASE.into(),
        memory_clocks: 2,
        trace: false,
    }
}

/// Eight HPUs in two pipelines, with their L1, tasks and copies.
#[module(clusters: usize, contexts: ContextShape, error = ParameterError)]
pub struct HpuCluster {
    /// Number of the cluster.
    pub number: Wire<In, { address_width(clusters) }>,
    /// The HPUs run.
    pub runs: Wire<In, bool>,
    /// A word of program memory is written.
    pub program_write: Wire<In, bool>,
    /// Its number.
    pub program_address: Wire<In, { PROGRAM_ADDR }>,
    /// The word.
    pub program_data: Wire<In, { WORD }>,
    /// Tasks.
    pub task: FrameIn<{ PAIR }>,
    /// Tasks that have ended.
    pub finished: StreamOut<{ TaskEnd::new().width }>,
    /// Budgets of contexts.
    pub budget: ContextSettingIn<{ contexts.context() }, { WORD }>,
    /// Commands of handlers.
    pub command: Command,
    /// Accesses of each pipeline to memories outside.
    pub far: [FarAccess; PIPELINES],
    /// Reads of copies.
    pub read: LineRead,
    /// Writes of copies.
    pub write: LineWrite,
    /// Lines of L1.
    pub line: LinePortIn<{ L1_LINE }>,
    /// Every HPU has asked for a task since it began to run.
    pub asked: Wire<Out, bool>,
    /// A thread, another one in each clock.
    turn: Reg<{ THREAD }, Reset>,
    /// Clocks until all threads are reported as reset.
    resets: Reg<{ THREAD + 1 }, Reset>,
    #[new(HpuPipeline::new(pipeline()))]
    pipelines: [HpuPipeline; PIPELINES],
    #[new(HpuPort::new(clusters))]
    ports: [HpuPort; PIPELINES],
    l1: ClusterL1<
        {
            L1Shape {
                lines: 1 << L1_LINE,
                ultra: true,
            }
        },
    >,
    #[new(ClusterDriver::new(contexts, false)?)]
    driver: ClusterDriver,
    #[new(LineCopier::new()?)]
    copier: LineCopier,
}

#[kernel(HpuCluster, suffix = format!("{clusters}x{}", contexts.contexts * contexts.queues))]
fn update() {
    // While HPUs are in reset, and at least for one turn, their threads are reported as trapped: each block drops what was of them.
    let are_reset = resets.any();
    turn = turn + 1;
    if !runs {
        resets = THREADS as u64;
    } else if are_reset {
        resets = resets - 1;
    }
    for (index, (pipeline, port)) in pipelines.iter().zip(&ports).enumerate() {
        let first = index * THREADS;
        pipeline.rst = rst || !runs || are_reset;
        let trap = pipeline.trap || are_reset;
        let trap_thread = if are_reset { turn } else { pipeline.trap_thread };
        let trap_cause = if are_reset {
            constant(lit(WAS_RESET.into(), 5))
        } else {
            pipeline.trap_cause
        };
        pipeline.hart_base =
            (cat!(number, lit(0, pspin::CLUSTER_HARTS.ilog2() as usize)) | first as u64).resize(WORD);
        pipeline.stop = driver.stop.slice(first, THREADS);
        pipeline.program_write = program_write;
        pipeline.program_addr = program_address;
        pipeline.program_data = program_data;
        let range = driver.range;
        pipeline.range.write = range.write && range.hpu[THREAD] == (index != 0);
        pipeline.range.thread = range.hpu.slice(0, THREAD);
        pipeline.range.number = range.number;
        pipeline.range.first = range.first;
        pipeline.range.end = range.end;

        port.cluster = number;
        port.pipeline = index as u64;
        port.s = pipeline.m;
        port.next_address = pipeline.next_address;
        port.trap = trap;
        port.trap_thread = trap_thread;
        l1.words[index] = port.l1;
        l1.trap[index] = trap;
        l1.trap_thread[index] = trap_thread;
        driver.s[index] = port.registers;
        driver.trap[index].valid = trap;
        driver.trap[index].thread = trap_thread;
        driver.trap[index].cause = trap_cause;
        far[index] = port.far;
    }
    l1.line = line;
    driver.cluster = number.resize(CLUSTER);
    driver.budget = budget;
    driver.task = task;
    finished = driver.finished;
    command = driver.command;
    copier.copy = driver.copy;
    read = copier.read;
    write = copier.write;
    asked = driver.asked;
}

/// [`HpuCluster`].
pub(crate) const ENTRY: Entry = Entry::part(
    "hpu_cluster",
    "eight HPUs with their L1, tasks and copies",
    |_| vec![CLUSTERS.parameter(2)],
    |values| {
        let clusters = CLUSTERS.check("hpu_cluster", CLUSTERS.of(values))?;
        Ok(Box::new(HpuCluster::new(clusters, ContextShape::NIC)?))
    },
);
