//! Random bytes as programs: nothing panics, nothing hangs, and what traps did nothing.

use crate::world::{BASE, DATA, World};
use proptest::prelude::*;
use spinneret_cluster::rv::{Instruction, Misaligned, Op, Step};

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
