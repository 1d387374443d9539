//! What instructions cost, in clocks of the hart.

/// What a load or store does at an address that is no multiple of its width. Atomic operations always trap there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Misaligned {
    /// It traps.
    #[default]
    Trap,
    /// It becomes accesses of bytes on the bus, and costs one clock more if it crosses a word, as two accesses of RI5CY do.
    Split,
}

/// How long a division takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivisionCost {
    /// `least` clocks plus one for every leading bit of the divisor that only repeats its sign; `least` + 32 for a
    /// division by zero.
    ByDivisor {
        /// Clocks of a division by 0x8000_0000, unsigned.
        least: u32,
    },
    /// Always the same.
    Fixed(u32),
}

/// What each class of instructions costs. All figures are clocks; memories add theirs through the bus.
///
/// [`Costs::default`] is the table "Cycle counts per instruction type" and the section "Hazards" of the CV32E40P user
/// manual (openhwgroup/cv32e40p, `docs/source/pipeline.rst`); CV32E40P is RI5CY under its later name. What that manual
/// does not state is marked as an assumption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Integer computational instructions: 1.
    pub alu: u32,
    /// `mul`: 1.
    pub mul: u32,
    /// `mulh`, `mulhsu`, `mulhu`: 5.
    pub mulh: u32,
    /// Division and remainder: 3 to 35, by the divisor.
    pub div: DivisionCost,
    /// Loads that hit a memory of one clock: 1.
    pub load: u32,
    /// Stores: 1.
    pub store: u32,
    /// Atomic operations, load-reserved and store-conditional: 1. Measured on the public cluster.
    pub atomic: u32,
    /// A branch that is taken: 3.
    pub branch_taken: u32,
    /// A branch that is not taken: 1.
    pub branch_not_taken: u32,
    /// `jal` and `jalr`: 2.
    pub jump: u32,
    /// `fence` and `fence.i`: 2, as a jump to the next instruction.
    pub fence: u32,
    /// Access to a register that does not empty the pipeline: 1.
    pub csr: u32,
    /// Access to mstatus and the registers of user traps: 4; only these empty the pipeline (`riscv_decoder.sv`, `csr_status_o`).
    pub csr_flush: u32,
    /// `mret`: 4. Assumption: as a register access that empties the pipeline.
    pub mret: u32,
    /// `wfi` after it was woken: 1. Assumption.
    pub wfi: u32,
    /// Entry into the trap handler, instead of the cost of the instruction: 5, so that an environment call that reads the
    /// cycles takes what it was measured to take on the public cluster (`docs/interop.md`).
    pub trap: u32,
    /// More, if an instruction uses the result of the load or atomic operation just before it: 1.
    pub load_use: u32,
    /// More, if `jalr` uses the result of the instruction just before it: 1.
    pub jump_register: u32,
    /// More, if a jump or taken branch leads to a 32-bit instruction that is not word-aligned: 1.
    pub misaligned_fetch: u32,
    /// More, if a load or store was split because it crosses a word: 1.
    pub misaligned_access: u32,
    /// What misaligned loads and stores do.
    pub misaligned: Misaligned,
}

impl Costs {
    /// Every instruction takes one clock: for checking results, not time.
    pub const fn unit() -> Self {
        Costs {
            alu: 1,
            mul: 1,
            mulh: 1,
            div: DivisionCost::Fixed(1),
            load: 1,
            store: 1,
            atomic: 1,
            branch_taken: 1,
            branch_not_taken: 1,
            jump: 1,
            fence: 1,
            csr: 1,
            csr_flush: 1,
            mret: 1,
            wfi: 1,
            trap: 1,
            load_use: 0,
            jump_register: 0,
            misaligned_fetch: 0,
            misaligned_access: 0,
            misaligned: Misaligned::Trap,
        }
    }

    /// Clocks of a division. `leading` is the number of leading bits of the divisor that say nothing.
    #[inline]
    pub(super) fn division(&self, leading: u32) -> u32 {
        match self.div {
            DivisionCost::ByDivisor { least } => least + leading,
            DivisionCost::Fixed(clocks) => clocks,
        }
    }
}

impl Default for Costs {
    fn default() -> Self {
        Costs {
            mulh: 5,
            div: DivisionCost::ByDivisor { least: 3 },
            branch_taken: 3,
            jump: 2,
            fence: 2,
            csr_flush: 4,
            mret: 4,
            trap: 5,
            load_use: 1,
            jump_register: 1,
            misaligned_fetch: 1,
            misaligned_access: 1,
            ..Costs::unit()
        }
    }
}
