//! Control frames at a network interface.

#![allow(unsafe_code)]

use super::EtherError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use spinneret_ether::{Link, Mac};
use spinneret_regmap::ether::{ETHER_TYPE, HEADER_BYTES, MOST_BYTES};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Room for the longest frame, and for padding.
const BUFFER_BYTES: usize = HEADER_BYTES + MOST_BYTES + 64;

/// A socket that carries control frames, and no others.
#[derive(Debug)]
pub struct FrameSocket {
    socket: OwnedFd,
    own: Mac,
}

impl FrameSocket {
    /// Opens an interface.
    ///
    /// # Errors
    /// There is no such interface, it is not Ethernet, or the process may not do that.
    pub fn open(interface: &str) -> Result<Self, EtherError> {
        let name = || interface.to_owned();
        let failed = |source: Errno| EtherError::Socket(name(), source.into());
        let asks = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
        let index = netdevice::name_to_index(asks.map_err(failed)?, interface);
        let index = index.map_err(|error| match error {
            Errno::NODEV | Errno::NAMETOOLONG => EtherError::NoInterface(name()),
            error => failed(error),
        })?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None);
        let socket = socket.map_err(|error| match error {
            Errno::PERM | Errno::ACCESS => EtherError::Permission(name()),
            error => failed(error),
        })?;
        let own = bind(&socket, index).map_err(|source| EtherError::Socket(name(), source))?;
        let own = own.ok_or_else(|| EtherError::NotEthernet(name()))?;
        Ok(Self { socket, own })
    }

    /// A socket that keeps frames apart and never waits, such as one of a pair, in the place of an interface with that address.
    pub fn over(socket: OwnedFd, own: Mac) -> Self {
        Self { socket, own }
    }

    /// Waits for a frame, up to a limit.
    ///
    /// # Errors
    /// If the socket cannot be waited for.
    pub(super) fn wait(socket: impl AsFd, limit: Duration) -> io::Result<()> {
        let mut fds = [PollFd::new(&socket, PollFlags::IN)];
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        match poll(&mut fds, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for FrameSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Link for FrameSocket {
    fn address(&self) -> Mac {
        self.own
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        match rustix::io::write(&self.socket, frame) {
            // Without room, the frame is lost as on a wire.
            Ok(_) | Err(Errno::NOBUFS | Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn receive(&mut self, limit: Duration) -> io::Result<Option<Vec<u8>>> {
        let end = Instant::now() + limit;
        let mut buffer = [0; BUFFER_BYTES];
        loop {
            match rustix::io::read(&self.socket, &mut buffer[..]) {
                Ok(bytes) => return Ok(Some(buffer[..bytes].to_vec())),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            Self::wait(&self.socket, left)?;
        }
    }
}

/// Binds a packet socket to control frames of an interface. Returns its address if it is Ethernet.
fn bind(socket: &OwnedFd, index: u32) -> io::Result<Option<Mac>> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: ETHER_TYPE.to_be(),
        sll_ifindex: index as libc::c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let mut found = address;
    let mut size = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address has that size and outlives the call, which only reads it.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) })?;
    // SAFETY: the call writes no more than that size to the address, which outlives it as the size does.
    check(unsafe { libc::getsockname(socket.as_raw_fd(), (&raw mut found).cast(), &raw mut size) })?;
    let is_ethernet = found.sll_hatype == libc::ARPHRD_ETHER && found.sll_halen == 6;
    let [a, b, c, d, e, f, ..] = found.sll_addr;
    Ok(is_ethernet.then_some(Mac([a, b, c, d, e, f])))
}

fn check(result: libc::c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
