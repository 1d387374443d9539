//! Random programs, compared with the simulator `rvsim` after every instruction: registers, pc, all of memory.
//!
//! Where rvsim 0.2.2 differs from the manual, this is what the comparison does instead:
//!
//! - It takes an odd target of `jalr` as misaligned; the manual clears the bit. The target is checked here.
//! - Atomic operations with `rd` equal to `rs2`, or `x0`, use the wrong operand; they are tested in `memory.rs`.
//! - A failed `sc.w` keeps the reservation, and `lr.w` does not mind misaligned addresses. The reservation is taken over
//!   from our hart after each instruction; `memory.rs` tests it.
//! - It executes reserved compressed instructions; `compressed.rs` lists them, and here they must trap.
//! - It does not know machine mode, `wfi` and `mret`, has registers for floating point, ignores writes to counters, and
//!   takes fences with reserved fields as illegal; all this is tested in `privileged.rs` and `computation.rs`.
//! - Loads and stores may be misaligned, so half of the programs run with `Misaligned::Split`; in the others our trap
//!   must come exactly at misaligned addresses.
//! - A program also executes instructions that were not generated: in the middle of a long instruction, or after a store to the
//!   code. [`is_comparable`] looks at the bits first, and the program goes on somewhere else.
//! - After an error it may have written registers already; it takes over our state then.

use crate::compressed::is_reserved;
use crate::support::{BASE, DATA, HANDLER, LEN, World};
use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvsim::{CpuError, CpuState, Interp, MemoryAccess, SimpleClock};
use spinneret_cluster::rv::{Instruction, Misaligned, Op, Step, Trap};

/// Programs begin here and are this long; the words after them are not part of them.
const CODE_LEN: u32 = 0x400;

/// The memory of the other simulator.
struct Memory(Vec<u8>);

/// rvsim reads and writes through pointers of the width of the access; this is aligned for all of them.
#[repr(align(8))]
struct Aligned([u8; 8]);

impl rvsim::Memory for Memory {
    fn access<T: Copy>(&mut self, address: u32, access: MemoryAccess<T>) -> bool {
        let start = address.wrapping_sub(BASE) as usize;
        let len = size_of::<T>();
        let Some(bytes) = self.0.get_mut(start..start + len) else {
            return false;
        };
        let mut aligned = Aligned([0; 8]);
        aligned.0[..len].copy_from_slice(bytes);
        rvsim::Memory::access(&mut aligned.0[..len], 0, access);
        bytes.copy_from_slice(&aligned.0[..len]);
        true
    }
}

/// Whether rvsim does this instruction as the manual says.
fn is_comparable(bits: u32) -> bool {
    let (rd, rs2) = (bits >> 7 & 31, bits >> 20 & 31);
    match bits & 0x7f {
        0x0f => matches!(bits, 0x0ff0_000f | 0x0000_100f) || bits >> 12 & 7 > 1,
        0x73 => {
            let reads_counter = bits >> 12 & 0xff == 2 && matches!(bits >> 20, 0xc00..=0xc02 | 0xc80..=0xc82);
            matches!(bits, 0x0000_0073 | 0x0010_0073) || reads_counter
        }
        0x2f => matches!(bits >> 27, 2 | 3) || (rd != 0 && rd != rs2),
        _ => true,
    }
}

/// Both simulators, in the same state.
struct Pair {
    ours: World,
    state: CpuState,
    memory: Memory,
}

impl Pair {
    fn new(ours: World) -> Pair {
        let memory = Memory(ours.ram.bytes().to_vec());
        let mut pair = Pair {
            ours,
            state: CpuState::new(BASE),
            memory,
        };
        pair.copy_state();
        pair
    }

    /// Gives the other simulator our registers.
    fn copy_state(&mut self) {
        self.state.x = std::array::from_fn(|register| self.ours.hart.x(register));
        self.state.pc = self.ours.hart.pc();
        self.state.reservation = self.ours.hart.reservation();
    }

