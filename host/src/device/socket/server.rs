//! The simulated NIC's end of the socket.

use super::listener::Listener;
use super::message::{Reply, VERSION, send};
use super::peer::{Peer, Served};
use crate::control::Control;
use crate::device::Device;
use spinneret_regmap::CONTEXTS;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

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

    /// Where it listens.
    pub fn path(&self) -> &Path {
        self.listener.path()
    }

    /// Whether somebody has the NIC.
    pub fn has_client(&self) -> bool {
        self.client.is_some()
    }

    /// What to wait for while there is nothing to do: the client, or else who comes. A client that waits itself is asked
    /// nothing, whatever it has sent meanwhile.
    pub fn wakes(&self) -> [BorrowedFd<'_>; 2] {
        let listener = self.listener.as_fd();
        let asking = self.client.as_ref().filter(|peer| !peer.is_waiting());
        let client = asking.map(|peer| peer.stream().as_fd());
        [listener, client.unwrap_or(listener)]
    }

    /// Answers what has been asked, without waiting.
    ///
    /// # Errors
    /// If the socket itself fails, or the NIC cannot be cleared behind a client.
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
                    // Where nobody can read it, nothing is lost.
                    let _ = writeln!(io::stderr(), "{path}: the client is dropped, because {why}");
                }
                self.client = None;
                clear(device).map_err(io::Error::other)?;
                Ok(Served::Gone)
            }
        }
    }

    /// Takes one client; the others hear that the NIC is in use. Gives back whether the client before it has gone, which is
    /// noticed here if it was so before the next one came.
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
                // Who has gone again already need not hear it.
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

/// Stops what a client has left.
fn clear<D: Device>(device: &mut D) -> Result<(), crate::error::ErrorKind> {
    Control(device).take()?;
    (0..CONTEXTS).for_each(|context| device.close_area(context));
    Ok(())
}
