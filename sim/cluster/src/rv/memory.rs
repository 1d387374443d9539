//! Execution: loads, stores and atomic operations.

use super::hart::{Outcome, Stopped};
use super::instruction::Instruction;
use super::{Access, Bus, Costs, Fault, Hart, Misaligned, Privilege, Reservations, Trap, Width};

impl Hart {
    /// Gives the value and the bus's clocks, or notes why the instruction stops.
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
        if bus.reserves(address) == Reservations::Refused {
            return Err(self.trap(Trap::LoadFault, address));
        }
        let access = bus.load(address, Width::Word, self.data_privilege());
        let (value, clocks) = self.finish(access, Trap::LoadFault, address)?;
        self.reservation = Some(address);
        self.put(instruction, value, costs.atomic + clocks)
    }

    /// Gives 0 if it stored, 1 if not. Without a reservation the bus sees nothing; there is no trap either, except for a
    /// misaligned address.
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
        match bus.reserves(address) {
            Reservations::Kept => {}
            Reservations::Ignored => return self.modify(instruction, bus, |_, new| new, costs),
            Reservations::Refused => return Err(self.trap(Trap::StoreFault, address)),
        }
        let mut failed = 1;
        let mut clocks = 0;
        if self.reservation == Some(address) {
            let value = self.x[instruction.rs2()];
            let access = bus.store(address, Width::Word, value, self.data_privilege());
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

    /// If the second half waits or faults, the first was stored already: misaligned accesses are not atomic, and a
    /// device that waits is no place for them.
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
