use super::HpuShape;
use spinneret_isa::CSRS;
use spinneret_verilog::prelude::*;

/// Mode of a thread and the bits of its `mstatus`; after reset all are 0.
#[record]
struct Status {
    is_user: Field<1>,
    mie: Field<1>,
    mpie: Field<1>,
    /// `MPP` is user mode.
    mpp_user: Field<1>,
    mprv: Field<1>,
}

/// Control and status registers of all threads, and the mode each is in.
///
/// # Contract
/// - Stages are those of the pipeline: the clock of a slot in which a port is read or valid.
/// - **Registers:** those of [`CSRS`]. In `illegal` are those that do not exist, or not in the mode of the thread.
/// - **Commit:** `retires`, `returns` and `traps` say in stage 7 what came of the slot; without any nothing changes.
/// - **Reset:** machine mode, `mstatus` 0 except for `MPP`; `mcause` and the counters are 0, which the first slot of each thread
///   after the reset sees to; other registers keep their values.
#[module(shape: HpuShape, threads: usize = shape.threads, index: usize = address_width(threads))]
pub struct HpuCsrs {
    /// `mhartid` of thread 0; those of the others follow.
    pub hart_base: Wire<In, 32>,
    /// The slot is the first one of its thread after a reset, in stage 5.
    pub is_first: Wire<In, bool>,
    /// Thread, in stage 5.
    pub thread: Wire<In, { index }>,
    /// Number of the register, in stage 5.
    pub number: Wire<In, 12>,
    /// The word to write, or bits to set or clear, in stage 5.
    pub operand: Wire<In, 32>,
    /// 1: write, 2: set, 3: clear. In stage 5.
    pub action: Wire<In, 2>,
    /// It may change the register, in stage 5.
    pub writes: Wire<In, bool>,
    /// The access is not allowed, in stage 6.
    pub illegal: Wire<Out, bool>,
    /// The register before it, in stage 7.
    pub value: Wire<Out, 32>,
    /// The thread is in user mode, in stage 6.
    pub is_user: Wire<Out, bool>,
    /// Its loads and stores are those of user mode, in stage 6.
    pub is_data_user: Wire<Out, bool>,
    /// Bits 31 to 1 of the address of the trap handler, or of where `mret` goes to, in stage 7.
    pub vector: Wire<Out, 31>,
    /// A counter, if the access reads one, else 0, in stage 9.
    pub counter: Wire<Out, 32>,
    /// The instruction is an access of these registers, and was fetched from the program, in stage 6.
    pub is_access: Wire<In, bool>,
    /// It is `mret`, and was fetched from the program, in stage 6.
    pub is_return: Wire<In, bool>,
    /// An instruction retires, in stage 7.
    pub retires: Wire<In, bool>,
    /// The instruction traps, in stage 7.
    pub traps: Wire<In, bool>,
    /// Why, in stage 8.
    pub cause: Wire<In, 5>,
    /// Bits 31 to 1 of its address, in stage 8.
    pub pc: Wire<In, 31>,
    /// The new `mtval` of a trap, else 0, in stage 8.
    pub trap_value: Wire<In, 32>,
    /// Status of the thread in stage 5.
    status: Reg<{ Status::new().width }, Reset>,
    cycle: Reg<64, Reset>,
    /// `mtvec`, `mepc` of each thread, bits 31 to 1; 0 at power-up, as bit 1 of `mtvec` is always 0.
    #[new(Ram::new(RamStyle::Distributed, 2 * threads, 31).holding("zero", Vec::new()))]
    vectors: Ram,
    /// `mscratch`, `mtval`.
    #[new(Ram::new(RamStyle::Distributed, 2 * threads, 32))]
    words: Ram,
    #[new(Ram::new(RamStyle::Distributed, threads, 5))]
    mcause: Ram,
    /// `minstret`.
    #[new(Optional::new(shape.counts, || Ram::new(RamStyle::Distributed, threads, 64).holding("zero", Vec::new())))]
    instret: Optional<Ram>,
}

