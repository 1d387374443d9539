//! `connect!`: bundles of ports with others inside, ports that only one side has, and names of their own.

use crate::support::Suite;
use crate::support::vectors::FromNumber;
use spinneret_verilog::prelude::*;

/// What is said.
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
#[hardware(width: usize, has_mark: bool)]
#[derive(LogicBlock, Describe, Clone, Debug)]
struct Answerer {
    clk: Signal<In, Clock>,
    rst: Wire<In, bool>,
    s: ExchangeIn<{ width }, { has_mark }>,
    count: Wire<Out, 3>,
    asked: Reg<3, Reset>,
}

impl Logic for Answerer {
    #[kernel(suffix = self._has_mark)]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.asked);
        connect!(self.s.ask => self.s.answer, except text);
        self.s.answer.text.next = self.s.ask.text.val() + 1;
        if self.s.ask.valid.val() && self.s.answer.ready.val() {
            self.asked.d.next = self.asked.q.val() + 1;
        }
        self.count.next = self.asked.q.val();
    }
}

/// Passes questions on to one who knows of marks or not.
#[hardware(width: usize, has_mark: bool, called: Names)]
#[derive(LogicBlock, Describe, Clone, Debug)]
struct Talk {
    clk: Signal<In, Clock>,
    rst: Wire<In, bool>,
    s: Called<ExchangeIn<{ width }, true>, { called }>,
    extra: Optional<Wire<In, 2>, { has_mark }>,
    count: Wire<Out, 3>,
    count_too: Wire<Out, 3>,
    first: Answerer<{ width }, { has_mark }>,
    second: Answerer<{ width }, true>,
    other: WordsOut<{ width }, { has_mark }>,
}

impl Logic for Talk {
    #[kernel]
    fn update(&mut self) {
        /// Clocks and counts.
        connect!(self => self.first; clk, rst, count);
        connect!(self => self.second; clk, rst);
        connect!(self.second.count => self.count_too);
        /// One after the other.
        connect!(self.s.ask => self.first.s.ask);
        connect!(self.first.s.answer => self.second.s.ask);
        connect!(self.second.s.answer => self.s.answer, except ready, mark);
        connect!(self.s.answer => self.second.s.answer; ready);
        connect!(self.second.s.answer => self.s.answer; mark);
        connect!(self.first.s.answer => self.other, except ready);
    }
}

/// Adds the blocks of this file.
pub(crate) fn add_to(suite: &mut Suite) {
    for has_mark in [false, true] {
        let drive = move |block: &mut Talk, values: &[num_bigint::BigUint]| {
            let mut values = values.iter();
            macro_rules! drive {
                ($($port:ident).+) => {{
                    let value = values.next().expect("a value");
                    block.$($port).+.next = FromNumber::from_number(value, &block.$($port).+.next);
                }};
            }
            drive!(rst);
            drive!(s.ask.text);
            block.s.ask.mark.next =
                FromNumber::from_number(values.next().expect("a value"), &block.s.ask.mark.next);
            drive!(s.ask.valid);
            drive!(s.answer.ready);
            if has_mark {
                block.extra.next =
                    FromNumber::from_number(values.next().expect("a value"), &block.extra.next);
            }
            drive!(other.ready);
            assert!(values.next().is_none(), "an input is not driven");
        };
        let clock = |block: &mut Talk, level: bool| block.clk.next = level.into();
        suite.add(
            &format!("talk_{has_mark}"),
            Talk::new(5, has_mark, Names::OF_FIELDS),
            drive,
            Some(clock),
        );
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
#[hardware(how: usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
struct Wrong {
    a: WordsIn<4, false>,
    b: WordsOut<4, false>,
    c: ExchangeOut<4, false>,
    wide: Wire<Out, 5>,
}

impl Logic for Wrong {
    #[kernel]
    fn update(&mut self) {
        match self._how {
            0 => connect!(self.c.answer => self.a),
            1 => connect!(self.a => self.b, except colour),
            2 => connect!(self.a => self.c),
            _ => connect!(self.a.text => self.wide),
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let remedy = "name ports that differ after `except`, and assign them";
    for (how, reason) in [
        (
            0,
            format!("connect! cannot join c.answer and a: both drive `text`: {remedy}"),
        ),
        (
            1,
            format!("connect! cannot join a and b: neither side has `colour`, which is excepted: {remedy}"),
        ),
        (
            2,
            format!("connect! cannot join a and c: only one side has `text`: {remedy}"),
        ),
        (3, "`wide = a.text` joins 5 bits with 4 bits".to_owned()),
    ] {
        let error = spinneret_verilog::generate(&Wrong::new(how), "top").expect_err("it does not fit");
        assert!(error.to_string().contains(&reason), "{error}");
    }
}

#[test]
#[should_panic(expected = "connect!: both drive `text`")]
fn what_does_not_fit_panics_in_rust() {
    Wrong::new(0).update();
}
