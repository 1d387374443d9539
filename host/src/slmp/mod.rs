//! The host side of receiving SLMP messages on the NIC.
//!
//! The handlers of `runtime/examples/slmp` place segments in host memory, acknowledge and count them, and signal complete
//! messages. The host takes complete messages, and gives up those without progress. [`spinneret_slmp::memory`] has the layout
//! of the shared memory, `docs/host/slmp.md` the protocol.

mod place;

use self::place::{Fate, Place};
use crate::context::Context;
use crate::device::{Device, OpenDevice};
use crate::error::{Error, ErrorKind, In as _};
use crate::memory::{HandlerMemory, HostMemory};
use crate::nic::Nic;
use crate::options::Options;
use spinneret_program::Program;
use spinneret_regmap::matching::Rule;
use spinneret_rules::Ruleset;
use spinneret_slmp::memory::{
    ACCEPTED_AND_ACKED, ACKS_SENT, CLUSTERS, COMPLETED, COUNTERS, Cause, HPUS, LOCAL_BYTES, MAGIC, REGIONS,
    VERSION, common, place as fields,
};
use spinneret_slmp::wire::PORT;
use spinneret_slmp::{Confirm, GivenUp, MessageKey, Received, ReceiverConfig, Verdict};
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// The handlers' name in their program.
const HANDLERS: &str = "slmp";
/// Number of checks for progress during the idle time of a message.
const LOOKS: u32 = 4;
/// Bytes of a line of host memory.
const LINE: usize = 64;

/// An event of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It is complete. If stored messages are confirmed, call [`MessageReceiver::confirm`] next.
    Complete(Received),
    /// It made no progress for too long. If a handler of it never ended, its place is lost, and
    /// [`MessageReceiver::lost_places`] has grown.
    GivenUp(GivenUp),
}

/// Segments by cause, as counted by the handlers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentCounters([u32; COUNTERS]);

impl SegmentCounters {
    /// Returns the number of segments with a cause.
    pub fn of(&self, cause: Cause) -> u32 {
        let acknowledged = match cause {
            Cause::Accepted => self.0[ACCEPTED_AND_ACKED],
            _ => 0,
        };
        self.0[cause as usize].wrapping_add(acknowledged)
    }

    /// Returns the number of segments with any cause.
    pub fn all(&self) -> u32 {
        let counts = Cause::ALL.iter().map(|cause| self.of(*cause));
        counts.fold(0, u32::wrapping_add)
    }

    /// Returns the differences to an earlier snapshot.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self(std::array::from_fn(|number| {
            self.0[number].wrapping_sub(earlier.0[number])
        }))
    }

    /// Returns the number of acknowledgements sent.
    pub fn acks_sent(&self) -> u32 {
        self.0[ACKS_SENT].wrapping_add(self.0[ACCEPTED_AND_ACKED])
    }

    /// Returns the number of completed messages.
    pub fn completed(&self) -> u32 {
        self.0[COMPLETED]
    }
}

