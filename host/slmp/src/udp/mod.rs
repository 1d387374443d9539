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

mod listener;
mod send;

use crate::{ReceiverConfigError, SendError, SenderConfigError};
pub use listener::{Event, Listener};
pub use send::send;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::time::Duration;
use thiserror::Error;

/// Longest time in which nobody is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(50);
/// More than a segment needs, so that one that is too long is seen to be.
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
    /// The receiver at the other end does not do its part.
    #[error("{to}: {error}")]
    Failed {
        /// Where the message was sent.
        to: SocketAddrV4,
        /// Why the sender gave up.
        error: SendError,
    },
    /// The progress callback said so.
    #[error("{to}: stopped as asked, with {acknowledged_bytes} of {length} bytes acknowledged")]
    Stopped {
        /// Where the message was sent.
        to: SocketAddrV4,
        /// Bytes that are known to have arrived.
        acknowledged_bytes: u64,
        /// Bytes of the message.
        length: usize,
    },
    /// The port cannot be listened at.
    #[error(
        "cannot listen at {at}: {source}; is it an address of this machine, and is another receiver running there?"
    )]
    Bind {
        /// Address and port.
        at: SocketAddrV4,
        /// What the system says.
        source: io::Error,
    },
    /// The system refuses to send there.
    #[error("cannot send to {to}: {source}; check the address and the routes of this machine")]
    Send {
        /// Where the message was sent.
        to: SocketAddrV4,
        /// What the system says.
        source: io::Error,
    },
    /// The socket does not work.
    #[error("the UDP socket does not work: {0}")]
    Socket(io::Error),
}

/// A message id that no other sender is likely to choose.
pub fn random_message_id() -> u32 {
    // The standard library seeds its hash maps with random numbers of the system.
    RandomState::new().build_hasher().finish() as u32
}

/// What came out of a socket: a datagram of IPv4, or nothing for now.
fn received(result: io::Result<(usize, SocketAddr)>) -> Result<Option<(usize, SocketAddrV4)>, UdpError> {
    match result {
        Ok((bytes, SocketAddr::V4(from))) => Ok(Some((bytes, from))),
        Ok((_, SocketAddr::V6(_))) => Ok(None),
        Err(error) if is_passing(&error) => Ok(None),
        Err(error) => Err(UdpError::Socket(error)),
    }
}

/// Whether an error says that there is nothing, or that an earlier datagram has met a closed port: it counts as lost.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, Interrupted, TimedOut, WouldBlock};
    matches!(
        error.kind(),
        WouldBlock | TimedOut | Interrupted | ConnectionRefused | ConnectionReset
    )
}
