//! The simulated NIC's end of the socket.

use super::peer::{Desk, Peer, Served, Use};
use super::{Reply, VERSION, send};
use crate::control::Control;
use crate::device::Device;
use crate::nic::{Lines, NOTHING_PRINTED, Printed};
use crate::options::Share;
use crate::share::Limits;
use crate::tenants::{Owner, Tenants};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use spinneret_regmap::{CONTEXTS, cl};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum number of clients.
const CLIENTS: usize = 32;
/// Longest sleep of [`Server::run`] while there is a client, and without any.
const LOOK: Duration = Duration::from_millis(10);
const IDLE: Duration = Duration::from_millis(200);
/// Words of standard output that it reads at once.
const WORDS: usize = 64;

/// Serves a NIC at a path.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    clients: Vec<(Owner, Peer)>,
    /// Clients so far.
    count: u64,
    tenants: Tenants,
    state: Use,
}

impl Server {
    /// Listens at a path.
    ///
    /// # Errors
    /// As [`Listener::bind`].
    pub fn bind(path: &Path) -> io::Result<Self> {
        Ok(Self {
            listener: Listener::bind(path)?,
            clients: Vec::new(),
            count: 0,
            tenants: Tenants::new(true, Limits::of([Share::FIRST; CONTEXTS as usize])),
            state: Use::Unknown,
        })
    }

    /// Sets the shares of contexts; their owners can only lower them. Without this call all have the default one.
    #[must_use]
    pub fn with_shares(mut self, shares: [Share; CONTEXTS as usize]) -> Self {
        self.tenants = Tenants::new(true, Limits::of(shares));
        self
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        self.listener.path()
    }

    /// Whether a client uses the NIC.
    pub fn has_client(&self) -> bool {
        !self.clients.is_empty()
    }

