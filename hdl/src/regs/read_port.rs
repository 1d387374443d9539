//! The read channels of AXI4-Lite.

use super::WORD;
use super::decoder::{AddressDecoder, AddressIn};
use super::map::{BLOCK_WORDS, Map};
use crate::axi::{AMBA_CHANNEL, AxiReadOut, AxiShape};
use spinneret_verilog::prelude::*;

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
#[hardware(address: usize, map: &Map, blocks = map.blocks.len(), parts = blocks.div_ceil(PART))]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ReadPort {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: discards everything.
    pub rst: Wire<In, bool>,
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
    parts: [Reg<{ WORD }>; parts],
    unknown: Reg<bool>,
    answered: Reg<bool, Reset>,
    data: Reg<{ WORD }>,
    refused: Reg<bool>,
    looking: Wire<Local, bool>,
    chosen: [Wire<Local, { WORD }>; blocks],
    joined: [Wire<Local, { WORD }>; parts],
    whole: Wire<Local, { WORD }>,
    /// Block and place of the word of standard output.
    #[new(map.stdout())]
    _stdout: (usize, usize),
}

impl Logic for ReadPort {
    #[kernel]
    fn update(&mut self) {
        let (stdout_block, stdout_place) = self._stdout;
        clocked!(self.clk, self.rst => self.ready, self.waiting, self.looked, self.answered);
        clocked!(self.clk => self.decoder, self.parts, self.unknown, self.data, self.refused);

        /// Third step: the answer, once the one before it has been taken.
        self.whole.next = lit(0, WORD);
        for part in 0..self.parts.len() {
            self.whole.next = self.whole.val() | self.parts[part].q.val();
        }
        if self.answered.q.val() && self.r.ready.val() {
            self.answered.d.next = false;
        }
        if self.looked.q.val() && !self.answered.q.val() {
            self.looked.d.next = false;
            self.answered.d.next = true;
            self.data.d.next = self.whole.val();
            self.refused.d.next = self.unknown.q.val();
        }

        /// Second step: the word. Of a word outside of all blocks all bits are 0.
        self.looking.next = self.waiting.q.val() && !self.looked.q.val();
        for part in 0..self.parts.len() {
            self.joined[part].next = lit(0, WORD);
        }
        for block in 0..self.chosen.len() {
            self.chosen[block].next = self.values.val().slice(block * WORD, WORD)
                & fill(self.decoder.block.val().get_bit(block), WORD);
            self.joined[block / PART].next = self.joined[block / PART].val() | self.chosen[block].val();
        }
        if self.looking.val() {
            self.waiting.d.next = false;
            self.looked.d.next = true;
            self.unknown.d.next = !self.decoder.known.val();
            for part in 0..self.parts.len() {
                self.parts[part].d.next = self.joined[part].val();
            }
        }

        /// First step: the address.
        self.ready.d.next = !self.waiting.q.val() || self.looking.val();
        self.decoder.address.next = self.ar.addr.val();
        self.decoder.take.next = self.ar.valid.val() && self.ready.q.val();
        if self.decoder.take.val() {
            self.waiting.d.next = true;
            self.ready.d.next = false;
        }

        self.ar.ready.next = self.ready.q.val();
        self.r.valid.next = self.answered.q.val();
        self.r.data.next = self.data.q.val();
        self.r.resp.next = cat!(self.refused.q.val(), false);
        self.pops.next = self.looking.val()
            && self.decoder.block.val().get_bit(stdout_block)
            && self.decoder.index.val() == stdout_place as u64;
        self.index.next = self.decoder.index.val();
    }
}
