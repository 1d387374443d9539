//! The register model does what the table says.

use spinneret_regmap::model::{Registers, Response, Variant};
use spinneret_regmap::{Access, caps, cl, events, find, guard, me, stats, words};

const ALL_BYTES: u8 = 0xf;

#[test]
fn every_word_of_the_window_answers_as_the_table_says() {
    for (variant, extended) in [(Variant::DropIn, false), (Variant::Extended, true)] {
        let mut registers = Registers::new(variant);
        for offset in (0..0x1_0000).step_by(4) {
            let found = find(offset).filter(|(register, _)| extended || !register.extension);
            let (data, response) = registers.read(offset);
            let written = registers.write(offset, u32::MAX, ALL_BYTES);
            let Some((register, index)) = found else {
                assert_eq!(
                    (data, response, written),
                    (0, Response::SlaveError, Response::SlaveError)
                );
                continue;
            };
            assert_eq!(response, Response::Okay, "{register}");
            let pulse = register.access == Access::WritePulse;
            let expected = if pulse {
                0
            } else {
                register.reset.value(index).unwrap_or(0)
            };
            assert_eq!(data, expected, "{register}");
            let takes = register.access.takes_writes();
            assert_eq!(written == Response::Okay, takes, "{register}");
            let after = if register.access == Access::ReadWrite {
                register.bits.mask(index)
            } else {
                data
            };
            assert_eq!(registers.read(offset), (after, Response::Okay), "{register}");
        }
        registers.reset();
        for word in words().filter(|word| word.register.access == Access::ReadWrite) {
            let expected = word.reset().filter(|_| extended || !word.register.extension);
            assert_eq!(registers.value(word.offset()), expected, "{word}");
        }
    }
}

#[test]
fn strobes_choose_bytes_and_low_address_bits_choose_nothing() {
    let mut registers = Registers::new(Variant::DropIn);
    let mask = me::MASK.offset;
    assert_eq!(registers.write(mask, 0xa1b2_c3d4, ALL_BYTES), Response::Okay);
    assert_eq!(registers.write(mask + 3, 0x1122_3344, 0b0101), Response::Okay);
    assert_eq!(registers.read(mask + 1), (0xa122_c344, Response::Okay));
    assert_eq!(registers.write(mask, 0, 0), Response::Okay);
    assert_eq!(registers.read(mask), (0xa122_c344, Response::Okay));
}

#[test]
fn standard_output_is_taken_word_by_word() {
    let mut registers = Registers::new(Variant::DropIn);
    registers.offer_stdout(Some(0x41));
    assert_eq!(registers.read(cl::FIFO.offset), (0x41, Response::Okay));
    assert_eq!(registers.stdout(), None);
    assert_eq!(registers.read(cl::FIFO.offset), (u32::MAX, Response::Okay));
}

#[test]
fn bits_that_are_written_as_one_are_cleared() {
    let mut registers = Registers::new(Variant::Extended);
    let pending = events::PENDING.offset;
    assert!(registers.show(pending, u32::MAX));
    assert_eq!(registers.read(pending), (0x3f, Response::Okay));
    assert_eq!(registers.write(pending, 0x11, ALL_BYTES), Response::Okay);
    assert_eq!(registers.write(pending, u32::MAX, 0b1110), Response::Okay);
    assert_eq!(registers.read(pending), (0x2e, Response::Okay));
    registers.reset();
    assert_eq!(registers.read(pending), (0, Response::Okay));
}

#[test]
fn pulses_are_counted_and_read_as_zero() {
    let mut registers = Registers::new(Variant::Extended);
    let clear = stats::ERROR_CLEAR.offset;
    for (data, strobes) in [(1, ALL_BYTES), (3, 1), (1, 0b1110), (2, ALL_BYTES)] {
        assert_eq!(registers.write(clear, data, strobes), Response::Okay);
        assert_eq!(registers.read(clear), (0, Response::Okay));
    }
    assert_eq!(registers.pulses(clear), Some(2));
    assert_eq!(registers.pulses(guard::ENFORCE.offset), None);
    assert_eq!(Registers::new(Variant::DropIn).pulses(clear), None);
}

#[test]
fn what_the_hardware_shows_outlives_a_reset() {
    let mut registers = Registers::new(Variant::Extended);
    assert!(registers.show(stats::EGRESS_DMA_ERROR, 0xffff_ffff));
    assert!(registers.show(caps::FEATURES.offset, 0x1f));
    assert!(!registers.show(me::VALID.offset, 1), "software writes this one");
    assert!(!registers.show(0x0010, 1), "nothing is there");
    registers.reset();
    assert_eq!(registers.read(stats::EGRESS_DMA_ERROR), (0xf, Response::Okay));
    assert_eq!(registers.read(caps::FEATURES.offset), (0x1f, Response::Okay));
    assert_eq!(registers.read(caps::MAGIC.offset), (0x4e49_5053, Response::Okay));
}

#[test]
fn there_is_a_bit_for_each_cluster_and_queue() {
    let mut registers = Registers::new(Variant::DropIn).with_counts(5, 9);
    registers.write(cl::FETCH_ENABLE, u32::MAX, ALL_BYTES);
    assert_eq!(registers.read(cl::FETCH_ENABLE), (0x1f, Response::Okay));
    assert!(registers.show(stats::CLUSTER.offset, u32::MAX));
    assert!(registers.show(stats::MPQ.offset, u32::MAX));
    assert_eq!(registers.read(stats::CLUSTER.offset), (0x1f, Response::Okay));
    assert_eq!(registers.read(stats::MPQ.offset), (0x1ff, Response::Okay));
}
