//! Packed words between the parts of the host DMA.

use super::{ERROR_BITS, HostDmaShape};
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
    pub asker: Field<{ shape.context() }>,
    /// The atomic operation; of no width if there is none.
    pub atop: Field<{ if atomics { ATOP_BITS } else { 0 } }>,
}

/// An atomic operation that wants data.
#[record(shape: HostDmaShape)]
pub struct AtomicFields {
    /// Its id.
    pub id: Field<{ shape.id }>,
    /// Beats that it wants, minus 1.
    pub length: Field<{ LENGTH_BITS }>,
}

/// A beat of write data.
#[record(shape: HostDmaShape)]
pub struct DataFields {
    /// Its bytes.
    pub data: Field<{ shape.data }>,
    /// Which of them are written.
    pub strobes: Field<{ shape.axi().strobes() }>,
    /// WLAST.
    pub last: Field<1>,
}

/// The rest of a beat whose data is on its way into the ring.
#[record(shape: HostDmaShape)]
pub struct BeatFields {
    /// Which of its bytes are written.
    pub strobes: Field<{ shape.axi().strobes() }>,
    /// Position of the beat in the ring.
    pub position: Field<{ shape.position() }>,
    /// WLAST.
    pub last: Field<1>,
    /// The strobed bytes are several runs.
    pub several: Field<1>,
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
    pub stop: Field<{ shape.lane() }>,
    /// There is a run.
    pub found: Field<1>,
    /// The burst cannot be done.
    pub refused: Field<1>,
    /// The item ends its beat.
    pub whole: Field<1>,
    /// The item ends its burst.
    pub last: Field<1>,
    /// WLAST is wrong.
    pub fault: Field<1>,
    /// The run may continue with what is before it: it starts at lane 0, and its line is not the first of a half of the
    /// ring.
    pub follows: Field<1>,
    /// Position of the beat in the ring.
    pub position: Field<{ shape.position() }>,
    /// Which 4 KiB of host memory.
    pub page: Field<{ shape.page() }>,
    /// Id of the burst.
    pub id: Field<{ shape.id }>,
    /// The context that asks; of no width without guard.
    pub asker: Field<{ shape.context() }>,
}

/// A piece of a write burst, the first field lowest.
#[record(shape: HostDmaShape)]
pub struct PieceFields {
    /// Place of its first byte in its 4 KiB.
    pub start: Field<{ PAGE_BITS }>,
    /// Place of its last byte.
    pub stop: Field<{ PAGE_BITS }>,
    /// Line of the ring that holds its first byte.
    pub line: Field<{ shape.line() }>,
    /// It has bytes.
    pub moves: Field<1>,
    /// The line at `position` is free after it, too, and not only those before.
    pub whole: Field<1>,
    /// It ends its burst.
    pub last: Field<1>,
    /// The burst is at fault.
    pub fault: Field<1>,
    /// Position in the ring up to which data must be written.
    pub position: Field<{ shape.position() }>,
    /// Which 4 KiB of host memory.
    pub page: Field<{ shape.page() }>,
    /// Id of the burst.
    pub id: Field<{ shape.id }>,
    /// The context that asks; of no width without guard.
    pub asker: Field<{ shape.context() }>,
}

/// A read of which is known which bytes it wants.
#[record(shape: HostDmaShape)]
pub struct FoundFields {
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
    /// Place of its last byte in its 4 KiB.
    pub stop: Field<{ PAGE_BITS }>,
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

/// A plan whose lines of the ring are taken.
#[record(shape: HostDmaShape)]
pub struct HeldFields {
    /// The plan.
    pub plan: Field<{ PlanFields::new(shape) }>,
    /// The first of its lines.
    pub line: Field<{ shape.line() }>,
}

/// A beat whose data is on its way.
#[record(shape: HostDmaShape)]
pub struct ReplyFields {
    /// RID.
    pub id: Field<{ shape.id }>,
    /// RRESP.
    pub response: Field<2>,
    /// RLAST.
    pub last: Field<1>,
    /// It has data.
    pub has_data: Field<1>,
    /// It is the last that reads its line.
    pub frees: Field<1>,
    /// Which segments hold its line; of no width if all do.
    pub group: Field<{ shape.group() }>,
}

/// Data that accompanies a transfer of a read.
#[record(shape: HostDmaShape)]
pub struct ReadPayload {
    /// The answer.
    pub job: Field<{ JobFields::new(shape) }>,
    /// It is the last transfer of its read.
    pub last: Field<1>,
}

/// Data that accompanies a transfer of a write.
#[record(shape: HostDmaShape)]
pub struct WritePayload {
    /// Id of the burst.
    pub id: Field<{ shape.id }>,
    /// Position in the ring up to which data must be written.
    pub position: Field<{ shape.position() }>,
    /// The line at `position` is free after it, too.
    pub whole: Field<1>,
    /// It is the last of its burst.
    pub last: Field<1>,
    /// The burst is at fault.
    pub fault: Field<1>,
    /// It has bytes outside of all windows.
    pub outside: Field<1>,
    /// The context that asked; of no width without guard.
    pub asker: Field<{ shape.context() }>,
}

/// Widths of what passes through the [`TransferQueue`](super::TransferQueue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferShape {
    /// Transfers that can be in flight, a power of two.
    pub entries: usize,
    /// Data that accompanies a transfer.
    pub payload: Place,
    /// Bits of an address in the RAM that are used.
    pub ram: usize,
    /// Bits of a length that are used.
    pub length: usize,
}

impl TransferShape {
    /// The same for the queue, which does not look into the payload.
    pub(super) fn closed(self) -> Self {
        Self {
            payload: self.payload.width.into(),
            ..self
        }
    }
}

/// A transfer between host memory and the RAM of Corundum's DMA.
#[record(address: usize, transfers: TransferShape)]
pub struct TransferFields {
    /// Address in host memory.
    pub host_address: Field<{ address }>,
    /// Address in the RAM.
    pub ram_address: Field<{ transfers.ram }>,
    /// Bytes.
    pub length: Field<{ transfers.length }>,
    /// It moves bytes; otherwise it has no descriptor.
    pub moves: Field<1>,
    /// Data that accompanies it.
    pub payload: Field<{ transfers.payload }>,
}

/// State of a transfer until it is done.
#[record(payload: Place)]
pub struct KeptFields {
    /// It moves bytes.
    pub moves: Field<1>,
    /// Data that accompanies it.
    pub payload: Field<{ payload }>,
}

/// A transfer that is done.
#[record(payload: Place)]
pub struct DoneFields {
    /// Data that accompanied it.
    pub payload: Field<{ payload }>,
    /// Corundum's error code; 0: none.
    pub error: Field<{ ERROR_BITS }>,
}
