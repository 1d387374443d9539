//! One send: what it says and sends next. Segments are packed one by one, from where the elements are.

use super::control::{Announcement, Host, PORT};
use super::error::Error;
use super::status::Status;
use super::{Buffer, Config};
use crate::layout::Layout;
use spinneret_host::{Device, HostMemory};
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{self, Header};
use spinneret_slmp::{Sender, Step};
use std::net::SocketAddrV4;
use std::time::Duration;

/// To whom a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct To {
    /// The rank; [`NOBODY`](super::NOBODY) gets nothing.
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

    /// What its announcement says.
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
            // The elements were found to lie in the buffer.
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
