//! The matching engine behind a serial line: a host, and a model of what the console answers.

use crate::bench::Finish;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_packets::reference::matcher::{MatchResult, ReferenceMatcher, RuleTable};
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};
use spinneret_sim::prelude::*;
use spinneret_sim::uart::{Speed, UartSink, UartSource};

/// Commands and codes, as the documentation of the protocol gives them.
pub mod code {
    /// Asks who is there.
    pub const HELLO: u8 = 0;
    /// Writes one rule.
    pub const RULE: u8 = 1;
    /// Puts the rules into force, or out of it.
    pub const CONTROL: u8 = 2;
    /// Has a packet matched.
    pub const PACKET: u8 = 3;
    /// The command was carried out.
    pub const DONE: u8 = 0;
    /// There is no such command.
    pub const UNKNOWN_COMMAND: u8 = 0xe1;
    /// The command does not have this length.
    pub const WRONG_LENGTH: u8 = 0xe2;
    /// A byte of the payload is out of its range.
    pub const WRONG_VALUE: u8 = 0xe3;
    /// The frame broke off.
    pub const TIMEOUT: u8 = 0xe4;
    /// A byte had no stop bit.
    pub const FRAMING: u8 = 0xe5;
    /// Bytes came before the answer had ended.
    pub const OVERRUN: u8 = 0xe6;
}

/// A frame of the protocol.
///
/// # Panics
/// If the payload has more than 255 bytes.
pub fn frame(command: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a payload has at most 255 bytes");
    [&[command, length], payload].concat()
}

/// The frame that writes a rule.
///
/// # Panics
/// If the rule's word index has more than 8 bits.
pub fn rule_frame(number: u8, rule: &Rule) -> Vec<u8> {
    let index = u8::try_from(rule.idx).expect("the protocol has 8 bits for a word index");
    let mut payload = vec![number, index];
    for value in [rule.mask, rule.start, rule.end] {
        payload.extend(value.to_be_bytes());
    }
    frame(code::RULE, &payload)
}

/// Bytes of few distinct values, so that rules match now and then.
pub fn random_bytes(rng: &mut ChaCha8Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| rng.random_range(0..4)).collect()
}

/// Limit for the cycles of a test.
const CYCLE_LIMIT: u64 = 20_000_000;
/// Clocks from the end of a frame to its answer: the longest packet has 32 beats, each of which takes two clocks, and
/// passes receiver, engine and transmitter.
const ANSWER_CLOCKS: u64 = 100;
/// Bits of a byte on the line.
const BYTE_BITS: u64 = 10;

/// Parameters of a model.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The matching engine.
    pub matcher: MatcherParams,
    /// Clocks of a bit.
    pub clocks_per_bit: u64,
    /// Clocks without a byte after which a frame is given up.
    pub quiet_clocks: u64,
    /// Clocks between two changes of the last LED.
    pub heartbeat_clocks: u64,
}

/// A host with its console; every answer and every LED is compared with the model.
#[derive(Debug)]
pub struct Host<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// The line to the console.
    pub source: UartSource,
    /// The line from the console.
    pub sink: UartSink,
    /// Expected answers of the console.
    pub model: ConsoleModel,
    setup: Setup,
}

impl<M: Model> Host<M> {
    /// Connects a host to a console, and resets it.
    ///
    /// # Panics
    /// If the design is no console.
    pub fn new(mut sim: Simulation<M>, setup: Setup) -> Self {
        sim.set_cycle_limit(CYCLE_LIMIT);
        let source = UartSource::attach(&mut sim, "uart_rx", setup.clocks_per_bit);
        let sink = UartSink::attach(&mut sim, "uart_tx", setup.clocks_per_bit);
        let source = source.unwrap_or_else(|error| panic!("{error}"));
        let sink = sink.unwrap_or_else(|error| panic!("{error}"));
        sim.reset();
        Self {
            sim,
            source,
            sink,
            model: ConsoleModel::new(setup.matcher),
            setup,
        }
    }

