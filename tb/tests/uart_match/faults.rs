//! Everything that can be wrong on the line or in a frame.

use crate::support::{BOARD, board, load, small};
use spinneret_regmap::matching::Rule;
use spinneret_sim::test_run::run_test;
use spinneret_tb::uart_match::{Led, OK_HELLO_BYTES, code, frame, rule_frame};

#[test]
fn wrong_frames_are_answered_with_what_is_wrong_and_change_nothing() {
    run_test(1, |run| {
        let mut host = board(run);
        load(&mut host, &Rule::ALWAYS, &Rule::NEVER);
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
        host.finish();
    });
}

#[test]
fn a_frame_that_breaks_off_is_given_up_after_a_pause() {
    run_test(1, |run| {
        let mut host = board(run);
        load(&mut host, &Rule::ALWAYS, &Rule::NEVER);
        let packet = frame(code::PACKET, &[9; 64]);
        for length in [1, 2, 3, 9, 65] {
            host.source.send(&packet[..length]);
            host.expect_fault(code::TIMEOUT);
            host.exchange(&packet);
        }
        host.finish();
    });
}

#[test]
fn a_slow_host_is_waited_for() {
    run_test(1, |run| {
        let mut host = board(run);
        let never = rule_frame(1, &Rule::NEVER);
        for byte in &never[..never.len() - 1] {
            host.source.send(&[*byte]);
            // The next byte needs ten bits until it is complete.
            host.source
                .hold(true, BOARD.quiet_clocks - 11 * BOARD.clocks_per_bit);
        }
        host.exchange_rest(&never, never.len() - 1);
        host.finish();
    });
}

#[test]
fn after_a_byte_without_stop_bit_everything_is_dropped_up_to_a_pause() {
    run_test(1, |run| {
        let mut host = board(run);
        load(&mut host, &Rule::ALWAYS, &Rule::NEVER);
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
        host.finish();
    });
}

#[test]
fn a_break_of_any_length_is_one_fault() {
    run_test(1, |run| {
        let mut host = board(run);
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
        host.finish();
    });
}

#[test]
fn a_glitch_starts_nothing() {
    run_test(1, |run| {
        let mut host = board(run);
        for clocks in 1..BOARD.clocks_per_bit / 2 {
            host.source.hold(false, clocks);
            host.source.hold(true, 2 * BOARD.clocks_per_bit);
            host.drain();
            host.exchange(&frame(code::HELLO, &[]));
        }
        host.finish();
    });
}

#[test]
fn what_comes_before_the_answer_ends_is_dropped_and_told() {
    run_test(1, |run| {
        let mut host = board(run);
        load(&mut host, &Rule::ALWAYS, &Rule::NEVER);
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
        host.finish();
    });
}

#[test]
fn the_smallest_console_has_the_same_faults() {
    run_test(1, |run| {
        let mut host = small(run);
        load(&mut host, &Rule::ALWAYS, &Rule::NEVER);
        host.source.send(&[3, 200, 1]);
        host.expect_fault(code::TIMEOUT);
        host.source.send_broken(3);
        host.source.hold(true, 4);
        host.expect_fault(code::FRAMING);
        host.exchange(&rule_frame(2, &Rule::NEVER));
        host.exchange(&frame(code::CONTROL, &[1, 2]));
        host.exchange(&frame(code::PACKET, &[5; 5]));
        assert_eq!(host.model.matches, 1);
        host.finish();
    });
}
