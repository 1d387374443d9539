//! Random rules, packets, mistakes, pauses and resets.

use crate::support::{board, small};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_regmap::matching::Rule;
use spinneret_sim::model::Model;
use spinneret_sim::test_run::run_test;
use spinneret_tb::pkt_match::random_rules;
use spinneret_tb::uart_match::{Host, code, frame, random_bytes, rule_frame};

/// Writes random rules, most of the time all of them.
fn write_rules<M: Model>(host: &mut Host<M>, rng: &mut ChaCha8Rng) {
    let table = random_rules(rng, &host.setup().matcher);
    let rules = table
        .rulesets()
        .iter()
        .flat_map(|set| set.rules.iter().chain([&set.end_of_message]));
    for (number, rule) in rules.enumerate() {
        if rng.random_bool(0.95) {
            let idx = rule.idx.min(255);
            host.exchange(&rule_frame(number as u8, &Rule { idx, ..*rule }));
        }
    }
    let modes = 1 << host.setup().matcher.rulesets;
    let control = [u8::from(rng.random_bool(0.9)), rng.random_range(0..modes)];
    host.exchange(&frame(code::CONTROL, &control));
}

/// A frame that is wrong, or right by chance.
fn any_frame(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let length = rng.random_range(0..20);
    let payload = random_bytes(rng, length);
    frame(rng.random_range(0..6), &payload)
}

fn step<M: Model>(host: &mut Host<M>, rng: &mut ChaCha8Rng) {
    let byte_clocks = 10 * host.setup().clocks_per_bit;
    match rng.random_range(0..20) {
        0 => write_rules(host, rng),
        1 => host.exchange(&any_frame(rng)),
        2 => {
            let frame = frame(code::PACKET, &random_bytes(rng, 60));
            let cut = rng.random_range(1..frame.len());
            host.source.send(&frame[..cut]);
            host.expect_fault(code::TIMEOUT);
        }
        3 => {
            let good = rng.random_range(0..8);
            host.source.send(&frame(code::PACKET, &[1; 100])[..good]);
            host.source.send_broken(rng.random());
            host.source.hold(true, host.setup().clocks_per_bit);
            host.expect_fault(code::FRAMING);
        }
        4 => host.source.hold(true, rng.random_range(1..3 * byte_clocks)),
        5 if rng.random_bool(0.2) => host.reset(),
        _ => {
            let length = rng.random_range(1..=255) >> rng.random_range(0..3);
            let packet = random_bytes(rng, length.max(1));
            let packet = frame(code::PACKET, &packet);
            host.exchange(&packet);
        }
    }
}

fn run<M: Model>(mut host: Host<M>, mut rng: ChaCha8Rng, steps: usize) {
    let mut matches = 0;
    write_rules(&mut host, &mut rng);
    for _ in 0..steps {
        let before = host.model.matches;
        step(&mut host, &mut rng);
        matches += host.model.matches.saturating_sub(before);
    }
    assert!(matches > steps as u32 / 20, "only {matches} packets matched");
    host.finish();
}

#[test]
fn answers_as_the_model_whatever_comes() {
    run_test("uart_match_random", 20, |frame| {
        let (host, rng) = (board(frame), frame.rng("host"));
        run(host, rng, 400);
    });
}

#[test]
fn answers_as_the_model_on_the_fastest_line() {
    run_test("uart_match_random_small", 21, |frame| {
        let (host, rng) = (small(frame), frame.rng("host"));
        run(host, rng, 1000);
    });
}
