//! Rules relative to the IP payload in rule files: what they mean.

use proptest::prelude::*;
use spinneret_packets::reference::matcher::{RuleTable, TableError};
use spinneret_regmap::matching::Rule;
use spinneret_rules::{MatcherParams, RuleFile, RuleFileError};

fn parse(entry: &str, params: &MatcherParams) -> Result<RuleFile, RuleFileError> {
    let text = format!("[[ruleset]]\nrules = [{entry}]\n");
    RuleFile::parse("rules.toml", text.as_bytes(), params)
}

fn rule(entry: &str) -> Rule {
    let file = parse(entry, &MatcherParams::BOARD).unwrap_or_else(|error| panic!("{error}"));
    assert!(file.is_relative());
    file.rulesets[0].ruleset.rules[0]
}

#[test]
fn named_rules_look_into_the_payload() {
    assert_eq!(
        rule("{ udp-dport = '5000-5999', relative = 'ip-payload' }"),
        Rule::ip_payload_destination_port(5000, 5999)
    );
    assert_eq!(
        rule("{ relative = 'ip-payload', udp-sport = 53 }"),
        Rule::ip_payload_source_port(53, 53)
    );
    for (name, expected) in [
        ("icmp-echo-request", Rule::IP_PAYLOAD_ICMP_ECHO_REQUEST),
        ("slmp-eom", Rule::IP_PAYLOAD_SLMP_END_OF_MESSAGE),
        ("slmp-syn", Rule::IP_PAYLOAD_SLMP_SYN),
        ("slmp-ack", Rule::IP_PAYLOAD_SLMP_ACK),
    ] {
        let entry = format!("{{ name = '{name}', relative = 'ip-payload' }}");
        assert_eq!(rule(&entry), expected, "{name}");
    }
}

#[test]
fn a_name_in_braces_without_relative_is_the_name() {
    let file = parse("{ name = 'slmp-eom' }", &MatcherParams::REFERENCE).expect("the rule is right");
    assert_eq!(file.rulesets[0].ruleset.rules, [Rule::SLMP_END_OF_MESSAGE]);
    assert!(!file.is_relative());
}

#[test]
fn a_matcher_without_the_option_refuses_relative_rules() {
    let entry = "{ udp-dport = 9330, relative = 'ip-payload' }";
    let sets = parse(entry, &MatcherParams::BOARD)
        .expect("the rule is right")
        .rulesets;
    let sets: Vec<_> = sets.into_iter().map(|named| named.ruleset).collect();
    let refused = RuleTable::new(&MatcherParams::REFERENCE, sets);
    assert_eq!(refused, Err(TableError::Relative { ruleset: 0 }));
    assert_eq!(
        TableError::Relative { ruleset: 0 }.to_string(),
        "a rule of ruleset 0 counts from the IP payload, but the matcher is one without the option ip_relative"
    );
}

#[test]
fn the_last_inspected_word_can_be_used() {
    assert_eq!(
        rule("{ idx = 22, mask = 0, start = 0, end = 0, relative = 'ip-payload' }"),
        Rule {
            idx: 22,
            ..Rule::ALWAYS
        }
        .in_ip_payload()
    );
}

#[test]
fn flags_are_ports_ruleset_major() {
    let text = b"[[ruleset]]\nrules = ['ipv4', { udp-dport = 1, relative = 'ip-payload' }]\n\
                 [[ruleset]]\nrules = ['ipv4']\nend-of-message = { name = 'slmp-eom', relative = 'ip-payload' }\n";
    let file = RuleFile::parse("rules.toml", text, &MatcherParams::BOARD).expect("the rules are right");
    let table = RuleTable::of(&MatcherParams::BOARD, &file).expect("they fit");
    let set: Vec<usize> = (0..16).filter(|bit| table.port_values().relative[*bit]).collect();
    assert_eq!(set, [1, 7]);
}

proptest! {
    #[test]
    fn raw_rules_mean_their_numbers(idx in 0u32..23, mask: u32, start: u32, span in 0u32..1000) {
        let (start, end) = (start & mask, (start & mask).saturating_add(span));
        let entry = format!(
            "{{ idx = {idx}, mask = {mask}, start = {start}, end = {end}, relative = \"ip-payload\" }}"
        );
        prop_assert_eq!(rule(&entry), Rule { idx, mask, start, end, relative: true });
    }
}
