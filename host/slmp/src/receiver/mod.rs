//! The receiver as a sans-I/O state machine. The handlers on the NIC implement the same rules.

mod message;

use crate::frame::{self, Frame};
use crate::memory::{ACKS_SENT, COMPLETED, COUNTERS, Cause, MAX_SEGMENTS, PLACES, State};
use crate::wire::{Flags, Header, MAX_PAYLOAD};
use message::{Arrived, Message};
use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::ops::Index;
use std::time::Duration;
use thiserror::Error;

/// Outcome of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "acknowledgements have to be sent"]
pub struct Outcome {
    /// The cause that it is counted under.
    pub cause: Cause,
    own: Option<Header>,
    end: Option<Header>,
}

impl Outcome {
    /// Returns the headers of the acknowledgements to send, in order: none, one, or that of the segment and that of EOM.
    pub fn acks(&self) -> impl Iterator<Item = Header> + use<> {
        self.own.into_iter().chain(self.end)
    }

    fn refused(cause: Cause) -> Self {
        Self {
            cause,
            own: None,
            end: None,
        }
    }
}

#[derive(Clone, Debug)]
struct Place {
    state: State,
    key: MessageKey,
    message: Message,
    /// When something new came last, or when the message was given up.
    changed_at: Duration,
}

/// Reassembles messages.
///
/// It follows the rules of `docs/host/slmp.md` exactly. The cause of a segment is decided in this order: is its message
/// complete or released; do length and offset fit; is there room; does it agree with the end; is it a duplicate. A segment of
/// an unknown message, or of one that was just given up, must fit as well before it is refused for lack of a place.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    places: Vec<Option<Place>>,
    /// Complete messages that were not taken, in order of completion.
    complete: VecDeque<MessageKey>,
    counters: Counters,
}

impl Receiver {
    /// Returns a receiver without messages.
    ///
    /// # Errors
    /// The number of places is 0 or above the maximum.
    pub fn new(config: ReceiverConfig) -> Result<Self, ReceiverConfigError> {
        if !(1..=PLACES).contains(&config.places) {
            return Err(ReceiverConfigError::Places(config.places));
        }
        let places = vec![None; config.places];
        Ok(Self {
            config,
            places,
            complete: VecDeque::new(),
            counters: Counters::default(),
        })
    }

    /// Counters of segments, acknowledgements and messages.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Processes the UDP payload of a segment.
    pub fn receive(&mut self, now: Duration, from: SocketAddrV4, datagram: &[u8]) -> Outcome {
        let outcome = match Header::parse(datagram) {
            Some((header, payload)) => self.segment(now, from, Arrived { header, payload }),
            None => Outcome::refused(Cause::Malformed),
        };
        self.count(outcome)
    }

    /// Processes an Ethernet frame, and returns the frames to send.
    pub fn receive_frame(&mut self, now: Duration, frame: &[u8]) -> Vec<Vec<u8>> {
        let outcome = match Frame::parse(frame) {
            Ok(parsed) => {
                let segment = Arrived {
                    header: parsed.header,
                    payload: parsed.payload,
                };
                self.segment(now, parsed.from.socket, segment)
            }
            Err(cause) => Outcome::refused(cause),
        };
        self.count(outcome)
            .acks()
            .map(|ack| frame::acknowledgement(frame, &ack))
            .collect()
    }

    /// Takes the oldest complete message. If stored messages are confirmed, call [`Self::confirm`] next.
    pub fn take_complete(&mut self) -> Option<Received> {
        let key = self.complete.pop_front()?;
        let confirm = self.config.confirm;
        let place = self.find(&key)?;
        if confirm == Confirm::Memory {
            place.state = State::Released;
        }
        Some(Received {
            key,
            data: place.message.take_data(),
        })
    }

    /// Reports whether a taken message was stored.
    ///
    /// # Errors
    /// The message does not wait to be confirmed.
    pub fn confirm(&mut self, now: Duration, key: &MessageKey, verdict: Verdict) -> Result<(), NotWaiting> {
        let is_taken = !self.complete.contains(key);
        let place = self
            .find(key)
            .filter(|place| is_taken && place.state == State::Complete);
        let place = place.ok_or(NotWaiting(*key))?;
        match verdict {
            Verdict::Stored => place.state = State::Released,
            Verdict::Refused => {
                place.state = State::Closed;
                place.changed_at = now;
            }
        }
        Ok(())
    }

