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

/// The engine gets the packet before this word is read. It takes eight clocks at least until a word is read from the cell,
/// and four more until the feedback of a packet that needs no handler, which comes after its HER was taken.
const TOLD: u64 = 11;

/// Takes HERs, and tells the engine of their packets. Words are written in about the order in which [`TaskWords`](super::TaskWords)
/// reads them, one a clock as well, so that a task may follow while they come.
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
    /// All words were read, and the engine has the packet.
    is_read: Reg<bool, Reset>,
    is_told: Reg<bool, Reset>,
    /// The packet's cell.
    held_cell: Reg<{ shape.cell() }>,
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
    /// Each word with its number in the cell.
    let addresses = scratchpads.iter().map(|[address, _]| *address);
    let sizes = scratchpads.iter().map(|[_, size]| *size);
    let mut words = vec![(ADDRESS_WORD, her.addr), (COPIED_WORD, her.xfer_size)];
    words.extend((HANDLER_WORDS..).zip(handlers));
    words.extend([(2, meta.handler_mem_addr), (3, meta.handler_mem_size)]);
    let first_scratchpad = words.len();
    words.extend((SCRATCHPADS..).zip(addresses.chain(sizes)));
    words.extend([
        (14, host_high),
        (15, host_low),
        (16, meta.host_mem_size),
        (SIZE_WORD, her.size),
    ]);
    assert!(words.len() == WORDS);

    let begins = !position.any();
    let own_cell = if begins { packet.cell } else { held_cell };
    let reads = her.valid && !is_read && (!begins || packet.cell_valid);
    held_cell = own_cell;
    if reads {
        position = position + 1;
        if position == WORDS as u64 - 1 {
            position = 0;
            is_read = true;
        }
    }
    packet.valid = (is_read || position >= TOLD) && !is_told;
    if packet.ready {
        is_told = true;
    }
    let is_taken = is_read && (is_told || packet.ready);
    if is_taken {
        (is_read, is_told) = (false, false);
    }
    her.ready = is_taken;
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
            position == (first_scratchpad + number) as u64 && size.any(),
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
    address = reg(cat!(own_cell, number));
    data = cat!(high + base, low);
}
