//! Rates, and what cannot be sent.

use crate::support::{ID, ms};
use spinneret_slmp::{Mode, Sender, SenderConfig, SenderConfigError, Step};
use std::time::Duration;

fn config(mode: Mode) -> SenderConfig {
    SenderConfig {
        mode,
        segment_bytes: 10,
        ..SenderConfig::default()
    }
}

#[test]
fn a_rate_is_kept_and_lateness_caught_up_a_little() {
    // A full segment is a frame of 1514 bytes, 12.112 us at 1 Gb/s.
    let gigabit = SenderConfig {
        mode: Mode::None,
        rate_bits_per_s: Some(1_000_000_000),
        ..SenderConfig::default()
    };
    let mut sender = Sender::new(gigabit, ID, 1_000_000).expect("a good configuration");
    let start = ms(700);
    let mut sent = 0;
    let mut until_waiting = |now: Duration| {
        let before = sent;
        loop {
            match sender.poll(now) {
                Step::Send(_) => sent += 1,
                step => return (sent - before, step),
            }
        }
    };
    let gap = Duration::from_nanos(12_112);
    assert_eq!(until_waiting(start), (1, Step::Wait(start + gap)));
    assert_eq!(until_waiting(start + gap), (1, Step::Wait(start + gap * 2)));
    // Eight segments too late: they are caught up. A hundred too late: sixteen, and the one that is due.
    assert_eq!(until_waiting(start + gap * 10), (9, Step::Wait(start + gap * 11)));
    assert_eq!(
        until_waiting(start + gap * 110),
        (17, Step::Wait(start + gap * 111))
    );
}

#[test]
fn a_rate_counts_whole_frames_and_small_ones_are_filled_up() {
    let slow = SenderConfig {
        rate_bits_per_s: Some(480),
        ..config(Mode::None)
    };
    // A frame of 62 bytes, and one of 53 bytes that is sent as 60.
    let gaps = [(10, Duration::from_nanos(1_033_333_334)), (1, ms(1000))];
    for (segment_bytes, gap) in gaps {
        let config = SenderConfig {
            segment_bytes,
            ..slow
        };
        let mut sender = Sender::new(config, ID, 2 * segment_bytes as u64).expect("a good configuration");
        assert!(matches!(sender.poll(ms(0)), Step::Send(_)));
        assert_eq!(sender.poll(ms(0)), Step::Wait(gap));
    }
}

#[test]
fn impossible_configurations_are_refused() {
    let refused = |config: SenderConfig, length| {
        Sender::new(config, ID, length)
            .map(|_| ())
            .expect_err("this must be refused")
            .to_string()
    };
    let good = config(Mode::Window(1));
    for segment_bytes in [0, 1463] {
        let expected = format!(
            "segments cannot have {segment_bytes} bytes of payload: set `segment_bytes` to 1 to 1462"
        );
        assert_eq!(
            refused(
                SenderConfig {
                    segment_bytes,
                    ..good
                },
                1
            ),
            expected
        );
    }
    assert_eq!(
        refused(config(Mode::Window(0)), 1),
        "a window of 0 segments sends nothing: set it to 1 or more"
    );
    assert_eq!(
        refused(
            SenderConfig {
                rate_bits_per_s: Some(0),
                ..good
            },
            1
        ),
        "at 0 bits per second nothing is sent: leave `rate_bits_per_s` out for no limit"
    );
    for (initial_timeout, min_timeout) in [
        (ms(0), ms(5)),
        (ms(5), ms(0)),
        (ms(1001), ms(5)),
        (ms(5), ms(1001)),
    ] {
        let error = refused(
            SenderConfig {
                initial_timeout,
                min_timeout,
                ..good
            },
            1,
        );
        assert!(error.starts_with("timeouts contradict each other: "), "{error}");
    }
}

#[test]
fn four_gibibytes_are_refused_and_one_byte_less_is_not() {
    let refused = Sender::new(config(Mode::None), ID, 1 << 32).map(|_| ());
    assert_eq!(refused, Err(SenderConfigError::TooLong(1 << 32)));
    let bytes = SenderConfig {
        segment_bytes: 1,
        ..config(Mode::Window(1))
    };
    let mut sender = Sender::new(bytes, ID, (1 << 32) - 1).expect("the longest message");
    assert!(matches!(sender.poll(ms(0)), Step::Send(segment) if segment.range == (0..1)));
}
