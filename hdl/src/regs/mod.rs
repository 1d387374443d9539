//! The control registers, behind AXI4-Lite.
//!
//! ```text
//!  s_axil aw, w ==> WritePort ==> RegisterArrays ==> match_*, guard_*, events_*, ...
//!         b     <==     |              |
//!                       +=> pulses     |     live inputs, counters, constants
//!                                      v      v
//!  s_axil ar    ==> ReadPort <==== words of all blocks
//!         r     <==     |
//!                       +=> stdout_rd_en
//! ```
//!
//! # Contract
//! - **Registers** are those of the table in `spinneret_regmap`, which this block is generated from; without
//!   `extended`, those of the public design only. Bits that the table does not give a register read 0 and ignore
//!   what is written. `cl.ctrl[0]` and `stats.cluster` have a bit for each cluster, `stats.mpq` one for each queue.
//! - **Addresses**: all bits count but the lowest two, which are ignored, so a word is at one address only. Reads of
//!   words that do not exist give 0 and SLVERR; writes of such and of those that are read only change nothing and
//!   give SLVERR. `awprot` and `arprot` are ignored.
//! - **Strobes**: a write changes the bytes whose strobe is 1; without strobes it changes nothing and gives OKAY.
//! - **Order**: address and data of a write come in any order. Writes are answered in their order, reads in theirs;
//!   neither waits for the other.
//! - **Latency**: a write is answered 2 clocks after the later of address and data was taken, a read 3 clocks after
//!   its address was.
//! - **Throughput**: one write and one read every two clocks.
//! - **Backpressure**: a response waits until it is taken; one more write and two more reads are kept in the meantime.
//! - **Meeting**: a value that is written is at the outputs and can be read when the response is there. A read takes
//!   the value of the clock after the one in which its address was taken, if the responses before it have been
//!   taken; a write that is done in that same clock comes too late for it, so the read wins and gives the value of
//!   before.
//! - **Standard output**: `stdout_data_valid` says that the oldest word is at `stdout_dout` now. A read of `cl.fifo`
//!   takes it by one clock of `stdout_rd_en`, in the clock after that in which it looked; the next word, if there is
//!   one, must be there in the clock after that. A read that finds none gives all ones and takes nothing.
//! - **Pulses**: `error_clear` is 1 for the clock in which the response to a write of 1 comes, and so is each bit of
//!   `events_clear`.
//! - **Registered outputs**: no path leads from an input to an output.
//! - **Reset** (`rst` high) gives every register its first value and discards accesses that were not answered.
//!
//! # Source
//! AMBA IHI 0022, section B1; the registers of FPsPIN, whose addresses existing software uses.

mod array;
mod map;
mod ports;
mod shape;

pub use array::{Element, RegisterArray};
pub use map::{Held, Map, MapBlock, MapWord, Source};
pub use ports::{AddressDecoder, ReadPort, WritePort};
pub use shape::RegsShape;
pub(crate) use shape::{ENTRY, SIMULATED};

use crate::axi::{AxiAddressInHandles, AxiShape, AxiTarget};
use crate::ingress::datapath::SLOTS;
use crate::ingress::her_gen::ContextsOut;
use map::{elements, meta};
use ports::AddressInHandles;
use spinneret_regmap::{
    CONTEXTS, COUNTER_WORDS, RULES_PER_RULESET, RULESETS, Register, cl, events, guard, her, me, slots, stats,
};
use spinneret_verilog::prelude::*;
use std::collections::BTreeMap;

/// Width of a register in bits.
const WORD: usize = 32;
/// Bits of the number of a bit in a register.
const WORD_BITS: usize = WORD.ilog2() as usize;
/// Width of a host address in bits.
const HOST_ADDRESS: usize = 64;
/// Width of the error code of the egress DMA in bits.
const ERROR: usize = 4;
/// Rules of all rulesets.
const RULES: usize = (RULESETS * RULES_PER_RULESET) as usize;
/// Lines of events.
const LINES: usize = events::LINES as usize;
/// Width of the moderation of events.
const MODERATION: usize = events::MODERATION.bits.mask(0).count_ones() as usize;
/// Execution contexts.
const WINDOWS: usize = CONTEXTS as usize;