    /// Whether the next instruction means the same to both.
    fn is_comparable(&self) -> bool {
        let start = self.ours.hart.pc().wrapping_sub(BASE) as usize;
        let bits = self.memory.0.get(start..).and_then(|bytes| bytes.first_chunk());
        bits.is_none_or(|bits| is_comparable(u32::from_le_bytes(*bits)))
    }

    /// One instruction in both. Gives whether it retired.
    fn step(&mut self) -> bool {
        let pc = self.ours.hart.pc();
        let retired = self.ours.hart.retired();
        self.ours.now = retired;
        let mut clock = SimpleClock { instret: retired };
        let theirs = Interp::new(&mut self.state, &mut self.memory, &mut clock).step();
        let before: [u32; 32] = std::array::from_fn(|register| self.ours.hart.x(register));
        let done = match (self.ours.step(), theirs) {
            (Step::Retired { .. }, Ok(_)) => true,
            (Step::Retired { .. }, Err((CpuError::MisalignedFetch, Some(op)))) => {
                let rvsim::Op::Jalr { rs1, i_imm, .. } = op else {
                    panic!("{op:?} to an odd address")
                };
                self.state.pc = before[rs1].wrapping_add(i_imm as u32) & !1;
                true
            }
            (
                Step::Trapped {
                    trap, pc: at, value, ..
                },
                theirs,
            ) => {
                assert_eq!(at, pc);
                self.check_trap(pc, trap, value, theirs.map_err(|(error, _)| error));
                self.ours.hart.set_pc(pc);
                self.copy_state();
                self.memory.0.copy_from_slice(self.ours.ram.bytes());
                false
            }
            (ours, theirs) => panic!("at {pc:#x}: {ours:?} and {theirs:?}"),
        };
        self.state.reservation = self.ours.hart.reservation();
        self.compare(pc);
        done
    }

    /// A trap of the model must have the right reason.
    fn check_trap(&self, pc: u32, trap: Trap, value: u32, theirs: Result<rvsim::Op, CpuError>) {
        let agreed = match trap {
            Trap::LoadMisaligned | Trap::StoreMisaligned => {
                assert_ne!(value & 3, 0, "an aligned address trapped at {pc:#x}");
                true
            }
            Trap::Illegal => theirs == Err(CpuError::IllegalInstruction) || is_reserved(value as u16),
            Trap::LoadFault | Trap::StoreFault => theirs == Err(CpuError::IllegalAccess),
            Trap::InstructionFault => theirs == Err(CpuError::IllegalFetch),
            Trap::Breakpoint => theirs == Err(CpuError::Ebreak),
            Trap::EnvironmentCallM => theirs == Err(CpuError::Ecall),
            _ => false,
        };
        assert!(agreed, "at {pc:#x}: {trap:?} with {value:#x}, and {theirs:?}");
    }

    fn compare(&self, pc: u32) {
        assert_eq!(
            self.ours.hart.pc(),
            self.state.pc,
            "pc after the instruction at {pc:#x}"
        );
        for register in 0..32 {
            let (ours, theirs) = (self.ours.hart.x(register), self.state.x[register]);
            assert_eq!(ours, theirs, "x{register} after the instruction at {pc:#x}");
        }
        assert!(
            self.ours.ram.bytes() == self.memory.0,
            "memory after the instruction at {pc:#x}"
        );
    }
}

/// A number that makes trouble, a pointer to data or code, or any.
fn value(rng: &mut impl Rng) -> u32 {
    match rng.random_range(0..8) {
        0 => [
            0,
            1,
            2,
            31,
            32,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            u32::MAX,
            u32::MAX - 1,
        ][rng.random_range(0..10)],
        1 => rng.random_range(0..64),
        2 | 3 => DATA + 4 * rng.random_range(0..256),
        4 => DATA + rng.random_range(0..1024),
        5 => BASE + 2 * rng.random_range(0..CODE_LEN / 2),
        _ => rng.random(),
    }
}

/// Mostly not one of the registers that point to data: x2, x8 and x9.
fn target(rng: &mut impl Rng) -> u32 {
    match rng.random_range(0..32) {
        register @ (2 | 8 | 9) if rng.random_range(0..8) != 0 => register + 10,
        register => register,
    }
}

