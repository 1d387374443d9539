//! The channels of AXI4-Lite: accesses become a block and a word of the map, and get their answers.

use super::WORD;
use super::map::{BLOCK_WORDS, Map, WORD_BYTES};
use crate::axi::{AMBA_CHANNEL, AxiDataIn, AxiReadOut, AxiResponseOut, AxiShape};
use spinneret_verilog::prelude::*;

/// Bits of a byte's place in a word, and of a word's place in a block.
const BYTE_BITS: usize = WORD_BYTES.ilog2() as usize;
const INDEX_BITS: usize = BLOCK_WORDS.ilog2() as usize;
const LOW_BITS: usize = BYTE_BITS + INDEX_BITS;

/// The addresses of AXI4-Lite without their protection type, which registers ignore.
#[interface(address: usize, names = AMBA_CHANNEL)]
pub struct AddressIn {
    /// Address of a byte.
    pub addr: Wire<In, { address }>,
    /// The address is there.
    pub valid: Wire<In, bool>,
    /// The address is taken in this cycle.
    pub ready: Wire<Out, bool>,
}

/// Keeps the address of an access as block and word, and says whether there is such a word.
///
/// A block is 16 words. The outputs are those of the address that was taken last, from the next clock on.
/// # Parameters
/// `words` has a bit for each known word of each block of the map.
#[module(
    no_clock,
    address_width: usize,
    map: &Map,
    words: Vec<u64>,
    bases: Vec<u64> = map.blocks.iter().map(|block| block.number).collect(),
)]
pub struct AddressDecoder {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Address of a byte.
    pub address: Wire<In, { address_width }>,
    /// Takes the address.
    pub take: Wire<In, bool>,
    /// Bit b: the word is in block b of the map; all 0 if it is in none.
    pub block: Wire<Out, { bases.len() }>,
    /// Place of the word in its block.
    pub index: Wire<Out, { INDEX_BITS }>,
    /// Bit n: it is word n of its block.
    pub at: Wire<Out, { BLOCK_WORDS }>,
    /// The word is one of those that the decoder was made for.
    pub known: Wire<Out, bool>,
    blocks: Reg<{ bases.len() }>,
    word: Reg<{ INDEX_BITS }>,
}

#[kernel(AddressDecoder { address, take, block, index, at, known, blocks, word, words, bases })]
fn update() {
    if take {
        for (number, base) in bases.iter().enumerate() {
            blocks[number] = address.slice(LOW_BITS, address.width() - LOW_BITS) == *base;
        }
        word = address.slice(BYTE_BITS, INDEX_BITS);
    }
    let places = word_of((0..BLOCK_WORDS).map(|place| word == place));
    /// Bit b: the word is one of those of block b, if it lies there.
    let in_block = word_of(
        words
            .iter()
            .enumerate()
            .map(|(number, words)| blocks[number] && (places & lit(*words, BLOCK_WORDS)).any()),
    );
    known = in_block.any();
    block = blocks;
    index = word;
    at = places;
}

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

/// Blocks whose words are joined before the pipeline's register: as many as fit into two levels of LUTs.
const PART: usize = 6;

/// Takes reads, and answers them.
///
/// ```text
///  araddr => address | => words of all blocks => parts | => data, response
///            1         2: the word is sampled        3
/// ```
///
/// The word is sampled in the clock after that in which the address was taken, if the reads before it have
/// moved on, and answered two clocks later: three clocks after the address. One read every two clocks.
#[module(
    address: usize,
    map: &Map,
    blocks: usize = map.blocks.len(),
    stdout: (usize, usize) = map.stdout(),
)]
pub struct ReadPort {
    /// Addresses.
    pub ar: AddressIn<{ address }>,
    /// Data, 0 if the word does not exist, with OKAY, or SLVERR if it does not.
    pub r: Called<AxiReadOut<{ AxiShape::lite(address, WORD) }>, { AMBA_CHANNEL }>,
    /// The word of standard output is sampled in this cycle.
    pub pops: Wire<Out, bool>,
    /// Place of the word in its block.
    pub index: Wire<Out, { BLOCK_WORDS.ilog2() as usize }>,
    /// The words at that place of all blocks, side by side.
    pub values: Wire<In, { blocks * WORD }>,
    decoder: AddressDecoder<{ address }, { map }, { map.readable() }>,
    ready: Reg<bool, Reset>,
    waiting: Reg<bool, Reset>,
    looked: Reg<bool, Reset>,
    parts: [Reg<{ WORD }>; blocks.div_ceil(PART)],
    unknown: Reg<bool>,
    answered: Reg<bool, Reset>,
    data: Reg<{ WORD }>,
    refused: Reg<bool>,
}

#[kernel(
    ReadPort {
        ar, r, pops, index, values, decoder, ready, waiting, looked, parts, unknown, answered, data, refused, blocks,
        stdout
    },
)]
fn update() {
    /// Third step: the answer, once the one before it has been taken.
    if answered && r.ready {
        answered = false;
    }
    if looked && !answered {
        looked = false;
        answered = true;
        data = or_all(parts.iter().copied());
        refused = unknown;
    }
    /// Second step: the word. Of a word outside of all blocks all bits are 0.
    let looking = waiting && !looked;
    if looking {
        waiting = false;
        looked = true;
        unknown = !decoder.known;
        for (number, part) in parts.iter().enumerate() {
            let chosen = (number * PART..blocks.min((number + 1) * PART))
                .map(|block| values.slice(block * WORD, WORD) & decoder.block[block].repeat(WORD));
            *part = or_all(chosen);
        }
    }
    /// First step: the address.
    decoder.address = ar.addr;
    decoder.take = ar.valid && ready;
    ready = !waiting || looking;
    if ar.valid && ready {
        waiting = true;
        ready = false;
    }
    ar.ready = ready;
    r.valid = answered;
    r.data = data;
    r.resp = cat!(refused, false);
    pops = looking && decoder.block[stdout.0] && decoder.index == stdout.1;
    index = decoder.index;
}
