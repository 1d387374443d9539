//! Sends: announced, granted, and then sent over SLMP by the rank's own NIC.

use super::control::{Announcement, Control, Grant, Host, MOST, PORT};
use super::error::Error;
use super::{Activity, Buffer, Config, Library, Request, Status};
use crate::layout::Layout;
use crate::nic::Segments;
use spinneret_host::{Device, HostMemory};
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{self, Header};
use spinneret_slmp::{Mode, Sender, SenderConfig, Step};
use std::net::SocketAddrV4;
use std::time::Duration;

/// Segments that are under way to one rank at most, of all messages together. Its 16 HPUs work on as many and its NIC
/// has room for some 250 long ones, but what waits there longer than its sender thinks is sent again.
const UNDER_WAY: usize = 64;

/// All sends.
#[derive(Debug)]
pub(super) struct Outbox {
    config: Config,
    sends: Vec<Option<Sending>>,
    /// The number of the next announcement to each rank.
    numbers: Vec<u32>,
    /// Whose turn it is, so that messages go on together.
    turn: usize,
    frames: u16,
}

impl<D: Device> Library<D> {
    /// Prepares a send of elements, the first of which has its address at `origin` of the buffer.
    ///
    /// # Errors
    /// If the buffer is not of this library or too small, there is no such rank, or the message is too long.
    pub fn send_init(
        &mut self,
        buffer: &Buffer,
        origin: i64,
        layout: &Layout,
        to: To,
    ) -> Result<Request, Error> {
        self.check_layout(buffer, origin, layout)?;
        self.check_rank(to.rank)?;
        let sender = self.outbox.config.sender;
        check_segments(sender, layout)?;
        let number = self.outbox.add(Sending {
            buffer: *buffer,
            origin,
            layout: layout.clone(),
            to,
            segment_bytes: sender.segment_bytes,
            number: 0,
            state: State::Inactive,
            is_freed: false,
        });
        Ok(Request {
            library: self.name,
            number,
            is_receive: false,
        })
    }

    /// Cuts the messages of a send into packets of `segment_bytes` bytes, from its next start on. HPUs take the runs of
    /// a packet one after the other, so a message of many short runs is in place sooner if there is a packet for each
    /// HPU.
    ///
    /// # Errors
    /// If the request is active, a receive, or was freed; or the message would be too many packets, or they too long.
    pub fn cut(&mut self, request: Request, segment_bytes: usize) -> Result<(), Error> {
        self.of(request)?;
        let config = self.outbox.config.sender;
        let send = self.outbox.sends.get_mut(request.number).and_then(Option::as_mut);
        let send = send.filter(|_| !request.is_receive).ok_or(Error::NoRequest)?;
        check_segments(
            SenderConfig {
                segment_bytes,
                ..config
            },
            &send.layout,
        )?;
        match send.state {
            State::Inactive => send.segment_bytes = segment_bytes,
            _ => return Err(Error::Active),
        }
        Ok(())
    }
}

/// Checks a message against the limits of the handlers and of the sender before it is sent.
fn check_segments(config: SenderConfig, layout: &Layout) -> Result<(), Error> {
    Segments::new(
        layout.bytes(),
        u32::try_from(config.segment_bytes).unwrap_or(u32::MAX),
    )?;
    Sender::new(config, 1, layout.bytes())?;
    Ok(())
}

impl Outbox {
    pub(super) fn new(config: Config, ranks: usize) -> Self {
        Self {
            config,
            sends: Vec::new(),
            numbers: vec![0; ranks],
            turn: 0,
            frames: 0,
        }
    }

    fn add(&mut self, send: Sending) -> usize {
        let number = self.sends.iter().position(Option::is_none);
        let number = number.unwrap_or_else(|| {
            self.sends.push(None);
            self.sends.len() - 1
        });
        self.sends[number] = Some(send);
        number
    }

    pub(super) fn uses(&self, buffer: &Buffer) -> bool {
        self.sends.iter().flatten().any(|send| send.buffer == *buffer)
    }

    pub(super) fn is_there(&self, number: usize) -> bool {
        matches!(self.sends.get(number), Some(Some(send)) if !send.is_freed)
    }

    /// Starts a send: to whom it goes, and what is to be announced.
    pub(super) fn start(&mut self, number: usize, now: Duration) -> Result<(usize, Announcement), Error> {
        let send = self.sends[number].as_mut().ok_or(Error::NoRequest)?;
        if !matches!(send.state, State::Inactive) {
            return Err(Error::Active);
        }
        match self.numbers.get_mut(send.to.rank) {
            Some(next) => {
                send.number = *next;
                *next = next.wrapping_add(1);
                send.state = State::Announced {
                    since: now,
                    next: now,
                    pause: self.config.repeat,
                };
            }
            None => send.state = State::Ended(Ok(Status::NOTHING)),
        }
        Ok((send.to.rank, send.announcement()))
    }