/// An instruction of 32 bits.
#[rustfmt::skip]
fn long(rng: &mut impl Rng) -> u32 {
    use crate::support::{amo, b, csr, i, jal, jalr, r, s, u};
    let (rd, rs1, rs2) = (target(rng), rng.random_range(0..32), rng.random_range(0..32));
    let pointer = [2, 8, 9, 2, 8, 9, 2, 8, 9, rs1][rng.random_range(0..10)];
    let near = if rng.random() { 4 * rng.random_range(-32..32) } else { rng.random_range(-2048..2048) };
    let hop = 2 * rng.random_range(-24..24);
    match rng.random_range(0..100) {
        0..18 => {
            let (funct7, funct3) = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (0x20, 0), (0x20, 5)][rng.random_range(0..10)];
            r(0x33, funct3, funct7, rd, rs1, rs2)
        }
        18..30 => r(0x33, rng.random_range(0..8), 1, rd, rs1, rs2),
        30..42 => i(0x13, [0, 2, 3, 4, 6, 7][rng.random_range(0..6)], rd, rs1, rng.random_range(-2048..2048)),
        42..47 => {
            let (funct7, funct3) = [(0, 1), (0, 5), (0x20, 5)][rng.random_range(0..3)];
            r(0x13, funct3, funct7, rd, rs1, rs2)
        }
        47..57 => i(0x03, [0, 1, 2, 4, 5][rng.random_range(0..5)], rd, pointer, near),
        57..65 => s(rng.random_range(0..3), pointer, rs2, near),
        65..78 => b([0, 1, 4, 5, 6, 7][rng.random_range(0..6)], rs1, rs2, hop),
        78..81 => jal(rd, hop),
        81..83 => jalr(rd, rs1, rng.random_range(-8..8)),
        83..86 => u([0x37, 0x17][rng.random_range(0..2)], rd, rng.random_range(0..1 << 20)),
        86..89 => amo(2, rd, pointer, 0),
        89..92 => amo(3, rd, pointer, rs2),
        92..96 => amo([0, 1, 4, 8, 0xc, 0x10, 0x14, 0x18, 0x1c][rng.random_range(0..9)], rd, pointer, rs2),
        96 => csr(2, rd, [0xc00, 0xc01, 0xc02, 0xc80, 0xc81, 0xc82][rng.random_range(0..6)], 0),
        97 => [0x0000_0073, 0x0010_0073, 0x0ff0_000f, 0x0000_100f][rng.random_range(0..4)],
        _ => rng.random::<u32>() | 3,
    }
}

fn short(rng: &mut impl Rng) -> u16 {
    loop {
        let half: u16 = rng.random();
        if half & 3 != 3 && (!is_reserved(half) || rng.random_range(0..16) == 0) {
            return half;
        }
    }
}

/// Fills the program with instructions of both lengths, so that half of the long ones stand between words.
fn program(rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < CODE_LEN as usize {
        if rng.random_range(0..5) < 2 {
            bytes.extend(short(rng).to_le_bytes());
        } else {
            bytes.extend(long(rng).to_le_bytes());
        }
    }
    bytes
}

fn fresh_registers(ours: &mut World, rng: &mut impl Rng) {
    for register in 1..32 {
        ours.hart.set_x(register, value(rng));
    }
    for register in [2, 8, 9] {
        ours.hart.set_x(register, DATA + 4 * rng.random_range(128..256));
    }
}

/// Runs one program for some steps; after a trap it goes on somewhere else. Gives the instructions that retired.
fn run_program(seed: u64, steps: u32) -> u32 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut ours = World::new(&[]);
    let data: Vec<u8> = (0..LEN).map(|_| rng.random()).collect();
    ours.ram.write(BASE, &data);
    ours.ram.write(BASE, &program(&mut rng));
    ours.hart.set_csr(0x305, HANDLER, 0).unwrap();
    fresh_registers(&mut ours, &mut rng);
    if rng.random() {
        ours.costs.misaligned = Misaligned::Split;
    }
    let mut pair = Pair::new(ours);
    let mut retired = 0;
    for _ in 0..steps {
        let stuck = !pair.is_comparable() || !pair.step();
        retired += u32::from(!stuck);
        let outside = pair.ours.hart.pc().wrapping_sub(BASE) >= CODE_LEN;
        if outside || stuck || rng.random_range(0..64) == 0 {
            fresh_registers(&mut pair.ours, &mut rng);
            pair.ours
                .hart
                .set_pc(BASE + 2 * rng.random_range(0..CODE_LEN / 2));
            pair.copy_state();
        }
    }
    retired
}