    /// Resets console and model.
    pub fn reset(&mut self) {
        self.sim.reset();
        self.model = ConsoleModel::new(self.setup.matcher);
    }

    /// The speed of the line.
    pub fn speed(&self) -> Speed {
        Speed::exact(self.setup.clocks_per_bit)
    }

    /// Parameters of the model.
    pub fn setup(&self) -> Setup {
        self.setup
    }

    /// Runs until everything that was queued is on its way.
    pub fn drain(&mut self) {
        while !self.source.is_idle() {
            self.sim.cycle();
        }
    }

    /// Sends a frame whole, and compares its answer.
    pub fn exchange(&mut self, frame: &[u8]) {
        self.exchange_rest(frame, 0);
    }

    /// Sends a frame of which the first bytes have been queued, and compares its answer.
    pub fn exchange_rest(&mut self, frame: &[u8], queued: usize) {
        self.source.send(&frame[queued..]);
        self.drain();
        let expected = self.model.answer(frame);
        let answer = self.receive(ANSWER_CLOCKS);
        assert_eq!(answer, expected, "the answer to {frame:02x?}");
        self.check_leds();
    }

    /// Waits for the answer to something that was no frame, which comes after a pause, and compares it.
    pub fn expect_fault(&mut self, code: u8) {
        self.drain();
        let expected = self.model.fault(code);
        let before = self.sim.cycle_count();
        // The pause counts from the last byte, whose stop bit was seen in its middle, or a bit that never came.
        let answer = self.receive(self.setup.quiet_clocks + ANSWER_CLOCKS);
        assert_eq!(answer, expected);
        let took = self.sim.cycle_count() - before;
        let line = BYTE_BITS * self.setup.clocks_per_bit * answer.len() as u64;
        let earliest = self.setup.quiet_clocks + line - BYTE_BITS * self.setup.clocks_per_bit;
        assert!(
            took >= earliest,
            "the answer came after {took} clocks, and the earliest is {earliest}"
        );
        self.check_leds();
    }

    /// One answer, which begins within a number of clocks and has no gaps but a clock or two.
    pub fn receive(&mut self, within_clocks: u64) -> Vec<u8> {
        let byte_clocks = BYTE_BITS * self.setup.clocks_per_bit;
        let start = self.sim.cycle_count();
        let mut bytes = Vec::new();
        let mut wanted = 2;
        while bytes.len() < wanted {
            self.sim.cycle();
            let limit = within_clocks + (byte_clocks + 2) * (bytes.len() as u64 + 1);
            assert!(
                self.sim.cycle_count() - start <= limit,
                "after {limit} clocks there is only {bytes:02x?} of an answer"
            );
            if let Some(received) = self.sink.receive() {
                bytes.push(received.byte);
            }
            if let [_, length, ..] = bytes[..] {
                wanted = 2 + usize::from(length);
            }
        }
        // The console takes the next frame when the stop bit has ended.
        self.sim.run(2);
        bytes
    }

    /// Compares the LEDs with the model.
    pub fn check_leds(&mut self) {
        let (found, expected) = (self.leds() & !Led::Heartbeat.bit(), self.model.leds());
        assert_eq!(
            found, expected,
            "LEDs {found:08b}, and {expected:08b} in the model"
        );
    }

    /// The LEDs.
    pub fn leds(&self) -> u8 {
        let dut = self.sim.dut.instance();
        let port = dut.find("leds").expect("the console has LEDs");
        u8::try_from(dut.value(port)).expect("there are eight LEDs")
    }
}

impl<M: Model> Finish for Host<M> {
    fn finish(mut self) {
        self.exchange(&frame(code::HELLO, &[]));
        self.sim.run(2 * self.setup.quiet_clocks);
        assert_eq!(self.sink.waiting(), 0);
        self.sim.finish();
    }
}

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
                self::frame(code::DONE, &payload)
            }
            Err(error) => self.fault(error),
        }
    }

    /// The answer to something that was no frame.
    pub fn fault(&mut self, error: u8) -> Vec<u8> {
        self.failed = true;
        frame(error, &[])
    }

    /// The LEDs, without the one that blinks.
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
