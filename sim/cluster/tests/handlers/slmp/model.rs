//! What a receiver does, in the plainest way: one segment after another.

use super::frame::{ACK, Ack, Checksum, Segment};
use super::receiver::{COMPLETE, Cause, Confirm, MAX_SEGMENTS, OPEN, RELEASED};
use crate::packets::{EOM, SYN};

/// A message in a place.
#[derive(Clone, Debug)]
struct Message {
    key: ([u8; 4], u16, u32),
    state: u32,
    /// Payload of all segments but the last.
    unit: Option<u32>,
    /// Offset and bytes of the last one, and whether it asked for an acknowledgement.
    end: Option<(u32, u32, bool)>,
    /// Offsets of all others that came.
    offsets: Vec<u32>,
    bytes: Vec<u8>,
}

/// The receiver.
pub(crate) struct Model {
    places: Vec<Option<Message>>,
    capacity: u32,
    confirm: Confirm,
}

impl Model {
    pub(crate) fn new(places: usize, capacity: u32, confirm: Confirm) -> Self {
        Self {
            places: vec![None; places],
            capacity,
            confirm,
        }
    }

    /// A segment comes: what becomes of it, and how it is answered.
    pub(crate) fn receive(&mut self, segment: &Segment) -> (Cause, Vec<Ack>) {
        if segment.checksum == Checksum::Wrong {
            return (Cause::UdpChecksum, vec![]);
        }
        if segment.flags & ACK != 0 {
            return (Cause::NotASegment, vec![]);
        }
        let key = (segment.source, segment.port, segment.message);
        let is_it = |place: &Option<Message>| place.as_ref().is_some_and(|message| message.key == key);
        let place = match self.places.iter().position(is_it) {
            Some(place) => place,
            None => match self.open(segment) {
                Ok(place) => place,
                Err(cause) => return (cause, vec![]),
            },
        };
        let (capacity, confirm) = (self.capacity, self.confirm);
        let message = self.places[place].as_mut().expect("it was found or opened");
        let cause = message.take(segment, capacity);
        let is_delivered =
            message.state == RELEASED || (message.state == COMPLETE && confirm == Confirm::Memory);
        let (is_end, asks) = (segment.flags & EOM != 0, segment.flags & SYN != 0);
        let mut acks = Vec::new();
        if matches!(cause, Cause::Accepted | Cause::Duplicate) && asks && (!is_end || is_delivered) {
            acks.push(Ack::of(segment));
        }
        if let (Cause::Accepted, false, true, Some((offset, _, true))) =
            (cause, is_end, is_delivered, message.end)
        {
            let flags = EOM | SYN | ACK;
            acks.push(Ack {
                flags,
                offset,
                ..Ack::of(segment)
            });
        }
        (cause, acks)
    }

    /// Opens a message that takes the segment: its place.
    fn open(&mut self, segment: &Segment) -> Result<usize, Cause> {
        let message = Message {
            key: (segment.source, segment.port, segment.message),
            state: OPEN,
            unit: None,
            end: None,
            offsets: Vec::new(),
            bytes: vec![0; self.capacity as usize],
        };
        let cause = message.check(segment, self.capacity);
        if cause != Cause::Accepted {
            return Err(cause);
        }
        let count = self.places.len();
        let order = (0..count).map(|step| (segment.message as usize % 8 * count / 8 + step) % count);
        let free = order.clone().find(|place| self.places[*place].is_none());
        let is_released =
            |place: &usize| matches!(&self.places[*place], Some(Message { state: RELEASED, .. }));
        let place = free
            .or_else(|| order.clone().find(is_released))
            .ok_or(Cause::NoRoom)?;
        self.places[place] = Some(message);
        Ok(place)
    }

    /// State of a place, if it was used.
    pub(crate) fn state(&self, place: usize) -> Option<u32> {
        Some(self.places[place].as_ref()?.state)
    }

    /// The host takes the message of a place, if it is complete.
    pub(crate) fn take(&mut self, place: usize) -> Option<(u32, Vec<u8>)> {
        let message = self.places[place]
            .as_mut()
            .filter(|message| message.state == COMPLETE)?;
        message.state = RELEASED;
        let (offset, bytes, _) = message.end?;
        Some((message.key.2, message.bytes[..(offset + bytes) as usize].to_vec()))
    }

    /// The host gives up the message of a place.
    pub(crate) fn give_up(&mut self, place: usize) {
        self.places[place] = None;
    }
}

impl Message {
    fn take(&mut self, segment: &Segment, capacity: u32) -> Cause {
        if self.state != OPEN {
            return Cause::Duplicate;
        }
        let cause = self.check(segment, capacity);
        if cause != Cause::Accepted {
            return cause;
        }
        let bytes = segment.payload.len() as u32;
        if segment.flags & EOM != 0 {
            self.end = Some((segment.offset, bytes, segment.flags & SYN != 0));
        } else {
            self.unit = Some(bytes);
            self.offsets.push(segment.offset);
        }
        self.bytes[segment.offset as usize..][..bytes as usize].copy_from_slice(&segment.payload);
        let before_end: usize = self.offsets.iter().map(|_| self.unit.unwrap_or(0) as usize).sum();
        if self.end.is_some_and(|(offset, ..)| offset as usize == before_end) {
            self.state = COMPLETE;
        }
        Cause::Accepted
    }

    fn check(&self, segment: &Segment, capacity: u32) -> Cause {
        let (offset, bytes) = (segment.offset, segment.payload.len() as u32);
        let is_end = segment.flags & EOM != 0;
        if bytes > 1462 || (bytes == 0 && (!is_end || offset != 0 || self.unit.is_some())) {
            return Cause::Misplaced;
        }
        let unit = self.unit.or((!is_end).then_some(bytes));
        if let Some(unit) = unit {
            let fits = |offset: u32, bytes: u32| {
                bytes <= unit && offset.is_multiple_of(unit) && offset / unit < MAX_SEGMENTS
            };
            let end_fits = self.end.is_none_or(|(offset, bytes, _)| fits(offset, bytes));
            if !fits(offset, bytes) || (!is_end && bytes != unit) || !end_fits {
                return Cause::Misplaced;
            }
        }
        if u64::from(offset) + u64::from(bytes) > u64::from(capacity) {
            return Cause::TooLong;
        }
        match self.end {
            Some((end, length, _)) if is_end && (end, length) == (offset, bytes) => Cause::Duplicate,
            Some(_) if is_end => Cause::BeyondEnd,
            Some((end, ..)) if offset >= end => Cause::BeyondEnd,
            None if is_end && self.offsets.iter().any(|other| *other >= offset) => Cause::BeyondEnd,
            _ if !is_end && self.offsets.contains(&offset) => Cause::Duplicate,
            _ => Cause::Accepted,
        }
    }
}
