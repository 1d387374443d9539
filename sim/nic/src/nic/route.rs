//! Which handlers the registers lead a frame to: the hardware counts the frames that it drops by cause, not by context.
//!
//! Rules and contexts are looked at when software writes the register that puts them in force, as the host library does
//! after each change.

use spinneret_packets::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable};
use spinneret_program::{Code, main_handler};
use spinneret_regmap::matching::RuleRegisters;
use spinneret_regmap::model::{Registers, Variant};
use spinneret_regmap::{CONTEXTS, RULES_PER_RULESET, RULESETS, her, her_meta, me};
use spinneret_rules::{Join, MatcherParams, Ruleset};

/// All bytes of a register.
const WHOLE: u8 = 0xf;

/// The matching engine and the contexts, as their registers say.
#[derive(Debug)]
pub(super) struct Route {
    registers: Registers,
    matcher: ReferenceMatcher,
    /// The handler of each context, or of context 0 in place of one that is disabled.
    handlers: Vec<Option<u32>>,
}

impl Route {
    pub(super) fn new() -> Self {
        Self {
            registers: Registers::new(Variant::Extended),
            matcher: ReferenceMatcher::new(&MatcherParams::BOARD).expect("boards have such a matcher"),
            handlers: Vec::new(),
        }
    }

    /// Software has written a register.
    pub(super) fn written(&mut self, register: u32, value: u32) {
        self.registers.write(register, value, WHOLE);
        let is_valid = value & 1 == 1;
        if register == me::VALID.offset {
            self.matcher.latch(is_valid.then(|| self.table()));
        } else if register == her::VALID.offset && is_valid {
            self.handlers = (0..CONTEXTS).map(|context| self.serving(context)).collect();
        }
    }

    /// The handler that a frame is for, if it matches.
    pub(super) fn of(&self, frame: &[u8]) -> Option<u32> {
        match self.matcher.classify(frame) {
            MatchResult::Matched { ruleset, .. } => *self.handlers.get(usize::from(ruleset))?,
            MatchResult::Bypass => None,
        }
    }

    fn table(&self) -> RuleTable {
        let rulesets = (0..RULESETS).map(|ruleset| self.ruleset(ruleset)).collect();
        RuleTable::new(&MatcherParams::BOARD, rulesets).expect("registers hold no more than there is")
    }

    fn ruleset(&self, ruleset: u32) -> Ruleset {
        let rule = |place| {
            let value = |register: fn(u32, u32) -> Option<u32>| self.value(register(ruleset, place));
            RuleRegisters {
                idx: value(me::idx),
                mask: value(me::mask),
                start: value(me::start),
                end: value(me::end),
                relative: value(me::relative),
            }
            .to_rule()
        };
        // The last rule of a ruleset tells the last packet of a message.
        let last = RULES_PER_RULESET - 1;
        Ruleset {
            join: Join::of_bit(self.value(me::mode(ruleset))),
            rules: (0..last).map(rule).collect(),
            end_of_message: rule(last),
        }
    }

    fn serving(&self, context: u32) -> Option<u32> {
        let is_enabled = |context: &u32| self.value(her::ctx_enabled(*context)) & 1 == 1;
        let context = [context, 0].into_iter().find(is_enabled)?;
        self.handler(context)
    }

    fn handler(&self, context: u32) -> Option<u32> {
        let value = |field: &str| self.value(her_meta::offset(field, context));
        let code = |[address, size]: [&str; 2]| Code {
            address: value(address),
            size: value(size),
        };
        main_handler(
            [
                ["hh_addr", "hh_size"],
                ["ph_addr", "ph_size"],
                ["th_addr", "th_size"],
            ]
            .map(code),
        )
    }

    /// What a register holds; one that is not there holds nothing.
    fn value(&self, offset: Option<u32>) -> u32 {
        offset
            .and_then(|offset| self.registers.value(offset))
            .unwrap_or(0)
    }
}
