//! Which packets go to handlers.

use spinneret_regmap::RULES_PER_RULESET;
use spinneret_regmap::matching::Rule;

/// Rules that decide whether a packet matches; the last one of the hardware's marks the end of messages.
pub(crate) const DECIDING_RULES: usize = RULES_PER_RULESET as usize - 1;

/// How the rules of a ruleset are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Join {
    /// All of them have to match.
    #[default]
    And,
    /// One of them has to match.
    Or,
}

/// Which packets go to handlers, and which of them ends a message.
///
/// ```
/// use spinneret_host::{Rule, Ruleset};
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
    join: Join,
    rules: Vec<Rule>,
    end_of_message: Rule,
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
    /// Packets that match all rules; with no rule at all, every packet.
    pub fn all() -> Self {
        Self::joined(Join::And)
    }

    /// Packets that match one of the rules or more; with no rule at all, none.
    pub fn any() -> Self {
        Self::joined(Join::Or)
    }

    fn joined(join: Join) -> Self {
        Self {
            join,
            rules: Vec::new(),
            end_of_message: Rule::ALWAYS,
        }
    }

    /// With one more rule.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// A packet that matches this ends its message; without it, every packet is a message of its own, so that the context's
    /// handlers can be changed at any time. The public cluster joins such messages if they meet in a queue, and may keep some
    /// until more come: there, handlers that need no end want [`Rule::NEVER`], and a message without end keeps its handlers.
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

    /// How its rules are joined.
    pub fn join(&self) -> Join {
        self.join
    }

    /// The rule for a place in the hardware. Places that no rule was given for always match where all have to, and never
    /// where one is enough.
    pub(crate) fn at(&self, place: u32) -> Rule {
        let rest = match self.join {
            Join::And => Rule::ALWAYS,
            Join::Or => Rule::NEVER,
        };
        match place as usize {
            DECIDING_RULES => self.end_of_message,
            place => self.rules.get(place).copied().unwrap_or(rest),
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