    /// Gives up a message that is not complete. Its segments are refused until [`Self::free_given_up`].
    pub fn give_up(&mut self, now: Duration, key: &MessageKey) -> Option<GivenUp> {
        let place = self.find(key).filter(|place| place.state == State::Open)?;
        let given_up = GivenUp {
            key: *key,
            bytes: place.message.bytes,
            length: place.message.length(),
        };
        *place = Place {
            state: State::Closed,
            key: *key,
            message: Message::default(),
            changed_at: now,
        };
        Some(given_up)
    }

    /// Frees the places of all messages that were given up.
    pub fn free_given_up(&mut self) {
        self.free_closed(|_| true);
    }

    /// Gives up one message without progress for `idle`; call it until it returns `None`.
    ///
    /// Late segments of the message are refused for the same time, so that they do not open it again; then its place is free.
    pub fn expire(&mut self, now: Duration, idle: Duration) -> Option<GivenUp> {
        let is_old = |place: &Place| now.saturating_sub(place.changed_at) >= idle;
        self.free_closed(is_old);
        let mut open = self
            .places
            .iter()
            .flatten()
            .filter(|place| place.state == State::Open);
        let key = open.find(|place| is_old(place))?.key;
        self.give_up(now, &key)
    }

    fn free_closed(&mut self, is_due: impl Fn(&Place) -> bool) {
        for place in &mut self.places {
            if place
                .as_ref()
                .is_some_and(|place| place.state == State::Closed && is_due(place))
            {
                *place = None;
            }
        }
    }

    fn count(&mut self, outcome: Outcome) -> Outcome {
        self.counters.count(outcome.cause, outcome.acks().count() as u64);
        outcome
    }

    fn find(&mut self, key: &MessageKey) -> Option<&mut Place> {
        self.places.iter_mut().flatten().find(|place| place.key == *key)
    }

    fn segment(&mut self, now: Duration, from: SocketAddrV4, segment: Arrived<'_>) -> Outcome {
        if segment.header.has(Flags::ACK) {
            return Outcome::refused(Cause::NotASegment);
        }
        let key = MessageKey {
            from,
            message_id: segment.header.message_id,
        };
        let capacity = self.config.capacity_bytes as u64;
        let state = self.find(&key).map_or(State::Free, |place| place.state);
        match state {
            State::Complete | State::Released => self.repeated(state, &segment),
            State::Open => self.take_segment(now, &key, &segment),
            State::Free | State::Closed => match Message::default().classify(&segment, capacity) {
                Cause::Accepted if state == State::Closed => Outcome::refused(Cause::GivenUp),
                Cause::Accepted if !self.open(now, key) => Outcome::refused(Cause::NoRoom),
                Cause::Accepted => self.take_segment(now, &key, &segment),
                cause => Outcome::refused(cause),
            },
        }
    }

    /// Opens a message in a free place, or else in that of a released message.
    fn open(&mut self, now: Duration, key: MessageKey) -> bool {
        // The search begins where that of the handlers does, so that both replace the same message.
        let count = self.places.len();
        let first = key.message_id as usize % PLACES * count / PLACES;
        let mut order = (0..count).map(|step| (first + step) % count);
        let is_released =
            |index: &usize| matches!(&self.places[*index], Some(place) if place.state == State::Released);
        let free = order.clone().find(|index| self.places[*index].is_none());
        let Some(index) = free.or_else(|| order.find(is_released)) else {
            return false;
        };
        let message = Message::default();
        self.places[index] = Some(Place {
            state: State::Open,
            key,
            message,
            changed_at: now,
        });
        true
    }

    /// A segment of a message that is complete: EOM is acknowledged if the message is delivered, all others always.
    fn repeated(&self, state: State, segment: &Arrived<'_>) -> Outcome {
        let is_delivered = state == State::Released || self.config.confirm == Confirm::Memory;
        let own = acknowledged(segment.header).filter(|_| is_delivered || !segment.is_end());
        Outcome {
            cause: Cause::Duplicate,
            own,
            end: None,
        }
    }

