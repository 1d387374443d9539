//! A place for messages, in the memory that handlers and host share.
//!
//! Handlers use a place while the host reads it. The host writes the state of an open or complete place. It clears a closed
//! place when `users` is 0, and never writes `users`. A handler that faults never leaves `users`. Its place stays closed,
//! because a copy to its region may still be in flight.

use crate::device::Device;
use crate::error::{Error, ErrorKind};
use crate::memory::{HandlerMemory, HostMemory};
use crate::nic::Nic;
use spinneret_slmp::memory::{COMPLETION_STRIDE, COMPLETION_VALID, DONE_END, State, common, place};
use spinneret_slmp::{GivenUp, MessageKey, Received};
use std::net::SocketAddrV4;
use std::time::Duration;

/// Maximum time for handlers to finish with a message that is given up.
const DRAIN: Duration = Duration::from_millis(10);
/// Fields that are kept when a place is cleared: the state is written last, `users`, `generation` and bits belong to handlers.
const STAYS: [usize; 7] = [
    place::STATE,
    place::REGION,
    place::CAPACITY,
    place::USERS,
    place::GENERATION,
    place::START,
    place::CLAIMED,
];

/// Outcome of giving up a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was completed in the meantime, and can be taken.
    Whole,
    /// It is removed, and its place is free.
    Freed(GivenUp),
    /// It is removed, and its place is lost: a handler still uses it, and never finishes.
    Lost(GivenUp),
}

/// A place.
#[derive(Debug)]
pub(super) struct Place<'m, D: Device> {
    nic: &'m Nic<D>,
    handler: &'m HandlerMemory<D>,
    host: &'m HostMemory<D>,
    start: u32,
    completion: u32,
}

impl<'m, D: Device> Place<'m, D> {
    /// Returns the place of that number.
    pub(super) fn new(
        nic: &'m Nic<D>,
        handler: &'m HandlerMemory<D>,
        host: &'m HostMemory<D>,
        number: usize,
    ) -> Self {
        Self {
            nic,
            handler,
            host,
            start: (common::SIZE + number * place::SIZE) as u32,
            completion: (number * COMPLETION_STRIDE) as u32,
        }
    }

    /// Sets where the place's messages go, before handlers know of it. By `start`, which is random, handlers tell what they
    /// have in L1 from what was left there before; the host does not clear that.
    pub(super) fn prepare(&self, region: u32, capacity: u32, start: u32) -> Result<(), Error> {
        self.set(place::REGION, region)?;
        self.set(place::CAPACITY, capacity)?;
        self.set(place::START, start)?;
        self.set(place::GENERATION, start)
    }

    /// Whether its message is incomplete.
    pub(super) fn is_open(&self) -> Result<bool, Error> {
        Ok(self.field(place::STATE)? == State::Open as u32)
    }

    /// Returns the progress: the message, and the number of its segments.
    pub(super) fn progress(&self) -> Result<[u32; 2], Error> {
        Ok([self.field(place::MESSAGE_ID)?, self.field(place::DONE)?])
    }

    /// Returns its message, if it is complete.
    pub(super) fn received(&self) -> Result<Option<Received>, Error> {
        let Some(length) = self.completed()? else {
            return Ok(None);
        };
        let key = self.key()?;
        let mut data = vec![0; length as usize];
        self.host.read(self.field(place::REGION)?, &mut data)?;
        Ok(Some(Received { key, data }))
    }

    /// Releases the message, so that the place can be reused.
    pub(super) fn release(&self) -> Result<(), Error> {
        self.host.store(self.completion, 0_u64)?;
        self.set(place::STATE, State::Released as u32)
    }

    /// Gives up an incomplete message, whatever handlers do with it at the moment.
    pub(super) fn give_up(&self) -> Result<Fate, Error> {
        let is_left = self.close()?;
        if self.completed()?.is_some() {
            self.set(place::STATE, State::Complete as u32)?;
            return Ok(Fate::Whole);
        }
        let given_up = self.given_up()?;
        if !is_left {
            return Ok(Fate::Lost(given_up));
        }
        self.free()?;
        Ok(Fate::Freed(given_up))
    }

