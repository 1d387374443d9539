//! The address of an access.

use super::map::{BLOCK_WORDS, Map, WORD_BYTES};
use crate::axi::AMBA_CHANNEL;
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
