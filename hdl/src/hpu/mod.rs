//! The handler processing unit: the processor that runs handlers.

pub mod cluster;
mod csrs;
mod decoder;
mod divider;
pub(crate) mod entries;
mod execute;
mod memory;
mod pipeline;
mod pipelines;
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
pub use memory::{HpuMemory, MemoryShape, Words, WordsIn};
pub use pipeline::HpuPipeline;
pub use pipelines::HpuPipelines;
pub use ports::{HpuData, HpuDataIn, HpuRvfi, HpuRvfiIn, HpuShape, NEXT_ADDRESS};
pub use program::HpuProgram;
pub use ranges::{HpuRanges, RangeWrite, RangeWriteIn, SCRATCHPAD_RANGE};
pub use registers::HpuRegisters;
pub use serial::{PACKET, SerialHpu, SerialHpuShape};
