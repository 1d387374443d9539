//! The pipeline of handler processing units: threads take turns, one instruction a clock.
//!
//! ```text
//!  0 fetch  1 RAM  2 align, expand  3 decode, registers  4 operands  5 execute  6 check  7 memory, next pc  8 data  9 write
//!  ^                                                                                          |
//!  +------------------- threads registers from a stage to itself in the next slot <-----------+
//! ```
//!
//! # Contract
//! - **Instructions and CSRs:** those of [`spinneret_isa::TABLE`], [`spinneret_isa::COMPRESSED`] and [`spinneret_isa::CSRS`].
//! - **Slots:** a thread has a slot in every `threads`-th clock, whatever the others do. An instruction takes one, and its result is
//!   there for the next one. One that cannot be done in its slot changes nothing and has the thread's next slot: when memory
//!   does not take its offer, for the second half of an access that crosses a word, for 16 of 17 slots of a division, and when
//!   only the upper half of the ranges can allow its access.
//! - **Four threads** have two instructions of a thread inside. One that jumps, traps or repeats costs the slot behind it, and one
//!   that reads a late result (load, product, division, CSR, atomic) of the one before waits for a slot.
//! - **Memory:** `m_valid` is an offer of this clock, and never depends on `m_ready`. With `m_refused` the instruction traps and
//!   nothing happens; with `m_ready` the access takes place in this clock, and its word is due `memory_clocks` later; with neither
//!   the same offer comes again in a later slot, unless the thread is stopped. Accesses of a thread are in the order of its program.
//!   `next_address` tells the region of an offer one clock before it.
//! - **Protection:** an access in user mode outside of the thread's ranges traps without an offer.
//! - **Traps:** `mepc` is the address of the instruction, which has written nothing but the first half of a misaligned store; `mtval` the
//!   address of a refused or misaligned access (of a second half that of its word), the pc for causes 1 and 3, else 0. `trap`
//!   reports it one clock after stage 7.
//! - **Stop:** a thread in user mode whose bit of `stop` is set in stage 6 traps with cause 24 instead of its instruction.
//! - **Reset:** a clock suffices. Then all threads begin at `program_base` + 0x80 in machine mode, thread n in the n-th slot. Registers,
//!   ranges and program memory keep what they hold.
//!
//! Source: the RISC-V manual, as named in `spinneret_isa`.

use super::execute::{self, Operands};
use super::memory::function_of;
use super::{
    HpuCsrs, HpuData, HpuDecoder, HpuDivider, HpuProgram, HpuRanges, HpuRegisters, HpuRvfi, HpuShape,
    NEXT_ADDRESS, RangeWriteIn,
};
use spinneret_isa::{Op, Unit, cause};
use spinneret_verilog::prelude::*;

/// A pipeline of handler processing units.
#[module(
    shape: HpuShape,
    threads: usize = shape.threads,
    index: usize = address_width(shape.threads),
    place: usize = address_width(shape.program_words),
)]
pub struct HpuPipeline {
    /// `mhartid` of thread 0; a multiple of the number of threads.
    pub hart_base: Wire<In, 32>,
    /// Bit n: thread n is stopped, if it is in user mode: a trap with cause 24.
    pub stop: Wire<In, { threads }>,
    /// The host writes a word of the program.
    pub program_write: Wire<In, bool>,
    /// Its place, in words.
    pub program_addr: Wire<In, { place }>,
    /// The word.
    pub program_data: Wire<In, 32>,
    /// Protection ranges; see [`HpuRanges`].
    pub range: Optional<RangeWriteIn<{ threads }, { shape.ranges }>, { shape.ranges > 0 }>,
    /// Loads, stores, atomic instructions.
    pub m: HpuData<{ threads }>,
    /// Bits 31 to 3 of the address of an offer, one clock before it; anything if none follows.
    pub next_address: Wire<Out, { NEXT_ADDRESS }>,
    /// A thread entered its trap handler.
    pub trap: Wire<Out, bool>,
    /// Which.
    pub trap_thread: Wire<Out, { index }>,
    /// Why.
    pub trap_cause: Wire<Out, 5>,
    /// A report of every instruction, for proofs and tests.
    pub rvfi: Optional<HpuRvfi<{ threads }>, { shape.trace }>,
    /// Thread in stage 0.
    slot: Reg<{ index }, Reset>,
    /// All threads have had their first slot.
    started: Reg<bool, Reset>,
    /// Bits 31 to 1 of the address of the instruction in stage 0.
    #[new(Reg::reset_to(lit(shape.reset_vector() >> 1, 31)))]
    pc: Reg,
    /// The slot in stage 4 has an instruction to execute.
    issued: Reg<bool, Reset>,
    /// The instruction in stage 4 waits for the second half of its access.
    second: Reg<bool, Reset>,
    /// The lower half of the ranges does not allow the access of the instruction in stage 4.
    upper: Reg<bool, Reset>,
    /// Result of the ALU in stage 8.
    early: Reg<32>,
    #[new(HpuProgram::new(shape.program_words, shape.program_base))]
    program: HpuProgram,
    #[new(HpuDecoder::new())]
    decoder: HpuDecoder,
    #[new(HpuRegisters::new(threads))]
    registers: HpuRegisters,
    divider: Optional<HpuDivider<{ threads }>, { shape.multiplies }>,
    csrs: HpuCsrs<{ shape }>,
    ranges: Optional<HpuRanges<{ threads }, { shape.ranges }, { shape.registers }>, { shape.ranges > 0 }>,
    /// The first word of an access in two parts.
    #[new(Ram::new(RamStyle::Distributed, shape.threads, 32))]
    saved: Ram,
}

