//! Control and status registers, and causes of traps.

use super::Privilege;
use spinneret_isa::{CsrRow, Mode, Writes, cause};
use std::fmt;

const MSTATUS_MIE: u32 = 1 << 3;
const MSTATUS_MPIE: u32 = 1 << 7;
const MSTATUS_MPP: u32 = 3 << 11;
const MSTATUS_MPRV: u32 = 1 << 17;

/// RV32 with A, C, I, M and user mode.
const MISA: u32 = 1 << 30 | 1 << 20 | 1 << 12 | 1 << 8 | 1 << 2 | 1;

/// Writable bits of `mcounteren`: user mode can read cycle, time, instret.
const COUNTERS: u32 = 7;

/// The control and status registers of a hart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsrSet {
    /// Those of the privileged architecture, and PULP's counters.
    #[default]
    All,
    /// Those of the PULP cluster's cores: no counters in user mode (`riscv_decoder.sv`, "Determine if CSR access is
    /// illegal"), `mtvec` keeps bits 31 to 8, `mtval` reads 0, and the machine counters are stopped until `mcountinhibit`
    /// enables them (`riscv_cs_registers.sv`).
    Ri5cy,
    /// Those of our HPU, [`spinneret_isa::CSRS`]: few that can be written, and `mtval` is 0 for illegal instructions. A hart with
    /// them also has `csum`, and its `wfi` does not wait.
    Hpu,
}

/// Bits that `mcause` of our HPU holds.
const HPU_CAUSE: u32 = 31;

impl CsrSet {
    fn has(self, number: u32) -> bool {
        match self {
            Self::All => true,
            Self::Hpu => self.row(number).is_some(),
            Self::Ri5cy => matches!(
                number,
                0x000 | 0x005 | 0x014 | 0x041 | 0x042 | 0x300 | 0x301 | 0x304..=0x306 | 0x320 | 0x323..=0x33f
                    | 0x340..=0x344 | 0x3a0..=0x3a3 | 0x3b0..=0x3bf | 0x7c0..=0x7c2 | 0x7c4..=0x7c6 | 0x7d0 | 0x7d1
                    | 0xb00 | 0xb02..=0xb1f | 0xb80 | 0xb82..=0xb9f | 0xc10 | 0xf11..=0xf14
            ),
        }
    }

    /// The row of a register; only our HPU has a table.
    fn row(self, number: u32) -> Option<&'static CsrRow> {
        match self {
            Self::Hpu => CsrRow::of(number),
            Self::All | Self::Ri5cy => None,
        }
    }
}

/// Bits of `mcountinhibit`.
const INHIBIT_CYCLE: u32 = 1;
const INHIBIT_INSTRET: u32 = 4;

/// The registers of one hart, except for the counters that the hart and the machine keep.
#[derive(Clone, Debug)]
pub(super) struct Csrs {
    set: CsrSet,
    hart_id: u32,
    mstatus: u32,
    mie: u32,
    mtvec: u32,
    mscratch: u32,
    mepc: u32,
    mcause: u32,
    mtval: u32,
    mcounteren: u32,
    /// `mcountinhibit`: the stopped counters.
    inhibit: u32,
    /// `mcycle` minus the clock of the machine; `mcycle` itself while it is stopped.
    cycle_offset: u64,
    /// `minstret` minus the instructions since reset; itself while it is stopped.
    instret_offset: u64,
    /// PULP's counters of cycles and instructions, minus what they count.
    pccr_offset: [u32; 2],
    pcer: u32,
    pcmr: u32,
    pmpcfg: [u32; 4],
    pmpaddr: [u32; 16],
}

/// Whether an access to this register empties the pipeline; see [`super::Costs::csr_flush`].
pub(super) fn empties_pipeline(number: u32) -> bool {
    matches!(number, 0x000 | 0x041 | 0x300)
}

impl Csrs {
    pub(super) fn new(hart_id: u32, set: CsrSet) -> Self {
        Csrs {
            set,
            hart_id,
            mstatus: MSTATUS_MPP,
            mie: 0,
            mtvec: 0,
            mscratch: 0,
            mepc: 0,
            mcause: 0,
            mtval: 0,
            mcounteren: COUNTERS,
            inhibit: match set {
                CsrSet::All | CsrSet::Hpu => 0,
                CsrSet::Ri5cy => INHIBIT_CYCLE | INHIBIT_INSTRET,
            },
            cycle_offset: 0,
            instret_offset: 0,
            pccr_offset: [0; 2],
            pcer: 0,
            pcmr: 3,
            pmpcfg: [0; 4],
            pmpaddr: [0; 16],
        }
    }

