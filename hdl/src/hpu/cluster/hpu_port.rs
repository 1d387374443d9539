//! Decodes the addresses of a pipeline's accesses: L1, registers, or memory outside of the cluster.
//!
//! ```text
//!                +--> l1, in the same clock
//!  s ==> decoder +--> registers, in the same clock
//!                +--> far: a request, whose outcome waits for the thread's next offer
//! ```
//!
//! # Contract
//! - **L1** of the own cluster, by its global address or by the alias: `l1` decides about the offer.
//! - **Registers** of the driver and of the copy engine, whole words, not atomic: `registers` decides.
//! - **Far accesses:** handler memory, packet buffer, L1 of other clusters, stores to standard output that are not atomic. The first offer
//!   of one makes the request, if there is room for it. Offers are not ready until it is done; then the thread's next one is
//!   ready and gets the word two clocks later, or is refused if `far` says that it failed. Answers of `far` to the other pipeline are ignored.
//! - **Turns:** threads that find no room make the next requests, one after another, as long as they offer again in one of their next two
//!   clocks. So none waits for more than one request of each of the others.
//! - **Instruction cache:** its registers take stores of machine mode, which do nothing.
//! - **All else is refused**, by the thread's second offer.
//! - **Trap:** when a thread traps, the outcome of its far access is dropped, now or when it comes. Its next access that is neither
//!   to L1 nor to registers waits for that.
//! - **Early address:** `next_address` comes one clock before an offer, so that its region is known when it comes.
//! - **Paths:** `s_ready` and `s_refused` are a level of logic after `l1_ready`, `registers_ready` and `registers_refused`, and
//!   two or three after registers.
//! - **Reset** forgets all requests: `far` is reset with this block.

use super::driver::bit_of;
use super::{FarAccess, L1Words, PIPELINES, RegisterAccess, THREAD, THREADS};
use crate::entry::Entry;
use crate::hpu::{HpuDataIn, NEXT_ADDRESS};
use crate::limits::Limit;
use spinneret_regmap::pspin::{
    DMA_BASE, DMA_BYTES, DRIVER_BASE, DRIVER_BYTES, HANDLER_BASE, HANDLER_BYTES, ICACHE_BASE, ICACHE_BYTES,
    L1_ALIAS, L1_BASE, L1_BYTES, L1_SHIFT, PACKET_BASE, PACKET_BYTES, STDOUT, STDOUT_BYTES,
};
use spinneret_verilog::prelude::*;

/// Bits of the number of a line of L1.
const L1_LINE: usize = (L1_BYTES / 64).ilog2() as usize;

/// Bits of an address that are not known before its offer.
const LOW: usize = 32 - NEXT_ADDRESS;

/// Clusters of a NIC.
pub(super) const CLUSTERS: Limit = Limit::number("clusters", [1, 8], "clusters of the NIC");

/// Decoder of a pipeline's accesses.
#[module(clusters: usize)]
pub struct HpuPort {
    /// Number of the cluster.
    pub cluster: Wire<In, { address_width(clusters) }>,
    /// Number of the pipeline in it.
    pub pipeline: Wire<In, { address_width(PIPELINES) }>,
    /// Accesses of the pipeline.
    pub s: HpuDataIn<{ THREADS }>,
    /// Bits 31 to 3 of the address of an offer, one clock before it.
    pub next_address: Wire<In, { NEXT_ADDRESS }>,
    /// A thread has trapped, one clock after its last offer or later.
    pub trap: Wire<In, bool>,
    /// Which.
    pub trap_thread: Wire<In, { THREAD }>,
    /// L1 of the cluster.
    pub l1: L1Words<{ L1_LINE }>,
    /// Registers of the cluster's driver.
    pub registers: RegisterAccess,
    /// Memory outside of the cluster, and standard output.
    pub far: FarAccess,
    /// There is a request, and what it is.
    requested: Reg<bool, Reset>,
    requester: Reg<{ THREAD }>,
    request_address: Reg<30>,
    request_write: Reg<bool>,
    request_atomic: Reg<6>,
    request_strobe: Reg<4>,
    request_data: Reg<32>,
    /// Threads that found no room for their request. One of them makes the next request, unless it has no offer in two of its clocks.
    missed: Reg<{ THREADS }, Reset>,
    held_back: Reg<{ THREAD }>,
    patience: Reg<2, Reset>,
    /// Threads with a far access under way, and those whose outcome is dropped.
    waits: [Reg<bool, Reset>; THREADS],
    drops: [Reg<bool, Reset>; THREADS],
    /// Threads whose next offer is ready, and those whose next one is refused.
    done: [Reg<bool, Reset>; THREADS],
    failed: [Reg<bool, Reset>; THREADS],
    /// The word of each thread.
    #[new(Ram::new(RamStyle::Distributed, THREADS, 32))]
    outcome: Ram,
}

/// Whether an address without its [`LOW`] bits is in a region whose base is a multiple of its size.
#[kernel]
fn is_in(address: Sig, base: u32, bytes: u32) -> Sig<bool> {
    let above = bytes.ilog2() as usize;
    address.slice(above - LOW, 32 - above) == u64::from(base >> above)
}

