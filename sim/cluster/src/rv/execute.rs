//! Execution: integer computation and control flow. Accesses to memory are in [`super::memory`], registers of the
//! machine in [`super::system`].

use super::hart::Outcome;
use super::instruction::{Instruction, Op};
use super::{Bus, Costs, Hart, Privilege, Trap, Width};

impl Hart {
    /// Executes one decoded instruction: everything happens, or nothing.
    #[inline(always)]
    #[rustfmt::skip]
    pub(super) fn execute<B: Bus>(&mut self, i: &Instruction, bus: &mut B, costs: &Costs, now: u64) -> Outcome {
        let (a, b, imm) = (self.x[i.rs1()], self.x[i.rs2()], i.imm() as u32);
        match i.op() {
            Op::Lui => self.put(i, imm, costs.alu),
            Op::Auipc => self.put(i, self.pc.wrapping_add(imm), costs.alu),
            Op::Addi => self.put(i, a.wrapping_add(imm), costs.alu),
            Op::Slti => self.put(i, u32::from((a as i32) < imm as i32), costs.alu),
            Op::Sltiu => self.put(i, u32::from(a < imm), costs.alu),
            Op::Xori => self.put(i, a ^ imm, costs.alu),
            Op::Ori => self.put(i, a | imm, costs.alu),
            Op::Andi => self.put(i, a & imm, costs.alu),
            Op::Slli => self.put(i, a << (imm & 31), costs.alu),
            Op::Srli => self.put(i, a >> (imm & 31), costs.alu),
            Op::Srai => self.put(i, (a as i32 >> (imm & 31)) as u32, costs.alu),
            Op::Add => self.put(i, a.wrapping_add(b), costs.alu),
            Op::Sub => self.put(i, a.wrapping_sub(b), costs.alu),
            Op::Sll => self.put(i, a << (b & 31), costs.alu),
            Op::Slt => self.put(i, u32::from((a as i32) < b as i32), costs.alu),
            Op::Sltu => self.put(i, u32::from(a < b), costs.alu),
            Op::Xor => self.put(i, a ^ b, costs.alu),
            Op::Srl => self.put(i, a >> (b & 31), costs.alu),
            Op::Sra => self.put(i, (a as i32 >> (b & 31)) as u32, costs.alu),
            Op::Or => self.put(i, a | b, costs.alu),
            Op::And => self.put(i, a & b, costs.alu),

            Op::Mul => self.put(i, a.wrapping_mul(b), costs.mul),
            Op::Mulh => self.put(i, ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32, costs.mulh),
            Op::Mulhsu => self.put(i, ((i64::from(a as i32) * i64::from(b)) >> 32) as u32, costs.mulh),
            Op::Mulhu => self.put(i, ((u64::from(a) * u64::from(b)) >> 32) as u32, costs.mulh),
            Op::Div => self.put(i, div(a as i32, b as i32), costs.division(leading_signs(b))),
            Op::Divu => self.put(i, a.checked_div(b).unwrap_or(u32::MAX), costs.division(b.leading_zeros())),
            Op::Rem => self.put(i, rem(a as i32, b as i32), costs.division(leading_signs(b))),
            Op::Remu => self.put(i, a.checked_rem(b).unwrap_or(a), costs.division(b.leading_zeros())),

            Op::Jal => self.jump_and_link(i, self.pc.wrapping_add(imm), costs),
            Op::Jalr => self.jump_and_link(i, a.wrapping_add(imm) & !1, costs),
            Op::Beq => self.branch(i, a == b, costs),
            Op::Bne => self.branch(i, a != b, costs),
            Op::Blt => self.branch(i, (a as i32) < b as i32, costs),
            Op::Bge => self.branch(i, a as i32 >= b as i32, costs),
            Op::Bltu => self.branch(i, a < b, costs),
            Op::Bgeu => self.branch(i, a >= b, costs),

            Op::Lw => self.load(i, bus, Width::Word, |word| word, costs),
            Op::Lh => self.load(i, bus, Width::Half, |half| half as u16 as i16 as u32, costs),
            Op::Lhu => self.load(i, bus, Width::Half, |half| half, costs),
            Op::Lb => self.load(i, bus, Width::Byte, |byte| byte as u8 as i8 as u32, costs),
            Op::Lbu => self.load(i, bus, Width::Byte, |byte| byte, costs),
            Op::Sw => self.store(i, bus, Width::Word, costs),
            Op::Sh => self.store(i, bus, Width::Half, costs),
            Op::Sb => self.store(i, bus, Width::Byte, costs),

            Op::LrW => self.load_reserved(i, bus, costs),
            Op::ScW => self.store_conditional(i, bus, costs),
            Op::AmoswapW => self.modify(i, bus, |_, b| b, costs),
            Op::AmoaddW => self.modify(i, bus, u32::wrapping_add, costs),
            Op::AmoxorW => self.modify(i, bus, |old, b| old ^ b, costs),
            Op::AmoandW => self.modify(i, bus, |old, b| old & b, costs),
            Op::AmoorW => self.modify(i, bus, |old, b| old | b, costs),
            Op::AmominW => self.modify(i, bus, |old, b| (old as i32).min(b as i32) as u32, costs),
            Op::AmomaxW => self.modify(i, bus, |old, b| (old as i32).max(b as i32) as u32, costs),
            Op::AmominuW => self.modify(i, bus, u32::min, costs),
            Op::AmomaxuW => self.modify(i, bus, u32::max, costs),

            Op::Csrrw | Op::Csrrs | Op::Csrrc => self.access_csr(i, a, i.rs1() != 0, costs, now),
            Op::Csrrwi | Op::Csrrsi | Op::Csrrci => self.access_csr(i, i.csr_imm(), i.csr_imm() != 0, costs, now),
            Op::Mret => self.mret(i, costs),
            Op::Wfi => self.wfi(costs),
            Op::Fence | Op::FenceI => self.fence(costs),
            Op::Ebreak => Err(self.trap(Trap::Breakpoint, self.pc)),
            Op::Ecall => Err(self.trap(match self.privilege {
                Privilege::User => Trap::EnvironmentCallU,
                Privilege::Machine => Trap::EnvironmentCallM,
            }, 0)),
            Op::Illegal | Op::Empty => Err(self.trap(Trap::Illegal, imm)),
        }
    }