#[test]
fn agrees_with_an_independent_simulator_on_random_programs() {
    const PROGRAMS: u64 = 1_500;
    const STEPS: u32 = 400;
    let mut retired = 0;
    for seed in 0..PROGRAMS {
        let run = std::panic::catch_unwind(|| run_program(seed, STEPS));
        retired += run.unwrap_or_else(|_| panic!("the program of seed {seed} runs differently"));
    }
    println!("{retired} instructions of {PROGRAMS} programs agree");
    assert!(
        retired > 300_000,
        "only {retired} of {} instructions retired",
        PROGRAMS * u64::from(STEPS)
    );
}

#[test]
fn agrees_on_every_compressed_instruction() {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    for half in (0..=u16::MAX).filter(|half| half & 3 != 3) {
        for _ in 0..2 {
            let mut ours = World::new(&[u32::from(half) | rng.random::<u32>() << 16]);
            ours.costs.misaligned = Misaligned::Split;
            fresh_registers(&mut ours, &mut rng);
            let done = Pair::new(ours).step();
            assert!(!(done && is_reserved(half)), "{half:#06x}");
        }
    }
}

#[test]
fn agrees_on_which_words_are_instructions() {
    let mut rng = ChaCha8Rng::seed_from_u64(32);
    let mut pair = Pair::new(World::new(&[]));
    for _ in 0..250_000 {
        // All major opcodes, each with any fields.
        let bits = rng.random::<u32>() | 3;
        if !is_comparable(bits) {
            continue;
        }
        fresh_registers(&mut pair.ours, &mut rng);
        pair.ours.ram.write(BASE, &bits.to_le_bytes());
        pair.memory.0.copy_from_slice(pair.ours.ram.bytes());
        pair.ours.hart.set_pc(BASE);
        pair.copy_state();
        pair.step();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn survives_any_program(
        bytes in prop::collection::vec(any::<u8>(), 16..512),
        registers in prop::collection::vec(prop_oneof![any::<u32>(), DATA..DATA + 64, BASE..BASE + 512], 31),
        split in any::<bool>(),
    ) {
        let mut world = World::new(&[]);
        world.ram.write(BASE, &bytes);
        world.hart.set_csr(0x305, BASE + 0x10, 0).unwrap();
        if split {
            world.costs.misaligned = Misaligned::Split;
        }
        for (register, value) in (1..).zip(registers) {
            world.hart.set_x(register, value);
        }
        for _ in 0..500 {
            let (pc, retired) = (world.hart.pc(), world.hart.retired());
            match world.step() {
                Step::Retired { clocks } => {
                    prop_assert!((1..=40).contains(&clocks));
                    prop_assert_eq!(world.hart.retired(), retired + 1);
                }
                Step::Waits => world.hart.wake(),
                Step::Trapped { pc: at, .. } => {
                    prop_assert_eq!(at, pc);
                    prop_assert_eq!(world.hart.retired(), retired);
                }
            }
            prop_assert_eq!(world.hart.pc() & 1, 0);
            prop_assert_eq!(world.hart.x(0), 0);
        }
    }

    #[test]
    fn decodes_and_shows_any_word(bits in any::<u32>()) {
        let instruction = Instruction::decode(bits);
        prop_assert_eq!(instruction.len_bytes(), if bits & 3 == 3 { 4 } else { 2 });
        prop_assert!(!instruction.to_string().is_empty());
        prop_assert_ne!(instruction.op(), Op::Empty);
        prop_assert!(!instruction.at(bits).to_string().is_empty());
    }
}
