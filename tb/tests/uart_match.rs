//! The matching engine behind a serial line against its model, and each line of its contract.

use spinneret_models::{UartMatch, UartMatchSmall};
use spinneret_regmap::matching::Rule;
use spinneret_rules::MatcherParams;
use spinneret_sim::prelude::*;
use spinneret_sim::test_run::run_test;
use spinneret_tb::bench::{Finish, case};
use spinneret_tb::pkt_match::random_rules;
use spinneret_tb::uart_match::{Host, Led, OK_HELLO_BYTES, Setup, code, frame, random_bytes, rule_frame};

/// As on the board, with a faster line.
const BOARD: Setup = Setup {
    matcher: MatcherParams {
        data_width_bits: 64,
        rulesets: 2,
        rules_per_ruleset: 4,
        inspected_bytes: 64,
        ip_relative: false,
    },
    clocks_per_bit: 16,
    quiet_clocks: 1024,
    heartbeat_clocks: 1024,
};

/// The smallest one.
const SMALL: Setup = Setup {
    matcher: MatcherParams {
        data_width_bits: 64,
        rulesets: 1,
        rules_per_ruleset: 2,
        inspected_bytes: 8,
        ip_relative: false,
    },
    clocks_per_bit: 4,
    quiet_clocks: 80,
    heartbeat_clocks: 2,
};

fn board(run: &mut TestRun) -> Host<UartMatch> {
    Host::new(run.simulation(), BOARD)
}

fn small(run: &mut TestRun) -> Host<UartMatchSmall> {
    Host::new(run.simulation(), SMALL)
}

/// Puts one rule of the first ruleset and its end-of-message rule into force; the others say nothing.
fn load<M: Model>(host: &mut Host<M>, rule: &Rule, end_of_message: &Rule) {
    let rules = host.setup().matcher.rules_per_ruleset as u8;
    host.exchange(&rule_frame(0, rule));
    for number in 1..rules - 1 {
        host.exchange(&rule_frame(number, &Rule::ALWAYS));
    }
    host.exchange(&rule_frame(rules - 1, end_of_message));
    host.exchange(&frame(code::CONTROL, &[1, 0]));
}

/// A UDP packet to port 9330 with an SLMP header that ends message 0x01020304.
fn slmp_packet() -> Vec<u8> {
    let mut packet = vec![0; 60];
    packet[12..14].copy_from_slice(&[8, 0]);
    packet[23] = 17;
    packet[36..38].copy_from_slice(&9330_u16.to_be_bytes());
    packet[42..44].copy_from_slice(&[0x80, 0]);
    packet[44..48].copy_from_slice(&[1, 2, 3, 4]);
    packet
}

#[test]
fn hello_reports_version_and_sizes() {
    run_test(1, |run| {
        let mut host = board(run);
        host.source.send(&[0, 0]);
        host.drain();
        assert_eq!(host.receive(100), [0, 4, 1, 2, 4, 64]);
        host.finish();
        let mut host = small(run);
        host.source.send(&[0, 0]);
        host.drain();
        assert_eq!(host.receive(100), [0, 4, 1, 1, 2, 8]);
        host.finish();
    });
}

