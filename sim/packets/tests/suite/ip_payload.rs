//! Where the reference model sees the IP payload, on literal headers and against an independent parser.

use etherparse::{EtherType, LaxLinkExtSlice, LaxNetSlice, LaxSlicedPacket};
use proptest::prelude::*;
use spinneret_packets::reference::matcher::{
    MatchResult, ReferenceMatcher, RuleTable, TableError, ip_payload_start,
};
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, RuleFile, RuleFileError, Ruleset};

/// A frame with these bytes behind the addresses, filled up to a size.
fn frame(headers: &[u8], size: usize) -> Vec<u8> {
    let mut frame = vec![0x02; 12];
    frame.extend_from_slice(headers);
    frame.resize(size, 0);
    frame
}

#[test]
fn payload_starts_after_tags_and_header() {
    let cases: [(&[u8], Option<usize>); 16] = [
        (&[0x08, 0x00, 0x45], Some(34)),
        (&[0x08, 0x00, 0x4f], Some(74)),
        (&[0x08, 0x00, 0x44], None),
        (&[0x08, 0x00, 0x65], None),
        (&[0x86, 0xdd, 0x60], Some(54)),
        (&[0x86, 0xdd, 0x6f], Some(54)),
        (&[0x86, 0xdd, 0x40], None),
        (&[0x08, 0x06, 0x45], None),
        (&[0x81, 0x00, 0, 5, 0x08, 0x00, 0x46], Some(42)),
        (&[0x88, 0xa8, 0, 5, 0x08, 0x00, 0x45], Some(38)),
        (&[0x91, 0x00, 0, 5, 0x08, 0x00, 0x45], None),
        (&[0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 7, 0x86, 0xdd, 0x61], Some(62)),
        (&[0x81, 0x00, 0, 5, 0x88, 0xa8, 0, 7, 0x08, 0x00, 0x4f], Some(82)),
        (
            &[
                0x81, 0x00, 0, 5, 0x81, 0x00, 0, 5, 0x81, 0x00, 0, 7, 0x08, 0x00, 0x45,
            ],
            None,
        ),
        (&[0x81, 0x00, 0x08, 0x00, 0x45], None),
        (&[0x00, 0x2e, 0x08, 0x00, 0x45], None),
    ];
    for (headers, expected) in cases {
        assert_eq!(ip_payload_start(&frame(headers, 100)), expected, "{headers:02x?}");
    }
}

#[test]
fn a_frame_is_ip_from_the_first_byte_of_the_ip_header_on() {
    let headers = [0x81, 0x00, 0, 5, 0x08, 0x00, 0x46, 0x00];
    let whole = frame(&headers, 100);
    for size in 0..100 {
        let expected = (size > 18).then_some(42);
        assert_eq!(ip_payload_start(&whole[..size]), expected, "{size} bytes");
    }
}

/// Classifies by one ruleset with one rule.
fn classify(params: &MatcherParams, rule: Rule, frame: &[u8]) -> MatchResult {
    let set = Ruleset {
        join: Join::And,
        rules: vec![rule],
        end_of_message: Rule::NEVER,
    };
    let mut matcher = ReferenceMatcher::new(params).expect("the sizes are possible");
    matcher.latch(Some(RuleTable::new(params, vec![set]).expect("the rule fits")));
    matcher.classify(frame)
}

#[test]
fn message_id_follows_the_payload_only_with_the_option() {
    let mut bytes = frame(&[0x81, 0x00, 0, 5, 0x08, 0x00, 0x46], 100);
    bytes[44..48].copy_from_slice(&[1, 2, 3, 4]);
    bytes[52..56].copy_from_slice(&[5, 6, 7, 8]);
    let id = |params: &MatcherParams, frame: &[u8]| match classify(params, Rule::ALWAYS, frame) {
        MatchResult::Matched { message_id, .. } => message_id,
        MatchResult::Bypass => panic!("every frame matches"),
    };
    assert_eq!(id(&MatcherParams::REFERENCE, &bytes), 0x0403_0201);
    assert_eq!(id(&MatcherParams::BOARD, &bytes), 0x0807_0605);
    assert_eq!(id(&MatcherParams::BOARD, &bytes[..55]), 0);
    bytes[16] = 0x99;
    assert_eq!(id(&MatcherParams::BOARD, &bytes), 0x0403_0201);
}

