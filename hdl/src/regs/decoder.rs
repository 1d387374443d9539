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
#[hardware(address: usize, map: &Map, words: Vec<u64>, blocks = map.blocks.len())]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AddressDecoder {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Address of a byte.
    pub address: Wire<In, { address }>,
    /// Takes the address.
    pub take: Wire<In, bool>,
    /// Bit b: the word is in block b of the map; all 0 if it is in none.
    pub block: Wire<Out, { blocks }>,
    /// Place of the word in its block.
    pub index: Wire<Out, { INDEX_BITS }>,
    /// Bit n: it is word n of its block.
    pub at: Wire<Out, { BLOCK_WORDS }>,
    /// The word is one of those that the decoder was made for.
    pub known: Wire<Out, bool>,
    blocks: Reg<{ blocks }>,
    word: Reg<{ INDEX_BITS }>,
    places: Wire<Local, { BLOCK_WORDS }>,
    /// Bit b: the word is one of those of block b, if it lies there.
    in_block: Wire<Local, { blocks }>,
    #[new(map.blocks.iter().map(|block| block.number).collect())]
    _bases: Vec<u64>,
}

impl Logic for AddressDecoder {
    #[kernel]
    fn update(&mut self) {
        let address = self.address.width();
        clocked!(self.clk => self.blocks, self.word);
        if self.take.val() {
            for block in 0..self._bases.len() {
                self.blocks.d.next.set_bit(
                    block,
                    self.address.val().slice(LOW_BITS, address - LOW_BITS) == self._bases[block],
                );
            }
            self.word.d.next = self.address.val().slice(BYTE_BITS, INDEX_BITS);
        }
        self.places.next = 0.into();
        for word in 0..BLOCK_WORDS {
            self.places.next.set_bit(word, self.word.q.val() == word as u64);
        }
        self.in_block.next = 0.into();
        for block in 0..self._bases.len() {
            self.in_block.next.set_bit(
                block,
                self.blocks.q.val().get_bit(block)
                    && (self.places.val() & lit(self._words[block], BLOCK_WORDS)).any(),
            );
        }
        self.known.next = self.in_block.val().any();
        self.block.next = self.blocks.q.val();
        self.index.next = self.word.q.val();
        self.at.next = self.places.val();
    }
}
