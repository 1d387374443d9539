//! What the console answers, and what its LEDs show.

use super::code;
use spinneret_packets::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable};
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};

/// Bytes of the answer to `HELLO`, with code and length.
pub const OK_HELLO_BYTES: usize = 6;
/// The version that `HELLO` tells.
const VERSION: u8 = 1;

/// LEDs with a meaning of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Led {
    /// Rules are in force.
    Valid = 4,
    /// The last answer was an error.
    Failed = 5,
    /// The last packet matched.
    Matched = 6,
    /// Changes from time to time.
    Heartbeat = 7,
}

impl Led {
    /// Its bit.
    pub fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The console without its line and without time.
#[derive(Clone, Debug)]
pub struct ConsoleModel {
    params: MatcherParams,
    rules: Vec<Rule>,
    valid: bool,
    mode: u8,
    /// Matched packets.
    pub matches: u32,
    failed: bool,
    matched: bool,
}

impl ConsoleModel {
    /// The console after its reset.
    pub fn new(params: MatcherParams) -> Self {
        Self {
            params,
            rules: vec![Rule::NEVER; params.rulesets * params.rules_per_ruleset],
            valid: false,
            mode: 0,
            matches: 0,
            failed: false,
            matched: false,
        }
    }

    /// The answer to a frame that arrived whole.
    pub fn answer(&mut self, frame: &[u8]) -> Vec<u8> {
        let payload = &frame[2..];
        let result = match frame[0] {
            code::HELLO => self.hello(payload),
            code::RULE => self.rule(payload),
            code::CONTROL => self.control(payload),
            code::PACKET => self.packet(payload),
            _ => Err(code::UNKNOWN_COMMAND),
        };
        match result {
            Ok(payload) => {
                self.failed = false;
                super::frame(code::DONE, &payload)
            }
            Err(error) => self.fault(error),
        }
    }

    /// The answer to something that was no frame.
    pub fn fault(&mut self, error: u8) -> Vec<u8> {
        self.failed = true;
        super::frame(error, &[])
    }

    /// The LEDs, without the one that changes by itself.
    pub fn leds(&self) -> u8 {
        let led = |led: Led, on: bool| if on { led.bit() } else { 0 };
        (self.matches & 15) as u8
            | led(Led::Valid, self.valid)
            | led(Led::Failed, self.failed)
            | led(Led::Matched, self.matched)
    }

    fn hello(&self, payload: &[u8]) -> Result<Vec<u8>, u8> {
        if !payload.is_empty() {
            return Err(code::WRONG_LENGTH);
        }
        let sizes = [
            self.params.rulesets,
            self.params.rules_per_ruleset,
            4 * self.params.inspected_words(),
        ];
        let sizes = sizes.map(|size| u8::try_from(size).expect("sizes are small"));
        Ok([&[VERSION][..], &sizes].concat())
    }

    fn rule(&mut self, payload: &[u8]) -> Result<Vec<u8>, u8> {
        let payload: &[u8; 14] = payload.try_into().map_err(|_| code::WRONG_LENGTH)?;
        let word =
            |at: usize| u32::from_be_bytes([payload[at], payload[at + 1], payload[at + 2], payload[at + 3]]);
        let rule = self
            .rules
            .get_mut(usize::from(payload[0]))
            .ok_or(code::WRONG_VALUE)?;
        *rule = Rule {
            idx: payload[1].into(),
            mask: word(2),
            start: word(6),
            end: word(10),
            relative: false,
        };
        Ok(Vec::new())
    }

    fn control(&mut self, payload: &[u8]) -> Result<Vec<u8>, u8> {
        let [valid, mode] = *payload else {
            return Err(code::WRONG_LENGTH);
        };
        if valid > 1 || usize::from(mode) >> self.params.rulesets != 0 {
            return Err(code::WRONG_VALUE);
        }
        (self.valid, self.mode) = (valid == 1, mode);
        Ok(Vec::new())
    }

    fn packet(&mut self, packet: &[u8]) -> Result<Vec<u8>, u8> {
        if packet.is_empty() {
            return Err(code::WRONG_LENGTH);
        }
        let mut matcher = ReferenceMatcher::new(&self.params).expect("parameters of a model that exists");
        matcher.latch(self.valid.then(|| self.table()));
        let result = matcher.classify(packet);
        self.matched = result != MatchResult::Bypass;
        match result {
            MatchResult::Bypass => Ok(vec![0; 7]),
            MatchResult::Matched {
                ruleset,
                eom,
                message_id,
                ..
            } => {
                self.matches += 1;
                // The reference reads the bytes of the packet as a little-endian number.
                Ok([&[1, ruleset, eom.into()][..], &message_id.to_le_bytes()].concat())
            }
        }
    }

    fn table(&self) -> RuleTable {
        let sets = self.rules.chunks(self.params.rules_per_ruleset).enumerate();
        let sets = sets.map(|(number, rules)| {
            let (end_of_message, rules) = rules.split_last().expect("a ruleset has rules");
            Ruleset {
                join: if self.mode >> number & 1 == 1 {
                    Join::Or
                } else {
                    Join::And
                },
                rules: rules.to_vec(),
                end_of_message: *end_of_message,
            }
        });
        RuleTable::new(&self.params, sets.collect()).expect("as many rules as the matcher has")
    }
}
