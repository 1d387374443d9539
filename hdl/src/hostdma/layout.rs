//! What travels packed between the parts of the host DMA.

use super::HostDmaShape;
use crate::axi::{ATOP_BITS, KIND_BITS, LENGTH_BITS, PAGE_BITS, SIZE_BITS};
use spinneret_verilog::prelude::*;

/// A burst as it waits, the first field lowest.
#[record(shape: HostDmaShape, atomics: bool)]
pub struct BurstFields {
    /// Address of its first byte.
    pub address: Field<{ shape.address }>,
    /// Its beats, minus 1.
    pub length: Field<{ LENGTH_BITS }>,
    /// Bytes of a beat, as a power of two.
    pub size: Field<{ SIZE_BITS }>,
    /// Kind of burst.
    pub kind: Field<{ KIND_BITS }>,
    /// Its id.
    pub id: Field<{ shape.id }>,
    /// The context that asks; of no width without guard.
    pub context: Field<{ shape.context() }>,
    /// The atomic operation; of no width if there is none.
    pub atop: Field<{ if atomics { ATOP_BITS } else { 0 } }>,
}

/// An item of a write burst, the first field lowest.
#[record(shape: HostDmaShape)]
pub struct RunFields {
    /// Place of the first byte of the beat in its 4 KiB.
    pub place: Field<{ PAGE_BITS }>,
    /// The last lane of the beat.
    pub lane_end: Field<{ shape.lane() }>,
    /// The first lane of the run.
    pub start: Field<{ shape.lane() }>,
    /// The last lane of the run.
    pub end: Field<{ shape.lane() }>,
    /// There is a run.
    pub found: Field<1>,
    /// The item ends its beat.
    pub whole: Field<1>,
    /// The item ends its burst.
    pub last: Field<1>,
    /// WLAST is wrong.
    pub fault: Field<1>,
    /// The burst cannot be done.
    pub refused: Field<1>,
    /// Position of the beat in the ring.
    pub position: Field<{ shape.position() }>,
    /// Which 4 KiB of host memory.
    pub page: Field<{ shape.page() }>,
    /// Id of the burst.
    pub id: Field<{ shape.id }>,
    /// The context that asks; of no width without guard.
    pub context: Field<{ shape.context() }>,
}

/// A piece of a write burst, the first field lowest.
#[record(shape: HostDmaShape)]
pub struct PieceFields {
    /// Place of its first byte in its 4 KiB.
    pub start: Field<{ PAGE_BITS }>,
    /// Place of its last byte.
    pub end: Field<{ PAGE_BITS }>,
    /// Line of the ring that holds its first byte.
    pub line: Field<{ shape.line() }>,
    /// It has bytes.
    pub moves: Field<1>,
    /// The line at `position` is free behind it, too, and not only those before.
    pub whole: Field<1>,
    /// It ends its burst.
    pub last: Field<1>,
    /// The burst is at fault.
    pub fault: Field<1>,
    /// Position in the ring up to which data has to be written.
    pub position: Field<{ shape.position() }>,
    /// Which 4 KiB of host memory.
    pub page: Field<{ shape.page() }>,
    /// Id of the burst.
    pub id: Field<{ shape.id }>,
    /// The context that asks; of no width without guard.
    pub context: Field<{ shape.context() }>,
}

/// A read on its way to its descriptors, the first field lowest.
#[record(shape: HostDmaShape)]
pub struct PlanFields {
    /// Place of its first byte in its 4 KiB.
    pub start: Field<{ PAGE_BITS }>,
    /// Which 4 KiB of host memory.
    pub page: Field<{ shape.page() }>,
    /// The burst cannot be done.
    pub refused: Field<1>,
    /// Its beats, minus 1.
    pub length: Field<{ LENGTH_BITS }>,
    /// Bytes of a beat, as a power of two.
    pub size: Field<{ SIZE_BITS }>,
    /// Its id.
    pub id: Field<{ shape.id }>,
    /// The burst has bytes outside of all windows.
    pub outside: Field<1>,
    /// Lane of its last byte.
    pub last_lane: Field<{ shape.lane() }>,
    /// Its bytes, minus 1.
    pub bytes: Field<{ PAGE_BITS }>,
    /// Lines of the ring that it needs, minus 1.
    pub lines: Field<{ shape.row() }>,
}

/// A read that can be answered, the first field lowest.
#[record(shape: HostDmaShape)]
pub struct JobFields {
    /// Line of the ring that holds its first byte.
    pub line: Field<{ shape.line() }>,
    /// Place of its first byte in its 4 KiB.
    pub start: Field<{ PAGE_BITS }>,
    /// Its beats, minus 1.
    pub length: Field<{ LENGTH_BITS }>,
    /// Bytes of a beat, as a power of two.
    pub size: Field<{ SIZE_BITS }>,
    /// Its id.
    pub id: Field<{ shape.id }>,
    /// RRESP.
    pub response: Field<2>,
    /// It holds lines of the ring.
    pub held: Field<1>,
}
