//! The rules that have names.

use spinneret_regmap::matching::Rule;

/// UDP port of SLMP.
const SLMP_PORT: u16 = 9330;
/// IP protocol number of UDP.
const UDP: u8 = 17;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// One rule, written as its name.
    Plain(Rule),
    /// One rule, written as a table with a number or a range up to the limit.
    Valued {
        limit: u32,
        example: &'static str,
        make: fn(u32, u32) -> Rule,
    },
    /// Three rules joined by AND, written as the name, or as a table with a port or a range of ports.
    Slmp,
}

/// A name and what it stands for.
#[derive(Debug)]
pub(super) struct NamedRule {
    pub(super) name: &'static str,
    pub(super) meaning: Meaning,
    /// What it stands for when it counts from the IP payload, if it looks at something there.
    pub(super) in_ip_payload: Option<Meaning>,
}

/// All names.
pub(super) const ALL: &[NamedRule] = &[
    NamedRule {
        name: "always",
        meaning: Meaning::Plain(Rule::ALWAYS),
        in_ip_payload: None,
    },
    NamedRule {
        name: "never",
        meaning: Meaning::Plain(Rule::NEVER),
        in_ip_payload: None,
    },
    NamedRule {
        name: "ipv4",
        meaning: Meaning::Plain(Rule::IPV4),
        in_ip_payload: None,
    },
    NamedRule {
        name: "ip-proto",
        meaning: Meaning::Valued {
            limit: 0xff,
            example: "17",
            make: |first, last| Rule {
                start: first,
                end: last,
                ..Rule::ip_protocol(0, 0)
            },
        },
        in_ip_payload: None,
    },
    NamedRule {
        name: "udp-sport",
        meaning: Meaning::Valued {
            limit: 0xffff,
            example: "53",
            make: |first, last| Rule {
                start: first,
                end: last,
                ..Rule::udp_source_port(0, 0)
            },
        },
        in_ip_payload: Some(Meaning::Valued {
            limit: 0xffff,
            example: "53",
            make: |first, last| Rule {
                start: first << 16,
                end: last << 16,
                ..Rule::ip_payload_source_port(0, 0)
            },
        }),
    },
    NamedRule {
        name: "udp-dport",
        meaning: Meaning::Valued {
            limit: 0xffff,
            example: "9330",
            make: destination_ports,
        },
        in_ip_payload: Some(Meaning::Valued {
            limit: 0xffff,
            example: "9330",
            make: |first, last| Rule {
                start: first,
                end: last,
                ..Rule::ip_payload_destination_port(0, 0)
            },
        }),
    },
    NamedRule {
        name: "icmp-echo-request",
        meaning: Meaning::Plain(Rule::ICMP_ECHO_REQUEST),
        in_ip_payload: Some(Meaning::Plain(Rule::IP_PAYLOAD_ICMP_ECHO_REQUEST)),
    },
    NamedRule {
        name: "slmp",
        meaning: Meaning::Slmp,
        in_ip_payload: None,
    },
    NamedRule {
        name: "slmp-eom",
        meaning: Meaning::Plain(Rule::SLMP_END_OF_MESSAGE),
        in_ip_payload: Some(Meaning::Plain(Rule::IP_PAYLOAD_SLMP_END_OF_MESSAGE)),
    },
    NamedRule {
        name: "slmp-syn",
        meaning: Meaning::Plain(Rule::SLMP_SYN),
        in_ip_payload: Some(Meaning::Plain(Rule::IP_PAYLOAD_SLMP_SYN)),
    },
    NamedRule {
        name: "slmp-ack",
        meaning: Meaning::Plain(Rule::SLMP_ACK),
        in_ip_payload: Some(Meaning::Plain(Rule::IP_PAYLOAD_SLMP_ACK)),
    },
];

/// The rule of that name.
pub(super) fn find(name: &str) -> Option<&'static NamedRule> {
    ALL.iter().find(|rule| rule.name == name)
}

/// All names, for suggestions.
pub(super) fn names() -> Vec<&'static str> {
    ALL.iter().map(|rule| rule.name).collect()
}

/// The rules of an SLMP packet to a port of the range, or to SLMP's own port.
pub(super) fn slmp(ports: Option<(u32, u32)>) -> Vec<Rule> {
    let (first, last) = ports.unwrap_or((SLMP_PORT.into(), SLMP_PORT.into()));
    vec![
        Rule::IPV4,
        Rule::ip_protocol(UDP, UDP),
        destination_ports(first, last),
    ]
}

fn destination_ports(first: u32, last: u32) -> Rule {
    Rule {
        start: first << 16,
        end: last << 16,
        ..Rule::udp_destination_port(0, 0)
    }
}