    /// Discards the message of the place. Returns whether the place is free; if not, it is lost.
    pub(super) fn refuse(&self) -> Result<bool, Error> {
        let is_closed = self.close()?;
        if is_closed {
            self.free()?;
        }
        Ok(is_closed)
    }

    /// Closes the place. Returns whether no handler uses it.
    fn close(&self) -> Result<bool, Error> {
        self.set(place::STATE, State::Closed as u32)?;
        let what = "the end of handlers for a message that is given up";
        let is_left = || Ok(self.field(place::USERS)? == 0);
        match self.nic.wait_until(what, DRAIN, is_left) {
            Ok(()) => Ok(true),
            Err(Error {
                kind: ErrorKind::TimedOut { .. },
                ..
            }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Frees a closed place without users.
    fn free(&self) -> Result<(), Error> {
        self.host.store(self.completion, 0_u64)?;
        for field in place::FIELDS {
            if !STAYS.contains(&field.offset) {
                self.set(field.offset, 0)?;
            }
        }
        self.set(place::STATE, State::Free as u32)
    }

    /// Returns the length of its message, if it is complete.
    fn completed(&self) -> Result<Option<u32>, Error> {
        let completion: u64 = self.host.load(self.completion)?;
        let length = (completion >> 32) as u32;
        Ok((length & COMPLETION_VALID != 0).then_some(length & !COMPLETION_VALID))
    }

    /// Returns the received part of its message.
    fn given_up(&self) -> Result<GivenUp, Error> {
        let unit = self.field(place::SEGMENT_BYTES)?;
        let segments = self.field(place::DONE)? & !DONE_END;
        let end = match self.field(place::END)? {
            0 => None,
            end => Some((end - 1, self.field(place::LENGTH)?)),
        };
        Ok(GivenUp {
            key: self.key()?,
            bytes: arrived(segments, unit, end),
            length: end.map(|(_, length)| length.into()),
        })
    }

    fn key(&self) -> Result<MessageKey, Error> {
        let address = self.field(place::SOURCE)?.to_le_bytes();
        let [high, low, ..] = self.field(place::PORT)?.to_le_bytes();
        Ok(MessageKey {
            from: SocketAddrV4::new(address.into(), u16::from_be_bytes([high, low])),
            message_id: self.field(place::MESSAGE_ID)?,
        })
    }

    fn field(&self, field: usize) -> Result<u32, Error> {
        self.handler.load(self.start + field as u32)
    }

    fn set(&self, field: usize, value: u32) -> Result<(), Error> {
        self.handler.store(self.start + field as u32, value)
    }
}

/// Bytes of a number of segments of `unit` bytes, one of which is the end, if it is known by its offset and the length of the
/// message. That is exact when no handler is at work: who takes the end then has counted it.
fn arrived(segments: u32, unit: u32, end: Option<(u32, u32)>) -> u64 {
    let (full, last) = match end {
        None => (segments, 0),
        Some((offset, length)) => (segments.saturating_sub(1), length.saturating_sub(offset)),
    };
    u64::from(full) * u64::from(unit) + u64::from(last)
}

#[cfg(test)]
mod tests {
    //! A place in plain memory, with handlers that are nothing but a number of users.

    use super::*;
    use crate::device::{Area, DeviceError};
    use std::ptr::NonNull;

    const NUMBER: usize = 1;
    const REGION: u32 = 4096;
    const START: u32 = 0x7654_3210;
    const GENERATION: u32 = START + 3;

    /// Memories, and how long handlers stay in the place.
    #[derive(Debug)]
    struct Memories {
        cluster: Vec<u8>,
        host: Vec<u8>,
        now: Duration,
        /// When they leave; never if there is nothing.
        leave: Option<Duration>,
        /// The value that they write to the completion then.
        completion: u64,
    }

    impl Memories {
        fn place(&mut self, field: usize) -> &mut [u8] {
            &mut self.cluster[common::SIZE + NUMBER * place::SIZE + field..][..4]
        }

        fn get(&mut self, field: usize) -> u32 {
            u32::from_le_bytes(self.place(field).try_into().expect("it has four bytes"))
        }

        fn completion(&self) -> u64 {
            let bytes = &self.host[NUMBER * COMPLETION_STRIDE..][..8];
            u64::from_le_bytes(bytes.try_into().expect("it has eight bytes"))
        }
    }

    impl Device for Memories {
        fn has_register(&self, _: u32) -> bool {
            false
        }

        fn read_register(&mut self, _: u32) -> Result<u32, DeviceError> {
            Err(DeviceError::NoAccess)
        }

        fn write_register(&mut self, _: u32, _: u32) -> Result<(), DeviceError> {
            Ok(())
        }

        fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
            bytes.copy_from_slice(&self.cluster[address as usize..][..bytes.len()]);
            Ok(())
        }

        fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
            let users = (common::SIZE + NUMBER * place::SIZE + place::USERS) as u32;
            assert!(
                !(address..address + bytes.len() as u32).contains(&users),
                "the host never writes users"
            );
            self.cluster[address as usize..][..bytes.len()].copy_from_slice(bytes);
            Ok(())
        }

        fn open_area(&mut self, _: u32, _: u32) -> Result<Area, DeviceError> {
            Err(DeviceError::NoAccess)
        }

        fn close_area(&mut self, _: u32) {}

        fn read_host(&mut self, _: u32, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
            bytes.copy_from_slice(&self.host[offset as usize..][..bytes.len()]);
            Ok(())
        }

        fn write_host(&mut self, _: u32, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
            self.host[offset as usize..][..bytes.len()].copy_from_slice(bytes);
            Ok(())
        }

        fn host_pointer(&self, _: u32) -> Option<NonNull<u8>> {
            None
        }

        fn tells_contexts(&self) -> bool {
            false
        }

        fn now(&self) -> Duration {
            self.now
        }

        fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
            self.now += time;
            if self.leave.is_some_and(|leave| leave <= self.now) {
                self.leave = None;
                self.place(place::USERS).fill(0);
                let completion = self.completion.to_le_bytes();
                self.host[NUMBER * COMPLETION_STRIDE..][..8].copy_from_slice(&completion);
            }
            Ok(())
        }
    }

