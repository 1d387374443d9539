//! The reference model of the matcher, on literal bytes and against its definition.

use proptest::prelude::*;
use spinneret_packets::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable, TableError};
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};

/// SLMP packet of message 0x01020304 with the end-of-message flag, as captured: Ethernet, IPv4, UDP to port 9330.
const SLMP_END_OF_MESSAGE: [u8; 60] = [
    0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x08, 0x00, 0x45, 0x00, //
    0x00, 0x2e, 0x00, 0x01, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x02, 0x0a, 0x00, //
    0x00, 0x01, 0xc3, 0x50, 0x24, 0x72, 0x00, 0x1a, 0x00, 0x00, 0x80, 0x00, 0x01, 0x02, 0x03, 0x04, //
    0x00, 0x00, 0x05, 0xb6, 0xde, 0xad, 0xbe, 0xef, 0x11, 0x22, 0x33, 0x44,
];

fn and(rules: &[Rule]) -> Ruleset {
    Ruleset {
        join: Join::And,
        rules: rules.to_vec(),
        end_of_message: Rule::NEVER,
    }
}

fn or(rules: &[Rule]) -> Ruleset {
    Ruleset {
        join: Join::Or,
        rules: rules.to_vec(),
        end_of_message: Rule::NEVER,
    }
}

fn slmp() -> Ruleset {
    Ruleset {
        end_of_message: Rule::SLMP_END_OF_MESSAGE,
        ..and(&[
            Rule::IPV4,
            Rule::ip_protocol(17, 17),
            Rule::udp_destination_port(9330, 9330),
        ])
    }
}

fn classify(rulesets: &[Ruleset], frame: &[u8]) -> MatchResult {
    classify_with(&MatcherParams::REFERENCE, rulesets, frame)
}

fn classify_with(params: &MatcherParams, rulesets: &[Ruleset], frame: &[u8]) -> MatchResult {
    let mut matcher = ReferenceMatcher::new(params).expect("the sizes are possible");
    matcher.latch(Some(
        RuleTable::new(params, rulesets.to_vec()).expect("the rules fit"),
    ));
    matcher.classify(frame)
}

fn matched(result: MatchResult) -> bool {
    result != MatchResult::Bypass
}

#[test]
fn slmp_packets_match_with_the_message_id_in_stream_order() {
    let result = classify(&[slmp()], &SLMP_END_OF_MESSAGE);
    let wanted = MatchResult::Matched {
        ruleset: 0,
        eom: true,
        message_id: 0x0403_0201,
        size: 60,
    };
    assert_eq!(result, wanted);
    assert_eq!(result.tag(), Some(0x0403_0201 << 3 | 1 << 2));
    assert_eq!(
        MatchResult::from_metadata(0x0403_0201 << 3 | 1 << 2, 60),
        Some(wanted)
    );
    assert_eq!(MatchResult::Bypass.tag(), None);
    assert_eq!(
        MatchResult::from_metadata(1 << 35, 60),
        None,
        "bits above the message id must be zero"
    );
}

#[test]
fn without_the_flag_the_message_does_not_end() {
    let mut frame = SLMP_END_OF_MESSAGE;
    frame[42] = 0x40;
    let result = classify(&[slmp()], &frame);
    assert!(
        matches!(result, MatchResult::Matched { eom: false, .. }),
        "{result:?}"
    );
}

#[test]
fn the_end_of_message_rule_does_not_decide_the_match() {
    let set = Ruleset {
        end_of_message: Rule::ALWAYS,
        ..or(&[])
    };
    assert_eq!(classify(&[set], &SLMP_END_OF_MESSAGE), MatchResult::Bypass);
}

#[test]
fn lowest_ruleset_wins_and_its_own_end_of_message_rule_counts() {
    let ruleset_of = |rulesets: &[Ruleset]| match classify(rulesets, &SLMP_END_OF_MESSAGE) {
        MatchResult::Matched { ruleset, eom, .. } => Some((ruleset, eom)),
        MatchResult::Bypass => None,
    };
    assert_eq!(
        ruleset_of(&[or(&[]), and(&[Rule::IPV4]), slmp()]),
        Some((1, false))
    );
    assert_eq!(ruleset_of(&[slmp(), and(&[Rule::IPV4])]), Some((0, true)));
    assert_eq!(ruleset_of(&[or(&[]), or(&[]), or(&[]), slmp()]), Some((3, true)));
}

#[test]
fn and_needs_every_rule_and_or_needs_one() {
    let yes = Rule::IPV4;
    let no = Rule::ip_protocol(6, 6);
    assert!(matched(classify(&[and(&[yes, yes])], &SLMP_END_OF_MESSAGE)));
    assert!(!matched(classify(&[and(&[yes, no])], &SLMP_END_OF_MESSAGE)));
    assert!(matched(classify(&[or(&[no, no, yes])], &SLMP_END_OF_MESSAGE)));
    assert!(!matched(classify(&[or(&[no, no])], &SLMP_END_OF_MESSAGE)));
}

