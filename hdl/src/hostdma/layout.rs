//! What travels packed between the parts of the host DMA.

use super::HostDmaShape;
use crate::axi::{ATOP_BITS, KIND_BITS, LENGTH_BITS, PAGE_BITS, SIZE_BITS};

/// Some bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The lowest of them.
    pub at: usize,
    /// How many.
    pub width: usize,
}

/// Places fields one behind the other, from bit 0 on.
struct Places(usize);

impl Places {
    fn field(&mut self, width: usize) -> Field {
        let at = self.0;
        self.0 += width;
        Field { at, width }
    }
}

/// A burst as it waits: {AWATOP if there is one, context if there is a guard, id, kind, size, length, address}.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstFields {
    /// Address of its first byte.
    pub address: Field,
    /// Its beats, minus 1.
    pub length: Field,
    /// Bytes of a beat, as a power of two.
    pub size: Field,
    /// Kind of burst.
    pub kind: Field,
    /// Its id.
    pub id: Field,
    /// The context that asks; of no width without guard.
    pub context: Field,
    /// The atomic operation; of no width if there is none.
    pub atop: Field,
    /// Bits of all.
    pub width: usize,
}

impl BurstFields {
    /// The fields of a burst at a port of that shape, of which writes may be atomic operations.
    pub fn new(shape: HostDmaShape, atomics: bool) -> Self {
        let mut places = Places(0);
        Self {
            address: places.field(shape.address),
            length: places.field(LENGTH_BITS),
            size: places.field(SIZE_BITS),
            kind: places.field(KIND_BITS),
            id: places.field(shape.id),
            context: places.field(shape.context()),
            atop: places.field(if atomics { ATOP_BITS } else { 0 }),
            width: places.0,
        }
    }
}

/// An item of a write burst: {context if there is a guard, id, page, position, refused, fault, last, whole, found, end,
/// start, lane_end, place}.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunFields {
    /// Place of the first byte of the beat in its 4 KiB.
    pub place: Field,
    /// The last lane of the beat.
    pub lane_end: Field,
    /// The first lane of the run.
    pub start: Field,
    /// The last lane of the run.
    pub end: Field,
    /// There is a run.
    pub found: Field,
    /// The item ends its beat.
    pub whole: Field,
    /// The item ends its burst.
    pub last: Field,
    /// WLAST is wrong.
    pub fault: Field,
    /// The burst cannot be done.
    pub refused: Field,
    /// Position of the beat in the ring.
    pub position: Field,
    /// Which 4 KiB of host memory.
    pub page: Field,
    /// Id of the burst.
    pub id: Field,
    /// The context that asks; of no width without guard.
    pub context: Field,
    /// Bits of all.
    pub width: usize,
}

impl RunFields {
    /// The fields of an item.
    pub fn new(shape: HostDmaShape) -> Self {
        let mut places = Places(0);
        Self {
            place: places.field(PAGE_BITS),
            lane_end: places.field(shape.lane()),
            start: places.field(shape.lane()),
            end: places.field(shape.lane()),
            found: places.field(1),
            whole: places.field(1),
            last: places.field(1),
            fault: places.field(1),
            refused: places.field(1),
            position: places.field(shape.position()),
            page: places.field(shape.page()),
            id: places.field(shape.id),
            context: places.field(shape.context()),
            width: places.0,
        }
    }
}

/// A piece of a write burst: {context if there is a guard, id, page, position, fault, last, whole, moves, line, end,
/// start}.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceFields {
    /// Place of its first byte in its 4 KiB.
    pub start: Field,
    /// Place of its last byte.
    pub end: Field,
    /// Line of the ring that holds its first byte.
    pub line: Field,
    /// It has bytes.
    pub moves: Field,
    /// The line at `position` is free behind it, too, and not only those before.
    pub whole: Field,
    /// It ends its burst.
    pub last: Field,
    /// The burst is at fault.
    pub fault: Field,
    /// Position in the ring up to which data has to be written.
    pub position: Field,
    /// Which 4 KiB of host memory.
    pub page: Field,
    /// Id of the burst.
    pub id: Field,
    /// The context that asks; of no width without guard.
    pub context: Field,
    /// Bits of all.
    pub width: usize,
}

impl PieceFields {
    /// The fields of a piece.
    pub fn new(shape: HostDmaShape) -> Self {
        let mut places = Places(0);
        Self {
            start: places.field(PAGE_BITS),
            end: places.field(PAGE_BITS),
            line: places.field(shape.line()),
            moves: places.field(1),
            whole: places.field(1),
            last: places.field(1),
            fault: places.field(1),
            position: places.field(shape.position()),
            page: places.field(shape.page()),
            id: places.field(shape.id),
            context: places.field(shape.context()),
            width: places.0,
        }
    }
}

/// A read on its way to its descriptors: {lines, bytes, last_lane, outside, id, size, length, refused, page, start}.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanFields {
    /// Place of its first byte in its 4 KiB.
    pub start: Field,
    /// Which 4 KiB of host memory.
    pub page: Field,
    /// The burst cannot be done.
    pub refused: Field,
    /// Its beats, minus 1.
    pub length: Field,
    /// Bytes of a beat, as a power of two.
    pub size: Field,
    /// Its id.
    pub id: Field,
    /// The burst has bytes outside of all windows.
    pub outside: Field,
    /// Lane of its last byte.
    pub last_lane: Field,
    /// Its bytes, minus 1.
    pub bytes: Field,
    /// Lines of the ring that it needs, minus 1.
    pub lines: Field,
    /// Bits of all.
    pub width: usize,
}

impl PlanFields {
    /// The fields of a plan.
    pub fn new(shape: HostDmaShape) -> Self {
        let mut places = Places(0);
        Self {
            start: places.field(PAGE_BITS),
            page: places.field(shape.page()),
            refused: places.field(1),
            length: places.field(LENGTH_BITS),
            size: places.field(SIZE_BITS),
            id: places.field(shape.id),
            outside: places.field(1),
            last_lane: places.field(shape.lane()),
            bytes: places.field(PAGE_BITS),
            lines: places.field(shape.row()),
            width: places.0,
        }
    }
}

/// A read that can be answered: {held, response, id, size, length, start, line}.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobFields {
    /// Line of the ring that holds its first byte.
    pub line: Field,
    /// Place of its first byte in its 4 KiB.
    pub start: Field,
    /// Its beats, minus 1.
    pub length: Field,
    /// Bytes of a beat, as a power of two.
    pub size: Field,
    /// Its id.
    pub id: Field,
    /// RRESP.
    pub response: Field,
    /// It holds lines of the ring.
    pub held: Field,
    /// Bits of all.
    pub width: usize,
}

impl JobFields {
    /// The fields of a job.
    pub fn new(shape: HostDmaShape) -> Self {
        let mut places = Places(0);
        Self {
            line: places.field(shape.line()),
            start: places.field(PAGE_BITS),
            length: places.field(LENGTH_BITS),
            size: places.field(SIZE_BITS),
            id: places.field(shape.id),
            response: places.field(2),
            held: places.field(1),
            width: places.0,
        }
    }
}