    /// Returns the descriptors to poll while idle: the listener, and clients. A client that waits is not read, whatever it has
    /// sent meanwhile.
    pub fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        let asking = self.clients.iter().filter(|(_, peer)| !peer.is_waiting());
        let clients = asking.map(|(_, peer)| peer.stream().as_fd());
        std::iter::once(self.listener.as_fd()).chain(clients).collect()
    }

    /// Handles pending requests without blocking. Time passes for all clients while one waits.
    ///
    /// # Errors
    /// The socket fails, or the NIC does not answer after a client disconnected.
    pub fn serve<D: Device>(&mut self, device: &mut D) -> io::Result<Served> {
        let has_gone = self.accept(device)?;
        let (mut served, mut gone) = (Served::Nothing, Vec::new());
        let has_others = self.clients.len() > 1;
        for (owner, peer) in &mut self.clients {
            let mut desk = Desk {
                device,
                tenants: &mut self.tenants,
                state: &mut self.state,
                owner: *owner,
                has_others,
            };
            match peer.serve(&mut desk) {
                Ok(done) => served = both(served, done),
                Err(error) => gone.push((*owner, error)),
            }
        }
        let has_gone = has_gone || !gone.is_empty();
        for (owner, error) in gone {
            let why = match error.kind() {
                ErrorKind::InvalidData => Some(format!("it sent {error}")),
                ErrorKind::TimedOut => Some(error.to_string()),
                _ => None,
            };
            if let Some(why) = why {
                let path = self.path().display();
                // Ignore errors: the message is only informative.
                let _ = writeln!(io::stderr(), "{path}: the client is dropped, because {why}");
            }
            self.end(owner, device)?;
        }
        Ok(match has_gone {
            true if self.clients.is_empty() => Served::Gone,
            true => both(served, Served::Requests),
            false => served,
        })
    }

    /// Serves a device in real time until `is_over`. A process whose contexts are the only ones reads standard output itself;
    /// while there are others, lines go to `print`, because HPUs wait while its queue is full.
    ///
    /// # Errors
    /// As [`serve`](Self::serve), or if the device is removed.
    pub fn run<D: Device>(
        &mut self,
        device: &mut D,
        mut print: impl FnMut(&Printed),
        is_over: impl Fn() -> bool,
    ) -> io::Result<()> {
        let (mut lines, mut looked) = (Lines::default(), Instant::now());
        while !is_over() {
            let pause = match self.serve(device)? {
                Served::Requests => Duration::ZERO,
                Served::Waits(until) => device.wall(until.saturating_sub(device.now())).min(LOOK),
                _ if self.has_client() => LOOK,
                _ => IDLE,
            };
            if looked.elapsed() >= LOOK && self.tenants.are_several() {
                for _ in 0..WORDS {
                    match device.read_register(cl::FIFO.offset).map_err(io::Error::other)? {
                        NOTHING_PRINTED => break,
                        word => lines.word(word).iter().for_each(&mut print),
                    }
                }
                looked = Instant::now();
            }
            self.sleep(pause)?;
        }
        Ok(())
    }

    /// Sleeps until a client does something, up to a limit.
    fn sleep(&self, limit: Duration) -> io::Result<()> {
        let wakes = self.wakes().into_iter();
        let mut wakes: Vec<PollFd<'_>> = wakes
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        match poll(&mut wakes, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Accepts clients, and tells them that the NIC is busy if it has no room. Returns whether a previous client has disconnected,
    /// which is noticed here if it happened before the next one connected.
    fn accept<D: Device>(&mut self, device: &mut D) -> io::Result<bool> {
        let mut has_gone = false;
        loop {
            let Some(mut stream) = self.listener.accept()? else {
                return Ok(has_gone);
            };
            let gone = self
                .clients
                .iter()
                .filter(|(_, peer)| peer.has_gone().unwrap_or(true));
            let gone: Vec<Owner> = gone.map(|(owner, _)| *owner).collect();
            for owner in gone {
                self.end(owner, device)?;
                has_gone = true;
            }
            if self.state == Use::Raw || self.clients.len() >= CLIENTS {
                // Ignore errors: the client may have disconnected already.
                let _ = send(&mut stream, &Reply::Busy);
                continue;
            }
            let hello = Reply::Hello {
                version: VERSION,
                shape: device.shape(),
                tells_contexts: device.tells_contexts(),
                address: device.address(),
            };
            if send(&mut stream, &hello).is_ok() {
                self.count += 1;
                self.clients.push((Owner(self.count), Peer::new(stream)?));
            }
        }
    }

    /// Frees everything of a client that disconnected.
    fn end<D: Device>(&mut self, owner: Owner, device: &mut D) -> io::Result<()> {
        self.clients.retain(|(client, _)| *client != owner);
        self.tenants.end_owner(device, owner).map_err(io::Error::other)?;
        if self.state == Use::Raw {
            Control(device).take().map_err(io::Error::other)?;
            (0..CONTEXTS).for_each(|context| device.close_area(context));
            self.state = Use::Managed;
        }
        Ok(())
    }
}

/// Result for two clients.
fn both(one: Served, other: Served) -> Served {
    match (one, other) {
        (Served::Waits(one), Served::Waits(other)) => Served::Waits(one.min(other)),
        (Served::Requests, _) | (_, Served::Requests) => Served::Requests,
        (Served::Nothing, other) => other,
        (one, _) => one,
    }
}

// A listening socket at a path.

/// A non-blocking listener at a path, which removes the file when it is dropped.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// Listens at a path. Replaces a stale socket.
    ///
    /// # Errors
    /// If the path is taken by something else, or cannot be made.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && is_left_over(path) => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                let why = match is_socket(path) {
                    true => "somebody listens there already: end that, or name another path",
                    false => "there is something of that name that is no socket: name another path",
                };
                return Err(io::Error::new(ErrorKind::AddrInUse, why));
            }
            listener => listener.map_err(|error| explain(error, path))?,
        };
        listener.set_nonblocking(true)?;
        let path = path.to_owned();
        Ok(Self { listener, path })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Accepts a connection, if there is one.
    ///
    /// # Errors
    /// If the socket itself fails.
    pub fn accept(&self) -> io::Result<Option<UnixStream>> {
        match self.listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Ignore errors: it may have been removed already.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Adds advice to an error of binding a socket.
fn explain(error: io::Error, path: &Path) -> io::Error {
    let folder = path.parent().unwrap_or(path).display();
    let why = match error.kind() {
        ErrorKind::NotFound => format!("there is no folder {folder}: make it, or name another path"),
        ErrorKind::NotADirectory => format!("{folder} is no folder: name another path"),
        ErrorKind::PermissionDenied => {
            format!("nothing may be made in {folder}: name a path in a folder of yours")
        }
        ErrorKind::InvalidInput => {
            "a socket's path has 107 bytes at most, none of them 0: name a shorter one".to_owned()
        }
        _ => return error,
    };
    io::Error::new(error.kind(), why)
}

/// Whether it is a stale socket, without a listener.
fn is_left_over(path: &Path) -> bool {
    is_socket(path)
        && UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

fn is_socket(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}
