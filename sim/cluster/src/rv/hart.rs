//! The hart: its state, one step, traps, and the costs of instructions.

use super::csr::{CsrSet, Csrs, Trap};
use super::{Bus, Fault, Privilege};
use spinneret_isa::{Instruction, Op};

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// One instruction is done.
    Retired {
        /// The clocks it took.
        clocks: u32,
    },
    /// Nothing happened: the bus returned [`super::Access::Wait`], or a `wfi` waits for [`Hart::wake`]. The next step retries
    /// the instruction.
    Waits,
    /// The instruction trapped without other effects; the hart is at its trap handler.
    Trapped {
        /// Why.
        trap: Trap,
        /// The address of the instruction.
        pc: u32,
        /// The address, or the bits of the instruction; `mtval` holds it if the set of registers keeps it.
        value: u32,
        /// The clocks it took.
        clocks: u32,
    },
}

/// Why an instruction did not retire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    Wait,
    Trap(Trap, u32),
}

/// The instruction did not retire; `Hart::stop` has the reason. A small type keeps results in machine registers.
pub(super) struct Stopped(());

/// The clocks of an instruction, without those of hazards, if it retired.
pub(super) type Outcome = Result<u32, Stopped>;

/// One hart. See the [module](super) for how it is driven.
#[derive(Clone, Debug)]
pub struct Hart {
    /// `x[0]` is always 0.
    pub(super) x: [u32; 32],
    pub(super) pc: u32,
    pub(super) privilege: Privilege,
    /// The word of the last load-reserved, until another hart stores to it.
    pub(super) reservation: Option<u32>,
    pub(super) csrs: Csrs,
    /// Instructions since reset.
    pub(super) retired: u64,
    /// [`Hart::wake`] was called since the last `wfi`.
    pub(super) woken: bool,
    /// For hazards: the register that the last instruction wrote, [`Instruction::LATE`], and [`Self::JUMPED`].
    pub(super) previous: u8,
    /// Why the last instruction did not retire.
    stop: Stop,
    reset_pc: u32,
}

impl Hart {
    /// In `previous`: the last instruction was a jump or a taken branch.
    pub(super) const JUMPED: u8 = 0x40;

    /// Returns a hart in the state after reset: machine mode, at `reset_pc`, all registers zero.
    pub fn new(hart_id: u32, reset_pc: u32) -> Self {
        let reset_pc = reset_pc & !1;
        Hart {
            x: [0; 32],
            pc: reset_pc,
            privilege: Privilege::Machine,
            reservation: None,
            csrs: Csrs::new(hart_id, CsrSet::default()),
            retired: 0,
            woken: false,
            previous: 0,
            stop: Stop::Wait,
            reset_pc,
        }
    }

    /// Selects the control and status registers.
    #[must_use]
    pub fn with_csrs(mut self, set: CsrSet) -> Self {
        self.csrs = Csrs::new(self.csrs.hart_id(), set);
        self
    }

    /// Resets the hart to the state after [`Hart::new`].
    pub fn reset(&mut self) {
        *self = Hart::new(self.csrs.hart_id(), self.reset_pc).with_csrs(self.csrs.set());
    }

    /// Executes one instruction. `now` is the clock of the machine in which it starts; counters read it.
    #[inline]
    pub fn step<B: Bus>(&mut self, bus: &mut B, costs: &Costs, now: u64) -> Step {
        let pc = self.pc;
        let instruction = match bus.decoded(pc, self.privilege) {
            Some(instruction) => *instruction,
            None => match fetch(bus, pc, self.privilege) {
                Ok(instruction) => instruction,
                Err(Fault) => return self.trapped(Trap::InstructionFault, pc, costs),
            },
        };
        let previous = self.previous;
        self.previous = instruction.result();
        match self.execute(&instruction, bus, costs, now) {
            Ok(clocks) => {
                self.retired += 1;
                Step::Retired {
                    clocks: clocks + stall(previous, pc, &instruction, costs),
                }
            }
            Err(Stopped(())) => self.stopped(previous, costs),
        }
    }

    #[cold]
    fn stopped(&mut self, previous: u8, costs: &Costs) -> Step {
        match self.stop {
            Stop::Wait => {
                self.previous = previous;
                Step::Waits
            }
            Stop::Trap(trap, value) => self.trapped(trap, value, costs),
        }
    }

    /// Notes that the instruction has to be retried.
    #[cold]
    pub(super) fn wait(&mut self) -> Stopped {
        self.stop = Stop::Wait;
        Stopped(())
    }

    /// Notes that the instruction traps.
    #[cold]
    pub(super) fn trap(&mut self, trap: Trap, value: u32) -> Stopped {
        self.stop = Stop::Trap(trap, value);
        Stopped(())
    }

    /// Raises a trap from outside, such as that of a watchdog. `mepc` is the instruction that would have been next; a stalled
    /// `wfi` or access is abandoned.
    pub fn raise(&mut self, trap: Trap, value: u32) {
        self.csrs.enter_trap(trap, value, self.pc, self.privilege);
        self.privilege = Privilege::Machine;
        self.pc = self.csrs.trap_handler();
        self.reservation = None;
        self.woken = false;
        self.previous = 0;
    }

