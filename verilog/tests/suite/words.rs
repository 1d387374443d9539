//! Signed words and pipelines: what their text does against models in Rust.

use crate::support::Suite;
use num_bigint::BigUint;
use spinneret_verilog::generate;
use spinneret_verilog::prelude::*;

/// All that looks at a sign.
#[module(no_clock, width: usize)]
struct Signs {
    a: Wire<In, { width }>,
    b: Wire<In, { width }>,
    places: Wire<In, 3>,
    order: Wire<Out, 6>,
    shifted: Wire<Out, { width }>,
    product: Wire<Out, { 2 * width }>,
    least: Wire<Out, { width }>,
    saturated: Wire<Out, { width }>,
}

#[kernel(Signs { a, b, places, order, shifted, product, least, saturated, width }, suffix = self._width)]
fn update() {
    let (x, y) = (a.signed(), b.signed());
    order = cat!(x < y, x <= y, x > y, x >= y, x == y, x != -3);
    shifted = (x >> places).word();
    product = (x.resize(2 * width) * y.resize(2 * width)).word();
    least = if x < y { x } else { y }.word();
    let sum = x.resize(width + 2) + y.resize(width + 2) - 1;
    saturated = if sum < -4 {
        (-x).word()
    } else {
        sum.resize(width).word()
    };
}

fn signs(inputs: &[BigUint], width: u32) -> [u64; 5] {
    let number = |at: usize| inputs[at].iter_u64_digits().next().unwrap_or(0);
    let signed = |value: u64| ((value << (64 - width)) as i64) >> (64 - width);
    let cut = |value: i64, width: u32| value as u64 & ((1 << width) - 1);
    let (a, b) = (signed(number(0)), signed(number(1)));
    let order = [a < b, a <= b, a > b, a >= b, a == b, a != -3];
    let sum = a + b - 1;
    [
        order.iter().fold(0, |word, bit| word << 1 | u64::from(*bit)),
        cut(a >> number(2), width),
        cut(a * b, 2 * width),
        cut(a.min(b), width),
        cut(if sum < -4 { -a } else { sum }, width),
    ]
}

/// Adds three words, one in each stage; the stage of the last is a parameter.
#[module(last: usize)]
struct Adder {
    valid: Wire<In, bool>,
    words: [Wire<In, 8>; 3],
    total: Wire<Out, 8>,
    total_valid: Wire<Out, bool>,
}

#[kernel(Adder { valid, words, total, total_valid, last }, suffix = self._last)]
fn update() {
    let [first, second, third] = [0, 1, 2].map(|number| staged(&format!("word_{number}"), 0, words[number]));
    let valid = staged("valid", 0, valid).reset_to(false);
    let partial = staged("partial", 1, first.at(1) + second.at(1));
    if valid.at(last) {
        total = partial.at(last) + third.at(last);
    } else {
        total = 0;
    }
    total_valid = valid.at(last);
}

#[test]
fn signed_words_and_pipelines_do_what_their_models_do() {
    let mut suite = Suite::default();
    for width in [4, 13] {
        let block = Signs::new(width as usize);
        suite.model(&format!("signs_{width}"), &block, false, move |inputs| {
            signs(inputs, width).map(BigUint::from).to_vec()
        });
    }
    for last in [1, 3] {
        let mut past: Vec<(bool, u64)> = Vec::new();
        suite.model(
            &format!("adder_top_{last}"),
            &Adder::new(last),
            true,
            move |inputs| {
                let number = |at: usize| inputs[at].iter_u64_digits().next().unwrap_or(0);
                let (is_valid, total) = past.get(last - 1).copied().unwrap_or_default();
                past.insert(0, (number(1) == 1, (number(2) + number(3) + number(4)) & 255));
                if number(0) == 1 {
                    past.clear();
                }
                [if is_valid { total } else { 0 }, u64::from(is_valid)]
                    .map(BigUint::from)
                    .to_vec()
            },
        );
    }
    suite.check();
}

#[test]
fn a_value_is_not_there_before_its_stage() {
    let early = std::panic::catch_unwind(|| generate(&Adder::new(0), "adder").map(|_| ()));
    let message = *early
        .expect_err("stage 1 is after stage 0")
        .downcast::<String>()
        .expect("a message");
    assert!(
        message.ends_with("`partial` is there from stage 1 on, not in stage 0"),
        "{message}"
    );
}
