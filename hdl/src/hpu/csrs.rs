use super::HpuShape;
use spinneret_isa::CSRS;
use spinneret_verilog::prelude::*;

/// Value of `misa`: RV32 with A, C, I, user mode, and one custom instruction.
const MISA: u64 = 1 << 30 | 1 << 23 | 1 << 20 | 1 << 8 | 1 << 2 | 1;
/// M in it.
const MISA_M: u64 = 1 << 12;

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
    /// Bits 31 to 2 of the address of the trap handler, in stage 7.
    pub handler: Wire<Out, 30>,
    /// Bits 31 to 1 of the address that `mret` goes to, in stage 6.
    pub return_pc: Wire<Out, 31>,
    /// An instruction retires, in stage 7.
    pub retires: Wire<In, bool>,
    /// It is one of these registers, in stage 7.
    pub is_access: Wire<In, bool>,
    /// It is `mret`, in stage 7.
    pub returns: Wire<In, bool>,
    /// The instruction traps, in stage 7.
    pub traps: Wire<In, bool>,
    /// Why, in stage 8.
    pub cause: Wire<In, 5>,
    /// Bits 31 to 1 of its address, in stage 8.
    pub pc: Wire<In, 31>,
    /// The new `mtval`, in stage 8.
    pub trap_value: Wire<In, 32>,
    /// Status of the thread in stage 5.
    status: Reg<{ Status::new().width }, Reset>,
    cycle: Reg<64, Reset>,
    #[new(Ram::new(RamStyle::Distributed, threads, 30))]
    mtvec: Ram,
    #[new(Ram::new(RamStyle::Distributed, threads, 32))]
    mscratch: Ram,
    #[new(Ram::new(RamStyle::Distributed, threads, 31))]
    mepc: Ram,
    #[new(Ram::new(RamStyle::Distributed, threads, 5))]
    mcause: Ram,
    #[new(Ram::new(RamStyle::Distributed, threads, 32))]
    mtval: Ram,
    /// `minstret`.
    #[new(Optional::new(shape.counts, || Ram::new(RamStyle::Distributed, threads, 64).holding("zero", Vec::new())))]
    instret: Optional<Ram>,
}

/// The register is one of these.
#[kernel]
fn is_one_of(number: Sig, names: &[&str]) -> Sig<bool> {
    let rows = CSRS.iter().filter(|row| names.contains(&row.name));
    rows.map(|row| number.fits(row.bits))
        .reduce(|a, b| a | b)
        .expect("a register of that name")
}