    pub(super) fn activity(&self, number: usize) -> Activity {
        match self.sends[number].as_ref().map(|send| &send.state) {
            Some(State::Announced { .. } | State::Sending { .. }) => Activity::GoesOn,
            Some(State::Ended(_)) => Activity::HasEnded,
            Some(State::Inactive) | None => Activity::Inactive,
        }
    }

    pub(super) fn test(&mut self, number: usize) -> Result<Option<Status>, Error> {
        let send = self.sends[number].as_mut().ok_or(Error::NoRequest)?;
        match std::mem::replace(&mut send.state, State::Inactive) {
            State::Inactive => Err(Error::Inactive),
            State::Ended(result) => result.map(Some),
            going_on => {
                send.state = going_on;
                Ok(None)
            }
        }
    }

    pub(super) fn free(&mut self, number: usize) {
        if let Some(send) = &mut self.sends[number] {
            send.is_freed = true;
        }
        self.clean();
    }

    /// Takes away what was freed and has ended.
    fn clean(&mut self) {
        for send in &mut self.sends {
            let has_ended =
                |send: &Sending| send.is_freed && matches!(send.state, State::Inactive | State::Ended(_));
            if send.as_ref().is_some_and(has_ended) {
                *send = None;
            }
        }
    }

    /// A send to a rank that is announced and not granted, by the number of its announcement.
    pub(super) fn announced(&mut self, rank: usize, number: u32) -> Option<&mut Sending> {
        self.sends.iter_mut().flatten().find(|send| {
            send.to.rank == rank && send.number == number && matches!(send.state, State::Announced { .. })
        })
    }

    /// A message was granted, or is not wanted.
    pub(super) fn grant(&mut self, rank: usize, Grant { number, id }: Grant, now: Duration) {
        let is_active = |send: &&Sending| {
            send.to.rank == rank && matches!(send.state, State::Announced { .. } | State::Sending { .. })
        };
        let active = self.sends.iter().flatten().filter(is_active).count().max(1);
        let mut config = self.config.sender;
        if let Mode::Window(window) = &mut config.mode {
            *window = (*window).min((UNDER_WAY / active).max(1) as u16);
        }
        let Some(send) = self.announced(rank, number) else {
            return;
        };
        config.segment_bytes = send.segment_bytes;
        let status = send.status();
        send.state = match id {
            // Too long for its receive, which knows; for the sender that is no error.
            0 => State::Ended(Ok(status)),
            _ => match Sender::new(config, id, send.layout.bytes()) {
                Ok(sender) => State::Sending {
                    id,
                    sender: Box::new(sender),
                    wait: now,
                },
                Err(error) => State::Ended(Err(error.into())),
            },
        };
    }

    /// An acknowledgement has come.
    pub(super) fn acknowledge(&mut self, rank: usize, header: &Header, now: Duration) {
        for send in self
            .sends
            .iter_mut()
            .flatten()
            .filter(|send| send.to.rank == rank)
        {
            if let State::Sending { id, sender, wait } = &mut send.state
                && *id == header.message_id
            {
                sender.acknowledge(header, now);
                *wait = now;
            }
        }
    }

    /// Announcements to one rank that are due, in one frame. This rank knows its own.
    fn announce(&mut self, now: Duration, own: Host, ranks: &[Host]) -> Option<Vec<u8>> {
        let config = &self.config;
        let is_due = |send: &Sending| send.is_to_announce(now, config) && ranks[send.to.rank].ip != own.ip;
        let rank = self.sends.iter().flatten().find(|send| is_due(send))?.to.rank;
        let due = self.sends.iter_mut().flatten();
        let due = due.filter(|send| send.to.rank == rank && is_due(send)).take(MOST);
        let announcements = due.filter_map(|send| send.announce(now, config));
        let control = Control::Announce(announcements.collect());
        Some(control.frame(own, ranks[rank]))
    }

    /// The next frame that is to be sent now. Messages take turns.
    pub(super) fn next<D: Device>(
        &mut self,
        now: Duration,
        own: Host,
        ranks: &[Host],
        host: &HostMemory<D>,
    ) -> Result<Option<Vec<u8>>, Error> {
        if let Some(frame) = self.announce(now, own, ranks) {
            return Ok(Some(frame));
        }
        let count = self.sends.len();
        for step in 0..count {
            let index = (self.turn + step) % count;
            let Some(send) = &mut self.sends[index] else {
                continue;
            };
            // Sends to `NOBODY` have no frames.
            let Some(to) = ranks.get(send.to.rank).copied() else {
                continue;
            };
            self.frames = self.frames.wrapping_add(1);
            if let Some(frame) = send.next(now, &self.config, own, to, self.frames, host)? {
                self.turn = index + 1;
                return Ok(Some(frame));
            }
        }
        self.clean();
        Ok(None)
    }
}

// One send: what it says and sends next. Segments are packed one by one, from where the elements are.

