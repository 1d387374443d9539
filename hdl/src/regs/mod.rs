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
mod decoder;
mod entry;
mod map;
mod read_port;
mod shape;
mod write_port;

pub use array::{Element, RegisterArray};
pub use decoder::AddressDecoder;
pub(crate) use entry::{ENTRY, SIMULATED};
pub use map::{Held, Map, MapBlock, MapWord, Source};
pub use read_port::ReadPort;
pub use shape::RegsShape;
pub use write_port::WritePort;

use crate::axi::{AxiShape, AxiTarget};
use crate::ingress::her_gen::ContextsOut;
pub(crate) use map::counter_places;
use map::{elements, meta};
use spinneret_regmap::{CONTEXTS, COUNTER_WORDS, RULES_PER_RULESET, RULESETS, cl, events, guard, her, me};
use spinneret_verilog::prelude::*;

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
#[hardware(shape: RegsShape, map = Map::new(&shape), extended = shape.extended, clusters = shape.clusters)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PspinCtrlRegs {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub rst: Wire<In, bool>,
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
    stdout_word: Wire<Local, { WORD }>,
    stdout_taken: Reg<bool, Reset>,
    clear: Optional<Reg<bool, Reset>, { extended }>,
    cleared_lines: Optional<Reg<{ LINES }, Reset>, { extended }>,
    #[new(map)]
    _map: Map,
}

