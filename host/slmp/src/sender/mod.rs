//! The sender as a sans-I/O state machine.

mod config;

pub use config::{Mode, Segment, SendError, SenderConfig, SenderConfigError, Silence, Statistics, Step};

use crate::wire::{Flags, Header};
use config::{Pacer, Timeout};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::time::Duration;

/// Sends one message: decides which segment to send when, and processes acknowledgements.
///
/// Call [`Sender::poll`] until it returns [`Step::Wait`]; then again at that time, and after each acknowledgement. Time may
/// start anywhere, and must not go back. Memory use grows with the window, not with the length of the message.
#[derive(Clone, Debug)]
pub struct Sender {
    config: SenderConfig,
    message_id: u32,
    length: usize,
    segments: u32,
    /// The first segment that was never sent.
    next: u32,
    /// Segments with SYN that were not acknowledged.
    flight: Flight,
    /// Segments that were sent again and acknowledged once.
    sent_again: BTreeSet<u32>,
    timeout: Timeout,
    pacer: Pacer,
    /// In [`Mode::Message`]: the next segment, while all are retransmitted.
    again: Option<u32>,
    /// In [`Mode::Message`]: whether the EOM segment alone was retransmitted since all were sent.
    end_was_repeated: bool,
    give_up_at: Duration,
    is_delivered: bool,
    statistics: Statistics,
}

/// The next segment to send.
#[derive(Clone, Copy, Debug)]
enum Next {
    New,
    /// All segments again, at this one.
    Again(u32),
    Overtaken(u32),
    Overdue(u32, Duration),
}

impl Sender {
    /// Returns a sender for a message of `length` bytes. `message_id` identifies it among the messages of this source.
    ///
    /// Choose ids at random: a receiver takes a message with a recent id for a retransmission.
    ///
    /// # Errors
    /// The message is too long, or the configuration is invalid.
    pub fn new(config: SenderConfig, message_id: u32, length: u64) -> Result<Self, SenderConfigError> {
        let segments = config.segments(length)?;
        Ok(Self {
            config,
            message_id,
            length: usize::try_from(length).map_err(|_| SenderConfigError::TooLong(length))?,
            segments,
            next: 0,
            flight: Flight::default(),
            sent_again: BTreeSet::new(),
            timeout: Timeout::new(&config),
            pacer: Pacer::new(config.rate_bits_per_s),
            again: None,
            end_was_repeated: false,
            give_up_at: Duration::ZERO,
            is_delivered: false,
            statistics: Statistics::default(),
        })
    }

    /// Returns the next step.
    pub fn poll(&mut self, now: Duration) -> Step {
        if self.is_done() {
            return Step::Done;
        }
        // Do not give up in the middle of a retransmission: its end may be acknowledged.
        let gives_up = !self.flight.is_empty() && self.again.is_none();
        if gives_up && now >= self.give_up_at {
            return Step::Failed(self.silence());
        }
        let give_up_at = gives_up.then_some(self.give_up_at);
        match self.choose(now) {
            Some(next) if self.pacer.ready_at() <= now => Step::Send(self.send(next, now)),
            Some(_) => Step::Wait(earliest(self.pacer.ready_at(), give_up_at)),
            None => {
                let late = self.flight.next_deadline().unwrap_or(now);
                let lost = self.overtaken().map(|(_, lost_at)| lost_at);
                Step::Wait(earliest(earliest(late, lost), give_up_at))
            }
        }
    }

    /// Processes the header of an acknowledgement. Counts and ignores those that answer no segment of this message.
    pub fn acknowledge(&mut self, header: &Header, now: Duration) {
        let Some((segment, is_bare)) = self.answered(header) else {
            self.statistics.strange_acks += 1;
            return;
        };
        let Some(transmission) = self.flight.acknowledge(segment) else {
            self.statistics.duplicate_acks += 1;
            if self.sent_again.remove(&segment) {
                self.timeout.was_too_early(now);
            }
            return;
        };
        if transmission.is_repeated {
            self.sent_again.insert(segment);
        } else {
            self.timeout.measure(now.saturating_sub(transmission.sent_at));
            self.statistics.smoothed_round_trip = self.timeout.smoothed();
        }
        self.give_up_at = now.saturating_add(self.config.give_up);
        self.statistics.acks += 1;
        self.statistics.acknowledged_bytes += self.range(segment).len() as u64;
        let is_whole = if is_bare {
            self.flight.is_empty() && self.next == self.segments
        } else {
            segment == self.last()
        };
        if is_whole {
            // No other acknowledgement is needed.
            self.is_delivered = true;
            self.flight = Flight::default();
            self.statistics.acknowledged_bytes = self.length as u64;
        }
    }

