//! What a sender sends and when, step by step.

use crate::support::{EOM, ID, SYN, ack, header, ms, us};
use spinneret_slmp::wire::{Flags, Header};
use spinneret_slmp::{Mode, Segment, SendError, Sender, SenderConfig, SenderConfigError, Silence, Step};
use std::time::Duration;

const NONE: Flags = Flags::NONE;

fn config(mode: Mode) -> SenderConfig {
    SenderConfig {
        mode,
        segment_bytes: 10,
        ..SenderConfig::default()
    }
}

fn sender(mode: Mode, length: u64) -> Sender {
    Sender::new(config(mode), ID, length).expect("a good configuration")
}

/// What it sends at a time, until it wants something else: flags, offset and bytes.
#[track_caller]
fn sends(sender: &mut Sender, now: Duration, expected: &[(Flags, u32, usize)]) -> Step {
    for (flags, offset, bytes) in expected {
        let range = *offset as usize..*offset as usize + bytes;
        let segment = Segment {
            header: header(*flags, *offset),
            range,
        };
        assert_eq!(sender.poll(now), Step::Send(segment));
    }
    let step = sender.poll(now);
    assert!(!matches!(step, Step::Send(_)), "and then nothing, not {step:?}");
    step
}

#[test]
fn without_acknowledgements_all_is_sent_once() {
    let mut sender = sender(Mode::None, 25);
    let step = sends(&mut sender, ms(0), &[(NONE, 0, 10), (NONE, 10, 10), (EOM, 20, 5)]);
    assert_eq!(step, Step::Done);
    sender.acknowledge(&ack(EOM | SYN, 20), ms(1));
    assert_eq!(
        (sender.statistics().strange_acks, sender.statistics().acks),
        (1, 0)
    );
}

#[test]
fn splits_messages_into_full_segments_and_a_remainder() {
    for (length, last) in [
        (0, (0, 0)),
        (1, (0, 1)),
        (10, (0, 10)),
        (11, (10, 1)),
        (30, (20, 10)),
    ] {
        let mut sender = sender(Mode::None, length);
        let mut sent = Vec::new();
        while let Step::Send(segment) = sender.poll(ms(0)) {
            sent.push(segment);
        }
        let (end, full) = sent.split_last().expect("there is always one");
        assert_eq!(
            (end.header, end.range.len()),
            (header(EOM, last.0), last.1),
            "{length} bytes"
        );
        assert!(
            full.iter()
                .all(|segment| segment.range.len() == 10 && segment.header.flags == NONE)
        );
        assert_eq!(
            sent.iter().map(|segment| segment.range.len()).sum::<usize>(),
            length as usize
        );
    }
}

#[test]
fn in_message_mode_the_first_acknowledgement_is_awaited_and_then_the_last() {
    let mut sender = sender(Mode::Message, 35);
    assert_eq!(sends(&mut sender, ms(0), &[(SYN, 0, 10)]), Step::Wait(ms(50)));
    sender.acknowledge(&ack(SYN, 0), ms(1));
    let rest = [(NONE, 10, 10), (NONE, 20, 10), (EOM | SYN, 30, 5)];
    // The round-trip time was 1 ms, and is taken to vary by half of it; but 5 ms of air are the least.
    assert_eq!(sends(&mut sender, ms(1), &rest), Step::Wait(ms(7)));
    assert_eq!(sender.statistics().acknowledged_bytes, 10);
    sender.acknowledge(&ack(EOM | SYN, 30), ms(2));
    assert_eq!(sender.poll(ms(2)), Step::Done);
    assert_eq!(sender.statistics().acknowledged_bytes, 35);
}

