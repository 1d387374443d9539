//! A sender over a socket.

use super::{BUFFER_BYTES, PATIENCE, UdpError, is_passing, random_message_id, received};
use crate::wire::{HEADER_BYTES, Header, MAX_PAYLOAD};
use crate::{Segment, Sender, SenderConfig, Statistics, Step};
use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

/// How often the progress callback is asked at most.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(10);
/// Waits that are shorter are slept through in naps: timeouts of sockets are as coarse as the system's clock tick.
const COARSE: Duration = Duration::from_millis(2);
/// One nap. It bounds what a wait adds to the time of an acknowledgement.
const NAP: Duration = Duration::from_micros(100);
/// How long the system may have no room for a datagram before it counts as lost.
const FULL: Duration = Duration::from_millis(20);

/// Sends a message, and returns when it is delivered, or, without acknowledgements, sent.
///
/// `progress` is called now and then, and at the end; it may stop the sending. The socket must not be used for
/// anything else meanwhile; afterwards it is blocking, and its read timeout is as it was.
///
/// # Errors
/// If the message cannot be sent like this, the receiver does not do its part, the socket does not work, or `progress`
/// stops it.
pub fn send(
    socket: &UdpSocket,
    to: SocketAddrV4,
    message: &[u8],
    config: SenderConfig,
    mut progress: impl FnMut(&Statistics) -> ControlFlow<()>,
) -> Result<Statistics, UdpError> {
    let mut sender = Sender::new(config, random_message_id(), message.len() as u64)?;
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
                return Err(UdpError::Stopped {
                    to,
                    acknowledged_bytes,
                    length: message.len(),
                });
            }
        }
        match step {
            Step::Send(segment) => refused = link.send(&segment, message, sender.statistics())?,
            Step::Wait(until) => link.wait(until.saturating_sub(now), &mut sender)?,
            Step::Done => return Ok(*sender.statistics()),
            Step::Failed(error) => {
                return Err(match refused {
                    Some(source) => UdpError::Send { to, source },
                    None => UdpError::Failed { to, error },
                });
            }
        }
    }
}

/// The socket, which does not block, and the time since the start. When it is dropped, the socket is as it was.
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

    /// Gives the sender all acknowledgements that are there.
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

    /// Sends a segment. A way on which something has arrived may be gone for a moment: then the segment counts as lost, and
    /// what the system said is returned.
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
                // It counts as lost, and is sent again if the receiver shall acknowledge it.
                Err(error) if is_passing(&error) => return Ok(None),
                Err(error) if so_far.acknowledged_bytes > 0 => return Ok(Some(error)),
                Err(source) => return Err(UdpError::Send { to: self.to, source }),
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
        // Both have worked before, and there is nobody to tell.
        let _ = self.socket.set_nonblocking(false);
        let _ = self.socket.set_read_timeout(self.read_timeout);
    }
}