    /// Returns the statistics.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns the number of unacknowledged segments.
    pub fn in_flight(&self) -> usize {
        self.flight.len()
    }

    fn is_done(&self) -> bool {
        self.is_delivered || (self.config.mode == Mode::None && self.next == self.segments)
    }

    /// The next segment that counts as lost because later ones were acknowledged, and when.
    fn overtaken(&self) -> Option<(u32, Duration)> {
        let (segment, sent_at) = self.flight.overtaken().filter(|_| self.config.retransmit)?;
        Some((segment, sent_at.saturating_add(self.timeout.patience()?)))
    }

    fn choose(&self, now: Duration) -> Option<Next> {
        if let Some(segment) = self.again {
            return Some(Next::Again(segment));
        }
        if let Some((segment, lost_at)) = self.overtaken()
            && lost_at <= now
        {
            return Some(Next::Overtaken(segment));
        }
        if let Some(late) = self.flight.overdue(now) {
            return Some(Next::Overdue(late.segment, late.sent_at));
        }
        let has_room = match self.config.mode {
            Mode::None => true,
            // The first and the last segment are in flight alone: the receiver is there before all others are sent.
            Mode::Message => self.flight.is_empty(),
            Mode::Window(most) => self.flight.len() < usize::from(most),
        };
        (has_room && self.next < self.segments).then_some(Next::New)
    }

    fn send(&mut self, next: Next, now: Duration) -> Segment {
        let segment = match next {
            Next::New => {
                self.next += 1;
                self.next - 1
            }
            Next::Again(segment) => self.step_again(segment, now),
            Next::Overtaken(segment) => {
                self.statistics.overtaken += 1;
                segment
            }
            Next::Overdue(segment, sent_at) => {
                self.statistics.timeouts += 1;
                self.timeout.back_off(sent_at, now);
                self.repeat_overdue(segment, now)
            }
        };
        self.statistics.segments += 1;
        self.statistics.retransmissions += u64::from(!matches!(next, Next::New));
        let is_awaited = matches!(next, Next::New) || self.flight.contains(segment);
        if is_awaited && self.header(segment).has(Flags::SYN) {
            if self.flight.is_empty() {
                self.give_up_at = now.saturating_add(self.config.give_up);
            }
            let timeout = match self.config.retransmit {
                true => self.timeout.current(),
                false => Duration::MAX,
            };
            self.flight.send(segment, now, timeout);
        }
        let range = self.range(segment);
        self.pacer.sent(now, range.len());
        Segment {
            header: self.header(segment),
            range,
        }
    }

    /// The segment to retransmit after a timeout. In [`Mode::Message`] any segment may be missing when the last is not
    /// acknowledged; it is retransmitted alone first, because its acknowledgement may have been lost.
    fn repeat_overdue(&mut self, segment: u32, now: Duration) -> u32 {
        let is_end = self.config.mode == Mode::Message && segment == self.last() && self.segments > 1;
        if !is_end {
            return segment;
        }
        self.end_was_repeated = !self.end_was_repeated;
        if self.end_was_repeated {
            segment
        } else {
            self.step_again(0, now)
        }
    }

    /// Sends a segment of a full retransmission, and advances to the next.
    fn step_again(&mut self, segment: u32, now: Duration) -> u32 {
        self.again = (segment < self.last()).then_some(segment + 1);
        if self.again.is_none() {
            let answer_until = now.saturating_add(self.timeout.current());
            self.give_up_at = self.give_up_at.max(answer_until);
        }
        segment
    }

    fn last(&self) -> u32 {
        self.segments - 1
    }

    fn header(&self, segment: u32) -> Header {
        let is_end = segment == self.last();
        let mut flags = if is_end { Flags::EOM } else { Flags::NONE };
        let asks = match self.config.mode {
            Mode::None => false,
            Mode::Message => is_end || segment == 0,
            Mode::Window(_) => true,
        };
        if asks {
            flags |= Flags::SYN;
        }
        Header {
            flags,
            message_id: self.message_id,
            offset: segment * self.config.segment_bytes as u32,
        }
    }

    fn range(&self, segment: u32) -> Range<usize> {
        let start = segment as usize * self.config.segment_bytes;
        start..self.length.min(start + self.config.segment_bytes)
    }