#[test]
fn in_message_mode_the_end_is_repeated_and_then_everything_in_turns() {
    let mut sender = sender(Mode::Message, 25);
    assert_eq!(sends(&mut sender, ms(0), &[(SYN, 0, 10)]), Step::Wait(ms(50)));
    // Repeated: its acknowledgement says nothing of the round-trip time, and the timeout stays doubled.
    assert_eq!(sends(&mut sender, ms(50), &[(SYN, 0, 10)]), Step::Wait(ms(150)));
    sender.acknowledge(&ack(SYN, 0), ms(60));
    let (end, all) = (
        [(EOM | SYN, 20, 5)],
        [(SYN, 0, 10), (NONE, 10, 10), (EOM | SYN, 20, 5)],
    );
    assert_eq!(sends(&mut sender, ms(60), &all[1..]), Step::Wait(ms(160)));
    assert_eq!(sends(&mut sender, ms(160), &end), Step::Wait(ms(360)));
    assert_eq!(sends(&mut sender, ms(360), &all), Step::Wait(ms(760)));
    assert_eq!(sends(&mut sender, ms(760), &end), Step::Wait(ms(1560)));
    sender.acknowledge(&ack(SYN, 0), ms(800));
    assert_eq!(sender.statistics().duplicate_acks, 1);
    // One second is the longest time.
    assert_eq!(sends(&mut sender, ms(1560), &all), Step::Wait(ms(2560)));
    sender.acknowledge(&ack(EOM | SYN, 20), ms(1561));
    assert_eq!(sender.poll(ms(1561)), Step::Done);
    let statistics = sender.statistics();
    assert_eq!(
        (
            statistics.segments,
            statistics.retransmissions,
            statistics.timeouts
        ),
        (12, 9, 5)
    );
    assert_eq!(statistics.smoothed_round_trip, None);
}

#[test]
fn window_advances_with_each_acknowledgement() {
    let mut sender = sender(Mode::Window(2), 35);
    assert_eq!(
        sends(&mut sender, ms(0), &[(SYN, 0, 10), (SYN, 10, 10)]),
        Step::Wait(ms(50))
    );
    assert_eq!(sender.in_flight(), 2);
    sender.acknowledge(&ack(SYN, 10), ms(1));
    let _ = sends(&mut sender, ms(1), &[(SYN, 20, 10)]);
    sender.acknowledge(&ack(SYN, 0), ms(2));
    let _ = sends(&mut sender, ms(2), &[(EOM | SYN, 30, 5)]);
    sender.acknowledge(&ack(SYN, 20), ms(3));
    sender.acknowledge(&ack(SYN, 20), ms(3));
    assert_eq!((sender.in_flight(), sender.statistics().duplicate_acks), (1, 1));
    sender.acknowledge(&ack(EOM | SYN, 30), ms(4));
    assert_eq!(sender.poll(ms(4)), Step::Done);
    assert_eq!(sender.statistics().acks, 4);
}

#[test]
fn acknowledgement_of_eom_completes_the_transfer() {
    let mut sender = sender(Mode::Window(4), 25);
    let _ = sends(
        &mut sender,
        ms(0),
        &[(SYN, 0, 10), (SYN, 10, 10), (EOM | SYN, 20, 5)],
    );
    sender.acknowledge(&ack(EOM | SYN, 20), ms(1));
    assert_eq!((sender.poll(ms(1)), sender.in_flight()), (Step::Done, 0));
    sender.acknowledge(&ack(SYN, 0), ms(2));
    let statistics = sender.statistics();
    assert_eq!(
        (
            statistics.acknowledged_bytes,
            statistics.acks,
            statistics.duplicate_acks
        ),
        (25, 1, 1)
    );
}

#[test]
fn only_lost_segments_are_repeated_when_their_time_is_over() {
    let mut sender = sender(Mode::Window(3), 30);
    let _ = sends(
        &mut sender,
        ms(0),
        &[(SYN, 0, 10), (SYN, 10, 10), (EOM | SYN, 20, 10)],
    );
    sender.acknowledge(&ack(SYN, 10), us(800));
    assert_eq!(sender.statistics().smoothed_round_trip, Some(us(800)));
    let _ = sends(&mut sender, us(49_999), &[]);
    // Both were lost together, which doubles the timeout of 5.8 ms once; the next time doubles it again.
    let both = [(SYN, 0, 10), (EOM | SYN, 20, 10)];
    assert_eq!(sends(&mut sender, ms(50), &both), Step::Wait(us(61_600)));
    assert_eq!(sends(&mut sender, us(61_600), &both), Step::Wait(us(84_800)));
    sender.acknowledge(&ack(SYN, 0), ms(62));
    let _ = sends(&mut sender, us(84_800), &both[1..]);
    assert_eq!(sender.statistics().timeouts, 5);
}