#[test]
fn ranges_compare_in_network_order_and_are_inclusive() {
    let port = |first, last| {
        matched(classify(
            &[and(&[Rule::udp_destination_port(first, last)])],
            &SLMP_END_OF_MESSAGE,
        ))
    };
    assert!(port(9330, 9400) && port(9000, 9330) && port(0, 65535));
    assert!(!port(9331, 9400) && !port(9000, 9329));
}

#[test]
fn partial_words_do_not_match() {
    let word_12 = Rule {
        idx: 12,
        ..Rule::ALWAYS
    };
    assert!(matched(classify(&[and(&[word_12])], &SLMP_END_OF_MESSAGE[..52])));
    for len in 48..52 {
        assert!(
            !matched(classify(&[and(&[word_12])], &SLMP_END_OF_MESSAGE[..len])),
            "{len} bytes"
        );
    }
    assert!(matched(classify(&[and(&[Rule::ALWAYS])], &[0; 4])));
    assert!(!matched(classify(&[and(&[Rule::ALWAYS])], &[0; 3])));
}

#[test]
fn message_id_is_zero_when_the_frame_ends_before_byte_48() {
    let id = |len: usize| match classify(&[and(&[Rule::IPV4])], &SLMP_END_OF_MESSAGE[..len]) {
        MatchResult::Matched { message_id, size, .. } => (message_id, size),
        MatchResult::Bypass => panic!("{len} bytes must match"),
    };
    assert_eq!(id(47), (0, 47));
    assert_eq!(id(48), (0x0403_0201, 48));
}

#[test]
fn words_beyond_the_inspected_beats_never_match() {
    let frame = [0xff; 300];
    let at = |params: &MatcherParams, idx| {
        matched(classify_with(
            params,
            &[or(&[Rule {
                idx,
                mask: u32::MAX,
                start: 0,
                end: u32::MAX,
                relative: false,
            }])],
            &frame,
        ))
    };
    let reference = MatcherParams::REFERENCE;
    assert!(
        at(&reference, 31) && !at(&reference, 32) && !at(&reference, u32::MAX) && !at(&reference, 1 << 30)
    );
    let narrow = MatcherParams {
        data_width_bits: 64,
        ..reference
    };
    assert_eq!(narrow.inspected_words(), 18, "66 bytes are nine beats of eight");
    assert!(at(&narrow, 17) && !at(&narrow, 18));
}

#[test]
fn nothing_matches_without_latched_rules() {
    let params = MatcherParams::REFERENCE;
    let mut matcher = ReferenceMatcher::new(&params).expect("the reference sizes are possible");
    assert_eq!(matcher.classify(&SLMP_END_OF_MESSAGE), MatchResult::Bypass);
    matcher.latch(Some(
        RuleTable::new(&params, vec![and(&[])]).expect("the rules fit"),
    ));
    assert!(
        matched(matcher.classify(&SLMP_END_OF_MESSAGE)),
        "an AND of nothing matches"
    );
    matcher.latch(None);
    assert_eq!(matcher.classify(&SLMP_END_OF_MESSAGE), MatchResult::Bypass);
}

#[test]
fn ports_carry_the_register_encoding_ruleset_major() {
    let table =
        RuleTable::new(&MatcherParams::REFERENCE, vec![slmp(), or(&[Rule::IPV4])]).expect("the rules fit");
    let ports = table.port_values();
    assert_eq!(
        ports.mode, 0b1110,
        "unused rulesets are an OR of rules that never match"
    );
    assert_eq!(ports.idx[..8], [3, 5, 9, 10, 3, 0, 0, 0]);
    assert_eq!(
        ports.mask[..4],
        [0x0000_ffff, 0xff00_0000, 0x0000_ffff, 0x0080_0000]
    );
    assert_eq!(
        ports.start[..4],
        [0x0000_0008, 0x1100_0000, 0x0000_7224, 0x0080_0000]
    );
    assert_eq!(
        (ports.start[5], ports.end[5]),
        (0x0100_0000, 0),
        "an unused rule of an OR set never matches"
    );
    assert_eq!(ports.end.len(), 16);
}

#[test]
fn too_many_rules_are_rejected() {
    let params = MatcherParams::REFERENCE;
    let error = RuleTable::new(&params, vec![or(&[]); 5]).expect_err("there are four rulesets");
    assert_eq!(
        error,
        TableError::Rulesets {
            given: 5,
            available: 4
        }
    );
    let error =
        RuleTable::new(&params, vec![or(&[]), or(&[Rule::NEVER; 4])]).expect_err("there are three rules");
    assert_eq!(
        error.to_string(),
        "ruleset 1 has 4 rules, but the matcher has 3 besides the end-of-message rule"
    );
}