    /// The segment that an acknowledgement answers, if it was sent, and whether the acknowledgement is bare: with the flag ACK alone,
    /// as FPsPIN's handlers send it in a window. A bare one is for its segment only, also that of the last segment.
    fn answered(&self, header: &Header) -> Option<(u32, bool)> {
        let segment = header.offset / self.config.segment_bytes as u32;
        if segment >= self.next || !self.header(segment).has(Flags::SYN) {
            return None;
        }
        let whole = self.header(segment).acknowledgement();
        let bare = Header {
            flags: Flags::ACK,
            ..whole
        };
        let is_bare = matches!(self.config.mode, Mode::Window(_)) && *header == bare;
        (is_bare || *header == whole).then_some((segment, is_bare))
    }

    fn silence(&self) -> SendError {
        let awaited = match self.config.mode {
            Mode::Message => self.segments.min(2),
            Mode::None | Mode::Window(_) => self.segments,
        };
        let acknowledged = self.statistics.acks as u32;
        let only_end_is_missing = acknowledged + 1 == awaited && self.flight.contains(self.last());
        let cause = if acknowledged == 0 {
            Silence::NoAnswer
        } else if !self.config.retransmit {
            Silence::Lost
        } else if only_end_is_missing {
            Silence::NotDelivered
        } else {
            Silence::Stopped
        };
        SendError {
            after: self.config.give_up,
            acknowledged,
            awaited,
            cause,
        }
    }
}

fn earliest(one: Duration, other: Option<Duration>) -> Duration {
    other.map_or(one, |other| one.min(other))
}

/// A segment may count as lost after acknowledgements of this many segments that were sent later.
const LATER_ACKS: usize = 3;

/// One transmission of a segment: the last one.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    segment: u32,
    sent_at: Duration,
    /// Whether the segment was sent before.
    is_repeated: bool,
    deadline: Duration,
}

/// Segments in flight. Transmissions are numbered in order.
#[derive(Clone, Debug, Default)]
struct Flight {
    next_number: u64,
    in_order: BTreeMap<u64, Transmission>,
    by_segment: HashMap<u32, u64>,
    by_deadline: BTreeSet<(Duration, u64)>,
    /// The highest numbers of transmissions that were acknowledged, highest first.
    latest_acks: [Option<u64>; LATER_ACKS],
}

impl Flight {
    fn len(&self) -> usize {
        self.in_order.len()
    }

    fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }

    fn contains(&self, segment: u32) -> bool {
        self.by_segment.contains_key(&segment)
    }

    /// Notes that a segment is sent now, for the first time or again.
    fn send(&mut self, segment: u32, now: Duration, timeout: Duration) {
        let before = self.remove(segment);
        let transmission = Transmission {
            segment,
            sent_at: now,
            is_repeated: before.is_some(),
            deadline: now.saturating_add(timeout),
        };
        let number = self.next_number;
        self.next_number += 1;
        self.in_order.insert(number, transmission);
        self.by_segment.insert(segment, number);
        self.by_deadline.insert((transmission.deadline, number));
    }

    /// Notes that a segment was acknowledged; `None` if it is not in flight.
    fn acknowledge(&mut self, segment: u32) -> Option<Transmission> {
        let number = *self.by_segment.get(&segment)?;
        let transmission = self.remove(segment)?;
        // For a retransmitted segment the acknowledged transmission is unknown, so it says nothing about others.
        if !transmission.is_repeated {
            let place = self.latest_acks.iter().position(|latest| *latest < Some(number));
            if let Some(place) = place {
                self.latest_acks[place..].rotate_right(1);
                self.latest_acks[place] = Some(number);
            }
        }
        Some(transmission)
    }

    /// The oldest segment and its time, if enough later ones have been acknowledged.
    fn overtaken(&self) -> Option<(u32, Duration)> {
        let (number, oldest) = self.in_order.first_key_value()?;
        let [.., least] = self.latest_acks;
        (least > Some(*number)).then_some((oldest.segment, oldest.sent_at))
    }

    /// The first transmission that has timed out.
    fn overdue(&self, now: Duration) -> Option<Transmission> {
        let (deadline, number) = self.by_deadline.first()?;
        self.in_order.get(number).copied().filter(|_| *deadline <= now)
    }

    /// When the next transmission times out.
    fn next_deadline(&self) -> Option<Duration> {
        self.by_deadline.first().map(|(deadline, _)| *deadline)
    }

    fn remove(&mut self, segment: u32) -> Option<Transmission> {
        let number = self.by_segment.remove(&segment)?;
        let transmission = self.in_order.remove(&number)?;
        self.by_deadline.remove(&(transmission.deadline, number));
        Some(transmission)
    }
}
