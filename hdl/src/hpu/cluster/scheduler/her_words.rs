//! Writes the words of a HER into the cell of its packet, two a clock.

use super::super::{PAIR, TASK_PAIR, WORD, pair_of};
use super::{
    BYTES_PAIR, HANDLER_PAIRS, HOST_ADDRESS, HOST_PAIR, PACKET_PAIR, PacketOut, SCRATCHPAD_PAIR,
    SchedulerShape,
};
use crate::ingress::her_gen::HerIn;
use spinneret_regmap::pspin::{L1_SCRATCHPADS, SHARED_SCRATCHPAD, l1_address};
use spinneret_verilog::prelude::*;

/// Pairs of words of a HER.
const PAIRS: usize = 11;
/// Lowest bits of the address where scratchpads begin that are 0: nothing is added to those of an offset.
const ALIGNED: u32 = L1_SCRATCHPADS.trailing_zeros();

/// The engine gets the packet when its flags are known: before this pair is read. It takes twelve clocks at least until a pair is
/// read from the cell, or until the feedback of a packet that needs no handler, which comes after its HER was taken.
const TOLD: u64 = 1;

/// Takes HERs, and tells the engine of their packets. Pairs are written in about the order in which [`TaskWords`](super::TaskWords)
/// reads them, one a clock as well, so that a task may follow while they come.
#[module(shape: SchedulerShape)]
pub struct HerWords {
    /// HERs.
    pub her: HerIn<{ WORD }, { HOST_ADDRESS }, { shape.queue() }>,
    /// Their packets.
    pub packet: PacketOut<{ shape.queue() }, { shape.cell() }>,
    /// A pair is written.
    pub writes: Wire<Out, bool>,
    /// Cell and number of the pair.
    pub address: Wire<Out, { shape.cell() + TASK_PAIR }>,
    /// It.
    pub data: Wire<Out, { PAIR }>,
    /// The pair that is read from the HER.
    position: Reg<{ TASK_PAIR }, Reset>,
    /// All pairs were read, and the engine has the packet.
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
        [meta.hh_addr, meta.hh_size],
        [meta.ph_addr, meta.ph_size],
        [meta.th_addr, meta.th_size],
    ];
    /// Each pair with its number in the cell.
    let mut pairs: Vec<_> = (HANDLER_PAIRS..).zip(handlers).collect();
    pairs.extend([
        (pair_of(2) as u64, [meta.handler_mem_addr, meta.handler_mem_size]),
        (PACKET_PAIR, [her.addr, her.xfer_size]),
    ]);
    let first_scratchpad = pairs.len();
    pairs.extend((SCRATCHPAD_PAIR..).zip(scratchpads));
    pairs.extend([
        (HOST_PAIR, [host_high, host_low]),
        (BYTES_PAIR, [meta.host_mem_size, her.size]),
    ]);
    assert!(pairs.len() == PAIRS);

    let begins = !position.any();
    let own_cell = if begins { packet.cell } else { held_cell };
    let reads = her.valid && !is_read && (!begins || packet.cell_valid);
    held_cell = own_cell;
    if reads {
        position = position + 1;
        if position == PAIRS as u64 - 1 {
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

    /// The pair, and what is added to the address of a scratchpad that exists. With few clusters, the last one is shared data.
    let all: Vec<Sig> = pairs
        .iter()
        .rev()
        .flat_map(|(_, [low, high])| [*high, *low])
        .collect();
    let bits = PAIR.ilog2() as usize;
    let pair = reg(cat_all(&all).at(cat!(position, lit(0, bits)), PAIR));
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
        .zip(&pairs)
        .map(|(at, (number, _))| (position == at as u64, constant(lit(*number, TASK_PAIR))))
        .collect();
    let number = first(&numbers[1..], numbers[0].1);
    let (address_word, bytes) = pair.split_at(WORD);
    let (low, high) = address_word.split_at(ALIGNED as usize);
    writes = reg_reset(reads, false);
    address = reg(cat!(own_cell, number));
    data = cat!(bytes, high + base, low);
}
