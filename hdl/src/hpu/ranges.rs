use spinneret_regmap::pspin::{L1_ALIKE, PERIPHERALS, STDOUT};
use spinneret_verilog::prelude::*;

/// Bits of the number of a grain below 512 MiB, where all memories of a NIC are.
const GRAIN: usize = 23;
/// Bits of an address within a grain, and within a part of the address space that has registers.
const GRAIN_BITS: usize = 6;
const PART_BITS: usize = 20;

/// The first range of a task's scratchpads; those of its packet, stack and other memory are before it.
pub const SCRATCHPAD_RANGE: usize = 5;

/// Sets a protection range.
#[interface(RangeWriteIn, threads: usize, count: usize)]
pub struct RangeWrite {
    /// A range is set.
    pub write: Wire<Out, bool>,
    /// Whose.
    pub thread: Wire<Out, { address_width(threads) }>,
    /// Which.
    pub number: Wire<Out, { address_width(count) }>,
    /// Its first grain of 64 bytes.
    pub first: Wire<Out, { GRAIN }>,
    /// The grain after its last one.
    pub end: Wire<Out, { GRAIN }>,
}

/// Protection ranges: the memory that user mode of each thread may access.
///
/// An address is allowed if a range of its thread has it: `first <= address < end`, both in grains of 64 bytes. Ranges
/// end below 0x2000_0000. A clock compares half of the ranges: the lower numbers, or the upper ones if `upper`. The address
/// comes one clock after the thread, and the answer in the clock of the address. At power-up all ranges are empty; a reset
/// keeps them. With `registers` every thread may access those of the cluster and standard output, which check accesses themselves,
/// and ranges from [`SCRATCHPAD_RANGE`] on do not compare the bits [`L1_ALIKE`]: scratchpads are at the same place in every second cluster.
#[module(
    no_clock,
    threads: usize,
    count: usize,
    registers: bool,
    index: usize = address_width(threads),
    half: usize = count.div_ceil(2),
)]
pub struct HpuRanges {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// The thread that asks.
    pub thread: Wire<In, { index }>,
    /// It asks the upper half.
    pub upper: Wire<In, bool>,
    /// The grain of the address, one clock later.
    pub grain: Wire<In, 26>,
    /// It is in one of these ranges.
    pub allowed: Wire<Out, bool>,
    /// A range is set.
    pub range: RangeWriteIn<{ threads }, { count }>,
    #[new(Ram::new(RamStyle::Distributed, 2 * threads, 2 * GRAIN).holding("zero", Vec::new()))]
    ranges: [Ram; half],
}

#[kernel(HpuRanges, suffix = format!("{threads}x{count}{}", if registers { "_registers" } else { "" }))]
fn update() {
    let (low, high) = grain.split_at(GRAIN);
    let low_of_scratchpad = if registers {
        low & !(reg(upper).repeat(GRAIN) & u64::from(L1_ALIKE >> GRAIN_BITS))
    } else {
        low
    };
    let hits = ranges.iter().enumerate().map(|(number, memory)| {
        let is_upper = range.number == number + half;
        memory.write(
            range.write && (range.number == number || is_upper),
            cat!(is_upper, range.thread),
            cat!(range.end, range.first),
        );
        let (first, end) = reg(memory.read(0, cat!(upper, thread))).split_at(GRAIN);
        let low = if number + half < SCRATCHPAD_RANGE {
            low
        } else {
            low_of_scratchpad
        };
        low >= first && low < end
    });
    let is_inside = or_all(hits) && !high.any();
    allowed = if registers {
        let part = grain.slice(PART_BITS - GRAIN_BITS, 32 - PART_BITS);
        is_inside || part == STDOUT >> PART_BITS || part == PERIPHERALS >> PART_BITS
    } else {
        is_inside
    };
}
