use spinneret_verilog::prelude::*;

/// 31 registers a thread, and x0, which is 0: one write and two reads a clock.
///
/// A read gives its word one clock later: the one before a write in the same clock. At power-up all are 0.
#[module(no_clock, threads: usize, address = address_width(32 * threads))]
pub struct HpuRegisters {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// {thread, register} of both reads, the first in the lowest bits.
    pub read: [Wire<In, { address }>; 2],
    /// The words that were read.
    pub value: [Wire<Out, 32>; 2],
    /// A register is written; x0 keeps its 0.
    pub write: Wire<In, bool>,
    /// {thread, register} of the write.
    pub write_to: Wire<In, { address }>,
    /// The word to write.
    pub write_value: Wire<In, 32>,
    #[new(Ram::new(RamStyle::Block, 32 * threads, 32).with_reads(2).holding("zero", Vec::new()))]
    memory: Ram,
}

#[kernel(HpuRegisters, suffix = threads)]
fn update() {
    memory.write(write && write_to.slice(0, 5).any(), write_to, write_value);
    memory.read_enable.word() = lit(3, 2);
    for (port, (read, value)) in read.into_iter().zip(value).enumerate() {
        value = memory.read(port, read);
    }
}
