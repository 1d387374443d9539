//! Rules, as plain structures.

use crate::border::{Failure, check_place, guarded, put, text};
use spinneret_host::{Join, MatcherParams, Rule, RuleFile, Ruleset};
use std::ffi::{c_char, c_int};
use std::path::Path;

/// A packet matches if all rules match.
pub const SPINNERET_ALL: u32 = 0;
/// A packet matches if one rule matches or more.
pub const SPINNERET_ANY: u32 = 1;
/// Most rules that decide.
pub const SPINNERET_RULES: usize = 3;

/// A rule: the word of the packet at bytes 4 * word to 4 * word + 3, first byte most significant, and with the mask, is at
/// least `first` and at most `last`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_rule {
    /// Which word.
    pub word: u32,
    /// Its bits that are compared.
    pub mask: u32,
    /// The smallest value that matches.
    pub first: u32,
    /// The largest value that matches.
    pub last: u32,
    /// 1: words are counted from the IP payload; 0: from the beginning of the packet.
    pub in_ip_payload: u32,
}

/// Which packets go to handlers. All bytes 0: all packets, and each is a message.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_ruleset {
    /// `SPINNERET_ALL` or `SPINNERET_ANY`.
    pub join: u32,
    /// How many of the rules there are. With none, all packets match `SPINNERET_ALL`, and none `SPINNERET_ANY`.
    pub count: u32,
    /// The rules.
    pub rules: [spinneret_rule; SPINNERET_RULES],
    /// 1: packets that match the next rule end a message; 0: every packet is a message.
    pub has_messages: u32,
    /// Which packets end a message.
    pub end_of_message: spinneret_rule,
}

impl From<Rule> for spinneret_rule {
    fn from(rule: Rule) -> Self {
        Self {
            word: rule.idx,
            mask: rule.mask,
            first: rule.start,
            last: rule.end,
            in_ip_payload: rule.relative.into(),
        }
    }
}

impl spinneret_rule {
    fn to_rule(self) -> Rule {
        Rule {
            idx: self.word,
            mask: self.mask,
            start: self.first,
            end: self.last,
            relative: self.in_ip_payload != 0,
        }
    }
}

impl From<&Ruleset> for spinneret_ruleset {
    fn from(ruleset: &Ruleset) -> Self {
        Self {
            join: match ruleset.join {
                Join::And => SPINNERET_ALL,
                Join::Or => SPINNERET_ANY,
            },
            count: ruleset.rules.len() as u32,
            rules: std::array::from_fn(|place| ruleset.at(place).into()),
            has_messages: (ruleset.end_of_message != Ruleset::USUAL_END).into(),
            end_of_message: ruleset.end_of_message.into(),
        }
    }
}

/// Reads the rules of one ruleset of a rule file, as docs/rules.md describes them; its number counts from 0. Gives back how
/// many rulesets the file has.
///
/// # Safety
/// `path` is a string; the rules are left at `rules`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_read_rules(
    path: *const c_char,
    number: u32,
    rules: *mut spinneret_ruleset,
) -> c_int {
    guarded(|| {
        check_place(rules, "rules")?;
        // SAFETY: the caller promises a string.
        let path = unsafe { text(path, "path") }?;
        let file = RuleFile::read(Path::new(path), &MatcherParams::BOARD)
            .map_err(|error| Failure::argument(error.to_string()))?;
        let count = file.rulesets.len();
        let named = file.rulesets.get(number as usize).ok_or_else(|| {
            Failure::argument(format!(
                "{path}: there is no ruleset {number}, but {count} of them"
            ))
        })?;
        // SAFETY: the caller promises the place.
        unsafe { put(rules, "rules", (&named.ruleset).into()) }?;
        Ok(count as c_int)
    })
}

/// The rules of the caller.
///
/// # Safety
/// They are null, or can be read.
pub(crate) unsafe fn ruleset(rules: *const spinneret_ruleset) -> Result<Ruleset, Failure> {
    if rules.is_null() {
        return Err(Failure::argument("rules is a null pointer"));
    }
    // SAFETY: the caller says that they can be read; every pattern of bits is a ruleset.
    let rules = unsafe { rules.read_unaligned() };
    let joined = match rules.join {
        SPINNERET_ALL => Ruleset::all(),
        SPINNERET_ANY => Ruleset::any(),
        join => {
            return Err(Failure::argument(format!(
                "join is {join}, and neither SPINNERET_ALL nor SPINNERET_ANY"
            )));
        }
    };
    let Some(given) = rules.rules.get(..rules.count as usize) else {
        return Err(Failure::argument(format!(
            "a ruleset has at most {SPINNERET_RULES} rules, not {}",
            rules.count
        )));
    };
    let decide = given
        .iter()
        .fold(joined, |joined, rule| joined.rule(rule.to_rule()));
    Ok(match rules.has_messages {
        0 => decide,
        _ => decide.end_of_message(rules.end_of_message.to_rule()),
    })
}

/// IPv4, in a packet without VLAN tags.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_ipv4() -> spinneret_rule {
    Rule::IPV4.into()
}

/// IPv4 protocol number from `first` to `last`; 17 is UDP.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_ip_protocol(first: u8, last: u8) -> spinneret_rule {
    Rule::ip_protocol(first, last).into()
}

/// UDP (or TCP) destination port from `first` to `last`, after an IPv4 header of 20 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_udp_destination_port(first: u16, last: u16) -> spinneret_rule {
    Rule::udp_destination_port(first, last).into()
}

/// UDP (or TCP) source port from `first` to `last`, after an IPv4 header of 20 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_udp_source_port(first: u16, last: u16) -> spinneret_rule {
    Rule::udp_source_port(first, last).into()
}

/// UDP (or TCP) destination port from `first` to `last`, behind any IP header. The public design cannot do it.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_ip_payload_destination_port(first: u16, last: u16) -> spinneret_rule {
    Rule::ip_payload_destination_port(first, last).into()
}

/// UDP (or TCP) source port from `first` to `last`, behind any IP header. The public design cannot do it.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_rule_ip_payload_source_port(first: u16, last: u16) -> spinneret_rule {
    Rule::ip_payload_source_port(first, last).into()
}
