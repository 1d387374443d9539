//! The handler processing unit: the processor that runs handlers.

pub mod cluster;
mod csrs;
mod decoder;
mod divider;
mod execute;
mod memory;
mod pipeline;
mod ports;
mod program;
mod ranges;
mod registers;
mod serial;
pub mod serial_protocol;
pub mod small;

pub use csrs::HpuCsrs;
pub use decoder::{Decoded, DecodedIn, HpuDecoder};
pub use divider::HpuDivider;
pub(crate) use memory::MEMORY;
pub use memory::{HpuMemory, MemoryShape, Words, WordsIn};
pub use pipeline::HpuPipeline;
pub use ports::{HpuData, HpuDataIn, HpuRvfi, HpuRvfiIn, HpuShape, NEXT_ADDRESS};
pub use program::HpuProgram;
pub use ranges::{HpuRanges, RangeWrite, RangeWriteIn, SCRATCHPAD_RANGE};
pub use registers::HpuRegisters;
pub(crate) use serial::SERIAL;
pub use serial::{PACKET, SerialHpu, SerialHpuShape};

use crate::entry::{Entry, Parameters as _, Variant};
use crate::limits::Limit;

/// Threads of a pipeline.
const THREADS: Limit = Limit::number("threads", [1, 16], "threads, which take turns").power_of_two();

/// [`HpuDecoder`].
pub(crate) const DECODER: Entry = Entry::part(
    "hpu_decoder",
    "decodes RV32IMAC, instructions of 16 and 32 bits",
    |_| Vec::new(),
    |_| Ok(Box::new(HpuDecoder::new())),
);

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
pub(crate) const PIPELINE: Entry = Entry::part(
    "hpu_pipeline",
    "processor of several threads, RV32IMAC",
    HpuShape::parameters,
    |values| Ok(Box::new(HpuPipeline::new(HpuShape::of("hpu_pipeline", values)?))),
);

/// Models for the testbenches.
pub(crate) const SIMULATED: &[Variant] = &[
    DECODER.variant("hpu_decoder", ""),
    REGISTERS.variant("hpu_registers", ""),
    PIPELINE.variant("hpu_pipeline_4", "threads=4 trace=1"),
    PIPELINE.variant("hpu_pipeline_4_plain", "threads=4"),
    PIPELINE.variant("hpu_pipeline_8", "threads=8 trace=1"),
    PIPELINE.variant("hpu_pipeline_16", "threads=16 trace=1 memory_clocks=2"),
    SERIAL.variant(
        "serial_hpu",
        "clocks_per_bit=4 quiet_clocks=65536 heartbeat_bits=10",
    ),
    MEMORY.variant("hpu_memory", ""),
    // Whose every address bit counts.
    MEMORY.variant("hpu_memory_small", "threads=4 words=4 base=0xfffffff0"),
];
