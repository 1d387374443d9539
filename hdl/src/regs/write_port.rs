//! The write channels of AXI4-Lite.

use super::WORD;
use super::decoder::{AddressDecoder, AddressIn};
use super::map::{BLOCK_WORDS, Map};
use crate::axi::{AMBA_CHANNEL, AxiDataIn, AxiResponseOut, AxiShape};
use spinneret_verilog::prelude::*;

/// Takes writes, and answers them.
///
/// Address and data come in any order and are kept until both are there. The write is done in the clock after,
/// if the response before it has been taken, and answered in the next: two clocks after the later of the two
/// was taken. One write every two clocks.
#[hardware(address: usize, map: &Map)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct WritePort {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: discards everything.
    pub rst: Wire<In, bool>,
    /// Addresses.
    pub aw: AddressIn<{ address }>,
    /// Data.
    pub w: Called<AxiDataIn<{ AxiShape::lite(address, WORD) }>, { AMBA_CHANNEL }>,
    /// Responses: OKAY, or SLVERR if the word does not exist or cannot be written.
    pub b: Called<AxiResponseOut<{ AxiShape::lite(address, WORD) }>, { AMBA_CHANNEL }>,
    /// The write is done in this cycle.
    pub go: Wire<Out, bool>,
    /// Bit b: it goes to block b of the map.
    pub block: Wire<Out, { map.blocks.len() }>,
    /// Bit n: it goes to word n of its block.
    pub at: Wire<Out, { BLOCK_WORDS }>,
    /// Its data.
    pub data: Wire<Out, { WORD }>,
    /// Bytes that are written.
    pub strobes: Wire<Out, { WORD / 8 }>,
    decoder: AddressDecoder<{ address }, { map }, { map.writable() }>,
    address_ready: Reg<bool, Reset>,
    address_there: Reg<bool, Reset>,
    data_ready: Reg<bool, Reset>,
    data_there: Reg<bool, Reset>,
    word: Reg<{ WORD }>,
    bytes: Reg<{ WORD / 8 }>,
    answered: Reg<bool, Reset>,
    refused: Reg<bool>,
    done: Wire<Local, bool>,
}

impl Logic for WritePort {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst =>
            self.address_ready, self.address_there, self.data_ready, self.data_there, self.answered);
        clocked!(self.clk => self.decoder, self.word, self.bytes, self.refused);

        self.done.next = self.address_there.q.val() && self.data_there.q.val() && !self.answered.q.val();
        if self.answered.q.val() && self.b.ready.val() {
            self.answered.d.next = false;
        }
        if self.done.val() {
            self.answered.d.next = true;
            self.refused.d.next = !self.decoder.known.val();
            self.address_there.d.next = false;
            self.data_there.d.next = false;
        }

        /// Both are ready again as soon as nothing is kept.
        self.address_ready.d.next = !self.address_there.q.val() || self.done.val();
        self.decoder.address.next = self.aw.addr.val();
        self.decoder.take.next = self.aw.valid.val() && self.address_ready.q.val();
        if self.decoder.take.val() {
            self.address_there.d.next = true;
            self.address_ready.d.next = false;
        }
        self.data_ready.d.next = !self.data_there.q.val() || self.done.val();
        if self.w.valid.val() && self.data_ready.q.val() {
            self.word.d.next = self.w.data.val();
            self.bytes.d.next = self.w.strb.val();
            self.data_there.d.next = true;
            self.data_ready.d.next = false;
        }

        self.aw.ready.next = self.address_ready.q.val();
        self.w.ready.next = self.data_ready.q.val();
        self.b.valid.next = self.answered.q.val();
        self.b.resp.next = cat!(self.refused.q.val(), false);
        self.go.next = self.done.val();
        connect!(self.decoder => self; block, at);
        self.data.next = self.word.q.val();
        self.strobes.next = self.bytes.q.val();
    }
}
