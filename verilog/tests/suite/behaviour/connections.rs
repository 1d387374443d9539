//! Connections: bundles of ports with others inside, ports that only one side has, and names of their own.

use crate::support::Suite;
use num_bigint::BigUint;
use spinneret_verilog::prelude::*;

/// A message.
#[interface(WordsIn, width: usize, has_mark: bool)]
struct WordsOut {
    /// Its words.
    text: Wire<Out, { width }>,
    /// Only some have it.
    mark: Optional<Wire<Out, 2>, { has_mark }>,
    /// It is there.
    valid: Wire<Out, bool>,
    /// It is taken.
    ready: Wire<In, bool>,
}

/// Two that talk.
const JOINED: Names = Names {
    between: "",
    ..Names::OF_FIELDS
};

/// With directions, and the answer first.
const SIDED: Names = Names {
    input: "_i",
    output: "_o",
    order: "answer_valid answer_text answer_ready ask_valid",
    ..Names::OF_FIELDS
};

/// A question and its answer.
#[interface(ExchangeIn, width: usize, has_mark: bool, names = JOINED)]
struct ExchangeOut {
    /// The question.
    ask: WordsOut<{ width }, { has_mark }>,
    /// The answer.
    answer: WordsIn<{ width }, { has_mark }>,
}

/// Answers what was asked, and one more.
#[module(width: usize, has_mark: bool)]
struct Answerer {
    s: ExchangeIn<{ width }, { has_mark }>,
    count: Wire<Out, 3>,
    asked: Reg<3, Reset>,
}

#[kernel(Answerer { s, count, asked }, suffix = self._has_mark)]
fn update() {
    s.answer = s.ask;
    s.answer.text = s.ask.text + 1;
    if s.ask.valid && s.answer.ready {
        asked = asked + 1;
    }
    count = asked;
}

/// Passes questions on to a part with or without marks.
#[module(width: usize, has_mark: bool, called: Names)]
struct Talk {
    s: Called<ExchangeIn<{ width }, true>, { called }>,
    extra: Optional<Wire<In, 2>, { has_mark }>,
    count: Wire<Out, 3>,
    count_too: Wire<Out, 3>,
    first: Answerer<{ width }, { has_mark }>,
    second: Answerer<{ width }, true>,
    other: WordsOut<{ width }, { has_mark }>,
}

#[kernel(Talk { s, count, count_too, first, second, other, has_mark })]
fn update() {
    /// One after the other.
    first.s.ask = s.ask;
    second.s.ask = first.s.answer;
    s.answer = second.s.answer;
    count = first.count;
    count_too = second.count;
    other.text = first.s.answer.text;
    other.valid = first.s.answer.valid;
    if has_mark {
        *other.mark = *first.s.answer.mark;
    }
}

fn talk(has_mark: bool) -> impl FnMut(&[BigUint]) -> Vec<BigUint> {
    let mut count = 0_u64;
    move |inputs| {
        let inputs: Vec<u64> = inputs
            .iter()
            .map(|input| input.iter_u64_digits().next().unwrap_or(0))
            .collect();
        let [rst, text, mark, valid, ready] = inputs[..5] else {
            panic!("five inputs at least")
        };
        let before = count;
        count = match rst {
            1 => 0,
            _ => (count + (valid & ready)) & 7,
        };
        let heard = if has_mark { mark } else { 0 };
        let mut outputs = vec![
            ready,
            (text + 2) & 31,
            heard,
            valid,
            before,
            before,
            (text + 1) & 31,
        ];
        outputs.extend(has_mark.then_some(mark));
        outputs.push(valid);
        outputs.into_iter().map(BigUint::from).collect()
    }
}

/// Adds the blocks of this file.
pub(crate) fn add_to(suite: &mut Suite) {
    for has_mark in [false, true] {
        let block = Talk::new(5, has_mark, Names::OF_FIELDS);
        suite.model(&format!("talk_{has_mark}"), &block, true, talk(has_mark));
    }
}

#[test]
fn a_bundle_has_the_names_that_it_is_given_in_their_order() {
    let names = |design: spinneret_verilog::Design| {
        let names = design.ports.into_iter().map(|port| port.name);
        names.collect::<Vec<_>>().join(" ")
    };
    let talk =
        spinneret_verilog::generate(&Talk::new(5, false, SIDED), "talk").expect("it has a translation");
    assert!(
        talk.text().contains(".s_asktext(s_ask_text_i),"),
        "{}",
        talk.text()
    );
    assert_eq!(
        names(talk),
        "clk rst s_answer_valid_o s_answer_text_o s_answer_ready_i s_ask_valid_i s_ask_text_i s_ask_mark_i s_ask_ready_o \
         s_answer_mark_o count count_too other_text other_valid other_ready"
    );
    let answerer = spinneret_verilog::generate(&Answerer::new(5, false), "a").expect("it has a translation");
    assert_eq!(
        names(answerer),
        "clk rst s_asktext s_askvalid s_askready s_answertext s_answervalid s_answerready count"
    );
}

/// Joins what does not fit.
#[module(no_clock, how: usize)]
struct Wrong {
    a: WordsIn<4, false>,
    b: WordsOut<5, false>,
    c: ExchangeOut<4, false>,
}

#[kernel(Wrong { a, b, c, how })]
fn update() {
    match how {
        0 => a = c.answer,
        1 => b = a,
        2 => a = c,
        _ => c = a,
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (how, reason) in [
        (0, "both ports are driven already"),
        (1, "ports of 5 bits and 4 bits are joined"),
        (2, "only the left side has `text`"),
        (3, "only the left side has `ask.text`"),
    ] {
        let error = spinneret_verilog::generate(&Wrong::new(how), "top").expect_err("it does not fit");
        assert!(error.to_string().contains(reason), "{error}");
    }
}
