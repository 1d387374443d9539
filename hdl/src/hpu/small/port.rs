//! Decodes the addresses of the pipeline's accesses in a small complex.
//!
//! # Contract
//! - **Memory:** `memory` decides about the offer in the same clock.
//! - **Registers** of the driver and of the copy engine, whole words, not atomic: `registers` decides in the same clock.
//! - **Standard output:** a store that is not atomic appends {HPU, character} to `stdout`, and waits while it is full. The address
//!   says which HPU, and the lowest byte is the character; those of clusters other than 0 are dropped.
//! - **Instruction cache:** its registers take stores of machine mode, which do nothing.
//! - **All else is refused** at once.
//! - **Early address:** `next_address` comes one clock before an offer, so that its region is known when it comes.
//! - **Data** of a load are there two clocks after it.

use super::memory::{BANKS, SmallMemoryShape, bank_of};
use super::{SMALL_THREAD, SmallWords};
use crate::hpu::cluster::RegisterAccess;
use crate::hpu::{HpuDataIn, NEXT_ADDRESS};
use crate::stream::StreamOut;
use spinneret_regmap::pspin::{
    DMA_BASE, DMA_BYTES, DRIVER_BASE, DRIVER_BYTES, ICACHE_BASE, ICACHE_BYTES, STDOUT, STDOUT_BYTES,
    STDOUT_CLUSTER_SHIFT, STDOUT_HPU_SHIFT,
};
use spinneret_verilog::prelude::*;

/// Bits of a character with its HPU.
pub(super) const PRINTED: usize = SMALL_THREAD + 8;
/// Bits of an address that are not known before its offer.
const LOW: usize = 32 - NEXT_ADDRESS;

/// Decoder of the pipeline's accesses.
#[module(shape: SmallMemoryShape, index: usize = shape.index())]
pub struct SmallPort {
    /// Accesses of the pipeline.
    pub s: HpuDataIn<{ 1 << SMALL_THREAD }>,
    /// Bits 31 to 3 of the address of an offer, one clock before it.
    pub next_address: Wire<In, { NEXT_ADDRESS }>,
    /// Memory.
    pub memory: SmallWords<{ BANKS }, { index }>,
    /// Registers of the driver.
    pub registers: RegisterAccess,
    /// Standard output.
    pub stdout: StreamOut<{ PRINTED }>,
}

/// Whether an address without its [`LOW`] bits is in a region whose base is a multiple of its size.
#[kernel]
fn is_in(address: Sig, base: u32, bytes: u32) -> Sig<bool> {
    let above = bytes.ilog2() as usize;
    address.slice(above - LOW, 32 - above) == u64::from(base >> above)
}

#[kernel(SmallPort)]
fn update() {
    let bank = reg(bank_of(next_address, shape));
    let is_memory = bank.any();
    let has_registers =
        reg(is_in(next_address, DRIVER_BASE, DRIVER_BYTES) || is_in(next_address, DMA_BASE, DMA_BYTES));
    let is_register = has_registers && !s.atomic[5] && s.strobe.all();
    let prints = reg(is_in(next_address, STDOUT, STDOUT_BYTES)) && s.is_write;
    let is_icache = reg(is_in(next_address, ICACHE_BASE, ICACHE_BYTES)) && s.is_write && !s.is_user;

    memory.valid = s.valid && is_memory;
    memory.thread = s.thread;
    memory.bank = bank;
    memory.index = s.address.slice(LOW, index);
    memory.upper = s.address[2];
    memory.is_write = s.is_write;
    memory.atomic = s.atomic;
    memory.strobe = s.strobe;
    memory.data = s.data;

    registers.valid = s.valid && is_register;
    registers.hpu = s.thread;
    registers.is_dma = !s.address[(DRIVER_BASE ^ DMA_BASE).ilog2() as usize];
    registers.offset = s.address.slice(0, 8);
    registers.is_write = s.is_write;
    registers.data = s.data;
    registers.is_user = s.is_user;

    let (cluster, hpu) = (STDOUT_CLUSTER_SHIFT as usize, STDOUT_HPU_SHIFT as usize);
    let is_dropped = s
        .address
        .slice(cluster, STDOUT_BYTES.ilog2() as usize - cluster)
        .any();
    stdout.valid = s.valid && prints && !is_dropped;
    stdout.data = cat!(s.address.slice(hpu, SMALL_THREAD), s.data.slice(0, 8));

    s.ready = is_memory && memory.ready
        || is_register && registers.ready
        || prints && (is_dropped || stdout.ready)
        || is_icache;
    s.refused = !is_memory && !is_register && !prints && !is_icache || is_register && registers.refused;
    let was_register = reg(reg(is_register));
    s.read_data = if was_register {
        registers.read_data
    } else {
        memory.read_data
    };
}