#[test]
fn matches_by_the_rules_that_were_written() {
    run_test(1, |run| {
        let mut host = board(run);
        let rules: [(u8, Rule); 4] = [
            (0, Rule::IPV4),
            (1, Rule::ip_protocol(17, 17)),
            (2, Rule::udp_destination_port(9000, 10000)),
            (3, Rule::SLMP_END_OF_MESSAGE),
        ];
        for (number, rule) in &rules {
            host.exchange(&rule_frame(*number, rule));
        }
        host.exchange(&frame(code::CONTROL, &[1, 0]));
        // Literal bytes, so that a slip in the model is seen too.
        host.source.send(&frame(code::PACKET, &slmp_packet()));
        host.drain();
        assert_eq!(host.receive(100), [0, 7, 1, 0, 1, 1, 2, 3, 4]);
        assert_eq!(host.leds() & 0x7f, 0b101_0001);
        let mut other = slmp_packet();
        other[36] = 0;
        host.source.send(&frame(code::PACKET, &other));
        host.drain();
        assert_eq!(host.receive(100), [0, 7, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(host.leds() & 0x7f, 0b001_0001);
        host.model.matches = 1;
    });
}

/// The bytes of docs/boards/alchitry-cu.md.
#[test]
fn example_in_the_documentation_works() {
    run_test(1, |run| {
        let page = include_str!("../../docs/boards/alchitry-cu.md");
        let lines = page.lines().filter_map(|line| line.strip_prefix("say '"));
        let bytes = |text: &str| -> Vec<u8> {
            text.split("\\x")
                .skip(1)
                .map(|digits| u8::from_str_radix(digits, 16).expect("two hexadecimal digits"))
                .collect()
        };
        let mut host = board(run);
        let mut answers = Vec::new();
        for line in lines {
            let (text, _) = line.split_once('\'').expect("an end of the quotes");
            host.source.send(&bytes(text));
            host.drain();
            answers.push(host.receive(100));
        }
        assert_eq!(answers.len(), 6);
        assert_eq!(answers[0], [0, 4, 1, 2, 4, 0x40]);
        assert_eq!(answers[1..5], [[0, 0]; 4]);
        assert_eq!(answers[5], [0, 7, 1, 0, 0, 0, 0, 0, 0]);
    });
}

#[test]
fn nothing_matches_until_rules_are_put_into_force_and_after_they_are_put_out() {
    case(1, board, |host| {
        let packet = frame(code::PACKET, &slmp_packet());
        host.exchange(&frame(code::CONTROL, &[1, 0]));
        host.exchange(&packet);
        assert_eq!(host.model.matches, 0);
        host.exchange(&frame(code::CONTROL, &[0, 0]));
        load(host, &Rule::ALWAYS, &Rule::NEVER);
        host.exchange(&packet);
        assert_eq!(host.model.matches, 1);
        host.exchange(&frame(code::CONTROL, &[0, 0]));
        host.exchange(&packet);
        assert_eq!(host.model.matches, 1);
    });
}

#[test]
fn a_rule_that_is_written_while_in_force_counts_from_the_next_packet() {
    case(1, board, |host| {
        load(host, &Rule::ALWAYS, &Rule::ALWAYS);
        host.exchange(&frame(code::PACKET, &[7; 8]));
        host.exchange(&rule_frame(0, &Rule::NEVER));
        host.exchange(&frame(code::PACKET, &[7; 8]));
        assert_eq!(host.model.matches, 1);
    });
}

#[test]
fn packets_of_every_length_are_answered() {
    case(1, board, |host| {
        load(host, &Rule::ALWAYS, &Rule::ALWAYS);
        for length in 1..=255 {
            let packet: Vec<u8> = (0..length).collect();
            host.exchange(&frame(code::PACKET, &packet));
        }
        // Packets of less than a word have none that a rule could look at.
        assert_eq!(host.model.matches, 252);
    });
}

#[test]
fn the_last_led_changes_by_itself() {
    case(1, board, |host| {
        let mut changes = Vec::new();
        let mut before = host.leds();
        for _ in 0..5 * BOARD.heartbeat_clocks {
            host.sim.cycle();
            if host.leds() != before {
                assert_eq!(host.leds() ^ before, Led::Heartbeat.bit());
                changes.push(host.sim.cycle_count());
                before = host.leds();
            }
        }
        assert!(changes.len() >= 4);
        for pair in changes.windows(2) {
            assert_eq!(pair[1] - pair[0], BOARD.heartbeat_clocks);
        }
    });
}

#[test]
fn a_line_that_is_fast_or_slow_by_four_per_cent_is_read() {
    case(1, board, |host| {
        load(host, &Rule::ALWAYS, &Rule::NEVER);
        for percent in [-4, -2, -1, 1, 2, 4] {
            host.source.set_speed(host.speed().off_by(percent));
            let packet: Vec<u8> = (0..200).map(|byte: u8| byte.wrapping_mul(83)).collect();
            host.exchange(&frame(code::PACKET, &packet));
        }
        assert_eq!(host.model.matches, 6);
    });
}

#[test]
fn a_reset_puts_everything_back() {
    case(1, board, |host| {
        load(host, &Rule::ALWAYS, &Rule::NEVER);
        host.exchange(&frame(code::PACKET, &[1; 64]));
        // In the middle of a packet, of an answer, and of nothing.
        for clocks in [300, 1200, 5000] {
            host.source.send(&frame(code::PACKET, &[1; 4]));
            host.sim.run(clocks);
            host.reset();
            while host.sink.receive().is_some() {}
            host.check_leds();
            host.exchange(&frame(code::CONTROL, &[1, 0]));
            host.exchange(&frame(code::PACKET, &[1; 64]));
            assert_eq!(host.model.matches, 0);
            load(host, &Rule::ALWAYS, &Rule::NEVER);
        }
    });
}

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
fn random_input_matches_the_model() {
    run_test(20, |frame| {
        let (host, rng) = (board(frame), frame.rng("host"));
        run(host, rng, 400);
    });
}

#[test]
fn random_input_on_the_fastest_line_matches_the_model() {
    run_test(21, |frame| {
        let (host, rng) = (small(frame), frame.rng("host"));
        run(host, rng, 1000);
    });
}

#[test]
fn wrong_frames_are_answered_with_an_error_and_change_nothing() {
    case(1, board, |host| {
        load(host, &Rule::ALWAYS, &Rule::NEVER);
        let never = rule_frame(0, &Rule::NEVER);
        let wrong = [
            (frame(4, &[]), code::UNKNOWN_COMMAND),
            (frame(0xff, &[1, 2, 3]), code::UNKNOWN_COMMAND),
            (frame(code::HELLO, &[0]), code::WRONG_LENGTH),
            (frame(code::RULE, &never[2..15]), code::WRONG_LENGTH),
            (
                frame(code::RULE, &[&never[2..], &[0]].concat()),
                code::WRONG_LENGTH,
            ),
            (frame(code::RULE, &[]), code::WRONG_LENGTH),
            (rule_frame(8, &Rule::NEVER), code::WRONG_VALUE),
            (rule_frame(0xff, &Rule::NEVER), code::WRONG_VALUE),
            (frame(code::CONTROL, &[0]), code::WRONG_LENGTH),
            (frame(code::CONTROL, &[0, 0, 0]), code::WRONG_LENGTH),
            (frame(code::CONTROL, &[2, 0]), code::WRONG_VALUE),
            (frame(code::CONTROL, &[0, 4]), code::WRONG_VALUE),
            (frame(code::PACKET, &[]), code::WRONG_LENGTH),
        ];
        for (frame, expected) in wrong {
            host.source.send(&frame);
            host.drain();
            assert_eq!(host.receive(100), [expected, 0], "{frame:02x?}");
            assert_eq!(host.leds() & Led::Failed.bit(), Led::Failed.bit());
        }
        host.exchange(&frame(code::PACKET, &[0; 64]));
        assert_eq!(host.model.matches, 1);
    });
}

#[test]
fn a_frame_that_breaks_off_is_given_up_after_a_pause() {
    case(1, board, |host| {
        load(host, &Rule::ALWAYS, &Rule::NEVER);
        let packet = frame(code::PACKET, &[9; 64]);
        for length in [1, 2, 3, 9, 65] {
            host.source.send(&packet[..length]);
            host.expect_fault(code::TIMEOUT);
            host.exchange(&packet);
        }
    });
}

#[test]
fn slow_host_is_tolerated() {
    case(1, board, |host| {
        let never = rule_frame(1, &Rule::NEVER);
        for byte in &never[..never.len() - 1] {
            host.source.send(&[*byte]);
            // The next byte needs ten bits until it is complete.
            host.source
                .hold(true, BOARD.quiet_clocks - 11 * BOARD.clocks_per_bit);
        }
        host.exchange_rest(&never, never.len() - 1);
    });
}

#[test]
fn byte_without_stop_bit_drops_everything_up_to_a_pause() {
    case(1, board, |host| {
        load(host, &Rule::ALWAYS, &Rule::NEVER);
        let packet = frame(code::PACKET, &[9; 20]);
        for good in [0, 1, 2, 10] {
            host.source.send(&packet[..good]);
            host.source.send_broken(0x55);
            host.source.hold(true, 2 * BOARD.clocks_per_bit);
            // This would be a frame.
            host.source.send(&frame(code::HELLO, &[]));
            host.source.send_broken(0);
            host.source.hold(true, BOARD.clocks_per_bit);
            host.expect_fault(code::FRAMING);
            host.exchange(&packet);
        }
    });
}

#[test]
fn a_break_of_any_length_is_one_fault() {
    case(1, board, |host| {
        for bits in [11, 25, 200, 1000] {
            let clocks = bits * BOARD.clocks_per_bit;
            host.source.hold(false, clocks);
            host.drain();
            host.sim.run(3 * BOARD.quiet_clocks);
            let expected = host.model.fault(code::FRAMING);
            let found: Vec<u8> = std::iter::from_fn(|| host.sink.receive())
                .map(|byte| byte.byte)
                .collect();
            assert_eq!(found, expected, "{bits} bits");
            host.check_leds();
            host.exchange(&frame(code::HELLO, &[]));
        }
    });
}

#[test]
fn a_glitch_starts_nothing() {
    case(1, board, |host| {
        for clocks in 1..BOARD.clocks_per_bit / 2 {
            host.source.hold(false, clocks);
            host.source.hold(true, 2 * BOARD.clocks_per_bit);
            host.drain();
            host.exchange(&frame(code::HELLO, &[]));
        }
    });
}

#[test]
fn bytes_before_the_end_of_an_answer_are_dropped_and_reported() {
    case(1, board, |host| {
        load(host, &Rule::ALWAYS, &Rule::NEVER);
        let never = rule_frame(0, &Rule::NEVER);
        for second in [vec![0], never.clone(), frame(code::PACKET, &[1; 255])] {
            let hello = frame(code::HELLO, &[]);
            host.source.send(&hello);
            host.source.send(&second);
            let expected = host.model.answer(&hello);
            let clocks = 10 * BOARD.clocks_per_bit * (hello.len() + OK_HELLO_BYTES) as u64;
            assert_eq!(host.receive(clocks), expected);
            host.drain();
            let expected = host.model.fault(code::OVERRUN);
            assert_eq!(host.receive(2 * BOARD.quiet_clocks), expected);
            host.check_leds();
        }
        host.exchange(&frame(code::PACKET, &[0; 64]));
        assert_eq!(host.model.matches, 1);
    });
}

#[test]
fn the_smallest_console_has_the_same_faults() {
    case(1, small, |host| {
        load(host, &Rule::ALWAYS, &Rule::NEVER);
        host.source.send(&[3, 200, 1]);
        host.expect_fault(code::TIMEOUT);
        host.source.send_broken(3);
        host.source.hold(true, 4);
        host.expect_fault(code::FRAMING);
        host.exchange(&rule_frame(2, &Rule::NEVER));
        host.exchange(&frame(code::CONTROL, &[1, 2]));
        host.exchange(&frame(code::PACKET, &[5; 5]));
        assert_eq!(host.model.matches, 1);
    });
}
