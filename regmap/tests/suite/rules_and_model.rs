//! Rules and their register encoding.

use proptest::prelude::*;
use spinneret_regmap::matching::{Rule, RuleRegisters, decode_field, encode_field};
use spinneret_regmap::model::{Registers, Response, Variant};
use spinneret_regmap::{Access, caps, cl, events, find, guard, me, stats, words};

/// The rules of the host library that software has been writing, in plain numbers.
#[test]
fn named_rules_have_the_numbers_of_existing_software() {
    let rule = |idx, mask, start, end| Rule {
        idx,
        mask,
        start,
        end,
        relative: false,
    };
    assert_eq!(Rule::NEVER, rule(0, 0, 1, 0));
    assert_eq!(Rule::ALWAYS, rule(0, 0, 0, 0));
    assert_eq!(Rule::IPV4, rule(3, 0xffff_0000, 0x0800_0000, 0x0800_0000));
    assert_eq!(Rule::ip_protocol(17, 17), rule(5, 0xff, 17, 17));
    assert_eq!(
        Rule::udp_destination_port(9330, 9330),
        rule(9, 0xffff_0000, 0x2472_0000, 0x2472_0000)
    );
    assert_eq!(Rule::udp_source_port(53, 99), rule(8, 0xffff, 53, 99));
    assert_eq!(Rule::ICMP_ECHO_REQUEST, rule(8, 0xff00, 0x0800, 0x0800));
    assert_eq!(Rule::SLMP_END_OF_MESSAGE, rule(10, 0x8000, 0x8000, 0x8000));
}

/// Ports are the first word behind the IP header; SLMP's flags are the upper half of word 2, behind UDP.
#[test]
fn named_rules_of_the_ip_payload_have_the_numbers_of_its_headers() {
    let rule = |idx, mask, start, end| Rule {
        idx,
        mask,
        start,
        end,
        relative: true,
    };
    assert_eq!(Rule::ip_payload_destination_port(53, 99), rule(0, 0xffff, 53, 99));
    assert_eq!(
        Rule::ip_payload_source_port(53, 99),
        rule(0, 0xffff_0000, 53 << 16, 99 << 16)
    );
    assert_eq!(
        Rule::IP_PAYLOAD_ICMP_ECHO_REQUEST,
        rule(0, 0xff00_0000, 0x0800_0000, 0x0800_0000)
    );
    for (named, flag) in [
        (Rule::IP_PAYLOAD_SLMP_END_OF_MESSAGE, 0x8000_0000),
        (Rule::IP_PAYLOAD_SLMP_SYN, 0x4000_0000),
        (Rule::IP_PAYLOAD_SLMP_ACK, 0x2000_0000),
    ] {
        assert_eq!(named, rule(2, flag, flag, flag));
    }
    assert!(!Rule::NEVER.in_ip_payload().can_match());
}

#[test]
fn registers_hold_mask_start_and_end_byte_swapped_and_the_index_plain() {
    let rule = Rule {
        idx: 9,
        mask: 0xffff_0000,
        start: 0x1234_0000,
        end: 0x5678_0000,
        relative: false,
    };
    let registers = RuleRegisters {
        idx: 9,
        mask: 0x0000_ffff,
        start: 0x0000_3412,
        end: 0x0000_7856,
        relative: 0,
    };
    assert_eq!(rule.to_registers(), registers);
    assert_eq!(registers.to_rule(), rule);
    let registers = RuleRegisters {
        relative: 1,
        ..registers
    };
    assert_eq!(rule.in_ip_payload().to_registers(), registers);
    assert_eq!(registers.to_rule(), rule.in_ip_payload());
}

#[test]
fn never_and_always_rules_are_correct() {
    assert!(!Rule::NEVER.can_match() && !Rule::NEVER.matches_word(0));
    assert!(Rule::ALWAYS.can_match() && Rule::ALWAYS.matches_word(u32::MAX));
    assert!(
        !Rule::equal(5, 0xff, 0x111).can_match(),
        "the value has a bit that the mask removes"
    );
    assert!(
        Rule {
            idx: 0,
            mask: 0xff00,
            start: 0x01,
            end: 0x100,
            relative: false,
        }
        .can_match()
    );
    assert!(
        !Rule {
            idx: 0,
            mask: 0xff00,
            start: 0xff01,
            end: u32::MAX,
            relative: false,
        }
        .can_match()
    );
}

/// `can_match` by trying every word, which is possible because the mask has few bits.
fn can_match_by_trial(rule: &Rule) -> bool {
    let mut value = rule.mask;
    loop {
        if rule.matches_word(value) {
            return true;
        }
        if value == 0 {
            return false;
        }
        value = (value - 1) & rule.mask;
    }
}

prop_compose! {
    /// Rules whose mask has at most twelve bits, with limits near values that the mask can produce.
    fn sparse_rule()(
        bits in proptest::collection::vec(0u32..32, 0..12),
        start in any::<u32>(),
        end in any::<u32>(),
        near in any::<[bool; 2]>(),
    ) -> Rule {
        let mask = bits.iter().fold(0, |mask, bit| mask | 1 << bit);
        let start = if near[0] { start & mask } else { start };
        let end = if near[1] { start.saturating_add(end % 16) } else { end };
        Rule { idx: 0, mask, start, end, relative: false }
    }
}

proptest! {
    #[test]
    fn encoding_is_htonl_on_a_little_endian_host(value in any::<u32>()) {
        prop_assert_eq!(encode_field(value).to_le_bytes(), value.to_be_bytes());
        prop_assert_eq!(decode_field(encode_field(value)), value);
    }

    #[test]
    fn rules_survive_their_registers(idx in any::<u32>(), mask in any::<u32>(), start in any::<u32>(), end in any::<u32>(), relative in any::<bool>()) {
        let rule = Rule { idx, mask, start, end, relative };
        prop_assert_eq!(rule.to_registers().to_rule(), rule);
        prop_assert_eq!(rule.to_registers().idx, idx);
    }

    #[test]
    fn can_match_says_whether_some_word_matches(rule in sparse_rule()) {
        prop_assert_eq!(rule.can_match(), can_match_by_trial(&rule), "{:x?}", rule);
    }

    #[test]
    fn ports_in_the_range_match_and_others_do_not(first: u16, last: u16, port: u16, other: u16) {
        let inside = first <= port && port <= last;
        let rule = Rule::udp_destination_port(first, last);
        prop_assert_eq!(rule.matches_word(u32::from(port) << 16 | u32::from(other)), inside);
        let rule = Rule::udp_source_port(first, last);
        prop_assert_eq!(rule.matches_word(u32::from(other) << 16 | u32::from(port)), inside);
        let rule = Rule::ip_payload_destination_port(first, last);
        prop_assert_eq!(rule.matches_word(u32::from(other) << 16 | u32::from(port)), inside);
        let rule = Rule::ip_payload_source_port(first, last);
        prop_assert_eq!(rule.matches_word(u32::from(port) << 16 | u32::from(other)), inside);
    }
}

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
fn hardware_state_survives_a_reset() {
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
