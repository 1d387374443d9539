//! An interface that exists already as the wire, through a packet socket.
//!
//! Frames that the interface receives go to the NIC, and frames of the NIC leave through the interface. The machine's own
//! Linux sees the incoming frames as well: give the interface no address if it is not to answer too.
//!
//! Three things that Linux does to frames on interfaces of virtual machines and containers are undone here, as far
//! as possible, because they do not belong on a wire:
//! - A checksum that the sender left to its interface (`veth` never computes it) is computed.
//! - A VLAN tag that was taken out of the frame is put back.
//! - Packets that the sender left to its interface to cut up are larger than any frame. They are dropped and counted;
//!   `ethtool -K INTERFACE tso off gso off` at the sender avoids them. Only TCP, and UDP if asked for, is concerned.

use super::linux::{Need, Received, VIRTIO_HEADER_BYTES};
use super::{NetError, Next, Sink, Source, linux, pad, tell_dropped};
use crate::terminal::tell;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

/// Hardware type of Ethernet.
const ETHERNET: u16 = 1;
/// Room for a header and the largest packet that senders leave to be cut up.
const BUFFER_BYTES: usize = VIRTIO_HEADER_BYTES + (1 << 16) + 64;
/// How long a frame waits for room in the interface's queue before it is lost.
const ROOM_TIMEOUT: Duration = Duration::from_millis(10);
const MAC_ADDRESSES_BYTES: usize = 12;
/// Flag of the virtio header: the checksum is not there yet.
const NEEDS_CHECKSUM: u8 = 1;

/// An interface as the wire: a source of what comes in, and a sink of what leaves. A frame that the interface does not take is lost
/// and counted, as on a cable.
#[derive(Clone, Debug)]
pub struct PacketSocket {
    attached: Rc<Attached>,
}

#[derive(Debug)]
struct Attached {
    name: String,
    socket: OwnedFd,
    buffer: RefCell<Vec<u8>>,
    dropped: Cell<u64>,
    uncut: Cell<u64>,
}

impl PacketSocket {
    /// Attaches to an interface, and makes it promiscuous as long as this lives.
    ///
    /// # Errors
    /// If there is no such interface, it is down or not Ethernet, or the process may not do that.
    pub fn attach(name: &str) -> Result<Self, NetError> {
        let failed = |error| NetError::system(format!("attach to the interface {name}"), error);
        let index = linux::interface_index(name).map_err(failed)?;
        let index = index.ok_or_else(|| NetError::Unknown {
            name: name.to_owned(),
        })?;
        let asks = linux::any_socket().map_err(failed)?;
        let (is_up, hardware) = linux::interface_state(asks.as_fd(), name).map_err(failed)?;
        if hardware != ETHERNET {
            return Err(NetError::NotEthernet {
                name: name.to_owned(),
                found: hardware,
            });
        }
        if !is_up {
            return Err(NetError::Down {
                name: name.to_owned(),
            });
        }
        let socket = linux::open_packet_socket(index).map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => {
                Need::PacketSocket.missing(&format!("attaching to the interface {name}"))
            }
            _ => failed(error),
        })?;
        Ok(Self {
            attached: Rc::new(Attached {
                name: name.to_owned(),
                socket,
                buffer: RefCell::new(vec![0; BUFFER_BYTES]),
                dropped: Cell::new(0),
                uncut: Cell::new(0),
            }),
        })
    }

    /// Name of the interface.
    pub fn name(&self) -> &str {
        &self.attached.name
    }

    /// Frames from the NIC that the interface did not take: too large for it, too short for a frame, or no room.
    pub fn dropped(&self) -> u64 {
        self.attached.dropped.get()
    }

    /// Packets that came in larger than a frame, because the sender left it to its interface to cut them up.
    pub fn uncut(&self) -> u64 {
        self.attached.uncut.get()
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.attached.socket.as_fd()
    }
}

impl Attached {
    fn failed(&self, what: &str, error: io::Error) -> NetError {
        let name = self.name.clone();
        let is_there = !matches!(linux::interface_index(&name), Ok(None));
        match error.raw_os_error() {
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) if is_there => NetError::Down { name },
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => NetError::Gone { name },
            _ => NetError::system(format!("{what} the interface {name}"), error),
        }
    }
}

