//! Writes the words of a HER into the cell of its packet, one a clock.

use super::super::WORD;
use super::{
    ADDRESS_WORD, COPIED_WORD, HANDLER_WORDS, HOST_ADDRESS, INDEX, PacketOut, SIZE_WORD, SchedulerShape,
};
use crate::ingress::her_gen::HerIn;
use spinneret_regmap::pspin::{L1_SCRATCHPADS, SHARED_SCRATCHPAD, l1_address};
use spinneret_verilog::prelude::*;

/// Words of a HER.
const WORDS: usize = 22;
/// Numbers of the words of scratchpads in a task: addresses, then sizes.
const SCRATCHPADS: u64 = 6;
/// Lowest bits of the address where scratchpads begin that are 0: nothing is added to those of an offset.
const ALIGNED: u32 = L1_SCRATCHPADS.trailing_zeros();

/// Takes HERs, and tells the engine of their packets.
#[module(shape: SchedulerShape)]
pub struct HerWords {
    /// HERs.
    pub her: HerIn<{ WORD }, { HOST_ADDRESS }, { shape.queue() }>,
    /// Their packets.
    pub packet: PacketOut<{ shape.queue() }, { shape.cell() }>,
    /// A word is written.
    pub writes: Wire<Out, bool>,
    /// Cell and number of the word.
    pub address: Wire<Out, { shape.cell() + INDEX }>,
    /// It.
    pub data: Wire<Out, { WORD }>,
    /// The word that is read from the HER.
    position: Reg<5, Reset>,
    /// All words were read.
    is_read: Reg<bool, Reset>,
}

#[kernel(HerWords, suffix = shape.suffix())]
fn update() {
    let meta = her.meta;
    let (host_low, host_high) = meta.host_mem_addr.split_at(WORD);
    let scratchpads = [
        [meta.scratchpad_0_addr, meta.scratchpad_0_size],
        [meta.scratchpad_1_addr, meta.scratchpad_1_size],
        [meta.scratchpad_2_addr, meta.scratchpad_2_size],
        [meta.scratchpad_3_addr, meta.scratchpad_3_size],
    ];
    let handlers = [
        meta.hh_addr,
        meta.hh_size,
        meta.ph_addr,
        meta.ph_size,
        meta.th_addr,
        meta.th_size,
    ];
    /// Each word with its number in the cell, those of scratchpads first.
    let addresses = scratchpads.iter().map(|[address, _]| *address);
    let sizes = scratchpads.iter().map(|[_, size]| *size);
    let mut words: Vec<(u64, Sig)> = (SCRATCHPADS..).zip(addresses.chain(sizes)).collect();
    words.extend((HANDLER_WORDS..).zip(handlers));
    words.extend([
        (2, meta.handler_mem_addr),
        (3, meta.handler_mem_size),
        (COPIED_WORD, her.xfer_size),
        (14, host_high),
        (15, host_low),
        (16, meta.host_mem_size),
        (ADDRESS_WORD, her.addr),
        (SIZE_WORD, her.size),
    ]);
    assert!(words.len() == WORDS);

    let reads = her.valid && packet.cell_valid && !is_read;
    if reads {
        position = position + 1;
        if position == WORDS as u64 - 1 {
            position = 0;
            is_read = true;
        }
    }
    if packet.ready {
        is_read = false;
    }
    her.ready = packet.ready;
    packet.valid = is_read;
    packet.queue = her.msgid;
    packet.is_last = her.is_eom;
    packet.has_header = reg(meta.hh_addr.any());
    packet.has_payload = reg(meta.ph_addr.any());
    packet.has_completion = reg(meta.th_addr.any());

    /// The word, and what is added to the address of a scratchpad that exists. With few clusters, the last one is shared data.
    let all: Vec<Sig> = words.iter().rev().map(|(_, word)| *word).collect();
    let word = reg(cat_all(&all).at(cat!(position, lit(0, 5)), WORD));
    let has_shared = shape.clusters <= SHARED_SCRATCHPAD;
    let pads = &scratchpads[..if has_shared {
        SHARED_SCRATCHPAD
    } else {
        scratchpads.len()
    }];
    let bases = (0..).zip(pads).map(|(number, [_, size])| {
        let base = l1_address(number, L1_SCRATCHPADS);
        (
            position == number as u64 && size.any(),
            constant(lit(u64::from(base >> ALIGNED), WORD - ALIGNED as usize)),
        )
    });
    let bases: Vec<_> = bases.collect();
    let base = reg(first(&bases, constant(lit(0, WORD - ALIGNED as usize))));
    let numbers: Vec<_> = (0..)
        .zip(&words)
        .map(|(at, (number, _))| (position == at as u64, constant(lit(*number, INDEX))))
        .collect();
    let number = first(&numbers[1..], numbers[0].1);
    let (low, high) = word.split_at(ALIGNED as usize);
    writes = reg_reset(reads, false);
    address = reg(cat!(packet.cell, number));
    data = cat!(high + base, low);
}
