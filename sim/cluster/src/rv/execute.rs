//! Execution: integer instructions, control flow, memory accesses, atomics, CSR instructions.

use super::hart::{Outcome, Stopped};
use super::{Access, Bus, Costs, CsrSet, Fault, Hart, Misaligned, Privilege, Reservations, Trap, Width, csr};
use spinneret_isa::{Instruction, Op};

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

            Op::Csum if self.csrs.set() == CsrSet::Hpu => self.put(i, csum(a, b), costs.alu),
            Op::Csum => Err(self.trap(Trap::Illegal, encoding(i))),

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

    /// Jumps to an address.
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

/// The ones' complement sum.
fn csum(a: u32, b: u32) -> u32 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u32::from(carry)
}

/// How many leading bits of a signed divisor only repeat its sign.
fn leading_signs(b: u32) -> u32 {
    if (b as i32) < 0 {
        (!b).leading_zeros()
    } else {
        b.leading_zeros()
    }
}

impl Hart {
    /// Returns the value and the clocks of the bus, or notes why the instruction stops.
    #[inline(always)]
    fn finish(
        &mut self,
        access: Result<Access, Fault>,
        trap: Trap,
        address: u32,
    ) -> Result<(u32, u32), Stopped> {
        match access {
            Ok(Access::Done { value, clocks }) => Ok((value, clocks)),
            Ok(Access::Wait) => Err(self.wait()),
            Err(Fault) => Err(self.trap(trap, address)),
        }
    }

    #[inline(always)]
    pub(super) fn load<B: Bus>(
        &mut self,
        instruction: &Instruction,
        bus: &mut B,
        width: Width,
        extend: impl Fn(u32) -> u32,
        costs: &Costs,
    ) -> Outcome {
        let address = self.x[instruction.rs1()].wrapping_add(instruction.imm() as u32);
        let who = self.data_privilege();
        let (value, clocks) = if address & (width.bytes() - 1) == 0 {
            self.finish(bus.load(address, width, who), Trap::LoadFault, address)?
        } else if costs.misaligned == Misaligned::Split {
            self.split_load(bus, address, width, who, costs)?
        } else {
            return Err(self.trap(Trap::LoadMisaligned, address));
        };
        self.put(instruction, extend(value), costs.load + clocks)
    }

    #[inline(always)]
    pub(super) fn store<B: Bus>(
        &mut self,
        instruction: &Instruction,
        bus: &mut B,
        width: Width,
        costs: &Costs,
    ) -> Outcome {
        let address = self.x[instruction.rs1()].wrapping_add(instruction.imm() as u32);
        let value = self.x[instruction.rs2()];
        let who = self.data_privilege();
        let clocks = if address & (width.bytes() - 1) == 0 {
            self.finish(bus.store(address, width, value, who), Trap::StoreFault, address)?
                .1
        } else if costs.misaligned == Misaligned::Split {
            self.split_store(bus, address, width, value, who, costs)?
        } else {
            return Err(self.trap(Trap::StoreMisaligned, address));
        };
        self.pc = self.pc.wrapping_add(instruction.len_bytes());
        Ok(costs.store + clocks)
    }

    pub(super) fn load_reserved<B: Bus>(
        &mut self,
        instruction: &Instruction,
        bus: &mut B,
        costs: &Costs,
    ) -> Outcome {
        let address = self.x[instruction.rs1()];
        if address & 3 != 0 {
            return Err(self.trap(Trap::LoadMisaligned, address));
        }
        let who = self.data_privilege();
        if bus.reserves(address, who) == Reservations::Refused {
            return Err(self.trap(Trap::LoadFault, address));
        }
        let access = bus.load(address, Width::Word, who);
        let (value, clocks) = self.finish(access, Trap::LoadFault, address)?;
        self.reservation = Some(address);
        self.put(instruction, value, costs.atomic + clocks)
    }

    /// Returns 0 if it stored, else 1. Without a reservation it does not access the bus, and traps only at a misaligned
    /// address.
    pub(super) fn store_conditional<B: Bus>(
        &mut self,
        instruction: &Instruction,
        bus: &mut B,
        costs: &Costs,
    ) -> Outcome {
        let address = self.x[instruction.rs1()];
        if address & 3 != 0 {
            return Err(self.trap(Trap::StoreMisaligned, address));
        }
        let who = self.data_privilege();
        match bus.reserves(address, who) {
            Reservations::Kept => {}
            Reservations::Ignored => return self.modify(instruction, bus, |_, new| new, costs),
            Reservations::Refused => return Err(self.trap(Trap::StoreFault, address)),
        }
        let mut failed = 1;
        let mut clocks = 0;
        if self.reservation == Some(address) {
            let value = self.x[instruction.rs2()];
            let access = bus.store(address, Width::Word, value, who);
            clocks = self.finish(access, Trap::StoreFault, address)?.1;
            failed = 0;
        }
        self.reservation = None;
        self.put(instruction, failed, costs.atomic + clocks)
    }

