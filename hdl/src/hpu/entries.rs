//! Processors in the catalog, and their models for the testbenches.

use super::memory::{HpuMemory, MemoryShape};
use super::{HpuDecoder, HpuPipeline, HpuPipelines, HpuRegisters, HpuShape, SerialHpu, SerialHpuShape};
use crate::entry::{Entry, Variant};
use crate::limits::Limit;

/// Threads of a pipeline.
const THREADS: Limit = Limit::number("threads", [1, 16], "threads, which take turns").power_of_two();

/// [`HpuDecoder`].
pub(crate) const DECODER: Entry = entry!(part "hpu_decoder", HpuDecoder():
    "decodes RV32IMAC, instructions of 16 and 32 bits");

/// [`HpuRegisters`].
pub(crate) const REGISTERS: Entry = Entry::part(
    "hpu_registers",
    "registers of all threads",
    |_| vec![THREADS.parameter(8)],
    |values| {
        let threads = THREADS.check("hpu_registers", THREADS.of(values))?;
        Ok(Box::new(HpuRegisters::new(threads)))
    },
);

/// [`HpuPipeline`].
pub(crate) const PIPELINE: Entry = entry!(part "hpu_pipeline", HpuPipeline(HpuShape):
    "processor of several threads, RV32IMAC");

/// [`HpuPipelines`].
pub(crate) const PIPELINES: Entry = entry!(part "hpu_pipelines", HpuPipelines(HpuShape):
    "four processors side by side, for the speed of their simulation");

/// [`HpuMemory`].
pub(crate) const MEMORY: Entry = entry!(part "hpu_memory", HpuMemory(MemoryShape):
    "data memory of a pipeline, with atomic operations and reservations");

/// [`SerialHpu`].
pub(crate) const SERIAL: Entry = entry!(part "serial_hpu", SerialHpu(SerialHpuShape):
    "a pipeline behind a serial line, for small boards");

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    DECODER.variant("hpu_decoder", ""),
    REGISTERS.variant("hpu_registers", ""),
    PIPELINE.variant("hpu_pipeline_4", "threads=4 trace=1"),
    PIPELINE.variant("hpu_pipeline_8", "threads=8 trace=1"),
    PIPELINE.variant("hpu_pipeline_16", "threads=16 trace=1 memory_clocks=2"),
    PIPELINES.variant("hpu_pipelines", "threads=4"),
    SERIAL.variant(
        "serial_hpu",
        "clocks_per_bit=4 quiet_clocks=65536 heartbeat_bits=10",
    ),
    MEMORY.variant("hpu_memory", ""),
    // Whose every address bit counts.
    MEMORY.variant("hpu_memory_small", "threads=4 words=4 base=0xfffffff0"),
];