/// Control and status registers of everything.
#[module(
    shape: RegsShape,
    map: Map = Map::new(&shape),
    extended: bool = shape.extended,
    clusters = shape.clusters,
)]
pub struct PspinCtrlRegs {
    /// Accesses.
    pub s_axil: AxiTarget<{ AxiShape::lite(shape.address, WORD) }>,
    /// Bit c: cluster c fetches instructions.
    pub cl_fetch_en_o: Wire<Out, { clusters }>,
    /// Holds the clusters in reset.
    pub aux_rst_o: Wire<Out, bool>,
    /// Bit c: cluster c has ended its computation.
    pub cl_eoc_i: Wire<In, { clusters }>,
    /// Bit c: cluster c is busy.
    pub cl_busy_i: Wire<In, { clusters }>,
    /// Bit q: message processing queue q is full.
    pub mpq_full_i: Wire<In, { shape.queues }>,
    /// Takes the word at `stdout_dout`.
    pub stdout_rd_en: Wire<Out, bool>,
    /// The oldest word of the handlers' standard output.
    pub stdout_dout: Wire<In, { WORD }>,
    /// It is there.
    pub stdout_data_valid: Wire<In, bool>,
    /// Packets that the allocator dropped.
    pub alloc_dropped_pkts: Wire<In, { WORD }>,
    /// The rules are in force.
    pub match_valid: Wire<Out, bool>,
    /// Bit s: ruleset s joins its rules by OR (1) or AND (0).
    pub match_mode: Wire<Out, { RULESETS as usize }>,
    /// Word numbers, 32 bits a rule, ruleset-major.
    pub match_idx: Wire<Out, { RULES * WORD }>,
    /// Masks, as software wrote them.
    pub match_mask: Wire<Out, { RULES * WORD }>,
    /// Range starts, as software wrote them.
    pub match_start: Wire<Out, { RULES * WORD }>,
    /// Range ends, as software wrote them.
    pub match_end: Wire<Out, { RULES * WORD }>,
    /// The execution contexts are taken.
    pub her_gen_valid: Wire<Out, bool>,
    /// Bit n: context n is enabled.
    pub her_gen_ctx_enabled: Wire<Out, { WINDOWS }>,
    /// The contexts, context 0 in the lowest bits of each field.
    pub her_gen: ContextsOut<{ WINDOWS }, { HOST_ADDRESS }>,
    /// Last error of the egress DMA.
    pub egress_dma_last_error: Wire<In, { ERROR }>,
    /// Bit (rules * s + r): rule r of ruleset s counts from the IP payload. This and all below only with `extended`.
    pub match_relative: Optional<Wire<Out, { RULES }>, { extended }>,
    /// The windows confine the host DMA.
    pub guard_enforce: Optional<Wire<Out, bool>, { extended }>,
    /// Bit n: the window of context n is open.
    pub guard_enabled: Optional<Wire<Out, { WINDOWS }>, { extended }>,
    /// First addresses of the windows, 64 bits each, that of context 0 in the lowest bits.
    pub guard_base: Optional<Wire<Out, { WINDOWS * HOST_ADDRESS }>, { extended }>,
    /// Their sizes in bytes, 32 bits each.
    pub guard_size: Optional<Wire<Out, { WINDOWS * WORD }>, { extended }>,
    /// A transfer must be in the window of its context, not in any.
    pub guard_by_context: Optional<Wire<Out, bool>, { extended }>,
    /// Most slots of each context, that of context 0 lowest.
    pub slot_bound: Optional<Wire<Out, { WINDOWS * SLOTS }>, { extended }>,
    /// Slots that each has.
    pub slots_used: Optional<Wire<In, { WINDOWS * SLOTS }>, { extended }>,
    /// The last error of the egress DMA is to be forgotten.
    pub error_clear: Optional<Wire<Out, bool>, { extended }>,
    /// The clusters' clock is running.
    pub cluster_running: Optional<Wire<In, bool>, { extended }>,
    /// The clusters or the link to them are held in reset.
    pub cluster_held: Optional<Wire<In, bool>, { extended }>,
    /// The counters, 32 bits each in the order of the table, the first in the lowest bits.
    pub counters: Optional<Wire<In, { COUNTER_WORDS * WORD }>, { extended }>,
    /// Bit n: line n of the events is pending.
    pub events_pending: Optional<Wire<In, { LINES }>, { extended }>,
    /// Messages that were sent.
    pub events_sent: Optional<Wire<In, { WORD }>, { extended }>,
    /// Bit n: line n is to be cleared.
    pub events_clear: Optional<Wire<Out, { LINES }>, { extended }>,
    /// Bit n: line n sends messages.
    pub events_enable: Optional<Wire<Out, { LINES }>, { extended }>,
    /// Clocks between two messages of a line.
    pub events_moderation: Optional<Wire<Out, { MODERATION }>, { extended }>,
    write: WritePort<{ shape.address }, { &map }>,
    read: ReadPort<{ shape.address }, { &map }>,
    /// The registers that software writes.
    #[new(Named::new(map.held.iter().copied(), |held| RegisterArray::new(&elements(held.0, &shape))))]
    held: Named<RegisterArray>,
    /// The words of each block, as they are read.
    words: Named<Wire<Local, { map::BLOCK_WORDS * WORD }>, { &map.blocks }>,
    stdout_taken: Reg<bool, Reset>,
    clear: Optional<Reg<bool, Reset>, { extended }>,
    cleared_lines: Optional<Reg<{ LINES }, Reset>, { extended }>,
}