    /// An open message with two of its segments of 100 bytes, whose end at 700 with 30 bytes came as well.
    fn open(users: u32, leave: Option<Duration>, completion: u64) -> Memories {
        let mut memories = Memories {
            cluster: vec![0; common::SIZE + 3 * place::SIZE],
            host: vec![7; 8192],
            now: Duration::ZERO,
            leave,
            completion,
        };
        memories.host[..REGION as usize].fill(0);
        for (field, value) in [
            (place::STATE, State::Open as u32),
            (place::SOURCE, 0x0100_000a),
            (place::PORT, 0x3412),
            (place::MESSAGE_ID, 5),
            (place::REGION, REGION),
            (place::CAPACITY, 1000),
            (place::USERS, users),
            (place::SEGMENT_BYTES, 100),
            (place::RECIPROCAL, u32::MAX / 100 + 1),
            (place::END, 701),
            (place::LENGTH, 730),
            (place::DONE, DONE_END | 3),
            (place::END_TAKEN, 1),
            (place::GENERATION, GENERATION),
            (place::START, START),
        ] {
            memories.place(field).copy_from_slice(&u32::to_le_bytes(value));
        }
        memories
    }

    /// Does something with the place: what came of it, and the memories then.
    fn with<T>(
        memories: Memories,
        act: impl FnOnce(&Place<'_, Memories>) -> Result<T, Error>,
    ) -> (T, Nic<Memories>) {
        let bytes = memories.cluster.len() as u32;
        let area = Area {
            address: 0,
            bytes: memories.host.len() as u32,
        };
        let nic = Nic::new(memories).expect("it takes what is written");
        let handler = HandlerMemory::new(nic.clone(), 0, "handler memory", 0, bytes);
        let host = HostMemory::new(nic.clone(), 0, area);
        let result = act(&Place::new(&nic, &handler, &host, NUMBER)).expect("memory answers");
        (result, nic)
    }

    fn given_up() -> GivenUp {
        GivenUp {
            key: MessageKey {
                from: "10.0.0.1:4660".parse().expect("it is an address"),
                message_id: 5,
            },
            bytes: 230,
            length: Some(730),
        }
    }

    #[test]
    fn a_message_is_given_up_after_its_handlers_have_left() {
        let soon = Duration::from_millis(1);
        let (fate, nic) = with(open(2, Some(soon), 0), |place| place.give_up());
        assert_eq!(fate, Fate::Freed(given_up()));
        let mut device = nic.device();
        assert!(device.now() >= soon);
        for field in place::FIELDS {
            let wanted = match field.offset {
                place::REGION => REGION,
                place::CAPACITY => 1000,
                place::GENERATION => GENERATION,
                place::START => START,
                _ => 0,
            };
            assert_eq!(device.get(field.offset), wanted, "{}", field.name);
        }
    }

    #[test]
    fn message_completed_while_given_up_is_taken() {
        let completion = u64::from(COMPLETION_VALID | 730) << 32 | 5;
        let memories = open(1, Some(Duration::from_millis(1)), completion);
        let ((fate, received), nic) = with(memories, |place| Ok((place.give_up()?, place.received()?)));
        assert_eq!(fate, Fate::Whole);
        let received = received.expect("it is whole");
        assert_eq!((received.key, received.data), (given_up().key, vec![7; 730]));
        assert_eq!(nic.device().get(place::STATE), State::Complete as u32);
    }

    #[test]
    fn place_with_hanging_handler_stays_closed() {
        let (fate, nic) = with(open(1, None, 0), |place| place.give_up());
        assert_eq!(fate, Fate::Lost(given_up()));
        let mut device = nic.device();
        assert!(device.now() >= DRAIN);
        assert_eq!(device.get(place::STATE), State::Closed as u32);
        assert_eq!(device.get(place::DONE), DONE_END | 3);
    }

    #[test]
    fn complete_message_is_taken_although_a_handler_hangs() {
        let mut memories = open(1, None, 0);
        let completion = u64::from(COMPLETION_VALID | 730) << 32 | 5;
        memories.host[NUMBER * COMPLETION_STRIDE..][..8].copy_from_slice(&completion.to_le_bytes());
        let (fate, nic) = with(memories, |place| place.give_up());
        assert_eq!(fate, Fate::Whole);
        assert_eq!(nic.device().get(place::STATE), State::Complete as u32);
    }

    #[test]
    fn a_message_that_is_refused_leaves_no_completion() {
        let completion = u64::from(COMPLETION_VALID | 730) << 32 | 5;
        let memories = open(1, Some(Duration::from_millis(1)), completion);
        let (is_free, nic) = with(memories, |place| place.refuse());
        assert!(is_free);
        let mut device = nic.device();
        assert_eq!(
            (device.completion(), device.get(place::STATE)),
            (0, State::Free as u32)
        );
        let (is_free, nic) = with(open(1, None, 0), |place| place.refuse());
        assert!(!is_free);
        assert_eq!(nic.device().get(place::STATE), State::Closed as u32);
    }

    #[test]
    fn arrived_bytes_are_those_of_segments() {
        for (segments, unit, end, bytes) in [
            (0, 0, None, 0),
            (1, 0, Some((0, 0)), 0),
            (1, 0, Some((900, 930)), 30),
            (2, 100, None, 200),
            (3, 100, Some((900, 930)), 230),
            (32256, 1462, None, 32256 * 1462),
        ] {
            assert_eq!(arrived(segments, unit, end), bytes);
        }
    }
}
