//! The hart: its state, and one step.

use super::csr::{CsrSet, Csrs};
use super::instruction::{Instruction, Op};
use super::{Bus, Costs, Fault, Privilege, Trap};

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// One instruction is done.
    Retired {
        /// The clocks it took.
        clocks: u32,
    },
    /// Nothing happened: the bus said [`super::Access::Wait`], or the instruction is a `wfi` that nobody woke yet.
    /// The next step tries the same instruction again.
    Waits,
    /// The instruction did nothing but trap; the hart stands at its trap handler.
    Trapped {
        /// Why.
        trap: Trap,
        /// The address of the instruction.
        pc: u32,
        /// What `mtval` reads.
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

/// The instruction did not retire, and `Hart::stop` says why. That is rare, so that results stay in machine registers.
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
    /// The word of the last load-reserved, while nobody else stored to it.
    pub(super) reservation: Option<u32>,
    pub(super) csrs: Csrs,
    /// Instructions since reset.
    pub(super) retired: u64,
    /// Somebody called [`Hart::wake`] since the last `wfi`.
    pub(super) woken: bool,
    /// For hazards: what the last instruction wrote, [`Instruction::LATE`], and [`Self::JUMPED`].
    pub(super) previous: u8,
    /// Why the last instruction that did not retire did not.
    stop: Stop,
    reset_pc: u32,
}

impl Hart {
    /// In `previous`: the last instruction was a jump or a taken branch.
    pub(super) const JUMPED: u8 = 0x40;

    /// A hart after reset: machine mode, at `reset_pc`, all registers zero.
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

    /// The same hart with other registers.
    #[must_use]
    pub fn with_csrs(mut self, set: CsrSet) -> Self {
        self.csrs = Csrs::new(self.csrs.hart_id(), set);
        self
    }

    /// Back to the state after [`Hart::new`].
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

    /// Notes that the instruction is to be tried again.
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

    /// Sends the hart to its trap handler for a reason from outside, such as a watchdog. `mepc` reads the instruction
    /// that would have been next; a `wfi` or an access that waits is left.
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

    /// Ends the `wfi` in which the hart waits, or the next one: an event is not lost if it comes first.
    pub fn wake(&mut self) {
        self.woken = true;
    }

    /// The word that the hart reserved with `lr.w`, if it still holds the reservation.
    #[inline]
    pub fn reservation(&self) -> Option<u32> {
        self.reservation
    }

    /// Tells the hart that somebody else wrote to `address`; it loses its reservation of that word.
    ///
    /// The cluster calls this for every hart but the writing one, after each store and atomic operation of another hart,
    /// and for each word that a DMA transfer or the host writes. It costs nothing while [`Hart::reservation`] is `None`.
    /// The hart also loses its reservation with each `sc.w`, and with each trap.
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

    /// What machine mode reads from a CSR, or `None` if there is no such register.
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

/// Clocks by which the instruction before delays the one at `pc`.
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
