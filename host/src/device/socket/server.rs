//! The simulated NIC's end of the socket.

use super::peer::{Peer, Served};
use super::{Reply, VERSION, send};
use crate::control::Control;
use crate::device::Device;
use spinneret_regmap::CONTEXTS;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Serves a NIC at a path.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    client: Option<Peer>,
}

impl Server {
    /// Listens at a path.
    ///
    /// # Errors
    /// As [`Listener::bind`].
    pub fn bind(path: &Path) -> io::Result<Self> {
        Ok(Self {
            listener: Listener::bind(path)?,
            client: None,
        })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        self.listener.path()
    }

    /// Whether a client uses the NIC.
    pub fn has_client(&self) -> bool {
        self.client.is_some()
    }

    /// Returns the descriptors to poll while idle: the client, or else the listener. A client that waits is not read, whatever
    /// it has sent meanwhile.
    pub fn wakes(&self) -> [BorrowedFd<'_>; 2] {
        let listener = self.listener.as_fd();
        let asking = self.client.as_ref().filter(|peer| !peer.is_waiting());
        let client = asking.map(|peer| peer.stream().as_fd());
        [listener, client.unwrap_or(listener)]
    }

    /// Handles pending requests without blocking.
    ///
    /// # Errors
    /// The socket fails, or the NIC cannot be reset after a client.
    pub fn serve(&mut self, device: &mut impl Device) -> io::Result<Served> {
        if self.accept(device)? {
            return Ok(Served::Gone);
        }
        let Some(peer) = &mut self.client else {
            return Ok(Served::Nothing);
        };
        match peer.serve(device) {
            Ok(served) => Ok(served),
            Err(error) => {
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
                self.client = None;
                clear(device).map_err(io::Error::other)?;
                Ok(Served::Gone)
            }
        }
    }

    /// Accepts one client, and tells others that the NIC is busy. Returns whether the previous client has disconnected, which is
    /// noticed here if it happened before the next one connected.
    fn accept(&mut self, device: &mut impl Device) -> io::Result<bool> {
        let mut has_gone = false;
        loop {
            let Some(mut stream) = self.listener.accept()? else {
                return Ok(has_gone);
            };
            if self
                .client
                .as_ref()
                .is_some_and(|peer| peer.has_gone().unwrap_or(true))
            {
                self.client = None;
                clear(device).map_err(io::Error::other)?;
                has_gone = true;
            }
            if self.client.is_some() {
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
                self.client = Some(Peer::new(stream)?);
            }
        }
    }
}

/// Resets the NIC after a client.
fn clear<D: Device>(device: &mut D) -> Result<(), crate::error::ErrorKind> {
    Control(device).take()?;
    (0..CONTEXTS).for_each(|context| device.close_area(context));
    Ok(())
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