/// The start of the payload as etherparse sees it, which knows a third kind of tag and needs a whole IP header.
fn by_etherparse(frame: &[u8]) -> Option<usize> {
    let packet = LaxSlicedPacket::from_ethernet(frame).ok()?;
    let tags = packet.link_exts.len();
    let known = |ext: &LaxLinkExtSlice<'_>| matches!(ext, LaxLinkExtSlice::Vlan(_));
    if tags > 2 || !packet.link_exts.iter().all(known) {
        return None;
    }
    // The parser goes by the version in the header; a matcher wants it to be that of the Ethernet type.
    let kind = packet.ether_payload()?.ether_type;
    let header = match packet.net? {
        LaxNetSlice::Ipv4(ip) if kind == EtherType::IPV4 => ip.header().slice().len(),
        LaxNetSlice::Ipv6(ip) if kind == EtherType::IPV6 => ip.header().slice().len(),
        _ => return None,
    };
    Some(14 + 4 * tags + header)
}

fn tag() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![
        Just(EtherType::VLAN_TAGGED_FRAME),
        Just(EtherType::PROVIDER_BRIDGING)
    ];
    (kind, any::<[u8; 2]>()).prop_map(|(kind, id)| [kind.0.to_be_bytes(), id].concat())
}

/// Ethernet types and first bytes of what follows, of which most belong together.
fn network_header() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![
        4 => Just(0x0800_u16),
        2 => Just(0x86dd),
        1 => Just(0x0806),
        // Neither a tag of any kind nor MACsec, of which etherparse knows more.
        1 => any::<u16>().prop_filter("no tag", |kind| ![0x8100, 0x88a8, 0x9100, 0x88e5].contains(kind)),
    ];
    let version = prop_oneof![4 => Just(4_u8), 2 => Just(6), 1 => 0..16_u8];
    (kind, version, 0..16_u8).prop_map(|(kind, version, ihl)| {
        let mut bytes = kind.to_be_bytes().to_vec();
        bytes.push(version << 4 | ihl);
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn agrees_with_an_independent_parser(
        tags in proptest::collection::vec(tag(), 0..=3),
        network in network_header(),
        rest in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let headers = [tags.concat(), network, rest].concat();
        let bytes = frame(&headers, 12 + headers.len());
        let start = ip_payload_start(&bytes);
        // A header that is cut off is none for etherparse, and a payload behind the end for the matcher.
        let complete = start.filter(|start| *start <= bytes.len());
        prop_assert_eq!(complete, by_etherparse(&bytes));
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_never_match_beyond_their_end(
        bytes in proptest::collection::vec(any::<u8>(), 0..90),
        idx: u32,
    ) {
        let _ = ip_payload_start(&bytes);
        let rule = Rule { idx, ..Rule::ALWAYS }.in_ip_payload();
        let matched = classify(&MatcherParams::BOARD, rule, &bytes) != MatchResult::Bypass;
        let end = ip_payload_start(&bytes).map(|start| start + 4 * idx as usize + 4);
        prop_assert_eq!(matched, end.is_some_and(|end| end <= bytes.len()));
    }
}

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
fn named_rules_match_the_payload() {
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
fn a_matcher_without_the_option_rejects_relative_rules() {
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
    fn raw_rules_use_their_numbers(idx in 0u32..23, mask: u32, start: u32, span in 0u32..1000) {
        let (start, end) = (start & mask, (start & mask).saturating_add(span));
        let entry = format!(
            "{{ idx = {idx}, mask = {mask}, start = {start}, end = {end}, relative = \"ip-payload\" }}"
        );
        prop_assert_eq!(rule(&entry), Rule { idx, mask, start, end, relative: true });
    }
}