/// Bit of `misa` of instructions that multiply and divide.
const MULTIPLIES: u32 = 1 << 12;

/// The register is one of those whose name is wanted.
#[kernel]
fn is_one_of(number: Sig, wanted: impl Fn(&str) -> bool) -> Sig<bool> {
    let rows = CSRS.iter().filter(|row| wanted(row.name));
    number.fits_any(rows.map(|row| row.bits))
}

/// `mstatus` from its bits, and back.
#[kernel]
fn mstatus_of(status: Sig) -> Sig {
    let f = Status::new();
    let [mie, mpie, mprv] = [f.mie, f.mpie, f.mprv].map(|bit| status.flag(bit));
    let machine = (!status.flag(f.mpp_user)).repeat(2);
    let upper = cat!(lit(0, 14), mprv, lit(0, 4), machine);
    cat!(upper, lit(0, 3), mpie, lit(0, 3), mie, lit(0, 3))
}

/// Status after an instruction.
#[kernel]
fn written(status: Sig, mstatus: Sig) -> Sig {
    let f = Status::new();
    let mpp_user = match mstatus.slice(11, 2) {
        0 => lit(1, 1),
        3 => lit(0, 1),
        _ => status.field(f.mpp_user),
    };
    pack!(f {
        is_user: status.flag(f.is_user),
        mie: mstatus[3],
        mpie: mstatus[7],
        mpp_user,
        mprv: mstatus[17]
    })
}

#[kernel]
fn trapped(status: Sig) -> Sig {
    let f = Status::new();
    pack!(f {
        is_user: false,
        mie: false,
        mpie: status.flag(f.mie),
        mpp_user: status.flag(f.is_user),
        mprv: status.flag(f.mprv)
    })
}

#[kernel]
fn returned(status: Sig) -> Sig {
    let f = Status::new();
    let to_user = status.flag(f.mpp_user);
    pack!(f {
        is_user: to_user,
        mie: status.flag(f.mpie),
        mpie: true,
        mpp_user: true,
        mprv: status.flag(f.mprv) && !to_user
    })
}