    #[cold]
    fn trapped(&mut self, trap: Trap, value: u32, costs: &Costs) -> Step {
        let pc = self.pc;
        self.raise(trap, value);
        Step::Trapped {
            trap,
            pc,
            value,
            clocks: costs.trap,
        }
    }

    /// Ends the current `wfi` or the next one, so that an early event is not lost.
    pub fn wake(&mut self) {
        self.woken = true;
    }

    /// Returns the word that the hart has reserved with `lr.w`, if any.
    #[inline]
    pub fn reservation(&self) -> Option<u32> {
        self.reservation
    }

    /// Cancels the reservation of the word at `address`, because it was written.
    ///
    /// Call this for all other harts after each store and atomic operation of a hart, and for each word that a DMA transfer or
    /// the host writes. It is cheap while [`Hart::reservation`] is `None`. A hart also loses its reservation with each `sc.w`,
    /// and with each trap.
    #[inline]
    pub fn lost_reservation(&mut self, address: u32) {
        if self.reservation == Some(address & !3) {
            self.reservation = None;
        }
    }

    /// The register `x0` to `x31`. Panics above that.
    pub fn x(&self, register: usize) -> u32 {
        self.x[register]
    }

    /// Sets a register; `x0` stays 0. Panics above `x31`.
    pub fn set_x(&mut self, register: usize, value: u32) {
        self.x[register] = value;
        self.x[0] = 0;
    }

    /// The address of the next instruction.
    #[inline]
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// Sets the address of the next instruction; its lowest bit is ignored.
    pub fn set_pc(&mut self, pc: u32) {
        self.pc = pc & !1;
        self.previous = 0;
    }

    /// The mode the hart is in.
    #[inline]
    pub fn privilege(&self) -> Privilege {
        self.privilege
    }

    /// Sets the mode the hart is in.
    pub fn set_privilege(&mut self, privilege: Privilege) {
        self.privilege = privilege;
    }

    /// The number of instructions since reset. Instructions that trapped are not counted.
    #[inline]
    pub fn retired(&self) -> u64 {
        self.retired
    }

    /// Reads a CSR as machine mode does; `None` if it does not exist.
    pub fn csr(&self, number: u32, now: u64) -> Option<u32> {
        self.csrs.read(number, Privilege::Machine, now, self.retired)
    }

    /// Writes a CSR as machine mode does; `None` if it cannot be written.
    pub fn set_csr(&mut self, number: u32, value: u32, now: u64) -> Option<()> {
        self.csrs
            .write(number, value, Privilege::Machine, now, self.retired)
    }
}

/// Fetches an instruction that the bus does not remember.
#[cold]
fn fetch<B: Bus>(bus: &mut B, pc: u32, who: Privilege) -> Result<Instruction, Fault> {
    let instruction = Instruction::decode(bus.fetch(pc, who)?);
    bus.remember(pc, instruction);
    Ok(instruction)
}

/// Clocks by which the previous instruction delays the one at `pc`.
#[inline(always)]
fn stall(previous: u8, pc: u32, instruction: &Instruction, costs: &Costs) -> u32 {
    let written = usize::from(previous & 31);
    let mut clocks = 0;
    if previous & (Instruction::LATE | Hart::JUMPED) != 0 {
        let used = written == instruction.rs1() || written == instruction.rs2();
        if previous & Instruction::LATE != 0 && written != 0 && used {
            clocks += costs.load_use;
        }
        if previous & Hart::JUMPED != 0 && pc & 2 != 0 && !instruction.is_compressed() {
            clocks += costs.misaligned_fetch;
        }
    }
    if instruction.op() == Op::Jalr && written != 0 && written == instruction.rs1() {
        clocks += costs.jump_register;
    }
    clocks
}

/// Behaviour of loads and stores at an address that is not a multiple of their width. Atomic operations always trap there.
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

/// Costs of instructions by class, in clocks. Memories add theirs through the bus.
///
/// [`Costs::default`] is the table "Cycle counts per instruction type" and the section "Hazards" of the CV32E40P user
/// manual (openhwgroup/cv32e40p, `docs/source/pipeline.rst`); CV32E40P is RI5CY under its later name. Figures that are not
/// in the manual are marked as assumptions.
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
    /// Atomic operations, load-reserved and store-conditional: 1. Measured on the PULP cluster.
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
    /// cycles takes what it was measured to take on the PULP cluster (`docs/interop.md`).
    pub trap: u32,
    /// More, if an instruction uses the result of the load or atomic operation just before it: 1.
    pub load_use: u32,
    /// More, if `jalr` uses the result of the instruction just before it: 1.
    pub jump_register: u32,
    /// More, if a jump or taken branch leads to a 32-bit instruction that is not word-aligned: 1.
    pub misaligned_fetch: u32,
    /// More, if a load or store was split because it crosses a word: 1.
    pub misaligned_access: u32,
    /// Behaviour of misaligned loads and stores.
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
