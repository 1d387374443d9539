//! Senders and receivers with a bad link between them.

use crate::support::link::{Ended, Transfer, Weather, limit, stored_after};
use crate::support::{ID, ms, pattern, us};
use proptest::prelude::*;
use spinneret_slmp::{Confirm, Mode, Receiver, ReceiverConfig, SendError, Sender, SenderConfig, Silence};
use std::time::{Duration, Instant};

fn sender(mode: Mode, segment_bytes: usize, length: usize) -> Sender {
    let config = SenderConfig {
        mode,
        segment_bytes,
        ..SenderConfig::default()
    };
    Sender::new(config, ID, length as u64).expect("a good configuration")
}

fn receiver(capacity_bytes: usize, confirm: Confirm) -> Receiver {
    Receiver::new(ReceiverConfig {
        places: 1,
        capacity_bytes,
        confirm,
    })
    .expect("a good configuration")
}

fn run(
    message: &[u8],
    mode: Mode,
    segment_bytes: usize,
    weather: Weather,
    meddle: impl FnMut(&mut Receiver, u64) -> bool,
) -> Ended {
    let receiver = receiver(message.len(), Confirm::Memory);
    Transfer::new(
        message,
        sender(mode, segment_bytes, message.len()),
        receiver,
        weather,
    )
    .run(meddle)
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Message), (1_u16..80).prop_map(Mode::Window)]
}

fn any_weather() -> impl Strategy<Value = Weather> {
    (any::<u64>(), 0_u32..30, 0_u32..30, 1_u64..2000, 0_u64..2000).prop_map(
        |(seed, loss, double, delay, jitter)| Weather {
            seed,
            loss,
            double,
            delay: us(delay),
            jitter: us(jitter),
        },
    )
}

proptest! {
    /// The receiver has no byte more than the message, so one that were written outside of it would be refused.
    #[test]
    fn messages_arrive_complete_over_any_link(
        mode in any_mode(), weather in any_weather(), segment_bytes in 1_usize..=1462, segments in 0_usize..120,
        rest in 0_usize..1462, stored: bool,
    ) {
        let message = pattern(segments * segment_bytes + rest % segment_bytes);
        let confirm = if stored { Confirm::Stored } else { Confirm::Memory };
        // In the worst weather an acknowledgement may not come for long.
        let config = SenderConfig { mode, segment_bytes, give_up: ms(60_000), ..SenderConfig::default() };
        let sender = Sender::new(config, ID, message.len() as u64).expect("a good configuration");
        let mut transfer = Transfer::new(&message, sender, receiver(message.len(), confirm), weather);
        transfer.stored_after = stored_after(confirm);
        let ended = transfer.run(|_, _| true);
        prop_assert_eq!(ended.result, Ok(()));
        prop_assert!(ended.data == Some(message), "another message arrived");
        prop_assert!(ended.most_in_flight <= limit(mode));
        prop_assert!(ended.at < ms(120_000), "it took {:?}", ended.at);
    }

    #[test]
    fn without_loss_nothing_is_sent_twice(
        mode in prop_oneof![Just(Mode::None), any_mode()], segment_bytes in 1_usize..=1462, segments in 0_usize..200,
        rest in 0_usize..1462,
    ) {
        let message = pattern(segments * segment_bytes + rest % segment_bytes);
        let ended = run(&message, mode, segment_bytes, Weather::FAIR, |_, _| true);
        prop_assert_eq!(ended.result, Ok(()));
        prop_assert_eq!(ended.statistics.retransmissions, 0);
        prop_assert_eq!(ended.statistics.segments, message.len().div_ceil(segment_bytes).max(1) as u64);
        prop_assert!(ended.data == Some(message), "another message arrived");
    }
}

#[test]
fn in_a_window_only_what_was_lost_is_repeated() {
    let message = pattern(100_000);
    // Segments 5, 6 and 38 are lost once, and the last one, which comes behind three repetitions and is overtaken by
    // nothing.
    let lost = [6, 7, 41, 103];
    let ended = run(&message, Mode::Window(16), 1000, Weather::FAIR, |_, arrived| {
        !lost.contains(&arrived)
    });
    assert_eq!(ended.result, Ok(()));
    assert_eq!(
        (ended.statistics.retransmissions, ended.statistics.segments),
        (4, 104)
    );
    assert_eq!((ended.statistics.overtaken, ended.statistics.timeouts), (3, 1));
    assert!(ended.data == Some(message), "another message arrived");
}

fn failed(ended: &Ended) -> &SendError {
    ended.result.as_ref().expect_err("it must fail")
}

#[test]
fn without_a_receiver_the_sender_gives_up_and_says_so() {
    for (mode, awaited) in [(Mode::Message, 2), (Mode::Window(4), 10)] {
        let ended = run(&pattern(100), mode, 10, Weather::FAIR, |_, _| false);
        assert_eq!(ended.at, ms(5000));
        let expected = SendError {
            after: ms(5000),
            acknowledged: 0,
            awaited,
            cause: Silence::NoAnswer,
        };
        assert_eq!(failed(&ended), &expected);
    }
    let ended = run(&pattern(100), Mode::Window(4), 10, Weather::FAIR, |_, _| false);
    assert_eq!(
        failed(&ended).to_string(),
        "gave up after 5s without progress, with 0 of 10 acknowledgements: nothing ever answered; check that a receiver \
         runs there, has room, and is reached at UDP port 9330"
    );
}

