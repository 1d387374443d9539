//! SLMP, the sPIN Lightweight Message Protocol: messages over UDP to handlers on a NIC, or to a program.
//!
//! `docs/host/slmp.md` describes the protocol.
//!
//! - [`wire`]: ports, flags and the header;
//! - [`memory`]: the memory that the handlers on the NIC share with the host, and the causes that segments count under;
//! - [`generate`]: both as a C header and as a dissector for Wireshark;
//! - [`Sender`] and [`Receiver`]: sans-I/O state machines, which receive the time as an argument;
//! - [`udp`]: both over a socket;
//! - [`frame`]: Ethernet frames, for simulated NICs.
//!
//! ```
//! use spinneret_slmp::{Mode, Receiver, ReceiverConfig, Sender, SenderConfig, Step};
//! use std::{net::SocketAddrV4, net::Ipv4Addr, time::Duration};
//!
//! let (message, now) = (b"three short segments".as_slice(), Duration::ZERO);
//! let config = SenderConfig { mode: Mode::Window(2), segment_bytes: 8, ..SenderConfig::default() };
//! let mut sender = Sender::new(config, 0x1234, message.len() as u64)?;
//! let mut receiver = Receiver::new(ReceiverConfig::default())?;
//! let from = SocketAddrV4::new(Ipv4Addr::new(10, 7, 0, 1), 40_000);
//! loop {
//!     match sender.poll(now) {
//!         Step::Send(segment) => {
//!             let datagram = [&segment.header.emit(), &message[segment.range]].concat();
//!             for ack in receiver.receive(now, from, &datagram).acks() {
//!                 sender.acknowledge(&ack, now);
//!             }
//!         }
//!         Step::Wait(_) => unreachable!("every segment is answered at once"),
//!         Step::Done => break,
//!         Step::Failed(error) => return Err(error.into()),
//!     }
//! }
//! assert_eq!(receiver.take_complete().map(|received| received.data), Some(message.to_vec()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod frame;
pub mod generate;
pub mod memory;
mod receiver;
mod sender;
pub mod udp;
pub mod wire;

pub use receiver::{
    Confirm, Counters, GivenUp, MessageKey, NotWaiting, Outcome, Received, Receiver, ReceiverConfig,
    ReceiverConfigError, Verdict,
};
pub use sender::{
    Mode, Segment, SendError, Sender, SenderConfig, SenderConfigError, Silence, Statistics, Step,
};