/// `mstatus` from its bits, and back.
#[kernel]
fn mstatus_of(status: Sig) -> Sig {
    let f = Status::new();
    let machine = !status.flag(f.mpp_user);
    cat!(
        lit(0, 14),
        status.flag(f.mprv),
        lit(0, 4),
        machine,
        machine,
        lit(0, 3),
        status.flag(f.mpie),
        lit(0, 3),
        status.flag(f.mie),
        lit(0, 3)
    )
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

#[kernel(HpuCsrs, suffix = format!("{threads}{}", shape.options()))]
fn update() {
    let f = Status::new();
    let thread = staged("thread", 5, thread);
    let status_now = staged("status", 5, status).reset_to(0);
    let operand = staged("operand", 5, operand);
    let action = staged("action", 5, action);
    let writes_it = staged("writes", 5, writes);
    let named = |names: &[&str]| staged(&format!("is_{}", names[0]), 5, is_one_of(number, names));

    let exists = CSRS
        .iter()
        .map(|row| number.fits(row.bits))
        .reduce(|a, b| a | b)
        .expect("a register");
    let is_refused = status_now.at(5).flag(f.is_user) && number.slice(8, 2).any();
    illegal = reg(!exists || is_refused || (writes && number.slice(10, 2).all()));
    is_user = status_now.at(6).flag(f.is_user);
    is_data_user = status_now.at(6).flag(f.is_user)
        || (status_now.at(6).flag(f.mprv) && status_now.at(6).flag(f.mpp_user));

    cycle = cycle + 1;
    let cycles = ["cycle", "time", "mcycle", "cycleh", "timeh", "mcycleh"];
    let counts_cycles = is_one_of(number, &cycles);
    let is_counter = staged(
        "is_counter",
        5,
        counts_cycles || is_one_of(number, &["instret", "minstret", "instreth", "minstreth"]),
    );
    let mepc_now = mepc.read(0, thread.at(6));
    let mtvec_now = mtvec.read(0, thread.at(6));
    let is_first = staged("is_first", 5, is_first).reset_to(false);
    let retired = if shape.counts {
        instret.read(0, thread.at(5)) & (!is_first.at(5)).repeat(64)
    } else {
        constant(lit(0, 64))
    };
    let retired = staged("retired", 5, retired);
    let counter = match cat!(counts_cycles, number[7]) {
        0 => retired.at(5).slice(0, 32),
        1 => retired.at(5).slice(32, 32),
        2 => cycle.slice(0, 32),
        _ => cycle.slice(32, 32),
    };
    return_pc = mepc_now;
    handler = reg(mtvec_now);
    let zero = |width: usize| constant(lit(0, width));
    let is_mstatus = named(&["mstatus"]);
    let is_mtvec = named(&["mtvec"]);
    let is_mscratch = named(&["mscratch"]);
    let is_mepc = named(&["mepc"]);
    let is_mcause = named(&["mcause"]);
    let is_mtval = named(&["mtval"]);
    let choices = [
        (is_mstatus.at(6), mstatus_of(status_now.at(6))),
        (is_mtvec.at(6), cat!(mtvec_now, zero(2))),
        (is_mscratch.at(6), mscratch.read(0, thread.at(6))),
        (is_mepc.at(6), cat!(mepc_now, zero(1))),
        (is_mcause.at(6), mcause.read(0, thread.at(6)).resize(32)),
        (is_mtval.at(6), mtval.read(0, thread.at(6))),
        (
            named(&["misa"]).at(6),
            constant(lit(if shape.multiplies { MISA | MISA_M } else { MISA }, 32)),
        ),
        (named(&["mcounteren"]).at(6), constant(lit(7, 32))),
        (named(&["mhartid"]).at(6), hart_base | thread.at(6).resize(32)),
        (is_counter.at(6), reg(counter)),
    ];
    let read = choices.into_iter().map(|(is_it, word)| is_it.repeat(32) & word);
    value = reg(read.reduce(|a, b| a | b).expect("a register"));

    /// Value after the access.
    let new = match action.at(7) {
        1 => operand.at(7),
        2 => value | operand.at(7),
        _ => value & !operand.at(7),
    };
    let commits = retires && is_access && writes_it.at(7);
    let before = status_now.at(7);
    let after = first(
        &[
            (traps, trapped(before)),
            (returns, returned(before)),
            (commits && is_mstatus.at(7), written(before, new)),
        ],
        before,
    );
    let mut ring = after;
    for _ in 0..threads - 3 {
        ring = reg_reset(ring, 0);
    }
    status = ring;

    let (traps_8, commits_8, new_8) = (reg_reset(traps, false), reg_reset(commits, false), reg(new));
    mtvec.write(commits_8 && is_mtvec.at(8), thread.at(8), new_8.slice(2, 30));
    mscratch.write(commits_8 && is_mscratch.at(8), thread.at(8), new_8);
    mepc.write(
        traps_8 || (commits_8 && is_mepc.at(8)),
        thread.at(8),
        if traps_8 { pc } else { new_8.slice(1, 31) },
    );
    let cause = if traps_8 {
        cause
    } else {
        new_8.slice(0, 5) & (!is_first.at(8)).repeat(5)
    };
    let changes_cause = traps_8 || is_first.at(8) || (commits_8 && is_mcause.at(8));
    mcause.write(changes_cause, thread.at(8), cause);
    mtval.write(
        traps_8 || (commits_8 && is_mtval.at(8)),
        thread.at(8),
        if traps_8 { trap_value } else { new_8 },
    );
    if shape.counts {
        let retires_8 = reg_reset(retires, false);
        let counted = retired.at(8) + retires_8.word().resize(64);
        instret.write(retires_8 || is_first.at(8), thread.at(8), counted);
    }
}