#[test]
fn receiver_replaced_during_transfer_never_completes() {
    let replace = |receiver: &mut Receiver, arrived| {
        if arrived == 50 {
            *receiver = self::receiver(1000, Confirm::Memory);
        }
        true
    };
    let ended = run(&pattern(1000), Mode::Window(4), 10, Weather::FAIR, replace);
    let cause = Silence::NotDelivered;
    let expected = SendError {
        after: ms(5000),
        acknowledged: 99,
        awaited: 100,
        cause,
    };
    assert_eq!(failed(&ended), &expected);
    assert_eq!(ended.data, None);
    assert!(
        failed(&ended)
            .to_string()
            .contains("lost a part of the message (was it restarted?)")
    );
}

#[test]
fn in_message_mode_a_replaced_receiver_gets_everything_again() {
    let message = pattern(1000);
    let ended = run(&message, Mode::Message, 10, Weather::FAIR, |receiver, arrived| {
        if arrived == 50 {
            *receiver = self::receiver(1000, Confirm::Memory);
        }
        true
    });
    assert_eq!(ended.result, Ok(()));
    assert!(ended.data == Some(message), "another message arrived");
}

#[test]
fn distinguishes_stopped_receiver_from_missing_one() {
    let ended = run(
        &pattern(1000),
        Mode::Window(4),
        10,
        Weather::FAIR,
        |_, arrived| arrived < 50,
    );
    let expected = SendError {
        after: ms(5000),
        acknowledged: 49,
        awaited: 100,
        cause: Silence::Stopped,
    };
    assert_eq!(failed(&ended), &expected);
}

#[test]
fn a_message_that_is_never_stored_is_not_delivered() {
    let message = pattern(1000);
    let transfer = Transfer::new(
        &message,
        sender(Mode::Window(4), 10, 1000),
        receiver(1000, Confirm::Stored),
        Weather::FAIR,
    );
    let ended = transfer.run(|_, _| true);
    assert_eq!(failed(&ended).cause, Silence::NotDelivered);
    assert!(ended.data == Some(message), "it has arrived all the same");
}

#[test]
fn repeating_a_long_message_at_a_low_rate_is_not_given_up_in_the_middle() {
    // All of it takes 8 s. What is missing comes 7 s after the first end, and the sender waits 5 s for progress.
    let config = SenderConfig {
        mode: Mode::Message,
        segment_bytes: 948,
        rate_bits_per_s: Some(1_000_000),
        ..SenderConfig::default()
    };
    let message = pattern(948_000);
    // A message that has to be stored is acknowledged only when its end was repeated, too.
    for (confirm, ends) in [
        (Confirm::Memory, ms(15_000)..ms(15_500)),
        (Confirm::Stored, ms(16_000)..ms(16_500)),
    ] {
        let sender = Sender::new(config, ID, message.len() as u64).expect("a good configuration");
        let mut transfer = Transfer::new(&message, sender, receiver(948_000, confirm), Weather::FAIR);
        transfer.stored_after = stored_after(confirm);
        let ended = transfer.run(|_, arrived| arrived != 900);
        assert_eq!(ended.result, Ok(()));
        assert!(ends.contains(&ended.at), "{confirm:?}: {:?}", ended.at);
        assert!(ended.data.as_ref() == Some(&message), "another message arrived");
    }
}

#[test]
fn a_poll_costs_the_same_in_a_long_message() {
    let message = pattern(10_000_000);
    let started = Instant::now();
    let ended = run(
        &message,
        Mode::Window(64),
        1462,
        Weather {
            loss: 1,
            ..Weather::FAIR
        },
        |_, _| true,
    );
    println!(
        "10 MB over a link that loses 1 %: {} polls, {:?} with the receiver",
        ended.polls,
        started.elapsed()
    );
    assert_eq!(ended.result, Ok(()));
    let polls = ended.polls as f64 / ended.statistics.segments as f64;
    // One that sends, and one after each datagram that arrives, segments included.
    assert!(polls < 3.1, "{polls} polls for a segment");

    // A million segments, each acknowledged at once: any look at all of them would take minutes.
    let mut sender = sender(Mode::Window(64), 1, 1_000_000);
    let (mut polls, mut now, started) = (0_u32, Duration::ZERO, Instant::now());
    let mut unanswered = std::collections::VecDeque::new();
    loop {
        polls += 1;
        match sender.poll(now) {
            spinneret_slmp::Step::Send(segment) => unanswered.push_back(segment.header.acknowledgement()),
            spinneret_slmp::Step::Wait(_) => {
                now += us(1);
                let ack = unanswered.pop_front().expect("it waits for something");
                sender.acknowledge(&ack, now);
            }
            step => {
                assert_eq!(step, spinneret_slmp::Step::Done);
                break;
            }
        }
    }
    println!(
        "a million segments: {:?} for each poll",
        started.elapsed() / polls
    );
    assert!(polls <= 2_000_001, "{polls} polls");
    assert!(
        started.elapsed() < ms(20_000),
        "a poll costs {:?}",
        started.elapsed() / polls
    );
}