#[kernel(HpuCsrs, suffix = shape.suffix())]
fn update() {
    let f = Status::new();
    let thread = staged("thread", 5, thread);
    let status_now = staged("status", 5, status).reset_to(0);
    let operand = staged("operand", 5, operand);
    let action = staged("action", 5, action);
    let writes_it = staged("writes", 5, writes);
    let named = |names: &[&str]| {
        let is_it = is_one_of(number, |name| names.contains(&name));
        staged(&format!("is_{}", names[0]), 5, is_it)
    };

    let exists = is_one_of(number, |_| true);
    let is_refused = status_now.at(5).flag(f.is_user) && number.slice(8, 2).any();
    illegal = reg(!exists || is_refused || (writes && number.slice(10, 2).all()));
    is_user = status_now.at(6).flag(f.is_user);
    is_data_user = status_now.at(6).flag(f.is_user)
        || (status_now.at(6).flag(f.mprv) && status_now.at(6).flag(f.mpp_user));

    let is_first = staged("is_first", 5, is_first).reset_to(false);
    let is_access = staged("is_access", 6, is_access);
    let is_return = staged("is_return", 6, is_return);
    let is_mepc = named(&["mepc"]);
    let is_mtval = named(&["mtval"]);
    let is_mstatus = named(&["mstatus"]);
    let is_vector = named(&["mtvec", "mepc"]);
    let is_word = named(&["mscratch", "mtval"]);
    let is_mcause = named(&["mcause"]);
    // In machine mode neither `mret` nor an access of `mepc` traps, so neither needs the trap handler.
    let takes_mepc = !is_user && (is_return.at(6) || (is_access.at(6) && is_mepc.at(6)));
    let vector_now = vectors.read(0, cat!(takes_mepc, thread.at(6)));
    vector = reg(vector_now);
    let choices = [
        (is_mstatus.at(6), mstatus_of(status_now.at(6))),
        (is_vector.at(6), cat!(vector_now, lit(0, 1))),
        (is_word.at(6), words.read(0, cat!(is_mtval.at(6), thread.at(6)))),
        (
            is_mcause.at(6) && !is_first.at(6),
            mcause.read(0, thread.at(6)).resize(32),
        ),
        (named(&["mhartid"]).at(6), hart_base | thread.at(6).resize(32)),
    ];
    let constants = CSRS.iter().filter_map(|row| Some((row.name, row.value?)));
    let constants = constants.filter(|(_, value)| *value != 0).map(|(name, value)| {
        let has_all = shape.multiplies || name != "misa";
        let value = if has_all { value } else { value & !MULTIPLIES };
        (named(&[name]).at(6), constant(lit(value.into(), 32)))
    });
    let read = choices
        .into_iter()
        .chain(constants)
        .map(|(is_it, word)| is_it.repeat(32) & word);
    value = reg(or_all(read));

    /// Value after the access.
    let new = match action.at(7) {
        1 => operand.at(7),
        2 => value | operand.at(7),
        _ => value & !operand.at(7),
    };
    let commits = retires && is_access.at(7) && writes_it.at(7);
    let before = status_now.at(7);
    let after = first(
        &[
            (traps, trapped(before)),
            (retires && is_return.at(7), returned(before)),
            (commits && is_mstatus.at(7), written(before, new)),
        ],
        before,
    );
    status = (3..threads).fold(after, |value, _| reg_reset(value, 0));

    let traps_8 = reg_reset(traps, false);
    let commits_8 = reg_reset(commits, false);
    let new_8 = reg(if traps { lit(0, 32) } else { new });
    let new_vector = cat!(new_8.slice(2, 30), new_8[1] && is_mepc.at(8));
    vectors.write(
        traps_8 || (commits_8 && is_vector.at(8)),
        cat!(traps_8 || is_mepc.at(8), thread.at(8)),
        new_vector | (pc & traps_8.repeat(31)),
    );
    words.write(
        traps_8 || (commits_8 && is_word.at(8)),
        cat!(traps_8 || is_mtval.at(8), thread.at(8)),
        new_8 | trap_value,
    );
    let sets_cause = commits_8 && is_mcause.at(8);
    let new_cause = new_8.slice(0, 5) & sets_cause.repeat(5);
    mcause.write(
        traps_8 || is_first.at(8) || sets_cause,
        thread.at(8),
        if traps_8 { cause } else { new_cause },
    );

    cycle = cycle + 1;
    let count = if shape.counts {
        let count = instret.read(0, thread.at(8));
        let retires_8 = reg_reset(retires, false);
        let one = retires_8.word().resize(64);
        let counted = reg(if is_first.at(8) { one } else { count + one });
        instret.write(
            reg_reset(retires_8 || is_first.at(8), false),
            thread.at(9),
            counted,
        );
        count
    } else {
        constant(lit(0, 64))
    };
    let counts_cycles = named(&["cycle", "time", "mcycle", "cycleh", "timeh", "mcycleh"]);
    let counts_instructions = named(&["instret", "minstret", "instreth", "minstreth"]);
    let is_counter = counts_cycles.at(7) || (counts_instructions.at(7) && !is_first.at(7));
    let is_no_counter = reg(!(is_access.at(7) && is_counter));
    let is_high = staged("is_high", 5, number[7]);
    let half = match cat!(counts_cycles.at(8), is_high.at(8)) {
        0 => count.slice(0, 32),
        1 => count.slice(32, 32),
        2 => cycle.slice(0, 32),
        _ => cycle.slice(32, 32),
    };
    counter = reg(if is_no_counter { lit(0, 32) } else { half });
}