/// To whom a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct To {
    /// The rank; [`super::NOBODY`] gets nothing.
    pub rank: usize,
    /// The tag.
    pub tag: i32,
    /// The communicator, as a number on which both sides have agreed.
    pub communicator: u32,
}

/// UDP port that segments come from: another one than that of control, so that acknowledgements come to the host.
const DATA_PORT: u16 = PORT + 1;

/// Longest pause between two announcements, in pauses between the first two.
const LONGEST_PAUSE: u32 = 16;

/// How far a send is.
#[derive(Debug)]
pub(super) enum State {
    Inactive,
    Announced {
        since: Duration,
        next: Duration,
        /// From then to the one after it.
        pause: Duration,
    },
    Sending {
        id: u32,
        sender: Box<Sender>,
        wait: Duration,
    },
    Ended(Result<Status, Error>),
}

/// A persistent send.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) buffer: Buffer,
    pub(super) origin: i64,
    pub(super) layout: Layout,
    pub(super) to: To,
    /// Payload of its packets.
    pub(super) segment_bytes: usize,
    pub(super) number: u32,
    pub(super) state: State,
    pub(super) is_freed: bool,
}

impl Sending {
    pub(super) fn status(&self) -> Status {
        Status {
            bytes: self.layout.bytes() as u32,
            rank: self.to.rank,
            tag: self.to.tag,
        }
    }

    /// Whether it is to be announced now, for the first time or again.
    pub(super) fn is_to_announce(&self, now: Duration, config: &Config) -> bool {
        let State::Announced { since, next, .. } = &self.state else {
            return false;
        };
        now >= *next && now.saturating_sub(*since) < config.patience
    }

    /// Its announcement, which is not sent again for some time.
    pub(super) fn announce(&mut self, now: Duration, config: &Config) -> Option<Announcement> {
        let State::Announced { next, pause, .. } = &mut self.state else {
            return None;
        };
        *next = now + *pause;
        *pause = (*pause * 2).min(config.repeat * LONGEST_PAUSE);
        Some(self.announcement())
    }

    /// Its announcement.
    pub(super) fn announcement(&self) -> Announcement {
        Announcement {
            number: self.number,
            communicator: self.to.communicator,
            tag: self.to.tag,
            bytes: self.status().bytes,
            unit: self.segment_bytes as u32,
            port: DATA_PORT,
        }
    }

    /// It has arrived.
    pub(super) fn end(&mut self) {
        self.state = State::Ended(Ok(self.status()));
    }

    /// The next frame of its segments that is to be sent now.
    pub(super) fn next<D: Device>(
        &mut self,
        now: Duration,
        config: &Config,
        own: Host,
        to: Host,
        identification: u16,
        host: &HostMemory<D>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let (rank, status) = (self.to.rank, self.status());
        match &mut self.state {
            State::Inactive | State::Ended(_) => Ok(None),
            State::Announced { since, .. } if now.saturating_sub(*since) >= config.patience => {
                let seconds = config.patience.as_secs_f64();
                self.state = State::Ended(Err(Error::NotGranted { rank, seconds }));
                Ok(None)
            }
            State::Announced { .. } => Ok(None),
            State::Sending { sender, wait, .. } => {
                if now < *wait {
                    return Ok(None);
                }
                match sender.poll(now) {
                    Step::Send(segment) => {
                        let mut payload = vec![0; segment.range.len()];
                        self.pack(segment.range.start, &mut payload, host)?;
                        Ok(frame(segment.header, &payload, own, to, identification))
                    }
                    Step::Wait(until) => {
                        *wait = until;
                        Ok(None)
                    }
                    Step::Done => {
                        self.state = State::Ended(Ok(status));
                        Ok(None)
                    }
                    Step::Failed(source) => {
                        self.state = State::Ended(Err(Error::NotDelivered { rank, source }));
                        Ok(None)
                    }
                }
            }
        }
    }

    /// Gets a part of the message from its elements.
    pub(super) fn pack<D: Device>(
        &self,
        offset: usize,
        payload: &mut [u8],
        host: &HostMemory<D>,
    ) -> Result<(), Error> {
        let start = i64::from(self.buffer.start) + self.origin;
        for piece in self.layout.place(offset as u64, payload.len() as u64) {
            let at = piece.offset as usize - offset;
            // A check has found that the elements are in the buffer.
            host.read(
                (start + piece.start) as u32,
                &mut payload[at..at + piece.bytes as usize],
            )?;
        }
        Ok(())
    }
}

fn frame(header: Header, payload: &[u8], own: Host, to: Host, identification: u16) -> Option<Vec<u8>> {
    let end = |host: Host, port| Endpoint {
        mac: host.mac,
        socket: SocketAddrV4::new(host.ip, port),
    };
    let frame = Frame {
        from: end(own, DATA_PORT),
        to: end(to, wire::PORT),
        header,
        payload,
    };
    // Segments of SLMP fit into frames.
    frame.build(identification, UdpChecksum::Absent).ok()
}
