//! Where the NIC's packets come from and where they go to: captures, a generator, and Linux.
//!
//! ```text
//! PcapSource, Generator ──► Source ──► the simulated NIC ──► Sink ──► PcapSink
//! Tap (wire, host), PacketSocket ──►                         ──► Tap (wire, host), PacketSocket
//! ```
//!
//! Times are picoseconds of the simulation since the start. A capture and a generator say when their packets are at
//! the NIC, and may say so in advance. A live source cannot: its packets are there at the time of the call.
//!
//! Packets are Ethernet frames without their check sequence. What has been created in the system (interfaces, a
//! namespace) goes away when the last part that uses it is dropped, so a command that uses it should end by
//! returning: [`Interrupt`] turns Ctrl-C into a question for its main loop.

mod error;
pub mod generator;
mod interrupt;
mod pace;
mod packet_socket;
mod pcap;
mod privileges;
mod sys;
mod tap;

pub use error::NetError;
pub use generator::{Generator, Recipe};
pub use interrupt::Interrupt;
pub(crate) use pace::picoseconds;
pub use pace::{Pacer, wait};
pub use packet_socket::PacketSocket;
pub use pcap::{PcapSink, PcapSource, Timing};
pub use tap::{InterfaceAddress, Tap, TapConfig, TapEnd};

use crate::terminal::tell;

/// Smallest Ethernet frame without its check sequence, in bytes. Linux hands over shorter ones, and a wire pads them.
pub const MIN_FRAME_BYTES: usize = 60;

/// What comes next from a [`Source`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A packet. Each is delivered once, and none is before the one that came before it.
    Packet {
        /// When it is at the NIC, in picoseconds since the start; may be in the future.
        at_ps: u64,
        /// The frame without its check sequence.
        bytes: Vec<u8>,
    },
    /// A packet that comes when the NIC has room for it, so that it is not dropped, and not before the one that came before it.
    WithRoom(Vec<u8>),
    /// Nothing has come yet; look again later. Only live sources say so.
    Nothing,
    /// There will be no more packets.
    End,
}

/// Where packets come from.
pub trait Source {
    /// The next packet, if there is one; never waits for one.
    ///
    /// # Errors
    /// If what the packets come from is damaged or gone.
    fn next(&mut self, now_ps: u64) -> Result<Next, NetError>;

    /// How many packets there are altogether, if that is known.
    fn total(&self) -> Option<u64> {
        None
    }

    /// Packets so far of which only the beginning is known; they come as they are.
    fn cut_short(&self) -> u64 {
        0
    }

    /// Whether packets come when they like, so that simulated time has to keep up with the clock on the wall.
    fn is_live(&self) -> bool {
        false
    }
}

/// Where packets go to.
pub trait Sink {
    /// Takes a packet that left the NIC then.
    ///
    /// # Errors
    /// If what the packets go to is full or gone.
    fn put(&mut self, at_ps: u64, bytes: &[u8]) -> Result<(), NetError>;

    /// Ends the work; what is incomplete without this is not left behind.
    ///
    /// # Errors
    /// If the work cannot be completed.
    fn finish(self: Box<Self>) -> Result<(), NetError> {
        Ok(())
    }
}

/// Tells how many frames of the NIC an interface did not take.
fn tell_dropped(interface: &str, frames: u64) {
    if frames > 0 {
        tell(format_args!(
            "interface `{interface}` did not take {frames} frames of the NIC: it was down, had no room, or they did not fit it"
        ));
    }
}

/// Pads a frame as a wire does.
fn pad(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().max(MIN_FRAME_BYTES), 0);
    bytes
}
