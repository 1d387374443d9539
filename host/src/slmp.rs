//! Messages over SLMP, received by handlers on the NIC: the part of the host.
//!
//! The handlers of `runtime/examples/slmp` put segments where they belong in host memory, acknowledge and count them, and say
//! when a message is whole. The host takes it from its memory, and gives up what makes no progress. The layout of what they
//! share is in [`spinneret_slmp::memory`], the protocol in `docs/host/slmp.md`.

use crate::context::{Context, Options};
use crate::device::{Device, OpenDevice};
use crate::error::Error;
use crate::memory::{HandlerMemory, HostMemory};
use crate::nic::Nic;
use crate::ruleset::Ruleset;
use spinneret_program::Program;
use spinneret_regmap::matching::Rule;
use spinneret_slmp::memory::{
    COMPLETION_STRIDE, COMPLETION_VALID, COUNTERS, Cause, MAGIC, REGIONS, State, VERSION, common, place,
};
use spinneret_slmp::wire::PORT;
use spinneret_slmp::{Confirm, GivenUp, MessageKey, Received, ReceiverConfig, Verdict};
use std::net::SocketAddrV4;
use std::time::Duration;

/// The handlers' name in their program.
const HANDLERS: &str = "slmp";
/// Looks for messages without progress while one of them may be given up.
const LOOKS: u32 = 4;
/// Longest that handlers take to finish what they do for a message that is given up.
const DRAIN: Duration = Duration::from_millis(10);
/// Bytes of a line of host memory.
const LINE: usize = 64;

/// What happened to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It came whole. If stored messages are confirmed, [`MessageReceiver::confirm`] comes next.
    Complete(Received),
    /// It made no progress for too long.
    GivenUp(GivenUp),
}

/// Segments by what became of them, as the handlers have counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentCounters([u32; COUNTERS]);

impl SegmentCounters {
    /// Segments that were counted under a cause.
    pub fn of(&self, cause: Cause) -> u32 {
        self.0[cause as usize]
    }

    /// Acknowledgements that were sent.
    pub fn acks_sent(&self) -> u32 {
        self.0[spinneret_slmp::memory::ACKS_SENT]
    }

    /// Messages that were completed.
    pub fn completed(&self) -> u32 {
        self.0[spinneret_slmp::memory::COMPLETED]
    }
}

/// What is known of a place between two looks.
#[derive(Clone, Copy, Debug, Default)]
struct Watch {
    /// The message that was taken and waits to be confirmed.
    taken: Option<MessageKey>,
    /// Bytes that had come at the last progress, and when that was.
    bytes: u32,
    since: Duration,
}

/// Receives messages through a NIC.
#[derive(Debug)]
pub struct MessageReceiver<D: Device = OpenDevice> {
    context: Context<D>,
    handler: HandlerMemory<D>,
    host: HostMemory<D>,
    config: ReceiverConfig,
    idle: Duration,
    places: Vec<Watch>,
    looked: Duration,
}

impl<D: Device> MessageReceiver<D> {
    /// Opens a context with the handlers of a program, which is that of `runtime/examples/slmp` or has its handlers. Messages
    /// without progress for `idle` are given up.
    ///
    /// # Errors
    /// If the NIC has no room for it, or does not answer.
    pub fn open(
        nic: &Nic<D>,
        program: &Program,
        config: ReceiverConfig,
        idle: Duration,
    ) -> Result<Self, Error> {
        let stride = config.capacity_bytes.next_multiple_of(LINE);
        let options = Options {
            host_bytes: (REGIONS + config.places * stride).try_into().unwrap_or(u32::MAX),
            handler_bytes: Some((common::SIZE + config.places * place::SIZE) as u32),
            ..Options::default()
        };
        // No packet comes before memory is ready.
        let context = nic.open_context(program, HANDLERS, &Ruleset::any(), &options)?;
        let (handler, host) = (context.handler_memory(), context.host_memory());
        handler.clear()?;
        for number in 0..config.places {
            let start = place_offset(number);
            handler.store(start + place::REGION as u32, (REGIONS + number * stride) as u32)?;
            handler.store(start + place::CAPACITY as u32, config.capacity_bytes as u32)?;
        }
        handler.store(common::PLACES as u32, config.places as u32)?;
        handler.store(
            common::CONFIRM as u32,
            u32::from(config.confirm == Confirm::Stored),
        )?;
        handler.store(common::VERSION as u32, VERSION)?;
        handler.store(common::MAGIC as u32, MAGIC)?;
        context.set_ruleset(&rules())?;
        let places = vec![Watch::default(); config.places];
        Ok(Self {
            looked: nic.now(),
            context,
            handler,
            host,
            config,
            idle,
            places,
        })
    }