#[kernel(HpuPort, suffix = clusters)]
fn update() {
    // Regions that are answered in the same clock.
    let offset_bits = L1_BYTES.ilog2() as usize;
    let (l1_offset, number) = next_address.split_at(L1_SHIFT as usize - LOW);
    let is_low = !l1_offset
        .slice(offset_bits - LOW, L1_SHIFT as usize - offset_bits)
        .any();
    let bits = cluster.width();
    let (low_number, high_number) = number.split_at(bits);
    let is_l1_space = is_low && high_number == u64::from(L1_BASE >> L1_SHIFT) >> bits;
    let is_l1 = reg(is_l1_space && low_number == cluster || is_in(next_address, L1_ALIAS, L1_BYTES));
    let has_registers =
        is_in(next_address, DRIVER_BASE, DRIVER_BYTES) || is_in(next_address, DMA_BASE, DMA_BYTES);
    let is_register = !s.atomic[5] && s.strobe.all() && reg(has_registers);
    l1.valid = s.valid;
    l1.is_here = is_l1;
    l1.thread = s.thread;
    l1.word = s.address.slice(2, offset_bits - 2);
    l1.is_write = s.is_write;
    l1.atomic = s.atomic;
    l1.strobe = s.strobe;
    l1.data = s.data;
    registers.valid = s.valid && is_register;
    registers.hpu = cat!(pipeline, s.thread);
    registers.is_dma = !s.address[(DRIVER_BASE ^ DMA_BASE).ilog2() as usize];
    registers.offset = s.address.slice(0, 8);
    registers.is_write = s.is_write;
    registers.data = s.data;
    registers.is_user = s.is_user;
    let is_done = word_of(done.iter().copied())[s.thread];
    let has_failed = word_of(failed.iter().copied())[s.thread];
    s.ready = is_l1 && l1.ready || is_register && registers.ready || is_done;
    s.refused = is_register && registers.refused || has_failed;

    // Others have an outcome, which the thread's next offer gets.
    let is_other_l1 = is_l1_space && low_number.resize(bits + 1) < clusters as u64;
    let is_l2 =
        is_in(next_address, HANDLER_BASE, HANDLER_BYTES) || is_in(next_address, PACKET_BASE, PACKET_BYTES);
    let is_stdout = s.is_write && reg(is_in(next_address, STDOUT, STDOUT_BYTES));
    let is_far = reg(is_l2 || is_other_l1) || is_stdout;
    let is_icache = s.is_write && !s.is_user && reg(is_in(next_address, ICACHE_BASE, ICACHE_BYTES));
    let has_begun = word_of(waits.iter().copied())[s.thread] || is_done || has_failed;
    let begins = s.valid && !is_l1 && !is_register && !has_begun;
    let wants = begins && is_far;
    let (own, has_turn) = (s.thread, !patience.any() || held_back == s.thread);
    let requests = wants && has_turn && (!requested || far.ready);
    let others = missed & !bit_of(own, wants || has_turn);
    let follows = |distance: u64| (others[own + distance], own + distance);
    if requests || has_turn && !wants && patience != 2 {
        missed = others;
        patience = cat!(others.any(), lit(0, 1));
        held_back = first(&[follows(1), follows(2)], own + 3);
    } else if wants {
        missed = missed | bit_of(own, wants);
        if has_turn {
            (patience, held_back) = (2, own);
        }
    } else if has_turn {
        patience = 1;
    }
    if requests {
        requester = s.thread;
        request_address = s.address.slice(2, 30);
        request_write = s.is_write;
        request_atomic = s.atomic;
        request_strobe = s.strobe;
        request_data = s.data;
    }
    requested = requests || requested && !far.ready;
    far.valid = requested;
    far.hpu = cat!(pipeline, requester);
    far.address = cat!(request_address, lit(0, 2));
    far.is_write = request_write;
    far.atomic = request_atomic;
    far.strobe = request_strobe;
    far.data = request_data;

    let (comes_to, comes_here) = far.done_hpu.split_at(THREAD);
    let comes = far.done && comes_here == pipeline;
    for thread in 0..THREADS {
        let is_own = s.valid && s.thread == thread;
        let comes = comes && comes_to == thread;
        if comes {
            waits[thread] = false;
            drops[thread] = false;
            done[thread] = !drops[thread] && !far.done_failed;
            failed[thread] = !drops[thread] && far.done_failed;
        } else if is_own {
            waits[thread] = waits[thread] || requests;
            done[thread] = begins && is_icache;
            failed[thread] = begins && !is_far && !is_icache;
        }
        if trap && trap_thread == thread {
            drops[thread] = waits[thread] && !comes;
            done[thread] = false;
            failed[thread] = false;
        }
    }
    outcome.write(comes, comes_to, far.done_data);
    let far_data = reg(reg(outcome.read(0, s.thread)));
    let [was_far, was_register] = [is_done, is_register].map(|is| reg(reg(is)));
    s.read_data = if was_far {
        far_data
    } else if was_register {
        registers.read_data
    } else {
        l1.read_data
    };
}

/// [`HpuPort`].
pub(crate) const PORT: Entry = Entry::part(
    "hpu_port",
    "decodes the addresses of a pipeline's accesses in a cluster",
    |_| vec![CLUSTERS.parameter(2)],
    |values| {
        let clusters = CLUSTERS.check("hpu_port", CLUSTERS.of(values))?;
        Ok(Box::new(HpuPort::new(clusters)))
    },
);