#[kernel(HpuPipeline, suffix = shape.suffix())]
fn update() {
    let predicts = shape.predicts();
    let load_stage = 7 + shape.memory_clocks;
    let never = constant(lit(0, 1))[0];

    // Stages 0 to 2: fetch.
    slot = slot + 1;
    let all_started = started || slot == threads - 1;
    started = all_started;
    let thread = staged("thread", 0, slot);
    let pc_of = staged("pc", 0, pc);
    let fetched = staged("fetched", 0, constant(lit(1, 1))).reset_to(0);
    program.pc = pc;
    program.write = program_write;
    program.write_to = program_addr;
    program.write_value = program_data;
    let is_outside = staged("outside", 2, program.outside);
    decoder.word = program.word;

    // Stage 3: decode and registers.
    registers.read[0] = cat!(thread.at(3), decoder.rs1);
    registers.read[1] = cat!(thread.at(3), decoder.rs2);
    let rs1 = staged("rs1", 3, decoder.rs1);
    let units = Unit::all().map(|unit| {
        let is_there = shape.multiplies || !matches!(unit, Unit::Multiply | Unit::Divide);
        let executes = if is_there {
            decoder.m.unit[unit as usize]
        } else {
            never
        };
        staged(&format!("is_{unit:?}").to_lowercase(), 4, executes)
    });
    let unit = word_of(units.iter().map(|unit| unit.at(4)));
    let has_unit = staged("has_unit", 4, unit.any());
    let rd = staged("rd", 4, decoder.m.rd);
    let function = staged("function", 4, decoder.m.function);
    let [calls, breaks, returns] = [("calls", 0), ("breaks", 1), ("returns", 2)]
        .map(|(name, bit)| staged(name, 4, decoder.m.system[bit]));
    let issued_now = staged("issued", 4, issued).reset_to(false);
    let is = |stage: usize, unit: Unit| units[unit as usize].at(stage);
    let is_atomic = |stage: usize| is(stage, Unit::Atomic);
    let reads_memory = |stage: usize| is(stage, Unit::Load) || is_atomic(stage);
    let is_not = |stage: usize, unit: Unit| reg(!is(stage - 1, unit));
    let is_late = |stage: usize| {
        is(stage, Unit::Multiply) || is(stage, Unit::Divide) || is(stage, Unit::Csr) || reads_memory(stage)
    };
    let is_memory = |stage: usize| reads_memory(stage) || is(stage, Unit::Store);

    let length = cat!(!decoder.is_short, decoder.is_short);
    let next_pc = staged("next_pc", 3, pc_of.at(3) + length.resize(31));
    // The instruction before of this thread, in stage 7, writes a register that this one, in stage 3, reads, or seems to read: to know
    // that takes a decoder more, and costs little, as only late results make an instruction wait.
    let writes = issued_now.at(7) && rd.at(7).any();
    let takes_1 = writes && rd.at(7) == decoder.rs1;
    let takes_2 = writes && rd.at(7) == decoder.rs2;
    let waits = if predicts {
        is_late(7) && (takes_1 || takes_2)
    } else {
        never
    };

    // Stage 4: operands.
    let [value_1, value_2] = [(takes_1, 0), (takes_2, 1)].map(|(takes, port)| {
        if predicts && reg(takes) {
            early
        } else {
            registers.value[port]
        }
    });
    let second_now = staged("second", 4, second).reset_to(false);
    let imm = decoder.m.imm;
    let adder_imm = cat!(imm.slice(2, 30) + second.word().resize(30), imm.slice(0, 2));
    let first_term = match decoder.m.base {
        0 => value_1,
        1 => cat!(pc_of.at(4), lit(0, 1)),
        _ => constant(lit(0, 32)),
    };
    let second_term = if decoder.m.adds_imm { adder_imm } else { value_2 };
    let subtracts = decoder.m.alternate && decoder.m.function == 0;
    let operands = Operands {
        x: reg(value_1),
        y: reg(if decoder.m.has_imm { imm } else { value_2 }),
        a: reg(first_term),
        b: reg(second_term ^ subtracts.repeat(32)),
        subtracts: reg(subtracts),
        function: function.at(5),
        is_arithmetic: reg(decoder.m.alternate),
        is_unsigned: reg(decoder.m.is_unsigned),
    };
    let csr_imm = staged("csr_imm", 4, imm.slice(0, 17));
    let store_data = staged("store_data", 5, operands.y);

    // Stage 5: execute.
    let link = cat!(next_pc.at(5), lit(0, 1));
    let found = execute::execute(operands, is(5, Unit::Jump), link);
    if shape.multiplies {
        divider.thread = thread.at(4);
        divider.x = operands.x;
        divider.y = operands.y;
        divider.funct3 = function.at(5).slice(0, 2);
    }
    csrs.hart_base = hart_base;
    csrs.is_first = staged("is_first", 0, !started).reset_to(false).at(5);
    csrs.thread = thread.at(5);
    csrs.number = csr_imm.at(5).slice(0, 12);
    csrs.operand = if function.at(5)[2] {
        csr_imm.at(5).slice(12, 5).resize(32)
    } else {
        operands.x
    };
    csrs.action = function.at(5).slice(0, 2);
    csrs.writes = function.at(5).slice(0, 2) == 1 || rs1.at(5).any();

    // Stage 6: check.
    let address = staged("address", 6, found.sum.slice(0, 32));
    next_address = address.at(6).slice(32 - NEXT_ADDRESS, NEXT_ADDRESS);
    let offset = address.at(6).slice(0, 2);
    let lanes = execute::strobes(offset, function.at(6).slice(0, 2));
    let crosses = reg(lanes.slice(4, 4).any());
    let is_misaligned = is_atomic(6) && offset.any();
    let upper_now = staged("upper", 4, upper).reset_to(false);
    let is_protected = if shape.ranges > 0 {
        ranges.thread = thread.at(5);
        ranges.upper = upper_now.at(5);
        ranges.grain = address.at(6).slice(6, 26);
        ranges.range = *range;
        is_memory(6) && csrs.is_data_user && !ranges.allowed
    } else {
        never
    };
    let atomic = staged("atomic", 4, decoder.m.atomic);
    let reserves = is_atomic(6) && atomic.at(6) == function_of(Op::LrW);
    let is_read = staged("is_read", 6, is(6, Unit::Load) || reserves);
    csrs.is_access = is(6, Unit::Csr) && !is_outside.at(6);
    csrs.is_return = returns.at(6) && !is_outside.at(6);
    let is_illegal = !has_unit.at(6) || (is(6, Unit::Csr) && csrs.illegal) || (returns.at(6) && csrs.is_user);
    let stops = stop[thread.at(6)] && csrs.is_user;
    let number = |cause: u32| constant(lit(cause.into(), 5));
    // Causes 4 to 7 are loads and stores, misaligned and refused; 8 and 11 are calls of user and machine mode.
    let access = |stage: usize, is_refused: u64| cat!(lit(1, 3), !is_read.at(stage), lit(is_refused, 1));
    let causes = [
        (stops, number(cause::STOPPED)),
        (is_outside.at(6), number(cause::INSTRUCTION_FAULT)),
        (is_illegal, number(cause::ILLEGAL)),
        (breaks.at(6), number(cause::BREAKPOINT)),
        (calls.at(6), cat!(lit(2, 3), (!csrs.is_user).repeat(2))),
        (is_misaligned, access(6, 0)),
    ];
    let any_cause = or_all(causes.map(|(holds, _)| holds));
    let early_cause = reg(first(&causes, access(6, 1)));
    /// A protected access asks the upper half of the ranges in the next slot, and traps then.
    let fails = issued_now.at(6) && (any_cause || (is_protected && upper_now.at(6)));
    let early_trap = reg_reset(fails, false);
    let asks_upper = reg_reset(
        issued_now.at(6) && !any_cause && is_protected && !upper_now.at(6),
        false,
    );
    let names_address = staged("names_address", 6, !stops && !is_outside.at(6) && is_memory(6));
    let names_pc = staged("names_pc", 6, !stops && (is_outside.at(6) || breaks.at(6)));

    let jumps = reg(is(6, Unit::Jump) || (is(6, Unit::Branch) && execute::is_taken(found, function.at(6))));
    let simple = execute::result(found, function.at(6), is(6, Unit::Jump), is(6, Unit::Custom));
    let early_7 = reg(if is_late(6) { lit(0, 32) } else { simple });
    early = early_7;

    // Stage 7: the offer to memory, and what comes of the slot.
    let is_allowed = issued_now.at(6) && is_memory(6) && !any_cause && !is_protected;
    let offers = reg_reset(is_allowed, false);
    m.valid = offers;
    m.thread = thread.at(7);
    m.address = cat!(address.at(7).slice(2, 30), lit(0, 2));
    m.is_write = reg(is(6, Unit::Store));
    m.atomic = reg(cat!(is_atomic(6), atomic.at(6)));
    let (first_lanes, second_lanes) = lanes.split_at(4);
    let strobe = reg(if second_now.at(6) {
        second_lanes
    } else {
        first_lanes
    });
    m.strobe = strobe;
    m.data = reg(execute::rotated(store_data.at(6), offset));
    m.is_user = reg(csrs.is_data_user);
    let is_refused = offers && m.refused;
    let is_first_half = crosses && !second_now.at(7);
    let (divides, divides_on) = if shape.multiplies {
        let divides = issued_now.at(7) && is(7, Unit::Divide) && !early_trap;
        (divides, divides && !divider.is_last)
    } else {
        (never, never)
    };
    let traps = early_trap || is_refused;
    let replays = asks_upper || (offers && !m.refused && (!m.ready || is_first_half)) || divides_on;
    let retires = issued_now.at(7) && !traps && !replays;
    let is_vector = traps || (issued_now.at(7) && returns.at(7));
    let is_jump = issued_now.at(7) && jumps;
    let redirects = is_vector || replays || is_jump;
    let next_or = |sequential: Sig| match cat!(is_vector || is_jump, is_vector || replays) {
        0 => sequential,
        1 => pc_of.at(7),
        2 => address.at(7).slice(1, 31),
        _ => csrs.vector,
    };
    let sequential = shape.sequential_stage();
    let repeated = pc_of.at(sequential);
    let following = if waits { repeated } else { next_pc.at(sequential) };
    // Threads start where memory's answer, which comes late, is not on the path; nothing is redirected before.
    let first_pc = constant(lit(shape.reset_vector() >> 1, 31));
    let started_at = |pc: Sig| if all_started { pc } else { first_pc };
    let is_last = sequential == threads - 1;
    let next = next_or(if is_last { started_at(following) } else { following });
    let next_slot = (sequential..threads - 1).fold(next, |value, _| reg(value));
    pc = if is_last { next_slot } else { started_at(next_slot) };
    issued = fetched.at(3)[0] && !(predicts && (redirects || waits));

    let is_half_done = offers && !m.refused && m.ready && is_first_half;
    let next_state = |before: Sig<bool>, after: Sig<bool>| {
        let next = if issued_now.at(7) { after } else { before };
        (4..threads).fold(next, |value, _| reg_reset(value, false))
    };
    second = next_state(second_now.at(7), is_half_done || (second_now.at(7) && replays));
    let stays_upper = upper_now.at(7) && replays && !is_half_done;
    upper = next_state(upper_now.at(7), asks_upper || stays_upper);
    if shape.multiplies {
        divider.is_none = is_not(7, Unit::Divide);
        divider.goes_on = divides;
        divider.ends = issued_now.at(7) && !divides;
    }

    // Stage 8: results, traps.
    let reported = reg(if is_refused { access(7, 1) } else { early_cause });
    let traps_8 = reg_reset(traps, false);
    trap = traps_8;
    trap_thread = thread.at(8);
    trap_cause = reported;
    csrs.retires = retires;
    csrs.traps = traps;
    csrs.cause = reported;
    csrs.pc = pc_of.at(8);
    let [value_is_address, value_is_pc] =
        [names_address, names_pc].map(|names| reg(names.at(7) && traps).repeat(32));
    let offset_8 = address.at(8).slice(0, 2) & (!second_now.at(8)).repeat(2);
    csrs.trap_value = (value_is_address & cat!(address.at(8).slice(2, 30), offset_8))
        | (value_is_pc & cat!(pc_of.at(8), lit(0, 1)));
    let no_csr = is_not(7, Unit::Csr);
    let csr_value = reg(if no_csr { lit(0, 32) } else { csrs.value });
    /// All but one of these are 0.
    let product = wire(32);
    let quotient = wire(32);
    if shape.multiplies {
        product = execute::product(operands.x, operands.y, function.at(5), is_not(7, Unit::Multiply));
        quotient = divider.result;
    } else {
        product = 0;
        quotient = 0;
    }
    let other = staged("other", 9, reg(early | csr_value | product | quotient));
    let counter = staged("counter", 9, csrs.counter);
    let retired = staged("retired", 8, reg_reset(retires, false)).reset_to(false);

    // Stage of the load's data, and the one after it: the register is written.
    let unread_7 = if reads_memory(7) { !strobe } else { lit(15, 4) };
    let unread = staged("unread", 8, reg(unread_7));
    let (loaded, sign) = execute::loaded(
        m.read_data,
        unread.at(load_stage),
        address.at(load_stage).slice(0, 2) & is(load_stage, Unit::Load).repeat(2),
        function.at(load_stage),
    );
    let end = load_stage + 1;
    let half_done = staged("half_done", 8, reg_reset(is_half_done, false));
    saved.write(half_done.at(end), thread.at(end), loaded);
    let joined = loaded | (saved.read(0, thread.at(end)) & second_now.at(end).repeat(32));
    let result = joined | sign | other.at(end) | counter.at(end);
    registers.write = retired.at(end);
    registers.write_to = cat!(thread.at(end), rd.at(end));
    registers.write_value = result;

    if shape.trace {
        let (valid, trapped) = (
            staged("done", 8, reg_reset(retires || traps, false)).reset_to(false),
            staged("trapped", 8, traps_8),
        );
        let insn = staged("insn", 2, program.word);
        let used = |has: Sig<bool>, number: Sig| number & has.repeat(5);
        let next = staged("next", 8, reg(next_or(next_pc.at(7))));
        let size = staged("size", load_stage, function.at(load_stage).slice(0, 2)).at(end);
        let mask = execute::strobes(constant(lit(0, 2)), size).slice(0, 4);
        let bits = cat_all(&[3, 2, 1, 0].map(|byte| mask[byte].repeat(8)));
        let reads = !trapped.at(end) && (is(end, Unit::Load) || is_atomic(end));
        let writes = !trapped.at(end)
            && (is(end, Unit::Store) || (is_atomic(end) && atomic.at(end) != function_of(Op::LrW)));
        rvfi.valid = valid.at(end);
        rvfi.thread = thread.at(end);
        let is_short = staged("is_short", 3, decoder.is_short);
        rvfi.insn = insn.at(end) & cat!((!is_short.at(end)).repeat(16), lit(0xffff, 16));
        rvfi.trap = trapped.at(end);
        rvfi.cause = staged("cause", 8, reported).at(end);
        rvfi.is_user = staged("is_user", 6, csrs.is_user).at(end);
        rvfi.rs1_addr = staged("rs1_addr", 3, used(decoder.has_rs1, decoder.rs1)).at(end);
        rvfi.rs2_addr = staged("rs2_addr", 3, used(decoder.has_rs2, decoder.rs2)).at(end);
        rvfi.rs1_rdata = staged("rs1_rdata", 4, value_1 & reg(decoder.has_rs1).repeat(32)).at(end);
        rvfi.rs2_rdata = staged("rs2_rdata", 4, value_2 & reg(decoder.has_rs2).repeat(32)).at(end);
        rvfi.rd_addr = used(!trapped.at(end), rd.at(end));
        rvfi.rd_wdata = result & (!trapped.at(end) && rd.at(end).any()).repeat(32);
        rvfi.pc_rdata = cat!(pc_of.at(end), lit(0, 1));
        rvfi.pc_wdata = cat!(next.at(end), lit(0, 1));
        rvfi.mem_addr = address.at(end) - cat!(second_now.at(end), lit(0, 2)).resize(32);
        rvfi.mem_rmask = mask & reads.repeat(4);
        rvfi.mem_wmask = mask & writes.repeat(4);
        rvfi.mem_rdata = joined & bits & reads.repeat(32);
        rvfi.mem_wdata = store_data.at(end) & bits & writes.repeat(32);
    }
}