/// Joins two address channels. Registers ignore the protection type.
#[kernel]
fn address(to: AddressInHandles, from: AxiAddressInHandles) {
    to.addr = from.addr;
    to.valid = from.valid;
    from.ready = to.ready;
}

/// Two words of each context side by side, as its address of 64 bits.
#[kernel]
fn addresses(low: Sig, high: Sig) -> Sig {
    let words = |context: usize| [high.slice(context * WORD, WORD), low.slice(context * WORD, WORD)];
    cat_all(&(0..WINDOWS).rev().flat_map(words).collect::<Vec<_>>())
}

#[kernel(
    PspinCtrlRegs {
        s_axil, cl_fetch_en_o, aux_rst_o, cl_eoc_i, cl_busy_i, mpq_full_i, stdout_rd_en, stdout_dout, stdout_data_valid,
        alloc_dropped_pkts, match_valid, match_mode, match_idx, match_mask, match_start, match_end, her_gen_valid,
        her_gen_ctx_enabled, her_gen, egress_dma_last_error, match_relative, guard_enforce, guard_enabled, guard_base,
        guard_size, guard_by_context, slot_bound, slots_used, error_clear, cluster_running, cluster_held, counters, events_pending, events_sent,
        events_clear, events_enable, events_moderation, write, read, held, words, stdout_taken, clear, cleared_lines,
        map, shape, extended
    },
)]
fn update() {
    /// Writes.
    address(write.aw, s_axil.aw);
    write.w = s_axil.w;
    s_axil.b = write.b;
    for register in &map.held {
        let array = &held[register];
        array.select = 0;
        array.strobes = write.strobes.slice(0, array.strobes.width());
        array.data = write.data.slice(0, array.data.width());
    }
    /// Reads.
    address(read.ar, s_axil.ar);
    s_axil.r = read.r;
    let stdout_word = if stdout_data_valid {
        stdout_dout
    } else {
        constant(Word::ones(WORD))
    };
    let busy = stats::CLUSTER.address(1).expect("the register has two elements");
    let mut live = BTreeMap::from([
        (stats::CLUSTER.offset, cl_eoc_i),
        (busy, cl_busy_i),
        (stats::MPQ.offset, mpq_full_i),
        (stats::DROPPED_PACKETS, alloc_dropped_pkts),
        (stats::EGRESS_DMA_ERROR, egress_dma_last_error),
    ]);
    if extended {
        live.insert(cl::STATUS.offset, cat!(*cluster_held, *cluster_running));
        live.insert(events::SENT.offset, *events_sent);
        for (number, word) in slots::USED.words().enumerate() {
            live.insert(word.offset(), slots_used.slice(number * SLOTS, SLOTS));
        }
        for (number, word) in spinneret_regmap::counters().flat_map(Register::words).enumerate() {
            live.insert(word.offset(), counters.slice(number * WORD, WORD));
        }
    }
    for (number, block) in map.blocks.iter().enumerate() {
        let words = words[block];
        words = block.constants();
        for entry in &block.words {
            let written = write.go && write.block[number] && write.at[entry.place];
            let value = match entry.source {
                Source::Held { offset, width } => {
                    let array = &held[entry.held()];
                    array.select[entry.word.index as usize] = written;
                    Some(array.values.slice(offset, width))
                }
                Source::Pulse => {
                    *clear = written && write.strobes[0] && write.data[0];
                    None
                }
                Source::Stdout => {
                    stdout_taken = read.pops && stdout_data_valid;
                    Some(stdout_word)
                }
                Source::Pending => {
                    *cleared_lines = write.data.slice(0, LINES) & (written && write.strobes[0]).repeat(LINES);
                    Some(*events_pending)
                }
                Source::Live => {
                    let offset = entry.word.offset();
                    let driver = live.get(&offset).copied();
                    Some(driver.unwrap_or_else(|| panic!("nothing drives the register at {offset:#06x}")))
                }
                Source::Constant(_) => None,
            };
            if let Some(value) = value {
                words.slice(entry.place * WORD, value.width()) = value;
            }
        }
        read.values.slice(number * WORD, WORD) = words.at(cat!(read.index, lit(0, WORD_BITS)), WORD);
    }
    stdout_rd_en = stdout_taken;
    /// Values that software wrote.
    let value = |register| held[Held(register)].values;
    let (fetch, reset) = value(&cl::CTRL).split_at(shape.clusters);
    cl_fetch_en_o = fetch;
    aux_rst_o = reset[0];
    match_valid = value(&me::VALID)[0];
    match_mode = value(&me::MODE);
    match_idx = value(&me::IDX);
    match_mask = value(&me::MASK);
    match_start = value(&me::START);
    match_end = value(&me::END);
    her_gen_valid = value(&her::VALID)[0];
    her_gen_ctx_enabled = value(&her::CTX_ENABLED);
    for (name, port) in her_gen.named() {
        port = match name.as_str() {
            "host_mem_addr" => addresses(
                held[meta("host_mem_addr_0")].values,
                held[meta("host_mem_addr_1")].values,
            ),
            name => held[meta(name)].values,
        };
    }
    if extended {
        *error_clear = *clear;
        *match_relative = value(&me::RELATIVE);
        *guard_enforce = value(&guard::ENFORCE)[0];
        *guard_enabled = value(&guard::ENABLED);
        *guard_base = addresses(value(&guard::BASE_0), value(&guard::BASE_1));
        *guard_size = value(&guard::SIZE);
        *guard_by_context = value(&guard::BY_CONTEXT)[0];
        *slot_bound = value(&slots::BOUND);
        *events_clear = *cleared_lines;
        *events_enable = value(&events::ENABLE);
        *events_moderation = value(&events::MODERATION);
    }
}
