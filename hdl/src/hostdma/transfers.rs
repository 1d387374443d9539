//! Transfers in flight: descriptors for Corundum's DMA, and commands of the RAM.

use super::layout::{DoneFields, KeptFields, TransferFields, TransferShape};
use super::{ERROR_BITS, HostDmaShape, ReadDescOut, StatusIn};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Gives descriptors to Corundum's DMA, many at a time, and returns completed ones in order.
///
/// A ring of transfers: they enter at its end, are answered in any order, and leave at its head.
///
/// ```text
/// s ---> descriptor (register) ---> desc
///   |
///   +--> ring: payload (RAM), pending (a bit each), error (RAM) ---> m
///                                   ^
/// status ---------------------------+
/// ```
///
/// A transfer's tag is its place in the ring. One that moves no bytes has no descriptor, and leaves when it is
/// at the head. A transfer is in the ring one clock after it was taken, and at `desc`, if it is clear to go, and at
/// `m` one clock after its status. `m` is not registered.
///
/// `rst` discards all transfers but those in flight, and the one whose descriptor is at `desc`, which stays there.
/// `idle` is low until they are answered; only then may new ones come. `forget` discards those, too.
#[module(
    shape: HostDmaShape,
    transfers: TransferShape,
    index: usize = address_width(transfers.entries),
    transfer: TransferFields = TransferFields::new(shape.address, transfers.closed()),
    kept: KeptFields = KeptFields::new(transfers.closed().payload),
    done: DoneFields = DoneFields::new(transfers.closed().payload),
)]
pub struct TransferQueue {
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Synchronous reset of what is in flight.
    pub forget: Wire<In, bool>,
    /// Transfers, as [`TransferFields`] says.
    pub s: StreamIn<{ transfer.width }>,
    /// The descriptor of the transfer at `s` can be given at once.
    pub clear: Wire<In, bool>,
    /// The descriptor of the transfer that was taken last can be given.
    pub held_clear: Wire<In, bool>,
    /// Descriptors.
    pub desc: ReadDescOut<{ shape }>,
    /// Their statuses.
    pub status: StatusIn<{ shape.tag }>,
    /// Transfers that are done, as [`DoneFields`] says.
    pub m: StreamOut<{ done.width }>,
    /// A status came for a tag that is not in flight.
    pub stray: Wire<Out, bool>,
    /// Nothing is in flight.
    pub idle: Wire<Out, bool>,
    head: Reg<{ index + 1 }, Reset>,
    tail: Reg<{ index + 1 }, Reset>,
    pending: Reg<{ transfers.entries }, Reset>,
    payloads: Ram<{ RamStyle::Distributed }, { transfers.entries }, { kept.width }>,
    errors: Ram<{ RamStyle::Distributed }, { transfers.entries }, { ERROR_BITS }>,
    host_address: Reg<{ shape.address }>,
    ram_address: Reg<{ transfers.ram }>,
    length: Reg<{ transfers.length }>,
    tag: Reg<{ index }>,
    /// There is a descriptor that was not taken.
    held: Reg<bool, Reset>,
    /// It is at the port.
    offered: Reg<bool, Reset>,
    full: Reg<bool, Reset>,
}