impl Source for PacketSocket {
    fn next(&mut self, now_ps: u64) -> Result<Next, NetError> {
        let mut buffer = self.attached.buffer.borrow_mut();
        loop {
            let received = match linux::receive(self.as_fd(), &mut buffer) {
                Ok(received) => received,
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                    ) =>
                {
                    return Ok(Next::Nothing);
                }
                Err(error) => return Err(self.attached.failed("read from", error)),
            };
            if received.is_outgoing {
                continue;
            }
            match frame(&buffer, received) {
                Some(bytes) => {
                    return Ok(Next::Packet {
                        at_ps: now_ps,
                        bytes: pad(bytes),
                    });
                }
                None => self.attached.uncut.set(self.attached.uncut.get() + 1),
            }
        }
    }

    fn is_live(&self) -> bool {
        true
    }
}

/// The frame as it belongs on a wire; `None` if it was to be cut up.
fn frame(buffer: &[u8], received: Received) -> Option<Vec<u8>> {
    let (header, bytes) = buffer[..received.bytes].split_at_checked(VIRTIO_HEADER_BYTES)?;
    let &[flags, segmentation, .., start_0, start_1, offset_0, offset_1] = header else {
        return None;
    };
    if received.is_cut || segmentation != 0 {
        return None;
    }
    let mut frame = bytes.to_vec();
    if flags & NEEDS_CHECKSUM != 0 {
        // The header is in the byte order of the machine.
        let start = u16::from_ne_bytes([start_0, start_1]).into();
        let offset = usize::from(u16::from_ne_bytes([offset_0, offset_1]));
        complete_checksum(&mut frame, start, offset);
    }
    if let Some([kind, control]) = received.vlan {
        let tag = [kind.to_be_bytes(), control.to_be_bytes()].concat();
        let at = MAC_ADDRESSES_BYTES.min(frame.len());
        frame.splice(at..at, tag);
    }
    Some(frame)
}

/// Computes the Internet checksum of everything from `start` on; the field at `offset` from there holds the sum of the
/// pseudo header. A place outside of the frame is left alone.
fn complete_checksum(frame: &mut [u8], start: usize, offset: usize) {
    let Some(covered) = frame
        .get_mut(start..)
        .filter(|covered| offset + 2 <= covered.len())
    else {
        return;
    };
    let words = covered.chunks(2);
    let sum: u64 = words
        .map(|word| u64::from(word[0]) << 8 | u64::from(word.get(1).copied().unwrap_or(0)))
        .sum();
    let mut folded = sum;
    while folded > 0xffff {
        folded = (folded & 0xffff) + (folded >> 16);
    }
    // Zero means that there is no checksum in UDP; the other zero of ones' complement is right in every protocol.
    let checksum = match !(folded as u16) {
        0 => 0xffff,
        checksum => checksum,
    };
    covered[offset..offset + 2].copy_from_slice(&checksum.to_be_bytes());
}

impl Sink for PacketSocket {
    fn put(&mut self, _at_ps: u64, bytes: &[u8]) -> Result<(), NetError> {
        // All zeros: the checksum is there, and nothing has to be cut up.
        let message = [&[0; VIRTIO_HEADER_BYTES], bytes].concat();
        let send = || rustix::io::write(self.as_fd(), &message).map_err(io::Error::from);
        let mut result = send();
        if let Err(error) = &result
            && matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS))
        {
            self.wait_for_room()?;
            result = send();
        }
        let Err(error) = result else {
            return Ok(());
        };
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINVAL | libc::EMSGSIZE | libc::ENOMEM) => {
                self.attached.dropped.set(self.attached.dropped.get() + 1);
                Ok(())
            }
            _ => Err(self.attached.failed("write to", error)),
        }
    }

    fn finish(self: Box<Self>) -> Result<(), NetError> {
        let Attached {
            name, dropped, uncut, ..
        } = &*self.attached;
        tell_dropped(name, dropped.get());
        if uncut.get() > 0 {
            tell(format_args!(
                "interface `{name}`: {} packets were dropped before the NIC, because they were longer than a frame; \
                 `ethtool -K INTERFACE tso off gso off` at the sender avoids that",
                uncut.get()
            ));
        }
        Ok(())
    }
}

impl PacketSocket {
    fn wait_for_room(&self) -> Result<(), NetError> {
        let mut fds = [PollFd::new(&self.attached.socket, PollFlags::OUT)];
        let timeout = Timespec::try_from(ROOM_TIMEOUT).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(self.attached.failed("write to", error.into())),
        }
    }
}