    /// What has happened since the last call, one thing at a time. Time does not pass here.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn poll(&mut self) -> Result<Option<Event>, Error> {
        for number in 0..self.places.len() {
            if self.places[number].taken.is_none()
                && let Some(received) = self.take(number)?
            {
                return Ok(Some(Event::Complete(received)));
            }
        }
        let now = self.context.nic().now();
        if now < self.looked + self.idle / LOOKS {
            return Ok(None);
        }
        for number in 0..self.places.len() {
            if let Some(given_up) = self.look(number, now)? {
                return Ok(Some(Event::GivenUp(given_up)));
            }
        }
        self.looked = now;
        Ok(None)
    }

    /// Says what became of a message that was taken, if stored messages are confirmed. A message that is not known is no
    /// matter: it was given up.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn confirm(&mut self, key: &MessageKey, verdict: Verdict) -> Result<(), Error> {
        let found = self
            .places
            .iter()
            .position(|place| place.taken.as_ref() == Some(key));
        let Some(number) = found else {
            return Ok(());
        };
        self.places[number].taken = None;
        match verdict {
            Verdict::Stored => self.release(number),
            Verdict::Refused => self.clear(number),
        }
    }

    /// What became of all segments so far.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn counters(&self) -> Result<SegmentCounters, Error> {
        let mut bytes = [0; 4 * COUNTERS];
        self.handler.read(common::COUNTERS as u32, &mut bytes)?;
        let mut counters = SegmentCounters::default();
        let (words, _) = bytes.as_chunks();
        for (counter, word) in counters.0.iter_mut().zip(words) {
            *counter = u32::from_le_bytes(*word);
        }
        Ok(counters)
    }

    /// The context of the handlers.
    pub fn context(&self) -> &Context<D> {
        &self.context
    }

    /// The message of a place, if it is whole.
    fn take(&mut self, number: usize) -> Result<Option<Received>, Error> {
        let completion: u64 = self.host.load(completion(number))?;
        let length = (completion >> 32) as u32;
        if length & COMPLETION_VALID == 0 {
            return Ok(None);
        }
        let key = self.key(number)?;
        let region: u32 = self.field(number, place::REGION)?;
        let mut data = vec![0; (length & !COMPLETION_VALID) as usize];
        self.host.read(region, &mut data)?;
        match self.config.confirm {
            Confirm::Memory => self.release(number)?,
            Confirm::Stored => self.places[number].taken = Some(key),
        }
        Ok(Some(Received { key, data }))
    }

    /// Gives a message up that has made no progress for too long.
    fn look(&mut self, number: usize, now: Duration) -> Result<Option<GivenUp>, Error> {
        let state = self.field(number, place::STATE)?;
        let bytes = self.field(number, place::BYTES)?;
        let watch = &mut self.places[number];
        if state != State::Open as u32 || bytes != watch.bytes {
            (watch.bytes, watch.since) = (bytes, now);
            return Ok(None);
        }
        if now < watch.since + self.idle {
            return Ok(None);
        }
        watch.since = now;
        let given_up = GivenUp {
            key: self.key(number)?,
            bytes: bytes.into(),
            length: match self.field(number, place::END)? {
                0 => None,
                _ => Some(self.field(number, place::LENGTH)?.into()),
            },
        };
        self.clear(number)?;
        Ok(Some(given_up))
    }

    /// The place may be used anew.
    fn release(&mut self, number: usize) -> Result<(), Error> {
        self.host.store(completion(number), 0_u64)?;
        self.set(number, place::STATE, State::Released as u32)
    }

    /// Takes a place from its message, whatever handlers do with it at the moment.
    fn clear(&mut self, number: usize) -> Result<(), Error> {
        self.set(number, place::STATE, State::Closed as u32)?;
        let users = place_offset(number) + place::USERS as u32;
        let handler = &self.handler;
        self.context.nic().wait_until(
            "the end of handlers for a message that is given up",
            DRAIN,
            || Ok(handler.load::<u32>(users)? == 0),
        )?;
        // It may have become whole in its last moments.
        self.host.store(completion(number), 0_u64)?;
        let words = self
            .field(number, place::BITMAP_WORDS)?
            .min(spinneret_slmp::memory::BITMAP_WORDS as u32);
        let bitmap = place_offset(number) + place::BITMAP as u32;
        self.handler.write(bitmap, &vec![0; 4 * words as usize])?;
        for field in place::FIELDS {
            let stays = [
                place::STATE,
                place::REGION,
                place::CAPACITY,
                place::USERS,
                place::BITMAP,
            ];
            if !stays.contains(&field.offset) {
                self.set(number, field.offset, 0)?;
            }
        }
        self.set(number, place::STATE, State::Free as u32)
    }

    fn key(&self, number: usize) -> Result<MessageKey, Error> {
        let address = self.field(number, place::SOURCE)?.to_le_bytes();
        let [high, low, ..] = self.field(number, place::PORT)?.to_le_bytes();
        Ok(MessageKey {
            from: SocketAddrV4::new(address.into(), u16::from_be_bytes([high, low])),
            message_id: self.field(number, place::MESSAGE_ID)?,
        })
    }

    fn field(&self, number: usize, field: usize) -> Result<u32, Error> {
        self.handler.load(place_offset(number) + field as u32)
    }

    fn set(&self, number: usize, field: usize, value: u32) -> Result<(), Error> {
        self.handler.store(place_offset(number) + field as u32, value)
    }
}

/// Segments of SLMP; each is a message of its own for the NIC, since the handlers keep their own books.
fn rules() -> Ruleset {
    Ruleset::all()
        .rule(Rule::IPV4)
        .rule(Rule::ip_protocol(17, 17))
        .rule(Rule::udp_destination_port(PORT, PORT))
        .end_of_message(Rule::NEVER)
}

fn place_offset(number: usize) -> u32 {
    (common::SIZE + number * place::SIZE) as u32
}

fn completion(number: usize) -> u32 {
    (number * COMPLETION_STRIDE) as u32
}
