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
#[module(address: usize, map: &Map)]
pub struct WritePort {
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
}

#[kernel(
    WritePort {
        aw, w, b, go, block, at, data, strobes, decoder, address_ready, address_there, data_ready, data_there, word,
        bytes, answered, refused
    },
)]
fn update() {
    let done = address_there && data_there && !answered;
    if answered && b.ready {
        answered = false;
    }
    if done {
        answered = true;
        refused = !decoder.known;
        address_there = false;
        data_there = false;
    }
    /// Both are ready again as soon as nothing is kept.
    decoder.address = aw.addr;
    decoder.take = aw.valid && address_ready;
    address_ready = !address_there || done;
    if aw.valid && address_ready {
        address_there = true;
        address_ready = false;
    }
    data_ready = !data_there || done;
    if w.valid && data_ready {
        word = w.data;
        bytes = w.strb;
        data_there = true;
        data_ready = false;
    }
    aw.ready = address_ready;
    w.ready = data_ready;
    b.valid = answered;
    b.resp = cat!(refused, false);
    go = done;
    block = decoder.block;
    at = decoder.at;
    data = word;
    strobes = bytes;
}
