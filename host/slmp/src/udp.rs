//! SLMP over UDP sockets of the operating system.
//!
//! ```no_run
//! use spinneret_slmp::{SenderConfig, udp, wire};
//! use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
//! use std::ops::ControlFlow;
//!
//! let socket = UdpSocket::bind("0.0.0.0:0")?;
//! let nic = SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, 1), wire::PORT);
//! let message = std::fs::read("image.raw")?;
//! udp::send(&socket, nic, &message, SenderConfig::default(), |so_far| {
//!     eprint!("\r{} bytes arrived", so_far.acknowledged_bytes);
//!     ControlFlow::Continue(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::wire::{HEADER_BYTES, Header, MAX_PAYLOAD};
use crate::{
    Counters, GivenUp, MessageKey, NotWaiting, Received, Receiver, ReceiverConfig, ReceiverConfigError,
    Segment, SendError, Sender, SenderConfig, SenderConfigError, Statistics, Step, Verdict,
};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use std::{io, thread};
use thiserror::Error;

/// Maximum interval between calls of the progress callback.
const PATIENCE: Duration = Duration::from_millis(50);
/// Larger than any segment, so that oversize ones are detected.
const BUFFER_BYTES: usize = 2048;

/// A message was not sent, or no messages can be received.
#[derive(Debug, Error)]
pub enum UdpError {
    /// The sender cannot be made.
    #[error(transparent)]
    Sender(#[from] SenderConfigError),
    /// The receiver cannot be made.
    #[error(transparent)]
    Receiver(#[from] ReceiverConfigError),
    /// The receiver does not acknowledge.
    #[error("{0}: {1}")]
    Failed(SocketAddrV4, SendError),
    /// The progress callback said so.
    #[error("{0}: stopped as asked, with {1} of {2} bytes acknowledged")]
    Stopped(SocketAddrV4, u64, usize),
    /// The port cannot be listened at.
    #[error(
        "cannot listen at {0}: {1}; is it an address of this machine, and is another receiver running there?"
    )]
    Bind(SocketAddrV4, #[source] io::Error),
    /// The system refuses to send there.
    #[error("cannot send to {0}: {1}; check the address and the routes of this machine")]
    Send(SocketAddrV4, #[source] io::Error),
    /// The socket does not work.
    #[error("the UDP socket does not work: {0}")]
    Socket(io::Error),
}

/// Returns a random message id.
pub fn random_message_id() -> u32 {
    // The standard library seeds its hash maps with random numbers of the system.
    RandomState::new().build_hasher().finish() as u32
}

/// Interprets the result of receiving: an IPv4 datagram, or nothing for now.
fn received(result: io::Result<(usize, SocketAddr)>) -> Result<Option<(usize, SocketAddrV4)>, UdpError> {
    match result {
        Ok((bytes, SocketAddr::V4(from))) => Ok(Some((bytes, from))),
        Ok((_, SocketAddr::V6(_))) => Ok(None),
        Err(error) if is_passing(&error) => Ok(None),
        Err(error) => Err(UdpError::Socket(error)),
    }
}

/// Whether an error is transient: there is nothing to receive, or an earlier datagram met a closed port and counts as lost.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, Interrupted, TimedOut, WouldBlock};
    matches!(
        error.kind(),
        WouldBlock | TimedOut | Interrupted | ConnectionRefused | ConnectionReset
    )
}

/// An event of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message is complete. If stored messages are confirmed, call [`Listener::confirm`] next.
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
        let socket = UdpSocket::bind(at).map_err(|source| UdpError::Bind(at, source))?;
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

    /// Returns the counters.
    pub fn counters(&self) -> &Counters {
        self.receiver.counters()
    }

    /// Receives until there is an event; returns `None` when `progress`, which is called periodically, stops it.
    ///
    /// Lost acknowledgements are repeated only in this call. A program that does not call it again after the last message
    /// leaves senders whose acknowledgement was lost without an answer.
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

    /// Reports whether a message was stored.
    ///
    /// # Errors
    /// The message does not wait to be confirmed.
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
            // Ignore errors: the sender repeats the segment, as after a lost acknowledgement.
            let _ = self.socket.send_to(&ack.emit(), from);
        }
        Ok(true)
    }
}

/// Minimum interval between calls of the progress callback.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(10);
/// Shorter waits use short sleeps, because socket timeouts have the resolution of the system's clock tick.
const COARSE: Duration = Duration::from_millis(2);
/// One short sleep. It bounds the delay that a wait adds to an acknowledgement.
const NAP: Duration = Duration::from_micros(100);
/// How long the socket buffer may be full before a datagram counts as lost.
const FULL: Duration = Duration::from_millis(20);

/// Sends a message, and returns when it is delivered, or, without acknowledgements, sent.
///
/// `progress` is called periodically and at the end, and may stop the transfer. The socket must not be used for anything else
/// meanwhile; afterwards it is blocking, with its previous read timeout.
///
/// # Errors
/// If the message cannot be sent like this, the receiver does not do its part, the socket does not work, or `progress`
/// stops it.
pub fn send(
    socket: &UdpSocket,
    to: SocketAddrV4,
    message: &[u8],
    config: SenderConfig,
    progress: impl FnMut(&Statistics) -> ControlFlow<()>,
) -> Result<Statistics, UdpError> {
    send_numbered(socket, to, random_message_id(), message, config, progress)
}