impl Logic for PspinCtrlRegs {
    #[kernel]
    fn update(&mut self) {
        let extended = self._shape.extended;
        clocked!(self.clk, self.rst => self.write, self.read, self.held, self.stdout_taken, self.clear,
            self.cleared_lines);
        /// Writes.
        connect!(self.s_axil.aw => self.write.aw, except prot);
        connect!(self.s_axil => self.write; w, b);
        for held in &self._map.held {
            self.held[held].select.next = 0.into();
            self.held[held].strobes.next = self.write.strobes.val().slice(0, self.held[held].strobes.width());
            self.held[held].data.next = self.write.data.val().slice(0, self.held[held].data.width());
        }
        /// Reads.
        connect!(self.s_axil.ar => self.read.ar, except prot);
        connect!(self.s_axil.r => self.read.r);
        self.read.values.next = 0.into();
        self.stdout_word.next = fill(true, WORD);
        if self.stdout_data_valid.val() {
            self.stdout_word.next = self.stdout_dout.val();
        }
        for (number, block) in self._map.blocks.iter().enumerate() {
            self.words[block].next = block.constants();
            for entry in &block.words {
                let low = entry.place * WORD;
                match entry.source {
                    Source::Held { offset, width } => {
                        self.held[entry.held()].select.next.set_bit(
                            entry.word.index as usize,
                            self.write.go.val()
                                && self.write.block.val().get_bit(number)
                                && self.write.at.val().get_bit(entry.place),
                        );
                        self.words[block].next.set_slice(
                            low,
                            width,
                            self.held[entry.held()].values.val().slice(offset, width),
                        );
                    }
                    Source::Pulse => {
                        self.clear.d.next = self.write.go.val()
                            && self.write.block.val().get_bit(number)
                            && self.write.at.val().get_bit(entry.place)
                            && self.write.strobes.val().get_bit(0)
                            && self.write.data.val().get_bit(0);
                    }
                    Source::Stdout => {
                        self.words[block]
                            .next
                            .set_slice(low, WORD, self.stdout_word.val());
                        self.stdout_taken.d.next = self.read.pops.val() && self.stdout_data_valid.val();
                    }
                    Source::EndOfComputation => {
                        self.words[block]
                            .next
                            .set_slice(low, WORD, self.cl_eoc_i.val().resize(WORD));
                    }
                    Source::Busy => {
                        self.words[block]
                            .next
                            .set_slice(low, WORD, self.cl_busy_i.val().resize(WORD));
                    }
                    Source::Status => {
                        self.words[block].next.set_bit(low, self.cluster_running.val());
                        self.words[block].next.set_bit(low + 1, self.cluster_held.val());
                    }
                    Source::FullQueues => {
                        self.words[block]
                            .next
                            .set_slice(low, WORD, self.mpq_full_i.val().resize(WORD));
                    }
                    Source::DroppedPackets => {
                        self.words[block]
                            .next
                            .set_slice(low, WORD, self.alloc_dropped_pkts.val());
                    }
                    Source::EgressError => {
                        self.words[block]
                            .next
                            .set_slice(low, ERROR, self.egress_dma_last_error.val());
                    }
                    Source::Pending => {
                        self.words[block]
                            .next
                            .set_slice(low, LINES, self.events_pending.val());
                        self.cleared_lines.d.next = self.write.data.val().slice(0, LINES)
                            & fill(
                                self.write.go.val()
                                    && self.write.block.val().get_bit(number)
                                    && self.write.at.val().get_bit(entry.place)
                                    && self.write.strobes.val().get_bit(0),
                                LINES,
                            );
                    }
                    Source::Sent => {
                        self.words[block]
                            .next
                            .set_slice(low, WORD, self.events_sent.val());
                    }
                    Source::Counter(counter) => {
                        self.words[block].next.set_slice(
                            low,
                            WORD,
                            self.counters.val().slice(counter * WORD, WORD),
                        );
                    }
                    Source::Constant(_) => {}
                }
            }
            self.read.values.next.set_slice(
                number * WORD,
                WORD,
                self.words[block]
                    .val()
                    .slice(cat!(self.read.index.val(), lit(0, WORD_BITS)).index(), WORD),
            );
        }
        self.stdout_rd_en.next = self.stdout_taken.q.val();
        /// Values that software wrote.
        self.cl_fetch_en_o.next = self.held[Held(&cl::CTRL)]
            .values
            .val()
            .slice(0, self._shape.clusters);
        self.aux_rst_o.next = self.held[Held(&cl::CTRL)]
            .values
            .val()
            .get_bit(self._shape.clusters);
        self.match_valid.next = self.held[Held(&me::VALID)].values.val().get_bit(0);
        self.match_mode.next = self.held[Held(&me::MODE)].values.val();
        self.match_idx.next = self.held[Held(&me::IDX)].values.val();
        self.match_mask.next = self.held[Held(&me::MASK)].values.val();
        self.match_start.next = self.held[Held(&me::START)].values.val();
        self.match_end.next = self.held[Held(&me::END)].values.val();
        self.her_gen_valid.next = self.held[Held(&her::VALID)].values.val().get_bit(0);
        self.her_gen_ctx_enabled.next = self.held[Held(&her::CTX_ENABLED)].values.val();
        self.her_gen.handler_mem_addr.next = self.held[meta("handler_mem_addr")].values.val();
        self.her_gen.handler_mem_size.next = self.held[meta("handler_mem_size")].values.val();
        self.her_gen.host_mem_addr.next = 0.into();
        for context in 0..WINDOWS {
            self.her_gen.host_mem_addr.next.set_slice(
                context * HOST_ADDRESS,
                HOST_ADDRESS,
                cat!(
                    self.held[meta("host_mem_addr_1")]
                        .values
                        .val()
                        .slice(context * WORD, WORD),
                    self.held[meta("host_mem_addr_0")]
                        .values
                        .val()
                        .slice(context * WORD, WORD)
                ),
            );
        }
        self.her_gen.host_mem_size.next = self.held[meta("host_mem_size")].values.val();
        self.her_gen.hh_addr.next = self.held[meta("hh_addr")].values.val();
        self.her_gen.hh_size.next = self.held[meta("hh_size")].values.val();
        self.her_gen.ph_addr.next = self.held[meta("ph_addr")].values.val();
        self.her_gen.ph_size.next = self.held[meta("ph_size")].values.val();
        self.her_gen.th_addr.next = self.held[meta("th_addr")].values.val();
        self.her_gen.th_size.next = self.held[meta("th_size")].values.val();
        self.her_gen.scratchpad_0_addr.next = self.held[meta("scratchpad_0_addr")].values.val();
        self.her_gen.scratchpad_0_size.next = self.held[meta("scratchpad_0_size")].values.val();
        self.her_gen.scratchpad_1_addr.next = self.held[meta("scratchpad_1_addr")].values.val();
        self.her_gen.scratchpad_1_size.next = self.held[meta("scratchpad_1_size")].values.val();
        self.her_gen.scratchpad_2_addr.next = self.held[meta("scratchpad_2_addr")].values.val();
        self.her_gen.scratchpad_2_size.next = self.held[meta("scratchpad_2_size")].values.val();
        self.her_gen.scratchpad_3_addr.next = self.held[meta("scratchpad_3_addr")].values.val();
        self.her_gen.scratchpad_3_size.next = self.held[meta("scratchpad_3_size")].values.val();
        if extended {
            self.error_clear.next = self.clear.q.val();
            self.match_relative.next = self.held[Held(&me::RELATIVE)].values.val();
            self.guard_enforce.next = self.held[Held(&guard::ENFORCE)].values.val().get_bit(0);
            self.guard_enabled.next = self.held[Held(&guard::ENABLED)].values.val();
            self.guard_base.next = 0.into();
            for context in 0..WINDOWS {
                self.guard_base.next.set_slice(
                    context * HOST_ADDRESS,
                    HOST_ADDRESS,
                    cat!(
                        self.held[Held(&guard::BASE_1)]
                            .values
                            .val()
                            .slice(context * WORD, WORD),
                        self.held[Held(&guard::BASE_0)]
                            .values
                            .val()
                            .slice(context * WORD, WORD)
                    ),
                );
            }
            self.guard_size.next = self.held[Held(&guard::SIZE)].values.val();
            self.guard_by_context.next = self.held[Held(&guard::BY_CONTEXT)].values.val().get_bit(0);
            self.events_clear.next = self.cleared_lines.q.val();
            self.events_enable.next = self.held[Held(&events::ENABLE)].values.val();
            self.events_moderation.next = self.held[Held(&events::MODERATION)].values.val();
        }
    }
}
