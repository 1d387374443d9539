//! A receiver over a socket.

use super::{BUFFER_BYTES, PATIENCE, UdpError, received};
use crate::{Counters, GivenUp, MessageKey, NotWaiting, Received, Receiver, ReceiverConfig, Verdict};
use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What a listener has to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message came whole. If stored messages are confirmed, [`Listener::confirm`] comes next.
    Complete(Received),
    /// A message made no progress for too long.
    GivenUp(GivenUp),
}

/// Receives messages at a UDP port.
#[derive(Debug)]
pub struct Listener {
    socket: UdpSocket,
    receiver: Receiver,
    idle: Duration,
    start: Instant,
}

impl Listener {
    /// Listens at an address, usually at port [`crate::wire::PORT`]. Messages without progress for `idle` are given up.
    ///
    /// # Errors
    /// If the receiver makes no sense, or the address cannot be listened at.
    pub fn bind(at: SocketAddrV4, config: ReceiverConfig, idle: Duration) -> Result<Self, UdpError> {
        let receiver = Receiver::new(config)?;
        let socket = UdpSocket::bind(at).map_err(|source| UdpError::Bind { at, source })?;
        socket
            .set_read_timeout(Some(PATIENCE))
            .map_err(UdpError::Socket)?;
        Ok(Self {
            socket,
            receiver,
            idle,
            start: Instant::now(),
        })
    }

    /// The address and port that it listens at.
    ///
    /// # Errors
    /// If the socket does not work.
    pub fn local_address(&self) -> Result<SocketAddr, UdpError> {
        self.socket.local_addr().map_err(UdpError::Socket)
    }

    /// What was received so far.
    pub fn counters(&self) -> &Counters {
        self.receiver.counters()
    }

    /// Receives until there is something to tell; `None` when `progress`, which is called now and then, stops it.
    ///
    /// Repetitions are answered only in here: a program that does not call it again after the last message leaves
    /// senders without an answer whose acknowledgement was lost.
    ///
    /// # Errors
    /// If the socket does not work.
    pub fn next_event(
        &mut self,
        mut progress: impl FnMut(&Counters) -> ControlFlow<()>,
    ) -> Result<Option<Event>, UdpError> {
        let mut asked_at = self.start.elapsed();
        loop {
            if let Some(received) = self.receiver.take_complete() {
                return Ok(Some(Event::Complete(received)));
            }
            let is_quiet = !self.receive_one()?;
            let now = self.start.elapsed();
            if is_quiet || now >= asked_at + PATIENCE {
                asked_at = now;
                if let Some(given_up) = self.receiver.expire(now, self.idle) {
                    return Ok(Some(Event::GivenUp(given_up)));
                }
                if progress(self.receiver.counters()).is_break() {
                    return Ok(None);
                }
            }
        }
    }

    /// Says what became of a message.
    ///
    /// # Errors
    /// If it does not wait for this.
    pub fn confirm(&mut self, key: &MessageKey, verdict: Verdict) -> Result<(), NotWaiting> {
        self.receiver.confirm(self.start.elapsed(), key, verdict)
    }

    /// Whether a datagram came. It is answered.
    fn receive_one(&mut self) -> Result<bool, UdpError> {
        let mut buffer = [0; BUFFER_BYTES];
        let Some((bytes, from)) = received(self.socket.recv_from(&mut buffer))? else {
            return Ok(false);
        };
        for ack in self
            .receiver
            .receive(self.start.elapsed(), from, &buffer[..bytes])
            .acks()
        {
            // An acknowledgement that cannot be sent is as good as lost: the sender asks again.
            let _ = self.socket.send_to(&ack.emit(), from);
        }
        Ok(true)
    }
}
