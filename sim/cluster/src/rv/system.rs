//! Execution: CSR instructions, return from traps, waiting.

use super::hart::Outcome;
use super::instruction::{Instruction, Op};
use super::{Costs, Hart, Privilege, Trap, csr};

impl Hart {
    /// Reads a CSR, and writes it if the instruction asks for it. `nonzero`: a set or clear with some operand that may
    /// change something; what is in a register does not matter, only that it is not `x0`.
    pub(super) fn access_csr(
        &mut self,
        instruction: &Instruction,
        operand: u32,
        nonzero: bool,
        costs: &Costs,
        now: u64,
    ) -> Outcome {
        let number = instruction.csr();
        let Some(old) = self.csrs.read(number, self.privilege, now, self.retired) else {
            return Err(self.trap(Trap::Illegal, encoding(instruction)));
        };
        let new = match instruction.op() {
            Op::Csrrw | Op::Csrrwi => Some(operand),
            Op::Csrrs | Op::Csrrsi => nonzero.then_some(old | operand),
            _ => nonzero.then_some(old & !operand),
        };
        // The instruction itself counts as retired before a write, so that the next one reads what this one wrote.
        if let Some(new) = new
            && self
                .csrs
                .write(number, new, self.privilege, now, self.retired + 1)
                .is_none()
        {
            return Err(self.trap(Trap::Illegal, encoding(instruction)));
        }
        let clocks = if csr::empties_pipeline(number) {
            costs.csr_flush
        } else {
            costs.csr
        };
        self.put(instruction, old, clocks)
    }

    /// Returns from a trap: to `mepc`, in the mode that `mstatus` holds.
    pub(super) fn mret(&mut self, instruction: &Instruction, costs: &Costs) -> Outcome {
        if self.privilege != Privilege::Machine {
            return Err(self.trap(Trap::Illegal, encoding(instruction)));
        }
        let (pc, privilege) = self.csrs.leave_trap();
        self.privilege = privilege;
        self.jump(pc, costs.mret)
    }

    /// Waits until [`Hart::wake`].
    pub(super) fn wfi(&mut self, costs: &Costs) -> Outcome {
        if !std::mem::take(&mut self.woken) {
            return Err(self.wait());
        }
        self.pc = self.pc.wrapping_add(4);
        Ok(costs.wfi)
    }
}

/// The bits of an instruction of the major opcode SYSTEM, for `mtval`: decoding threw them away.
fn encoding(instruction: &Instruction) -> u32 {
    let funct3 = match instruction.op() {
        Op::Csrrw => 1,
        Op::Csrrs => 2,
        Op::Csrrc => 3,
        Op::Csrrwi => 5,
        Op::Csrrsi => 6,
        Op::Csrrci => 7,
        _ => return 0x3020_0073,
    };
    let operand = instruction.rs1() as u32 | instruction.csr_imm();
    instruction.csr() << 20 | operand << 15 | funct3 << 12 | (instruction.rd() as u32) << 7 | 0x73
}