#[test]
fn impossible_sizes_are_rejected() {
    let reference = MatcherParams::REFERENCE;
    let cases = [
        (
            MatcherParams {
                data_width_bits: 96,
                ..reference
            },
            "data width 96",
        ),
        (
            MatcherParams {
                data_width_bits: 32,
                ..reference
            },
            "data width 32",
        ),
        (
            MatcherParams {
                data_width_bits: 2048,
                ..reference
            },
            "data width 2048",
        ),
        (
            MatcherParams {
                data_width_bits: 0,
                ..reference
            },
            "data width 0",
        ),
        (
            MatcherParams {
                rulesets: 5,
                ..reference
            },
            "rulesets 5",
        ),
        (
            MatcherParams {
                rules_per_ruleset: 1,
                ..reference
            },
            "rules per ruleset 1",
        ),
        (
            MatcherParams {
                inspected_bytes: 257,
                ..reference
            },
            "inspected bytes 257",
        ),
        (
            MatcherParams {
                inspected_bytes: 0,
                ..reference
            },
            "inspected bytes 0",
        ),
    ];
    for (params, start) in cases {
        let error = ReferenceMatcher::new(&params).expect_err(start).to_string();
        assert!(error.starts_with(&format!("{start} is not possible")), "{error}");
    }
}

/// The definition of a match, written bit by bit and without the model's helpers.
fn rule_by_definition(words: usize, rule: &Rule, frame: &[u8]) -> bool {
    let first = u64::from(rule.idx) * 4;
    if u64::from(rule.idx) >= words as u64 || first + 4 > frame.len() as u64 {
        return false;
    }
    let first = first as usize;
    let value = (0..4).fold(0u64, |value, byte| value * 256 + u64::from(frame[first + byte]));
    let value = value & u64::from(rule.mask);
    u64::from(rule.start) <= value && value <= u64::from(rule.end)
}

fn any_rule() -> impl Strategy<Value = Rule> {
    (
        0u32..40,
        prop_oneof![Just(0u32), Just(0xffff), Just(0xffff_0000), any::<u32>()],
        any::<u32>(),
        any::<u32>(),
    )
        .prop_map(|(idx, mask, start, end)| Rule {
            idx,
            mask,
            start: start & mask,
            end,
            relative: false,
        })
}

fn any_set() -> impl Strategy<Value = Ruleset> {
    (
        any::<bool>(),
        proptest::collection::vec(any_rule(), 3),
        any_rule(),
    )
        .prop_map(|(all, rules, end_of_message)| Ruleset {
            join: if all { Join::And } else { Join::Or },
            rules,
            end_of_message,
        })
}

proptest! {
    #[test]
    fn classifies_as_defined(
        sets in proptest::collection::vec(any_set(), 1..=4),
        frame in proptest::collection::vec(any::<u8>(), 1..200),
        width in prop_oneof![Just(64usize), Just(128), Just(512), Just(1024)],
    ) {
        let params = MatcherParams { data_width_bits: width, ..MatcherParams::REFERENCE };
        let words = params.inspected_words();
        let set_matches = |set: &Ruleset| {
            let hits = set.rules.iter().filter(|rule| rule_by_definition(words, rule, &frame)).count();
            if set.join == Join::And { hits == set.rules.len() } else { hits > 0 }
        };
        let wanted = sets.iter().position(set_matches).map_or(MatchResult::Bypass, |ruleset| {
            let id = |byte: usize| u32::from(frame[44 + byte]) << (8 * byte);
            MatchResult::Matched {
                ruleset: ruleset as u8,
                eom: rule_by_definition(words, &sets[ruleset].end_of_message, &frame),
                message_id: if frame.len() < 48 { 0 } else { id(0) | id(1) | id(2) | id(3) },
                size: frame.len() as u32,
            }
        });
        prop_assert_eq!(classify_with(&params, &sets, &frame), wanted);
    }

    #[test]
    fn bytes_after_the_last_whole_word_do_not_change_the_match(
        set in any_set(),
        frame in proptest::collection::vec(any::<u8>(), 4..160),
        tail in any::<[u8; 3]>(),
    ) {
        let whole = frame.len() / 4 * 4;
        let mut longer = frame[..whole].to_vec();
        longer.extend_from_slice(&tail);
        let decision = |frame: &[u8]| match classify(std::slice::from_ref(&set), frame) {
            MatchResult::Matched { ruleset, eom, message_id, .. } => Some((ruleset, eom, message_id)),
            MatchResult::Bypass => None,
        };
        prop_assert_eq!(decision(&frame[..whole]), decision(&longer));
    }

    #[test]
    fn tags_survive(ruleset in 0u8..4, eom: bool, message_id: u32, size: u32) {
        let result = MatchResult::Matched { ruleset, eom, message_id, size };
        let tag = result.tag().expect("a matched frame has a tag");
        prop_assert_eq!(MatchResult::from_metadata(tag, size), Some(result));
    }
}
