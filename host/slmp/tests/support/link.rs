//! A sender and a receiver with a bad link between them, in simulated time.

use super::ALICE;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spinneret_slmp::wire::Header;
use spinneret_slmp::{Confirm, MessageKey, Mode, Receiver, SendError, Sender, Statistics, Step, Verdict};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the link does to datagrams, each way.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    pub seed: u64,
    /// Of 100 datagrams, so many are lost.
    pub loss: u32,
    /// Of 100 datagrams, so many come twice.
    pub double: u32,
    pub delay: Duration,
    /// What is added to the delay at most, so datagrams overtake each other.
    pub jitter: Duration,
}

impl Weather {
    pub const FAIR: Self = Self {
        seed: 0,
        loss: 0,
        double: 0,
        delay: super::us(50),
        jitter: Duration::ZERO,
    };
}

enum Datagram {
    Segment(Vec<u8>),
    Ack(Header),
}

/// What became of a transfer.
#[derive(Debug)]
pub struct Ended {
    pub result: Result<(), SendError>,
    pub data: Option<Vec<u8>>,
    pub at: Duration,
    pub most_in_flight: usize,
    pub polls: u64,
    pub statistics: Statistics,
}

pub struct Transfer<'a> {
    pub message: &'a [u8],
    pub sender: Sender,
    pub receiver: Receiver,
    pub weather: Weather,
    /// Whether a complete message still has to be confirmed, and when that is done.
    pub stored_after: Option<Duration>,
}

impl<'a> Transfer<'a> {
    pub fn new(message: &'a [u8], sender: Sender, receiver: Receiver, weather: Weather) -> Self {
        Self {
            message,
            sender,
            receiver,
            weather,
            stored_after: None,
        }
    }

    /// Runs to the end. Before a segment arrives, `meddle` may do what it likes to the receiver; it says whether the
    /// segment arrives at all.
    pub fn run(mut self, mut meddle: impl FnMut(&mut Receiver, u64) -> bool) -> Ended {
        let mut random = ChaCha8Rng::seed_from_u64(self.weather.seed);
        let mut under_way: BTreeMap<(Duration, u64), Datagram> = BTreeMap::new();
        let (mut now, mut number, mut polls, mut arrived, mut most_in_flight) = (Duration::ZERO, 0, 0, 0, 0);
        let mut data = None;
        let mut to_confirm: Option<(MessageKey, Duration)> = None;
        let result = loop {
            polls += 1;
            let step = self.sender.poll(now);
            most_in_flight = most_in_flight.max(self.sender.in_flight());
            let until = match step {
                Step::Send(segment) => {
                    let bytes = [&segment.header.emit(), &self.message[segment.range]].concat();
                    for at in self.weather.arrivals(&mut random, now) {
                        number += 1;
                        under_way.insert((at, number), Datagram::Segment(bytes.clone()));
                    }
                    continue;
                }
                Step::Wait(until) => until,
                Step::Done => break Ok(()),
                Step::Failed(error) => break Err(error),
            };
            assert!(until > now, "waiting until {until:?} at {now:?} is no waiting");
            let Some(((at, order), datagram)) = under_way.pop_first() else {
                now = until;
                continue;
            };
            if at > until {
                under_way.insert((at, order), datagram);
                now = until;
                continue;
            }
            now = now.max(at);
            if let Some((key, _)) = to_confirm.filter(|(_, due)| now >= *due) {
                self.receiver
                    .confirm(now, &key, Verdict::Stored)
                    .expect("it waits for this");
                to_confirm = None;
            }
            match datagram {
                Datagram::Ack(header) => self.sender.acknowledge(&header, now),
                Datagram::Segment(bytes) => {
                    arrived += 1;
                    if !meddle(&mut self.receiver, arrived) {
                        continue;
                    }
                    for ack in self.receiver.receive(now, ALICE, &bytes).acks() {
                        for at in self.weather.arrivals(&mut random, now) {
                            number += 1;
                            under_way.insert((at, number), Datagram::Ack(ack));
                        }
                    }
                    if let Some(received) = self.receiver.take_complete() {
                        assert!(data.is_none(), "the message was complete twice");
                        data = Some(received.data);
                        to_confirm = self.stored_after.map(|after| (received.key, now + after));
                    }
                }
            }
        };
        // Without acknowledgements the sender is done before its segments have arrived.
        for ((at, _), datagram) in under_way {
            if let Datagram::Segment(bytes) = datagram {
                let _ = self.receiver.receive(at, ALICE, &bytes);
            }
        }
        let data = data.or_else(|| self.receiver.take_complete().map(|received| received.data));
        let statistics = *self.sender.statistics();
        Ended {
            result,
            data,
            at: now,
            most_in_flight,
            polls,
            statistics,
        }
    }
}

impl Weather {
    /// When a datagram that is sent now arrives: never, once or twice.
    fn arrivals(&self, random: &mut ChaCha8Rng, now: Duration) -> Vec<Duration> {
        if random.random_range(0..100) < self.loss {
            return Vec::new();
        }
        let copies = if random.random_range(0..100) < self.double {
            2
        } else {
            1
        };
        let jitter = self.jitter.as_nanos() as u64;
        (0..copies)
            .map(|_| now + self.delay + Duration::from_nanos(random.random_range(0..=jitter)))
            .collect()
    }
}

/// Most segments that may be in flight in a mode.
pub fn limit(mode: Mode) -> usize {
    match mode {
        Mode::None => 0,
        Mode::Message => 1,
        Mode::Window(most) => most.into(),
    }
}

/// The time that the program takes to store, if it is asked to.
pub fn stored_after(confirm: Confirm) -> Option<Duration> {
    (confirm == Confirm::Stored).then_some(super::ms(20))
}
