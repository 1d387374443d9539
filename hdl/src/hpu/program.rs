use spinneret_verilog::prelude::*;

/// Program memory: 32 bits at any even address in each clock.
///
/// Even and odd words are memories of their own, so an instruction that crosses a word is read at once. The word is there two
/// clocks after its address. The host writes words at any time; a fetch in the clock of a write reads the word before it.
/// An instruction that is executed in several slots must not be rewritten in between.
#[module(no_clock, words: usize, base: u64, row: usize = address_width(words / 2))]
pub struct HpuProgram {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Bits 31 to 1 of the address of an instruction.
    pub pc: Wire<In, 31>,
    /// The instruction, from bit 0; above 16 bits of a short one is what follows it.
    pub word: Wire<Out, 32>,
    /// Not all of the instruction is in the memory.
    pub outside: Wire<Out, bool>,
    /// The host writes a word.
    pub write: Wire<In, bool>,
    /// Its place, in words.
    pub write_to: Wire<In, { row + 1 }>,
    /// The word.
    pub write_value: Wire<In, 32>,
    #[new(Ram::new(RamStyle::Block, words / 2, 32))]
    even: Ram,
    #[new(Ram::new(RamStyle::Block, words / 2, 32))]
    odd: Ram,
}

#[kernel(HpuProgram, suffix = words)]
fn update() {
    let (is_odd, write_row) = (write_to[0], write_to.slice(1, row));
    even.write(write && !is_odd, write_row, write_value);
    odd.write(write && is_odd, write_row, write_value);

    even.read_enable = true;
    odd.read_enable = true;
    let pc_row = pc.slice(2, row);
    /// An instruction that begins in an odd word may end in the next even one.
    let even_word = reg(even.read(0, pc_row + pc[1].word().resize(row)));
    let odd_word = reg(odd.read(0, pc_row));
    let half = reg(reg(pc.slice(0, 2)));
    let fetched = match half {
        0 => even_word,
        1 => cat!(odd_word[0..16], even_word[16..32]),
        2 => odd_word,
        _ => cat!(even_word[0..16], odd_word[16..32]),
    };
    word = fetched;
    let is_elsewhere = reg(reg(pc.slice(2 + row, 29 - row) != base >> (3 + row)));
    let is_last_half = reg(reg(pc.slice(0, 2 + row).all()));
    outside = is_elsewhere || (is_last_half && fetched.slice(0, 2).all());
}
