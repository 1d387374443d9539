//! Gives descriptors to Corundum's DMA, many at a time, and returns completed ones in order.

use super::layout::{DoneFields, KeptFields, TransferFields, TransferShape};
use super::{ERROR_BITS, HostDmaShape, ReadDescOut, StatusIn};
use crate::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

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
#[hardware(
    shape: HostDmaShape,
    transfers: TransferShape,
    index = address_width(transfers.entries),
    transfer: TransferFields = TransferFields::new(shape.address, transfers.closed()),
    kept: KeptFields = KeptFields::new(transfers.closed().payload),
    done: DoneFields = DoneFields::new(transfers.closed().payload),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct TransferQueue {
    /// Clock.
    pub clk: Signal<In, Clock>,
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
    taken: Wire<Local, bool>,
    full: Reg<bool, Reset>,
    push: Wire<Local, bool>,
    pop: Wire<Local, bool>,
    moves: Wire<Local, bool>,
    /// A status whose tag can be meant.
    meant: Wire<Local, bool>,
    /// Bit n: that status is for tag n.
    answered: Wire<Local, { transfers.entries }>,
    entered: Wire<Local, { transfers.entries }>,
    withdraw: Wire<Local, bool>,
    withdrawn: Wire<Local, { transfers.entries }>,
    waiting: Wire<Local, bool>,
}

impl Logic for TransferQueue {
    #[kernel(
        parameters(
            DESCRIPTOR = self._transfer.width - self._transfers.payload.width,
            PAYLOAD = self._transfers.payload.width
        ),
        numbers(REQUEST = DESCRIPTOR + PAYLOAD)
    )]
    fn update(&mut self) {
        let shape = self._shape;
        let transfers = self._transfers;
        let (entries, index) = (transfers.entries, address_width(transfers.entries));
        let (transfer, kept, done) = (self._transfer, self._kept, self._done);
        clocked!(self.clk, self.rst => self.head, self.tail, self.full);
        clocked!(self.clk, self.forget => self.pending, self.held, self.offered);
        clocked!(self.clk => self.payloads, self.errors, self.host_address, self.ram_address, self.length, self.tag);
        /// In: when the ring and the register are free. One that moves nothing need not wait, but keeps the order.
        self.taken.next = self.offered.q.val() && self.desc.ready.val();
        self.s.ready.next = !self.full.q.val() && (!self.held.q.val() || self.taken.val());
        self.push.next = self.s.valid.val() && self.s.ready.val() && !self.rst.val();
        self.moves.next = self.s.data.val().flag(transfer.moves);
        /// A reset takes back what was never offered.
        self.withdraw.next = self.rst.val() && self.held.q.val() && !self.offered.q.val();
        if self.taken.val() || self.withdraw.val() {
            self.held.d.next = false;
            self.offered.d.next = false;
        } else if self.held_clear.val() {
            self.offered.d.next = self.held.q.val();
        }
        if self.push.val() {
            self.tail.d.next = self.tail.q.val() + 1;
            self.held.d.next = self.moves.val();
            self.offered.d.next = self.moves.val() && self.clear.val();
            self.host_address.d.next = self.s.data.val().field(transfer.host_address);
            self.ram_address.d.next = self.s.data.val().field(transfer.ram_address);
            self.length.d.next = self.s.data.val().field(transfer.length);
            self.tag.d.next = self.tail.q.val().slice(0, index);
        }
        self.payloads.write_enable.next = self.push.val();
        self.payloads.write_addr.next = self.tail.q.val().slice(0, index);
        self.payloads.write_data.next = pack!(kept {
            moves: self.moves.val(),
            payload: self.s.data.val().field(transfer.payload),
        });
        self.desc.valid.next = self.offered.q.val();
        self.desc.dma_addr.next = self.host_address.q.val();
        self.desc.ram_sel.next = 0.into();
        self.desc.ram_addr.next = self.ram_address.q.val().resize(shape.ram_address);
        self.desc.len.next = self.length.q.val().resize(shape.length);
        self.desc.tag.next = self.tag.q.val().resize(shape.tag);
        /// A status counts if its tag is in flight: given, and not answered yet.
        self.meant.next = self.status.valid.val()
            && !(self.status.tag.val() >> index as u64).any()
            && !(self.held.q.val() && self.tag.q.val() == self.status.tag.val().slice(0, index));
        self.answered.next =
            fill(self.meant.val(), entries) & (lit(1, entries) << self.status.tag.val().slice(0, index));
        self.entered.next = fill(self.push.val() && self.moves.val(), entries)
            & (lit(1, entries) << self.tail.q.val().slice(0, index));
        self.withdrawn.next = fill(self.withdraw.val(), entries) & (lit(1, entries) << self.tag.q.val());
        self.pending.d.next =
            (self.pending.q.val() & !self.answered.val() & !self.withdrawn.val()) | self.entered.val();
        self.errors.write_enable.next = (self.pending.q.val() & self.answered.val()).any();
        self.errors.write_addr.next = self.status.tag.val().slice(0, index);
        self.errors.write_data.next = self.status.error.val();
        self.stray.next = self.status.valid.val() && !self.errors.write_enable.val();
        self.idle.next = !self.pending.q.val().any();
        /// Out: when the head is answered, or has nothing to be answered.
        self.payloads.read_addr.next = self.head.q.val().slice(0, index);
        self.errors.read_addr.next = self.head.q.val().slice(0, index);
        self.waiting.next = self
            .pending
            .q
            .val()
            .get_bit(self.payloads.read_addr.val().index());
        self.m.valid.next = self.head.q.val() != self.tail.q.val() && !self.waiting.val();
        self.m.data.next = pack!(done {
            payload: self.payloads.read_data.val().field(kept.payload),
            error: self.errors.read_data.val()
                & fill(self.payloads.read_data.val().flag(kept.moves), ERROR_BITS),
        });
        self.pop.next = self.m.valid.val() && self.m.ready.val();
        if self.pop.val() {
            self.head.d.next = self.head.q.val() + 1;
            self.full.d.next = false;
        } else if self.push.val() {
            self.full.d.next = self.tail.q.val() + 1 == (self.head.q.val() ^ entries as u64);
        }
    }
}
