//! A hart with some memory, and short ways to run one instruction.

use spinneret_cluster::rv::{Costs, Hart, Ram, Step, Trap};

pub(crate) const BASE: u32 = 0x1000_0000;
pub(crate) const LEN: u32 = 0x2000;
/// In the middle, for data.
pub(crate) const DATA: u32 = BASE + 0x1000;
/// Where traps go in these tests.
pub(crate) const HANDLER: u32 = BASE + 0x800;

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) hart: Hart,
    pub(crate) ram: Ram,
    pub(crate) costs: Costs,
    pub(crate) now: u64,
}

impl World {
    /// A hart at [`BASE`], before these words of program.
    pub(crate) fn new(program: &[u32]) -> World {
        let mut world = World {
            hart: Hart::new(0, BASE),
            ram: Ram::new(BASE, LEN),
            costs: Costs::default(),
            now: 0,
        };
        world.hart.set_csr(0x305, HANDLER, 0).unwrap();
        for (index, word) in program.iter().enumerate() {
            world.ram.write(BASE + 4 * index as u32, &word.to_le_bytes());
        }
        world
    }

    pub(crate) fn set(mut self, registers: &[(u32, u32)]) -> World {
        for &(register, value) in registers {
            self.hart.set_x(register as usize, value);
        }
        self
    }

    pub(crate) fn step(&mut self) -> Step {
        let step = self.hart.step(&mut self.ram, &self.costs, self.now);
        if let Step::Retired { clocks } | Step::Trapped { clocks, .. } = step {
            self.now += u64::from(clocks);
        }
        step
    }

    /// Executes one instruction, which must retire.
    pub(crate) fn retire(&mut self) -> u32 {
        let pc = self.hart.pc();
        match self.step() {
            Step::Retired { clocks } => clocks,
            other => panic!("at {pc:#x}: {other:?}"),
        }
    }

    /// Executes one instruction, which must trap; checks what the hart keeps of it.
    pub(crate) fn trap(&mut self) -> (Trap, u32) {
        let before = self.hart.clone();
        let Step::Trapped { trap, pc, value, .. } = self.step() else {
            panic!("no trap at {:#x}", before.pc());
        };
        assert_eq!(pc, before.pc());
        assert_eq!(self.hart.pc(), HANDLER);
        assert_eq!(self.csr(0x341), pc, "mepc");
        assert_eq!(self.csr(0x342), trap.cause(), "mcause");
        assert_eq!(self.csr(0x343), value, "mtval");
        assert_eq!(
            self.hart.retired(),
            before.retired(),
            "a trap is no instruction done"
        );
        for register in 0..32 {
            assert_eq!(
                self.hart.x(register),
                before.x(register),
                "x{register} after {trap:?}"
            );
        }
        (trap, value)
    }

    pub(crate) fn x(&self, register: u32) -> u32 {
        self.hart.x(register as usize)
    }

    pub(crate) fn csr(&self, number: u32) -> u32 {
        self.hart.csr(number, self.now).unwrap()
    }

    pub(crate) fn word(&self, address: u32) -> u32 {
        u32::from_le_bytes(self.ram.read(address, 4).try_into().unwrap())
    }
}

/// Runs one instruction of 32 bits with these registers, which must retire.
pub(crate) fn run(instruction: u32, registers: &[(u32, u32)]) -> World {
    let mut world = World::new(&[instruction]).set(registers);
    world.retire();
    world
}

fn scatter(value: i32, high: u32, low: u32, to: u32) -> u32 {
    (value as u32) << (31 - high) >> (31 - high + low) << to
}

pub(crate) fn r(opcode: u32, funct3: u32, funct7: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

pub(crate) fn i(opcode: u32, funct3: u32, rd: u32, rs1: u32, imm: i32) -> u32 {
    scatter(imm, 11, 0, 20) | rs1 << 15 | funct3 << 12 | rd << 7 | opcode
}

pub(crate) fn s(funct3: u32, rs1: u32, rs2: u32, imm: i32) -> u32 {
    scatter(imm, 11, 5, 25) | rs2 << 20 | rs1 << 15 | funct3 << 12 | scatter(imm, 4, 0, 7) | 0x23
}

pub(crate) fn b(funct3: u32, rs1: u32, rs2: u32, imm: i32) -> u32 {
    scatter(imm, 12, 12, 31)
        | scatter(imm, 10, 5, 25)
        | rs2 << 20
        | rs1 << 15
        | funct3 << 12
        | scatter(imm, 4, 1, 8)
        | scatter(imm, 11, 11, 7)
        | 0x63
}

pub(crate) fn u(opcode: u32, rd: u32, imm20: u32) -> u32 {
    imm20 << 12 | rd << 7 | opcode
}

pub(crate) fn jal(rd: u32, imm: i32) -> u32 {
    scatter(imm, 20, 20, 31)
        | scatter(imm, 10, 1, 21)
        | scatter(imm, 11, 11, 20)
        | scatter(imm, 19, 12, 12)
        | rd << 7
        | 0x6f
}

pub(crate) fn jalr(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x67, 0, rd, rs1, imm)
}

pub(crate) fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x13, 0, rd, rs1, imm)
}

pub(crate) fn lw(rd: u32, rs1: u32, imm: i32) -> u32 {
    i(0x03, 2, rd, rs1, imm)
}

pub(crate) fn sw(rs2: u32, rs1: u32, imm: i32) -> u32 {
    s(2, rs1, rs2, imm)
}

pub(crate) fn amo(funct5: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    r(0x2f, 2, funct5 << 2, rd, rs1, rs2)
}

pub(crate) fn lr(rd: u32, rs1: u32) -> u32 {
    amo(2, rd, rs1, 0)
}

pub(crate) fn sc(rd: u32, rs2: u32, rs1: u32) -> u32 {
    amo(3, rd, rs1, rs2)
}

/// `funct3`: 1 `csrrw`, 2 `csrrs`, 3 `csrrc`, and 5, 6, 7 with an immediate for `rs1`.
pub(crate) fn csr(funct3: u32, rd: u32, number: u32, rs1: u32) -> u32 {
    number << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x73
}

pub(crate) const ECALL: u32 = 0x0000_0073;
pub(crate) const EBREAK: u32 = 0x0010_0073;
pub(crate) const MRET: u32 = 0x3020_0073;
pub(crate) const WFI: u32 = 0x1050_0073;
pub(crate) const NOP: u32 = 0x0000_0013;
