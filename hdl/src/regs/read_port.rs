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
        data = parts
            .iter()
            .copied()
            .reduce(|a, b| a | b)
            .expect("there is a block");
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
            *part = chosen.reduce(|a, b| a | b).expect("a part has blocks");
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
