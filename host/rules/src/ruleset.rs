//! Which packets go to handlers.

use spinneret_regmap::RULES_PER_RULESET;
use spinneret_regmap::matching::Rule;

/// Rules that decide whether a packet matches; the last one of the hardware's marks the end of messages.
const DECIDING_RULES: usize = RULES_PER_RULESET as usize - 1;

/// How the rules of a ruleset are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Join {
    /// All of them have to match.
    #[default]
    And,
    /// One of them has to match.
    Or,
}

impl Join {
    /// The bit of the ruleset in the registers.
    pub const fn bit(self) -> u32 {
        match self {
            Self::And => 0,
            Self::Or => 1,
        }
    }

    /// What a bit of the registers says.
    pub const fn of_bit(bit: u32) -> Self {
        match bit & 1 {
            0 => Self::And,
            _ => Self::Or,
        }
    }

    /// The rule that changes nothing when it is joined with others.
    pub const fn neutral_rule(self) -> Rule {
        match self {
            Self::And => Rule::ALWAYS,
            Self::Or => Rule::NEVER,
        }
    }
}

/// Which packets go to handlers, and which of them ends a message.
///
/// ```
/// use spinneret_rules::{Rule, Ruleset};
///
/// let slmp = Ruleset::all()
///     .rule(Rule::IPV4)
///     .rule(Rule::ip_protocol(17, 17))
///     .rule(Rule::udp_destination_port(9330, 9330))
///     .end_of_message(Rule::SLMP_END_OF_MESSAGE);
/// assert!(slmp.check().is_ok());
/// assert!(Ruleset::any().check().is_ok(), "it matches nothing");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ruleset {
    /// How the rules are joined.
    pub join: Join,
    /// The rules that decide the match.
    pub rules: Vec<Rule>,
    /// Marks the last packet of a message; does not decide the match.
    pub end_of_message: Rule,
}

/// A ruleset and what its author calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRuleset {
    /// The name in the file, if there is one.
    pub name: Option<String>,
    /// The rules as they are written, without unused ones.
    pub ruleset: Ruleset,
}

/// Why the hardware cannot hold a ruleset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesetError {
    /// Too many rules.
    #[error("a ruleset has at most {DECIDING_RULES} rules and the one that ends messages, not {0}")]
    TooMany(usize),
    /// A rule that no packet can match, unless it says so on purpose.
    #[error(
        "rule {number} matches nothing: no value of mask {mask:#010x} is from {start:#010x} to {end:#010x}"
    )]
    Never {
        /// Which rule, from 1.
        number: usize,
        /// Its mask.
        mask: u32,
        /// Its smallest value.
        start: u32,
        /// Its largest value.
        end: u32,
    },
}

impl Ruleset {
    /// Which packets end a message if nobody says: all of them, so that every packet is a message of its own, and the
    /// context's handlers can be changed at any time. The public cluster joins such messages if they meet in a queue, and may
    /// keep some until more come: there, handlers that need no end want [`Rule::NEVER`], and a message without end keeps its
    /// handlers.
    pub const USUAL_END: Rule = Rule::ALWAYS;

    /// Packets that match all rules; with no rule at all, every packet.
    pub fn all() -> Self {
        Self::joined(Join::And)
    }

    /// Packets that match one of the rules or more; with no rule at all, none.
    pub fn any() -> Self {
        Self::joined(Join::Or)
    }

    /// Matches no packet, and ends no message: what a place of the hardware that nobody uses holds.
    pub fn never() -> Self {
        Self::any().end_of_message(Rule::NEVER)
    }

    fn joined(join: Join) -> Self {
        Self {
            join,
            rules: Vec::new(),
            end_of_message: Self::USUAL_END,
        }
    }

    /// With one more rule.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// A packet that matches this ends its message, instead of [`Self::USUAL_END`].
    #[must_use]
    pub fn end_of_message(mut self, rule: Rule) -> Self {
        self.end_of_message = rule;
        self
    }

    /// Whether the hardware can hold it, and each rule can match something.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self) -> Result<(), RulesetError> {
        if self.rules.len() > DECIDING_RULES {
            return Err(RulesetError::TooMany(self.rules.len()));
        }
        let never = self
            .rules
            .iter()
            .position(|rule| !rule.can_match() && *rule != Rule::NEVER);
        match never {
            Some(position) => {
                let Rule { mask, start, end, .. } = self.rules[position];
                Err(RulesetError::Never {
                    number: position + 1,
                    mask,
                    start,
                    end,
                })
            }
            None => Ok(()),
        }
    }

    /// Whether a rule counts from the IP payload.
    pub fn is_relative(&self) -> bool {
        self.end_of_message.relative || self.rules.iter().any(|rule| rule.relative)
    }

    /// The rule for a place in the hardware, of which the last one ends messages; places that no rule was given for change
    /// nothing.
    pub fn at(&self, place: usize) -> Rule {
        match place {
            DECIDING_RULES => self.end_of_message,
            place => self.rules.get(place).copied().unwrap_or(self.join.neutral_rule()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_without_a_rule_change_nothing() {
        let one = Ruleset::all().rule(Rule::IPV4);
        assert_eq!(
            [one.at(0), one.at(1), one.at(2)],
            [Rule::IPV4, Rule::ALWAYS, Rule::ALWAYS]
        );
        let one = Ruleset::any().rule(Rule::IPV4);
        assert_eq!(
            [one.at(0), one.at(1), one.at(2)],
            [Rule::IPV4, Rule::NEVER, Rule::NEVER]
        );
        assert_eq!(one.at(3), Rule::ALWAYS, "every packet is a message");
        assert_eq!(
            one.end_of_message(Rule::SLMP_END_OF_MESSAGE).at(3),
            Rule::SLMP_END_OF_MESSAGE
        );
    }

    #[test]
    fn what_the_hardware_cannot_hold_is_refused() {
        let four = (0..4).fold(Ruleset::all(), |rules, _| rules.rule(Rule::IPV4));
        assert_eq!(four.check(), Err(RulesetError::TooMany(4)));
        let empty = Ruleset::all()
            .rule(Rule::IPV4)
            .rule(Rule::udp_destination_port(9, 8));
        let message = empty.check().unwrap_err().to_string();
        assert!(message.starts_with("rule 2 matches nothing"), "{message}");
        assert!(
            Ruleset::all().rule(Rule::NEVER).check().is_ok(),
            "somebody means it"
        );
    }
}