    pub(super) fn hart_id(&self) -> u32 {
        self.hart_id
    }

    pub(super) fn set(&self) -> CsrSet {
        self.set
    }

    /// The values of `mcycle` and `minstret`.
    fn counters(&self, now: u64, retired: u64) -> [u64; 2] {
        let since = |bit: u32, count: u64| if self.inhibit & bit == 0 { count } else { 0 };
        [
            since(INHIBIT_CYCLE, now).wrapping_add(self.cycle_offset),
            since(INHIBIT_INSTRET, retired).wrapping_add(self.instret_offset),
        ]
    }

    /// Starts or stops counters at their current values.
    fn write_inhibit(&mut self, value: u32, now: u64, retired: u64) {
        let read = self.counters(now, retired);
        self.inhibit = value & (INHIBIT_CYCLE | INHIBIT_INSTRET);
        let counted = |bit: u32, count: u64| if value & bit == 0 { count } else { 0 };
        self.cycle_offset = read[0].wrapping_sub(counted(INHIBIT_CYCLE, now));
        self.instret_offset = read[1].wrapping_sub(counted(INHIBIT_INSTRET, retired));
    }

    /// Address of the trap handler.
    pub(super) fn trap_handler(&self) -> u32 {
        self.mtvec
    }

    /// Saves the state for the trap handler, and disables interrupts.
    pub(super) fn enter_trap(&mut self, trap: Trap, value: u32, pc: u32, from: Privilege) {
        self.mepc = pc;
        self.mcause = trap.cause();
        self.mtval = match (self.set, trap) {
            (CsrSet::Hpu, Trap::Illegal) => 0,
            _ => value,
        };
        let enabled = self.mstatus & MSTATUS_MIE != 0;
        self.mstatus &= !(MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPP);
        if enabled {
            self.mstatus |= MSTATUS_MPIE;
        }
        if from == Privilege::Machine {
            self.mstatus |= MSTATUS_MPP;
        }
    }

    /// Reverts [`Self::enter_trap`]. Returns the next address and mode.
    pub(super) fn leave_trap(&mut self) -> (u32, Privilege) {
        let privilege = self.previous_privilege();
        let enabled = self.mstatus & MSTATUS_MPIE != 0;
        self.mstatus &= !(MSTATUS_MIE | MSTATUS_MPP);
        self.mstatus |= MSTATUS_MPIE;
        if enabled {
            self.mstatus |= MSTATUS_MIE;
        }
        if privilege == Privilege::User {
            self.mstatus &= !MSTATUS_MPRV;
        }
        (self.mepc, privilege)
    }

    fn previous_privilege(&self) -> Privilege {
        if self.mstatus & MSTATUS_MPP == 0 {
            Privilege::User
        } else {
            Privilege::Machine
        }
    }

    /// The privilege of loads and stores of a hart in the given mode.
    #[inline(always)]
    pub(super) fn data_privilege(&self, mode: Privilege) -> Privilege {
        if self.mstatus & MSTATUS_MPRV == 0 || mode == Privilege::User {
            mode
        } else {
            self.previous_privilege()
        }
    }

    /// Reads a register; `None` if it does not exist in this mode. `now` is the clock of the machine, `retired` the
    /// instructions since reset.
    pub(super) fn read(&self, number: u32, who: Privilege, now: u64, retired: u64) -> Option<u32> {
        if !self.set.has(number) || (who == Privilege::User && !self.user_may_read(number)) {
            return None;
        }
        if let Some(value) = self.set.row(number).and_then(|row| row.value) {
            return Some(value);
        }
        let [mcycle, minstret] = self.counters(now, retired);
        Some(match number {
            0x342 if self.set == CsrSet::Hpu => self.mcause & HPU_CAUSE,
            0x320 if self.set == CsrSet::Ri5cy => self.inhibit,
            0x343 if self.set == CsrSet::Ri5cy => 0,
            // Registers of user traps, hardware loops and more interrupts, which our programs do not use.
            0x000 | 0x005 | 0x041 | 0x042 | 0x7c0..=0x7c6 | 0x7d0 | 0x7d1 if self.set == CsrSet::Ri5cy => 0,
            0x300 => self.mstatus,
            0x301 => MISA,
            0x304 => self.mie,
            0x305 => self.mtvec,
            0x306 => self.mcounteren,
            0x310 | 0x320 | 0x323..=0x33f => 0,
            0x340 => self.mscratch,
            0x341 => self.mepc,
            0x342 => self.mcause,
            0x343 => self.mtval,
            0x344 => 0,
            0x3a0..=0x3a3 => self.pmpcfg[number as usize - 0x3a0],
            0x3b0..=0x3bf => self.pmpaddr[number as usize - 0x3b0],
            0x780 => (now as u32).wrapping_add(self.pccr_offset[0]),
            0x781 => (retired as u32).wrapping_add(self.pccr_offset[1]),
            0x782..=0x79f => 0,
            0x7a0 | 0x7e0 | 0xcc0 => self.pcer,
            0x7a1 | 0x7e1 | 0xcc1 => self.pcmr,
            0xb00 | 0xc00 => mcycle as u32,
            0xb80 | 0xc80 => (mcycle >> 32) as u32,
            0xc01 => now as u32,
            0xc81 => (now >> 32) as u32,
            0xb02 | 0xc02 => minstret as u32,
            0xb82 | 0xc82 => (minstret >> 32) as u32,
            0xb03..=0xb1f | 0xb83..=0xb9f | 0xc03..=0xc1f | 0xc83..=0xc9f if number != 0xc10 => 0,
            0xc10 => who as u32 * 3,
            0xf11..=0xf13 | 0xf15 => 0,
            0x014 | 0xf14 => self.hart_id,
            _ => return None,
        })
    }