    /// Writes the result and goes on to the next instruction.
    #[inline(always)]
    pub(super) fn put(&mut self, instruction: &Instruction, value: u32, clocks: u32) -> Outcome {
        self.x[instruction.rd()] = value;
        self.x[0] = 0;
        self.pc = self.pc.wrapping_add(instruction.len_bytes());
        Ok(clocks)
    }

    /// Leaves the order of the program.
    #[inline(always)]
    pub(super) fn jump(&mut self, target: u32, clocks: u32) -> Outcome {
        self.pc = target;
        self.previous = Hart::JUMPED;
        Ok(clocks)
    }

    #[inline(always)]
    fn jump_and_link(&mut self, instruction: &Instruction, target: u32, costs: &Costs) -> Outcome {
        let _ = self.put(instruction, self.pc.wrapping_add(instruction.len_bytes()), 0);
        self.jump(target, costs.jump)
    }

    #[inline(always)]
    fn branch(&mut self, instruction: &Instruction, taken: bool, costs: &Costs) -> Outcome {
        if taken {
            self.jump(self.pc.wrapping_add(instruction.imm() as u32), costs.branch_taken)
        } else {
            self.pc = self.pc.wrapping_add(instruction.len_bytes());
            Ok(costs.branch_not_taken)
        }
    }

    /// Fetches see all stores at once and harts see each other's accesses in the order of the bus, so fences only cost.
    #[inline(always)]
    fn fence(&mut self, costs: &Costs) -> Outcome {
        self.jump(self.pc.wrapping_add(4), costs.fence)
    }
}

/// The quotient: -1 for a division by zero, and the smallest number stays if it is divided by -1.
fn div(a: i32, b: i32) -> u32 {
    if b == 0 {
        u32::MAX
    } else {
        a.wrapping_div(b) as u32
    }
}

/// The remainder: the dividend for a division by zero, and 0 for the smallest number by -1.
fn rem(a: i32, b: i32) -> u32 {
    if b == 0 {
        a as u32
    } else {
        a.wrapping_rem(b) as u32
    }
}

/// How many leading bits of a signed divisor only repeat its sign.
fn leading_signs(b: u32) -> u32 {
    if (b as i32) < 0 {
        (!b).leading_zeros()
    } else {
        b.leading_zeros()
    }
}
