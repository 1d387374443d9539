//! Ports towards Corundum's DMA, in the order of the public design's ports, and packed words between the parts of the host
//! DMA, the first field lowest.

use super::{GuardShape, HostDmaShape, RamShape, WINDOW_SIZE_BITS};
use crate::axi::{ATOP_BITS, KIND_BITS, LENGTH_BITS, PAGE_BITS, SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Width of the error of a status in bits.
pub const ERROR_BITS: usize = 4;

/// Descriptors of reads.
#[interface(shape: HostDmaShape)]
pub struct ReadDescOut {
    /// Where the data is in host memory.
    pub dma_addr: Wire<Out, { shape.address }>,
    /// Number of the RAM; always 0.
    pub ram_sel: Wire<Out, { shape.ram_select }>,
    /// Where it goes in the RAM.
    pub ram_addr: Wire<Out, { shape.ram_address }>,
    /// How many bytes, at least 1.
    pub len: Wire<Out, { shape.length }>,
    /// The tag of the status.
    pub tag: Wire<Out, { shape.tag }>,
    /// The descriptor is there.
    pub valid: Wire<Out, bool>,
    /// The descriptor is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// Descriptors of writes.
#[interface(shape: HostDmaShape)]
pub struct WriteDescOut {
    /// Where the data goes in host memory.
    pub dma_addr: Wire<Out, { shape.address }>,
    /// Number of the RAM; always 0.
    pub ram_sel: Wire<Out, { shape.ram_select }>,
    /// Where it is in the RAM.
    pub ram_addr: Wire<Out, { shape.ram_address }>,
    /// Immediate data; always 0.
    pub imm: Wire<Out, { shape.immediate }>,
    /// There is immediate data; never.
    pub imm_en: Wire<Out, bool>,
    /// How many bytes, at least 1.
    pub len: Wire<Out, { shape.length }>,
    /// The tag of the status.
    pub tag: Wire<Out, { shape.tag }>,
    /// The descriptor is there.
    pub valid: Wire<Out, bool>,
    /// The descriptor is taken in this cycle.
    pub ready: Wire<In, bool>,
}

/// How descriptors went; there is no ready.
#[interface(tag: usize)]
pub struct StatusIn {
    /// Tag of the descriptor.
    pub tag: Wire<In, { tag }>,
    /// 0, or why it failed.
    pub error: Wire<In, { ERROR_BITS }>,
    /// The status is there.
    pub valid: Wire<In, bool>,
}

/// Writes into the RAM, segments side by side.
#[interface(RamWriteIn, shape: RamShape, count = shape.segments)]
pub struct RamWriteOut {
    /// Bytes that are written.
    pub cmd_be: Wire<Out, { count * shape.data / 8 }>,
    /// Words that are written.
    pub cmd_addr: Wire<Out, { count * shape.address }>,
    /// Data.
    pub cmd_data: Wire<Out, { count * shape.data }>,
    /// Bit s: there is a command for segment s.
    pub cmd_valid: Wire<Out, { count }>,
    /// Bit s: segment s takes its command in this cycle.
    pub cmd_ready: Wire<In, { count }>,
    /// Bit s: the oldest command of segment s that was not done is done.
    pub done: Wire<In, { count }>,
}

/// Reads from the RAM, segments side by side.
#[interface(RamReadIn, shape: RamShape, count = shape.segments)]
pub struct RamReadOut {
    /// Words that are read.
    pub cmd_addr: Wire<Out, { count * shape.address }>,
    /// Bit s: there is a command for segment s.
    pub cmd_valid: Wire<Out, { count }>,
    /// Bit s: segment s takes its command in this cycle.
    pub cmd_ready: Wire<In, { count }>,
    /// The data.
    pub resp_data: Wire<In, { count * shape.data }>,
    /// Bit s: the data of segment s is there.
    pub resp_valid: Wire<In, { count }>,
    /// Bit s: it is taken.
    pub resp_ready: Wire<Out, { count }>,
}

/// The segmented RAM as Corundum sees it: writes go to one half, reads come from the other.
#[interface(shape: RamShape)]
pub struct CorundumRam {
    /// Writes.
    pub wr: RamWriteIn<{ shape }>,
    /// Reads.
    pub rd: RamReadIn<{ shape }>,
}

/// The windows of host memory, side by side.
#[interface(shape: GuardShape)]
pub struct GuardIn {
    /// The windows do not confine transfers.
    pub open: Wire<In, bool>,
    /// A transfer must be in the window of the context in the lowest bits of AWUSER or ARUSER, not in any window.
    pub by_context: Wire<In, bool>,
    /// Bit c: execution context c is enabled.
    pub enabled: Wire<In, { shape.windows }>,
    /// Where its window starts.
    pub base: Wire<In, { shape.windows * shape.address }>,
    /// Its bytes.
    pub size: Wire<In, { shape.windows * WINDOW_SIZE_BITS }>,
}

/// A burst in the queue.
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

/// An item of a write burst.
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

/// A piece of a write burst.
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

/// A read on its way to its descriptors.
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

/// A read that can be answered.
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
    /// Transfers of one half: `entries` of them, each with a payload.
    pub(super) fn new(shape: HostDmaShape, entries: usize, payload: impl Into<Place>) -> Self {
        Self {
            entries,
            payload: payload.into(),
            ram: shape.line() + shape.lane(),
            length: PAGE_BITS + 1,
        }
    }

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