    /// User mode reads the counters that `mcounteren` enables, and on RI5CY its hart id, its mode, and PULP's counters, so that
    /// handlers that read those work in either mode. On our HPU the table decides.
    fn user_may_read(&self, number: u32) -> bool {
        if let Some(row) = self.set.row(number) {
            return row.mode == Mode::User;
        }
        match number {
            0x014 | 0xc10 | 0xcc0 | 0xcc1 => true,
            0xc00..=0xc1f | 0xc80..=0xc9f => self.mcounteren >> (number & 31) & 1 != 0,
            0x780 => self.mcounteren & 1 != 0,
            0x781..=0x79f => self.mcounteren & 4 != 0,
            _ => false,
        }
    }

    /// Writes a register; `None` if it does not exist in this mode, or is read-only. `retired` are the instructions since reset
    /// before the one that reads the value.
    pub(super) fn write(
        &mut self,
        number: u32,
        value: u32,
        who: Privilege,
        now: u64,
        retired: u64,
    ) -> Option<()> {
        if !self.set.has(number) || number >> 10 == 3 || (number >> 8 & 3 != 0 && who == Privilege::User) {
            return None;
        }
        if self
            .set
            .row(number)
            .is_some_and(|row| row.writes == Writes::Ignored)
        {
            return Some(());
        }
        let [mcycle, minstret] = self.counters(now, retired);
        match number {
            // Bits 7 to 1 are 0: a trap handler is aligned to 256 bytes.
            0x305 if self.set == CsrSet::Ri5cy => self.mtvec = value & !0xff,
            0x320 if self.set == CsrSet::Ri5cy => self.write_inhibit(value, now, retired),
            0x000 | 0x005 | 0x041 | 0x042 | 0x7c0..=0x7c6 | 0x7d0 | 0x7d1 if self.set == CsrSet::Ri5cy => {}
            0x300 => self.write_mstatus(value),
            0x304 => self.mie = value,
            // Exceptions go to the base in vectored mode also, so that mode is not offered.
            0x305 => self.mtvec = value & !3,
            0x306 => self.mcounteren = value & COUNTERS,
            0x340 => self.mscratch = value,
            0x341 => self.mepc = value & !1,
            0x342 => self.mcause = value,
            0x343 => self.mtval = value,
            0x3a0..=0x3a3 => self.pmpcfg[number as usize - 0x3a0] = value,
            0x3b0..=0x3bf => self.pmpaddr[number as usize - 0x3b0] = value,
            0x780 => self.pccr_offset[0] = value.wrapping_sub(now as u32),
            0x781 => self.pccr_offset[1] = value.wrapping_sub(retired as u32),
            // The last one writes all of them.
            0x79f => self.pccr_offset = [value.wrapping_sub(now as u32), value.wrapping_sub(retired as u32)],
            0x7a0 | 0x7e0 => self.pcer = value,
            0x7a1 | 0x7e1 => self.pcmr = value & 3,
            // The offset changes by the same amount as the value.
            0xb00 => {
                self.cycle_offset = self
                    .cycle_offset
                    .wrapping_add(with_low(mcycle, value).wrapping_sub(mcycle))
            }
            0xb80 => {
                self.cycle_offset = self
                    .cycle_offset
                    .wrapping_add(with_high(mcycle, value).wrapping_sub(mcycle))
            }
            0xb02 => {
                let change = with_low(minstret, value).wrapping_sub(minstret);
                self.instret_offset = self.instret_offset.wrapping_add(change);
            }
            0xb82 => {
                let change = with_high(minstret, value).wrapping_sub(minstret);
                self.instret_offset = self.instret_offset.wrapping_add(change);
            }
            // Registers with a constant value.
            0x301 | 0x310 | 0x320 | 0x323..=0x33f | 0x344 | 0x782..=0x79e => {}
            0xb03..=0xb1f | 0xb83..=0xb9f => {}
            _ => return None,
        }
        Some(())
    }

