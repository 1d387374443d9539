use super::accesses::is_argument;
use super::ports::{COMMAND_ID, any_of_each, bit_of};
use super::{CLUSTER, COMMAND, COMMANDS, DriverAccessIn};
use crate::hpu::cluster::{HPU, HPUS, WORD};
use spinneret_regmap::pspin::{DRIVER_BASE, dma, driver as register};
use spinneret_verilog::prelude::*;

/// Bits of the number of a register that is stored: bits 4 to 2 of its offset.
pub const PLACE: usize = 3;
/// Registers that are gathered in a clock.
pub const GATHERED: usize = 2;
/// Bits of the number of copies that an HPU has under way.
const COPIES: usize = 4;

/// Registers of commands and copies, and how many of these each HPU has under way.
#[module]
pub struct DriverRegisters {
    /// Number of the cluster.
    pub cluster: Wire<In, { CLUSTER }>,
    /// Accesses.
    pub access: DriverAccessIn,
    /// Word of a register that is read, one clock after the access; 0 for task words.
    pub word: Wire<Out, { WORD }>,
    /// {HPU, is of the copy engine, place} of registers that are gathered.
    pub gather: [Wire<In, { HPU + 1 + PLACE }>; GATHERED],
    /// Their words.
    pub gathered: [Wire<Out, { WORD }>; GATHERED],
    /// The number of a command that is issued.
    pub number: Wire<In, { COMMAND }>,
    /// It will be reported as done.
    pub is_sent: Wire<In, bool>,
    /// A command or copy begins with this access.
    pub begins: Wire<Out, bool>,
    /// A command is done.
    pub done: Wire<In, bool>,
    /// Its id.
    pub done_id: Wire<In, { COMMAND_ID }>,
    /// A copy is done.
    pub copied: Wire<In, bool>,
    /// Of this HPU.
    pub copied_hpu: Wire<In, { HPU }>,
    /// Commands that are under way.
    pub open: Wire<Out, { 1 << COMMAND_ID }>,
    /// HPUs that can start no further copy.
    pub full: Wire<Out, { HPUS }>,
    /// HPUs with commands or copies under way.
    pub busy: Wire<Out, { HPUS }>,
    #[new(Ram::new(RamStyle::Distributed, 1 << (HPU + 1 + PLACE), WORD).with_reads(1 + GATHERED).holding("zero", Vec::new()))]
    registers: Ram,
    #[new(Ram::new(RamStyle::Distributed, HPUS, COMMAND).holding("zero", Vec::new()))]
    tested: Ram,
    /// The number of the last copy that each HPU has started.
    #[new(Ram::new(RamStyle::Distributed, HPUS, WORD).holding("zero", Vec::new()))]
    started: Ram,
    opened: Reg<{ 1 << COMMAND_ID }, Reset>,
    copies: [Reg<{ COPIES }, Reset>; HPUS],
}

#[kernel(DriverRegisters)]
fn update() {
    let (hpu, offset) = (access.hpu, access.offset);
    let place = cat!(hpu, access.is_dma, offset.slice(2, PLACE));
    let is_command = |wanted: u32| !access.is_dma && offset == wanted;
    let is_copy = |wanted: u32| access.is_dma && offset == wanted;
    let stores = access.valid && access.is_write;
    /// Information and words of commands begin after the first three registers.
    let is_word = offset[7] && (offset.slice(4, 2).any() || offset.slice(2, 2).all());
    let is_stored = access.is_dma || is_word;
    registers.write(stores && is_stored, place, access.data);
    for (number, gathered) in gathered.iter().enumerate() {
        *gathered = registers.read(1 + number, gather[number]);
    }
    let is_test = is_command(register::TEST);
    tested.write(stores && is_test, hpu, access.data.slice(0, COMMAND));
    let issues = is_command(register::ISSUE);
    let starts = is_copy(dma::START);
    begins = access.valid && (issues || starts);

    /// Numbers of copies: the last one and 1, or without those that are under way. The lowest bits carry a 1.
    let waiting = copies
        .iter()
        .enumerate()
        .map(|(number, count)| *count & (hpu == number).repeat(COPIES));
    let change = !or_all(waiting).resize(WORD) & (!starts).repeat(WORD);
    let copy = (cat!(started.read(0, hpu), lit(1, 1)) + cat!(change, lit(1, 1))).slice(1, WORD);
    started.write(access.valid && starts, hpu, copy);

    let open_here = opened.at(cat!(hpu, lit(0, COMMAND)), COMMANDS);
    let is_done = !open_here[tested.read(0, hpu)];
    let is_number = starts || is_copy(dma::DONE);
    let arguments = [
        constant(lit(u64::from(DRIVER_BASE + register::HANDLER_MEM), WORD)),
        cat!(cluster, hpu).resize(WORD),
        cluster.resize(WORD),
        hpu.resize(WORD),
    ];
    let argument = (0..)
        .zip(arguments)
        .map(|(number, word)| (offset.slice(2, 2) == number, word));
    let argument = first(&argument.collect::<Vec<_>>(), constant(lit(0, WORD)));
    let other = reg(first(
        &[
            (is_number, constant(lit(0, WORD))),
            (!access.is_dma && is_argument(offset), argument),
            (is_stored, registers.read(0, place)),
            (issues, number.resize(WORD)),
            (is_command(register::WAIT), count_of(open_here).resize(WORD)),
            (is_test, is_done.word().resize(WORD)),
        ],
        constant(lit(0, WORD)),
    ));
    /// The sum comes late, so it is chosen after the registers.
    word = other | (reg(copy) & reg(is_number).repeat(WORD));

    let opens = bit_of(cat!(hpu, number), access.valid && issues && is_sent);
    opened = (opened & !bit_of(done_id, done)) | opens;
    open = opened;
    for (number, count) in copies.iter().enumerate() {
        let begins = access.valid && starts && hpu == number;
        let ends = copied && copied_hpu == number;
        if begins != ends {
            assume!(begins || count.any(), "only a copy that was started is done");
            *count = if begins { *count + 1 } else { *count - 1 };
        }
    }
    full = word_of(copies.iter().map(|count| count.all()));
    busy = any_of_each(opened, COMMANDS) | word_of(copies.iter().map(|count| count.any()));
}

/// Number of bits of four that are set, without an adder.
#[kernel]
fn count_of(bits: Sig) -> Sig {
    let some = |number: usize| {
        (0..1_u32 << COMMANDS).filter(move |bits| bits.count_ones() as usize >> number & 1 == 1)
    };
    let bit = |number: usize| or_all(some(number).map(|value| bits == value));
    word_of((0..COMMAND + 1).map(bit))
}
