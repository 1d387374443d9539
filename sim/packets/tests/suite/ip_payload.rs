//! Where the reference model sees the IP payload, on literal headers and against an independent parser.

use etherparse::{EtherType, LaxLinkExtSlice, LaxNetSlice, LaxSlicedPacket};
use proptest::prelude::*;
use spinneret_packets::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable, ip_payload_start};
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};

/// A frame with these bytes behind the addresses, filled up to a size.
fn frame(headers: &[u8], size: usize) -> Vec<u8> {
    let mut frame = vec![0x02; 12];
    frame.extend_from_slice(headers);
    frame.resize(size, 0);
    frame
}

#[test]
fn payload_starts_behind_tags_and_header() {
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
fn message_id_follows_the_payload_with_the_option_only() {
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
    fn arbitrary_bytes_never_panic_and_never_match_behind_their_end(
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