    /// Only modes that exist can be written to `MPP`; others leave it as it is.
    fn write_mstatus(&mut self, value: u32) {
        let writable = MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPRV;
        let mpp = match value & MSTATUS_MPP {
            mode @ (0 | MSTATUS_MPP) => mode,
            _ => self.mstatus & MSTATUS_MPP,
        };
        self.mstatus = value & writable | mpp;
    }
}

fn with_low(old: u64, low: u32) -> u64 {
    old & !0xffff_ffff | u64::from(low)
}

fn with_high(old: u64, high: u32) -> u64 {
    old & 0xffff_ffff | u64::from(high) << 32
}

/// Cause of a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// A jump to an odd address. Never taken by this hart, since jumps clear the lowest bit of their target.
    InstructionMisaligned,
    /// No program may be fetched from here; the trap value is the address of the instruction.
    InstructionFault,
    /// Not an instruction, or not allowed here; the trap value holds its bits, `mtval` of our HPU is 0.
    Illegal,
    /// `ebreak`; the trap value is its address.
    Breakpoint,
    /// A load or load-reserved from an address that is no multiple of its width.
    LoadMisaligned,
    /// The bus refused a load; the trap value is the address.
    LoadFault,
    /// A store or atomic operation to an address that is no multiple of its width.
    StoreMisaligned,
    /// The bus refused a store or an atomic operation; the trap value is the address.
    StoreFault,
    /// `ecall` in user mode.
    EnvironmentCallU,
    /// `ecall` in machine mode.
    EnvironmentCallM,
    /// A cause from outside, such as a watchdog: the number is what `mcause` reads.
    Custom(u32),
}

impl Trap {
    /// Those that the RISC-V manual defines.
    const DEFINED: [Self; 10] = [
        Trap::InstructionMisaligned,
        Trap::InstructionFault,
        Trap::Illegal,
        Trap::Breakpoint,
        Trap::LoadMisaligned,
        Trap::LoadFault,
        Trap::StoreMisaligned,
        Trap::StoreFault,
        Trap::EnvironmentCallU,
        Trap::EnvironmentCallM,
    ];

    /// Returns the trap that `mcause` reads as this number.
    pub fn of_cause(cause: u32) -> Self {
        let mut defined = Self::DEFINED.into_iter();
        defined
            .find(|trap| trap.cause() == cause)
            .unwrap_or(Trap::Custom(cause))
    }

    /// Returns the value of `mcause`.
    pub const fn cause(self) -> u32 {
        match self {
            Trap::InstructionMisaligned => cause::INSTRUCTION_MISALIGNED,
            Trap::InstructionFault => cause::INSTRUCTION_FAULT,
            Trap::Illegal => cause::ILLEGAL,
            Trap::Breakpoint => cause::BREAKPOINT,
            Trap::LoadMisaligned => cause::LOAD_MISALIGNED,
            Trap::LoadFault => cause::LOAD_FAULT,
            Trap::StoreMisaligned => cause::STORE_MISALIGNED,
            Trap::StoreFault => cause::STORE_FAULT,
            Trap::EnvironmentCallU => cause::CALL_OF_USER,
            Trap::EnvironmentCallM => cause::CALL_OF_MACHINE,
            Trap::Custom(cause) => cause,
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trap::InstructionMisaligned => "misaligned jump",
            Trap::InstructionFault => "instruction fetch not allowed",
            Trap::Illegal => "illegal instruction",
            Trap::Breakpoint => "breakpoint",
            Trap::LoadMisaligned => "misaligned load",
            Trap::LoadFault => "load not allowed",
            Trap::StoreMisaligned => "misaligned store",
            Trap::StoreFault => "store not allowed",
            Trap::EnvironmentCallU => "environment call from user mode",
            Trap::EnvironmentCallM => "environment call from machine mode",
            Trap::Custom(cause) => return write!(f, "trap with cause {cause}"),
        })
    }
}
