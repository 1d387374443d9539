//! The rules that have names.

use crate::Problem;
use spinneret_regmap::matching::Rule;
use std::ops::{Range, RangeInclusive};
use toml::de::{DeInteger, DeValue};

/// UDP port of SLMP.
const SLMP_PORT: u16 = 9330;
/// IP protocol number of UDP.
const UDP: u8 = 17;

/// Meaning of a name.
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
    /// Its meaning relative to the IP payload, if any.
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

// Whole numbers and ranges of them.

/// The number that a TOML value is, if it is not larger than `max`.
pub(super) fn whole(what: &str, span: Range<usize>, value: &DeValue<'_>, max: u32) -> Result<u32, Problem> {
    let wrong = || {
        let found = describe(value);
        Problem::new(
            span,
            format!(
                "{what} must be a whole number from 0 to {}, not {found}",
                limit(max)
            ),
        )
    };
    match value {
        DeValue::Integer(number) => integer(number).filter(|number| *number <= max).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// The range that a TOML value is: a number, or text such as "1000-2000" with both ends included.
pub(super) fn range(
    what: &str,
    span: Range<usize>,
    value: &DeValue<'_>,
    max: u32,
) -> Result<RangeInclusive<u32>, Problem> {
    let DeValue::String(text) = value else {
        return whole(what, span, value, max).map(|number| number..=number);
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let ends = [first, last].map(|end| plain(end.trim()).filter(|number| *number <= max));
    let [Some(first), Some(last)] = ends else {
        let example = format!("{what} = {max}, or a range, {what} = \"1-{max}\"");
        return Err(Problem::new(
            span,
            format!("{what} must be a number from 0 to {max}: {example}, not {text:?}"),
        ));
    };
    if first > last {
        let swapped = format!("{what} = \"{last}-{first}\"");
        return Err(Problem::new(
            span,
            format!("the range {text:?} ends before it starts: write {swapped}"),
        ));
    }
    Ok(first..=last)
}

/// Describes the type of a value, for messages.
pub(super) fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn integer(number: &DeInteger<'_>) -> Option<u32> {
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A number in text: decimal, or hexadecimal after 0x.
fn plain(text: &str) -> Option<u32> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let only_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    only_digits
        .then(|| u32::from_str_radix(digits, radix).ok())
        .flatten()
}

/// Large limits read better in hexadecimal.
fn limit(max: u32) -> String {
    if max > 0xffff {
        format!("{max:#x}")
    } else {
        max.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range_of(text: &str) -> Option<RangeInclusive<u32>> {
        range("udp-dport", 0..0, &DeValue::String(text.into()), 0xffff).ok()
    }

    #[test]
    fn ranges_are_read_in_decimal_and_hexadecimal() {
        assert_eq!(range_of("1000-2000"), Some(1000..=2000));
        assert_eq!(range_of(" 1000 - 0x7d0 "), Some(1000..=2000));
        assert_eq!(range_of("53"), Some(53..=53));
        assert_eq!(range_of("0-65535"), Some(0..=65535));
    }

    #[test]
    fn rejects_invalid_ranges() {
        for text in [
            "",
            "-",
            "1-",
            "-1",
            "1-2-3",
            "2-1",
            "1-65536",
            "0x-1",
            "+1",
            "a-b",
            "99999999999",
        ] {
            assert_eq!(range_of(text), None, "{text:?}");
        }
    }
}