    /// A segment of an open message.
    fn take_segment(&mut self, now: Duration, key: &MessageKey, segment: &Arrived<'_>) -> Outcome {
        let config = self.config;
        let Some(place) = self.find(key) else {
            return Outcome::refused(Cause::NoRoom);
        };
        let cause = place.message.classify(segment, config.capacity_bytes as u64);
        let own = acknowledged(segment.header).filter(|_| !segment.is_end());
        match cause {
            Cause::Accepted => {}
            Cause::Duplicate => {
                return Outcome {
                    cause,
                    own,
                    end: None,
                };
            }
            _ => return Outcome::refused(cause),
        }
        place.message.take(segment);
        place.changed_at = now;
        let mut end = None;
        if place.message.is_complete() {
            place.state = State::Complete;
            end = place.message.end_header().and_then(acknowledged);
            self.complete.push_back(*key);
            self.counters.complete();
        }
        Outcome {
            cause,
            own,
            end: end.filter(|_| config.confirm == Confirm::Memory),
        }
    }
}

/// The acknowledgement of a segment, if it asks for one.
fn acknowledged(header: Header) -> Option<Header> {
    header.has(Flags::SYN).then(|| header.acknowledgement())
}

/// When the EOM segment is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirm {
    /// When the whole message is in memory.
    Memory,
    /// When [`Receiver::confirm`](crate::Receiver::confirm) has reported that it is stored.
    Stored,
}

/// Configuration of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Number of messages that it tracks, 1 to [`PLACES`].
    pub places: usize,
    /// Maximum length of a message in bytes. Memory is allocated when segments arrive.
    pub capacity_bytes: usize,
    /// When EOM is acknowledged.
    pub confirm: Confirm,
}

impl Default for ReceiverConfig {
    /// The maximum number and length of messages, confirmed when they are in memory.
    fn default() -> Self {
        Self {
            places: PLACES,
            capacity_bytes: MAX_SEGMENTS * MAX_PAYLOAD,
            confirm: Confirm::Memory,
        }
    }
}

/// A receiver cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReceiverConfigError {
    /// None, or more than the layout has.
    #[error("a receiver cannot know {0} messages at once: set `places` to 1 to {PLACES}")]
    Places(usize),
}

/// A message: its sender and id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageKey {
    /// Address and port of the sender.
    pub from: SocketAddrV4,
    /// The id that the sender has chosen.
    pub message_id: u32,
}

/// A complete message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Which message.
    pub key: MessageKey,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// A message that was given up while incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// Which message.
    pub key: MessageKey,
    /// Number of received bytes.
    pub bytes: u64,
    /// Its length, if the EOM segment arrived.
    pub length: Option<u64>,
}

/// Whether the user stored a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Stored: EOM is acknowledged from now on.
    Stored,
    /// Not stored: EOM is never acknowledged, and the message is given up.
    Refused,
}

/// The message is not one that was taken and waits to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "message {:#010x} of {} does not wait to be confirmed: confirm each message once, after taking it, \
     and only if the receiver confirms what is stored", .0.message_id, .0.from
)]
pub struct NotWaiting(
    /// The message.
    pub MessageKey,
);

/// Counters of a receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters([u64; COUNTERS]);

impl Counters {
    /// Returns the number of acknowledgements.
    pub fn acks_sent(&self) -> u64 {
        self.0[ACKS_SENT]
    }

    /// Returns the number of completed messages.
    pub fn completed(&self) -> u64 {
        self.0[COMPLETED]
    }

    /// Returns the number of refused segments.
    pub fn refused(&self) -> u64 {
        let taken = [Cause::Accepted, Cause::Duplicate];
        Cause::ALL
            .iter()
            .filter(|cause| !taken.contains(cause))
            .map(|cause| self[*cause])
            .sum()
    }

    /// All counters as the shared memory numbers them.
    pub fn words(&self) -> &[u64; COUNTERS] {
        &self.0
    }

    fn count(&mut self, cause: Cause, acks: u64) {
        self.0[cause as usize] += 1;
        self.0[ACKS_SENT] += acks;
    }

    fn complete(&mut self) {
        self.0[COMPLETED] += 1;
    }
}

impl Index<Cause> for Counters {
    type Output = u64;

    /// Segments that were counted under a cause.
    fn index(&self, cause: Cause) -> &u64 {
        &self.0[cause as usize]
    }
}