/// [`send`] with a message id of the caller.
///
/// # Errors
/// As [`send`].
pub fn send_numbered(
    socket: &UdpSocket,
    to: SocketAddrV4,
    id: u32,
    message: &[u8],
    config: SenderConfig,
    mut progress: impl FnMut(&Statistics) -> ControlFlow<()>,
) -> Result<Statistics, UdpError> {
    let mut sender = Sender::new(config, id, message.len() as u64)?;
    let link = Link::new(socket, to)?;
    let mut shown_at = Duration::ZERO;
    let mut refused = None;
    loop {
        link.take_acks(&mut sender)?;
        let now = link.now();
        let step = sender.poll(now);
        let is_over = matches!(step, Step::Done | Step::Failed(_));
        if is_over || now >= shown_at + PROGRESS_INTERVAL {
            shown_at = now;
            let wish = progress(sender.statistics());
            if wish.is_break() && !is_over {
                let acknowledged_bytes = sender.statistics().acknowledged_bytes;
                return Err(UdpError::Stopped(to, acknowledged_bytes, message.len()));
            }
        }
        match step {
            Step::Send(segment) => refused = link.send(&segment, message, sender.statistics())?,
            Step::Wait(until) => link.wait(until.saturating_sub(now), &mut sender)?,
            Step::Done => return Ok(*sender.statistics()),
            Step::Failed(error) => {
                return Err(match refused {
                    Some(source) => UdpError::Send(to, source),
                    None => UdpError::Failed(to, error),
                });
            }
        }
    }
}

/// The non-blocking socket, and the time since the start. Dropping it restores the socket.
struct Link<'a> {
    socket: &'a UdpSocket,
    to: SocketAddrV4,
    start: Instant,
    read_timeout: Option<Duration>,
}

impl<'a> Link<'a> {
    fn new(socket: &'a UdpSocket, to: SocketAddrV4) -> Result<Self, UdpError> {
        let read_timeout = socket.read_timeout().map_err(UdpError::Socket)?;
        socket.set_nonblocking(true).map_err(UdpError::Socket)?;
        Ok(Self {
            socket,
            to,
            start: Instant::now(),
            read_timeout,
        })
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Passes pending acknowledgements to the sender.
    fn take_acks(&self, sender: &mut Sender) -> Result<(), UdpError> {
        while self.take_ack(sender)? {}
        Ok(())
    }

    /// Whether there was a datagram. If it is an acknowledgement of the receiver, the sender gets it.
    fn take_ack(&self, sender: &mut Sender) -> Result<bool, UdpError> {
        let mut buffer = [0; BUFFER_BYTES];
        let Some((bytes, from)) = received(self.socket.recv_from(&mut buffer))? else {
            return Ok(false);
        };
        if let Some((header, _)) = Header::parse(&buffer[..bytes]).filter(|_| from == self.to) {
            sender.acknowledge(&header, self.now());
        }
        Ok(true)
    }

    /// Sends a segment. If the network is unavailable after earlier success, the segment counts as lost, and the error is
    /// returned.
    fn send(
        &self,
        segment: &Segment,
        message: &[u8],
        so_far: &Statistics,
    ) -> Result<Option<io::Error>, UdpError> {
        let mut datagram = [0; HEADER_BYTES + MAX_PAYLOAD];
        let end = HEADER_BYTES + segment.range.len();
        datagram[..HEADER_BYTES].copy_from_slice(&segment.header.emit());
        datagram[HEADER_BYTES..end].copy_from_slice(&message[segment.range.clone()]);
        let since = Instant::now();
        loop {
            match self.socket.send_to(&datagram[..end], self.to) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && since.elapsed() < FULL => {
                    thread::sleep(NAP);
                }
                Ok(_) => return Ok(None),
                // It counts as lost, and is sent again if the receiver is asked to acknowledge it.
                Err(error) if is_passing(&error) => return Ok(None),
                Err(error) if so_far.acknowledged_bytes > 0 => return Ok(Some(error)),
                Err(source) => return Err(UdpError::Send(self.to, source)),
            }
        }
    }

    /// Waits for a time, or until an acknowledgement has come.
    fn wait(&self, time: Duration, sender: &mut Sender) -> Result<(), UdpError> {
        if time < COARSE {
            thread::sleep(time.min(NAP));
            return Ok(());
        }
        let timeout = Some(time.min(PATIENCE));
        self.socket.set_read_timeout(timeout).map_err(UdpError::Socket)?;
        self.socket.set_nonblocking(false).map_err(UdpError::Socket)?;
        let taken = self.take_ack(sender);
        self.socket.set_nonblocking(true).map_err(UdpError::Socket)?;
        taken.map(|_| ())
    }
}

impl Drop for Link<'_> {
    fn drop(&mut self) {
        // Ignore errors: both calls have succeeded before.
        let _ = self.socket.set_nonblocking(false);
        let _ = self.socket.set_read_timeout(self.read_timeout);
    }
}