    /// Not inlined: one copy for each operation would make `step` large, and atomic operations are rare.
    #[inline(never)]
    pub(super) fn modify<B: Bus>(
        &mut self,
        instruction: &Instruction,
        bus: &mut B,
        change: impl Fn(u32, u32) -> u32,
        costs: &Costs,
    ) -> Outcome {
        let address = self.x[instruction.rs1()];
        if address & 3 != 0 {
            return Err(self.trap(Trap::StoreMisaligned, address));
        }
        let operand = self.x[instruction.rs2()];
        let access = bus.modify(address, self.data_privilege(), &mut |old| change(old, operand));
        let (old, clocks) = self.finish(access, Trap::StoreFault, address)?;
        self.put(instruction, old, costs.atomic + clocks)
    }

    #[cold]
    fn split_load<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        who: Privilege,
        costs: &Costs,
    ) -> Result<(u32, u32), Stopped> {
        let (mut value, mut total) = (0, 0);
        for offset in 0..width.bytes() {
            let at = address.wrapping_add(offset);
            let (byte, clocks) = self.finish(bus.load(at, Width::Byte, who), Trap::LoadFault, at)?;
            value |= (byte & 0xff) << (8 * offset);
            total = add_byte(total, offset, at, clocks, costs);
        }
        Ok((value, total))
    }

    /// If the second half waits or faults, the first half is already stored: misaligned accesses are not atomic, and not
    /// suited to devices with wait states.
    #[cold]
    fn split_store<B: Bus>(
        &mut self,
        bus: &mut B,
        address: u32,
        width: Width,
        value: u32,
        who: Privilege,
        costs: &Costs,
    ) -> Outcome {
        let mut total = 0;
        for offset in 0..width.bytes() {
            let at = address.wrapping_add(offset);
            let access = bus.store(at, Width::Byte, value >> (8 * offset) & 0xff, who);
            let (_, clocks) = self.finish(access, Trap::StoreFault, at)?;
            total = add_byte(total, offset, at, clocks, costs);
        }
        Ok(total)
    }

    /// The privilege of loads and stores: with `mstatus.MPRV` that of the code before the trap.
    #[inline(always)]
    fn data_privilege(&self) -> Privilege {
        self.csrs.data_privilege(self.privilege)
    }
}

/// Adds the clocks of one byte of a split access to those before: the bytes of one word move together.
fn add_byte(total: u32, offset: u32, address: u32, clocks: u32, costs: &Costs) -> u32 {
    match (offset, address & 3) {
        (0, _) => clocks,
        (_, 0) => total + clocks + costs.misaligned_access,
        _ => total,
    }
}

impl Hart {
    /// Reads a CSR, and writes it if the instruction does. `nonzero`: a set or clear whose operand is not the immediate 0 and
    /// not `x0`; the value of another register does not matter.
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

    /// Waits until [`Hart::wake`]; our HPU does not.
    pub(super) fn wfi(&mut self, costs: &Costs) -> Outcome {
        if !std::mem::take(&mut self.woken) && self.csrs.set() != CsrSet::Hpu {
            return Err(self.wait());
        }
        self.pc = self.pc.wrapping_add(4);
        Ok(costs.wfi)
    }
}

/// The bits of `csum` or an instruction of the major opcode SYSTEM, for `mtval`: decoding threw them away.
fn encoding(instruction: &Instruction) -> u32 {
    let (rd, rs1) = (instruction.rd() as u32, instruction.rs1() as u32);
    let funct3 = match instruction.op() {
        Op::Csum => return (instruction.rs2() as u32) << 20 | rs1 << 15 | rd << 7 | 0x0b,
        Op::Csrrw => 1,
        Op::Csrrs => 2,
        Op::Csrrc => 3,
        Op::Csrrwi => 5,
        Op::Csrrsi => 6,
        Op::Csrrci => 7,
        _ => return 0x3020_0073,
    };
    instruction.csr() << 20 | (rs1 | instruction.csr_imm()) << 15 | funct3 << 12 | rd << 7 | 0x73
}