#[kernel(
    TransferQueue {
        rst, forget, s, clear, held_clear, desc, status, m, stray, idle, head, tail, pending, payloads, errors,
        host_address, ram_address, length, tag, held, offered, full, shape, transfers, index, transfer, kept, done
    },
    parameters(
        DESCRIPTOR = self._transfer.width - self._transfers.payload.width,
        PAYLOAD = self._transfers.payload.width
    ),
    numbers(REQUEST = DESCRIPTOR + PAYLOAD),
)]
fn update() {
    let entries = transfers.entries;
    pending.reset_by(forget);
    held.reset_by(forget);
    offered.reset_by(forget);
    let request = transfer.of(s.data);
    let tag_of = |number: Sig| number.slice(0, index);
    // The bit of a tag, if a condition holds.
    let bit = |condition: Sig<bool>, tag: Sig| condition.repeat(entries) & (constant(lit(1, entries)) << tag);
    /// The descriptor is taken.
    let taken = offered && desc.ready;
    /// In: when the ring and the register are free. One that moves nothing need not wait, but keeps the order.
    s.ready = !full && (!held || taken);
    let push = s.valid && s.ready && !rst;
    let moves = request.moves;
    /// A reset takes back what was never offered.
    let withdraw = rst && held && !offered;
    if taken || withdraw {
        held = false;
        offered = false;
    } else if held_clear {
        offered = held;
    }
    if push {
        tail = tail + 1;
        held = moves;
        offered = moves && clear;
        host_address = request.host_address;
        ram_address = request.ram_address;
        length = request.length;
        tag = tag_of(tail);
    }
    payloads.write(
        push,
        tag_of(tail),
        pack!(kept {
            moves,
            payload: request.payload
        }),
    );
    desc.valid = offered;
    desc.dma_addr = host_address;
    desc.ram_sel = 0;
    desc.ram_addr = ram_address.resize(shape.ram_address);
    desc.len = length.resize(shape.length);
    desc.tag = tag.resize(shape.tag);
    /// A status whose tag can be meant: it is given.
    let meant = status.valid && !(status.tag >> index).any() && !(held && tag == tag_of(status.tag));
    /// Bit n: that status is for tag n.
    let answered = bit(meant, tag_of(status.tag));
    let entered = bit(push && moves, tag_of(tail));
    let withdrawn = bit(withdraw, tag);
    pending = (pending & !answered & !withdrawn) | entered;
    /// A status counts if its tag is in flight: given, and not answered yet.
    let counts = (pending & answered).any();
    errors.write(counts, tag_of(status.tag), status.error);
    stray = status.valid && !counts;
    idle = !pending.any();
    /// Out: when the head is answered, or has nothing to be answered.
    payloads.read_addr = tag_of(head);
    errors.read_addr = tag_of(head);
    let first = kept.of(payloads.read_data);
    let waiting = pending[payloads.read_addr];
    m.valid = head != tail && !waiting;
    m.data = pack!(done {
        payload: first.payload,
        error: errors.read_data & first.moves.repeat(ERROR_BITS),
    });
    let pop = m.valid && m.ready;
    if pop {
        head = head + 1;
        full = false;
    } else if push {
        full = tail + 1 == (head ^ entries);
    }
}

/// Counts commands that segments of a RAM have taken and not answered yet.
///
/// A command that is taken in a clock counts from the next one on; an answer is never in the clock of its command.
/// # Parameters
/// `bits` is the width of each count: a segment has fewer than 2^`bits` open commands.
#[module(segments: usize, bits: usize)]
pub struct RamAccount {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: nothing is to be answered.
    pub rst: Wire<In, bool>,
    /// Bit s: segment s takes a command.
    pub taken: Wire<In, { segments }>,
    /// Bit s: segment s answers one.
    pub answered: Wire<In, { segments }>,
    /// All are answered.
    pub settled: Wire<Out, bool>,
    counts: [Reg<{ bits }, Reset>; segments],
}

/// Counts what comes and goes, one of each a clock.
#[kernel]
pub(super) fn count(counter: Sig, comes: Sig<bool>, goes: Sig<bool>) {
    if comes && !goes {
        counter = counter + 1;
    } else if goes && !comes {
        counter = counter - 1;
    }
}

#[kernel(RamAccount { taken, answered, settled, counts }, suffix = format!("{}x{}", self._segments, self._bits))]
fn update() {
    for (segment, counter) in counts.iter().enumerate() {
        count(*counter, taken[segment], answered[segment]);
    }
    let open = word_of(counts.iter().map(|count| count.any()));
    settled = !open.any();
}