/// State of a place between two checks.
#[derive(Clone, Copy, Debug, Default)]
struct Watch {
    /// The message that was taken and waits to be confirmed.
    taken: Option<MessageKey>,
    /// The progress at the last check, and its time.
    progress: [u32; 2],
    since: Duration,
    /// A handler still uses it, and never finishes.
    is_lost: bool,
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
    /// If the NIC has no room for it, has more clusters than handlers have records for, or does not answer.
    pub fn open(
        nic: &Nic<D>,
        program: &Program,
        config: ReceiverConfig,
        idle: Duration,
    ) -> Result<Self, Error> {
        let [clusters, _] = nic.device().shape();
        if clusters as usize > CLUSTERS {
            let (clusters, most) = (clusters, CLUSTERS as u32);
            return Err(ErrorKind::TooManyClusters { clusters, most }).call("MessageReceiver::open");
        }
        let stride = config.capacity_bytes.next_multiple_of(LINE);
        let options = Options {
            host_bytes: (REGIONS + config.places * stride).try_into().unwrap_or(u32::MAX),
            handler_bytes: Some((common::SIZE + config.places * fields::SIZE) as u32),
            scratchpad_bytes: Some((config.places * LOCAL_BYTES) as u32),
        };
        // No packet comes before memory is ready.
        let context = nic.open_context(program, HANDLERS, &Ruleset::any(), &options)?;
        let (handler, host) = (context.handler_memory(), context.host_memory());
        handler.clear()?;
        let start = RandomState::new().hash_one(nic.now()) as u32;
        for number in 0..config.places {
            let region = (REGIONS + number * stride) as u32;
            Place::new(nic, &handler, &host, number).prepare(region, config.capacity_bytes as u32, start)?;
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

    /// Returns the next event, without waiting.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn poll(&mut self) -> Result<Option<Event>, Error> {
        for number in 0..self.places.len() {
            let Watch { taken, is_lost, .. } = &self.places[number];
            if taken.is_none()
                && !is_lost
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

    /// Reports whether a taken message was stored, if stored messages are confirmed. Ignores an unknown message, which was
    /// given up.
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
            Verdict::Stored => self.place(number).release(),
            Verdict::Refused => {
                self.places[number].is_lost = !self.place(number).refuse()?;
                Ok(())
            }
        }
    }

    /// Returns the number of lost places, whose handler has faulted or hangs. They are available again in a new receiver.
    pub fn lost_places(&self) -> usize {
        self.places.iter().filter(|place| place.is_lost).count()
    }

    /// Reads the counters of segments.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn counters(&self) -> Result<SegmentCounters, Error> {
        let [clusters, hpus] = self.context.nic().device().shape();
        let mut bytes = vec![0; 4 * COUNTERS * HPUS.min((clusters * hpus) as usize)];
        self.handler.read(common::COUNTERS as u32, &mut bytes)?;
        let mut counters = SegmentCounters::default();
        let (words, _) = bytes.as_chunks();
        for (number, word) in words.iter().enumerate() {
            let counter = &mut counters.0[number % COUNTERS];
            *counter = counter.wrapping_add(u32::from_le_bytes(*word));
        }
        Ok(counters)
    }

    /// Returns the context of the handlers.
    pub fn context(&self) -> &Context<D> {
        &self.context
    }

    /// Takes the message of a place, if it is complete.
    fn take(&mut self, number: usize) -> Result<Option<Received>, Error> {
        let place = self.place(number);
        let received = place.received()?;
        if let Some(Received { key, .. }) = received {
            match self.config.confirm {
                Confirm::Memory => place.release()?,
                Confirm::Stored => self.places[number].taken = Some(key),
            }
        }
        Ok(received)
    }

    /// Gives up a message without progress, unless it was completed in the meantime.
    fn look(&mut self, number: usize, now: Duration) -> Result<Option<GivenUp>, Error> {
        let Watch {
            progress,
            since,
            is_lost,
            ..
        } = self.places[number];
        if is_lost {
            return Ok(None);
        }
        let place = self.place(number);
        let found = place.progress()?;
        if !place.is_open()? || found != progress {
            let watch = &mut self.places[number];
            (watch.progress, watch.since) = (found, now);
            return Ok(None);
        }
        if now < since + self.idle {
            return Ok(None);
        }
        let fate = place.give_up()?;
        let watch = &mut self.places[number];
        watch.since = now;
        watch.is_lost = matches!(fate, Fate::Lost(_));
        Ok(match fate {
            Fate::Whole => None,
            Fate::Freed(given_up) | Fate::Lost(given_up) => Some(given_up),
        })
    }

    fn place(&self, number: usize) -> Place<'_, D> {
        Place::new(self.context.nic(), &self.handler, &self.host, number)
    }
}

/// The rules for SLMP segments. To the NIC they are one endless message, because the handlers track messages themselves.
fn rules() -> Ruleset {
    Ruleset::all()
        .rule(Rule::IPV4)
        .rule(Rule::ip_protocol(17, 17))
        .rule(Rule::udp_destination_port(PORT, PORT))
        .end_of_message(Rule::NEVER)
}