/// The sender waits longer for overtaken segments when it learns that it has repeated one too early.
#[test]
fn overtaken_segments_get_more_time_after_a_retransmission_that_was_not_needed() {
    let all: Vec<_> = (0..16)
        .map(|number| (if number == 15 { EOM | SYN } else { SYN }, 10 * number, 10))
        .collect();
    let mut sender = sender(Mode::Window(5), 160);
    let _ = sends(&mut sender, ms(0), &all[..5]);
    // Three later ones come back after a round trip of 1 ms, and its mean deviation is 0.28 ms then.
    for offset in [10, 20, 30] {
        sender.acknowledge(&ack(SYN, offset), ms(1));
    }
    let _ = sends(&mut sender, ms(1), &all[5..8]);
    let _ = sends(&mut sender, us(2063), &all[..1]);
    sender.acknowledge(&ack(SYN, 0), us(2070));
    sender.acknowledge(&ack(SYN, 0), us(2080));
    sender.acknowledge(&ack(SYN, 40), us(2080));
    assert_eq!(sender.statistics().duplicate_acks, 1);
    let _ = sends(&mut sender, us(2080), &all[8..10]);
    // The next ones are overtaken as well. Without the second acknowledgement, one would be repeated now.
    for offset in [60, 70, 80] {
        sender.acknowledge(&ack(SYN, offset), us(3080));
    }
    let Step::Wait(until) = sends(&mut sender, us(3080), &all[10..13]) else {
        panic!("a segment is missing")
    };
    let (round_trip, patience) = (sender.statistics().smoothed_round_trip, until - ms(1));
    let round_trip = round_trip.expect("it was measured");
    assert!(
        patience > round_trip * 2 && patience < round_trip * 4,
        "{patience:?} for round trips of {round_trip:?}"
    );
    let _ = sends(&mut sender, until, &all[5..6]);
}

#[test]
fn a_segment_is_repeated_when_three_that_were_sent_later_are_acknowledged() {
    let mut sender = sender(Mode::Window(8), 60);
    let all = [
        (SYN, 0, 10),
        (SYN, 10, 10),
        (SYN, 20, 10),
        (SYN, 30, 10),
        (SYN, 40, 10),
        (EOM | SYN, 50, 10),
    ];
    let _ = sends(&mut sender, ms(0), &all);
    sender.acknowledge(&ack(SYN, 40), ms(1));
    sender.acknowledge(&ack(SYN, 20), ms(1));
    sender.acknowledge(&ack(SYN, 20), ms(1));
    let _ = sends(&mut sender, ms(1), &[]);
    sender.acknowledge(&ack(SYN, 30), ms(1));
    // Half a round trip and two deviations more are theirs: of 0.28 ms by now.
    let _ = sends(&mut sender, us(2062), &[]);
    let later = us(2063);
    let _ = sends(&mut sender, later, &[(SYN, 0, 10), (SYN, 10, 10)]);
    assert_eq!(
        (sender.statistics().overtaken, sender.statistics().timeouts),
        (2, 0)
    );
    // The repetition was sent after all others, so it is not overtaken.
    let _ = sends(&mut sender, ms(3), &[]);
}

#[test]
fn without_retransmission_a_lost_segment_fails_the_message() {
    for mode in [Mode::Window(8), Mode::Message] {
        let config = SenderConfig {
            retransmit: false,
            ..config(mode)
        };
        let mut sender = Sender::new(config, ID, 60).expect("a good configuration");
        let give_up = config.give_up;
        let mut sent = 0;
        // All arrive but the second, so the end is not acknowledged either.
        let failed = loop {
            match sender.poll(ms(sent)) {
                Step::Send(Segment { header, .. }) => {
                    sent += 1;
                    let is_acknowledged = header.flags == SYN && header.offset != 10;
                    if is_acknowledged {
                        sender.acknowledge(&header.acknowledgement(), ms(sent));
                    }
                }
                Step::Wait(until) => break sender.poll(until),
                step => panic!("{step:?}"),
            }
        };
        let Step::Failed(SendError { after, cause, .. }) = failed else {
            panic!("{failed:?}");
        };
        assert_eq!((after, cause, sent), (give_up, Silence::Lost, 6), "{mode:?}");
        assert_eq!(sender.statistics().retransmissions, 0, "{mode:?}");
    }
}

