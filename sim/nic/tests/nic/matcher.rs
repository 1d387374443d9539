//! The matchers behind the command: the Verilated hardware, and the check that would find it wrong.

use proptest::prelude::*;
use spinneret_nic::cli::match_cmd::Engine;
use spinneret_packets::matching::{Checked, Matcher, MatcherError, ModelMatcher, Outcome};
use spinneret_packets::reference::matcher::{MatchResult, RuleTable};
use spinneret_regmap::matching::Rule;
use spinneret_rules::{Join, MatcherParams, Ruleset};

const PARAMS: MatcherParams = MatcherParams::REFERENCE;

fn table(rulesets: Vec<Ruleset>) -> RuleTable {
    RuleTable::new(&PARAMS, rulesets).expect("the rules fit")
}

/// Matches frames whose first byte is 1, and ends messages where the second is.
fn first_byte_is_one() -> RuleTable {
    let rules = vec![Rule::equal(0, 0xff00_0000, 0x0100_0000)];
    table(vec![Ruleset {
        join: Join::And,
        rules,
        end_of_message: Rule::equal(0, 0x00ff_0000, 0x0001_0000),
    }])
}

/// Every outcome of these frames.
fn run(matcher: &mut dyn Matcher, frames: &[Vec<u8>]) -> Result<Vec<Outcome>, MatcherError> {
    let mut outcomes = Vec::new();
    for frame in frames {
        matcher.push(frame)?;
        while let Some(outcome) = matcher.pop()? {
            outcomes.push(outcome);
        }
    }
    matcher.flush()?;
    while let Some(outcome) = matcher.pop()? {
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Changes what came out.
type Mistake = fn(&mut Outcome);

/// A matcher that makes one mistake, in its second frame.
struct Mistaken {
    inner: ModelMatcher,
    mistake: Mistake,
    popped: usize,
}

impl Matcher for Mistaken {
    fn engine(&self) -> &'static str {
        "mistaken"
    }

    fn push(&mut self, frame: &[u8]) -> Result<(), MatcherError> {
        self.inner.push(frame)
    }

    fn flush(&mut self) -> Result<(), MatcherError> {
        self.inner.flush()
    }

    fn pop(&mut self) -> Result<Option<Outcome>, MatcherError> {
        let mut outcome = self.inner.pop()?;
        if let Some(outcome) = &mut outcome {
            self.popped += 1;
            if self.popped == 2 {
                (self.mistake)(outcome);
            }
        }
        Ok(outcome)
    }

    fn cycles(&self) -> u64 {
        self.inner.cycles()
    }
}

#[test]
fn each_error_of_the_hardware_is_found_and_its_packet_named() {
    let cases: [(Mistake, &str); 5] = [
        (
            |outcome| outcome.result = MatchResult::Bypass,
            "the hardware says Bypass, the model Matched { ruleset: 0,",
        ),
        (
            |outcome| outcome.frame[17] ^= 0x80,
            "byte 17 went in as 0x01 and came out as 0x81",
        ),
        (
            |outcome| outcome.frame.push(0),
            "60 bytes went in and 61 came out",
        ),
        (
            |outcome| outcome.frame.truncate(59),
            "60 bytes went in and 59 came out",
        ),
        (
            |outcome| match &mut outcome.result {
                MatchResult::Matched { size, .. } => *size = 64,
                MatchResult::Bypass => {}
            },
            "the hardware says Matched { ruleset: 0, eom: true, message_id: 16843009, size: 64 }, the model",
        ),
    ];
    for (mistake, difference) in cases {
        let inner = ModelMatcher::new(&PARAMS, first_byte_is_one()).expect("the sizes are possible");
        let mistaken = Mistaken {
            inner,
            mistake,
            popped: 0,
        };
        let mut checked =
            Checked::new(mistaken, &PARAMS, first_byte_is_one()).expect("the sizes are possible");
        let error = run(&mut checked, &vec![vec![1; 60]; 3])
            .expect_err("there is a mistake")
            .to_string();
        let start = format!("packet 2: the hardware and its model disagree: {difference}");
        assert!(error.starts_with(&start), "{error}");
    }
}

#[test]
fn hardware_keeps_the_order_of_frames_on_different_paths() {
    let frames: Vec<Vec<u8>> = (0..300usize)
        .map(|n| vec![(n * n / 3 % 2) as u8; 1 + n * 37 % 1600])
        .collect();
    let mut matcher = Engine::Hardware
        .matcher(&PARAMS, &first_byte_is_one())
        .expect("the hardware is built in");
    let outcomes = run(&mut *matcher, &frames).expect("hardware and model agree");
    assert_eq!(outcomes.len(), frames.len());
    for (frame, outcome) in frames.iter().zip(&outcomes) {
        let matches = frame[0] == 1 && frame.len() >= 4;
        assert_eq!(outcome.result != MatchResult::Bypass, matches);
        assert_eq!(outcome.frame, *frame);
    }
    let beats: usize = frames.iter().map(|frame| PARAMS.beats(frame.len())).sum();
    assert!(
        (beats as u64..beats as u64 + 20).contains(&matcher.cycles()),
        "{} cycles",
        matcher.cycles()
    );
}

#[test]
fn sizes_that_were_not_built_are_refused() {
    let wide = MatcherParams {
        data_width_bits: 1024,
        ..PARAMS
    };
    let error = Engine::Hardware
        .matcher(&wide, &first_byte_is_one())
        .err()
        .map(|error| error.to_string());
    let wanted = "the simulated hardware is built for streams of 512 and 64 bit with 66 inspected bytes, \
                  not for 1024 bit with 66: use --engine model for other sizes";
    assert_eq!(error.as_deref(), Some(wanted));
    assert!(Engine::Model.matcher(&wide, &first_byte_is_one()).is_ok());
    let odd = MatcherParams {
        data_width_bits: 96,
        ..PARAMS
    };
    assert!(matches!(
        Engine::Model.matcher(&odd, &first_byte_is_one()),
        Err(MatcherError::Unfit(_))
    ));
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let mask = prop_oneof![Just(0u32), Just(0xff), Just(0xff00_0000), any::<u32>()];
    (0u32..34, mask, any::<u32>(), any::<u32>()).prop_map(|(idx, mask, a, b)| {
        let (start, end) = (a & mask, b & mask);
        Rule {
            idx,
            mask,
            start: start.min(end),
            end: start.max(end),
            relative: false,
        }
    })
}

fn any_set() -> impl Strategy<Value = Ruleset> {
    let rules = proptest::collection::vec(any_rule(), 0..=3);
    (any::<bool>(), rules, any_rule()).prop_map(|(all, rules, end_of_message)| Ruleset {
        join: if all { Join::And } else { Join::Or },
        rules,
        end_of_message,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn hardware_agrees_with_its_model_on_random_rules_and_frames(
        sets in proptest::collection::vec(any_set(), 1..=4),
        frames in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..300), 1..40),
        narrow: bool,
    ) {
        let params = MatcherParams { data_width_bits: if narrow { 64 } else { 512 }, ..PARAMS };
        let mut matcher = Engine::Hardware.matcher(&params, &table(sets)).expect("the hardware is built in");
        let outcomes = run(&mut *matcher, &frames);
        prop_assert_eq!(outcomes.map(|outcomes| outcomes.len()), Ok(frames.len()));
    }
}