#[test]
fn acknowledged_retransmission_does_not_mark_others_lost() {
    let mut sender = sender(Mode::Window(5), 50);
    let all = [
        (SYN, 0, 10),
        (SYN, 10, 10),
        (SYN, 20, 10),
        (SYN, 30, 10),
        (EOM | SYN, 40, 10),
    ];
    let _ = sends(&mut sender, ms(0), &all);
    let _ = sends(&mut sender, ms(50), &all);
    // These may have been sent before the repetition of the first.
    for offset in [10, 20, 30] {
        sender.acknowledge(&ack(SYN, offset), ms(51));
    }
    let _ = sends(&mut sender, ms(51), &[]);
}

#[test]
fn the_timeout_follows_what_is_measured() {
    let mut sender = sender(Mode::Window(1), 40);
    assert_eq!(sends(&mut sender, ms(0), &[(SYN, 0, 10)]), Step::Wait(ms(50)));
    // The first sample is the mean, and half of it the deviation: 10 + 4 * 5.
    sender.acknowledge(&ack(SYN, 0), ms(10));
    assert_eq!(
        sends(&mut sender, ms(10), &[(SYN, 10, 10)]),
        Step::Wait(ms(10 + 30))
    );
    // 18 ms: the deviation takes a quarter of the difference of 8, the mean an eighth: 11 + 4 * 5.75.
    sender.acknowledge(&ack(SYN, 10), ms(28));
    assert_eq!(
        sends(&mut sender, ms(28), &[(SYN, 20, 10)]),
        Step::Wait(ms(28 + 34))
    );
    assert_eq!(sender.statistics().smoothed_round_trip, Some(ms(11)));
}

#[test]
fn ignores_acknowledgements_without_a_segment() {
    let mut sender = sender(Mode::Window(2), 35);
    let _ = sends(&mut sender, ms(0), &[(SYN, 0, 10), (SYN, 10, 10)]);
    let strange = [
        header(SYN, 0), // no acknowledgement
        Header {
            message_id: ID + 1,
            ..ack(SYN, 0)
        }, // of another message
        ack(SYN, 5),    // at no segment
        ack(SYN, 20),   // was not sent yet
        ack(EOM | SYN, 30), //
        ack(EOM | SYN, 0), // is not the last
        ack(EOM, 0),    // has asked for it
        ack(SYN, u32::MAX), // beyond everything
    ];
    for (number, header) in (1..).zip(strange) {
        sender.acknowledge(&header, ms(1));
        assert_eq!(
            (sender.in_flight(), sender.statistics().strange_acks),
            (2, number),
            "{header:?}"
        );
    }
}

#[test]
fn takes_the_flag_ack_alone_for_one_segment() {
    let mut sender = sender(Mode::Window(4), 35);
    let all = [(SYN, 0, 10), (SYN, 10, 10), (SYN, 20, 10), (EOM | SYN, 30, 5)];
    let _ = sends(&mut sender, ms(0), &all);
    for (offset, in_flight) in [(30, 3), (0, 2), (20, 1)] {
        sender.acknowledge(&ack(NONE, offset), ms(1));
        assert_eq!(sender.in_flight(), in_flight);
        assert_ne!(sender.poll(ms(1)), Step::Done);
    }
    sender.acknowledge(&ack(NONE, 10), ms(1));
    assert_eq!(sender.poll(ms(1)), Step::Done);
    let statistics = sender.statistics();
    assert_eq!((statistics.strange_acks, statistics.acknowledged_bytes), (0, 35));
}

#[test]
fn keeps_the_rate_and_limits_bursts() {
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
fn rate_counts_padded_frames() {
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
