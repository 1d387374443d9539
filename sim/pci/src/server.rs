//! The device's socket: serves one client at a time, and rejects others.

use crate::client::{Break, Client, Warning};
use crate::config::Identity;
use crate::function::{Application, Function};
use crate::memory::GuestMemory;
use crate::protocol::Channel;
use rustix::io::Errno;
use spinneret_host::device::socket::Listener;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Time for which requests are answered before other work continues.
const TURN: Duration = Duration::from_millis(1);
/// Maximum number of clients that wait for the answer that the device is in use.
const TURNED_AWAY: usize = 8;

/// Error text for guest memory that cannot be mapped.
const SHORT_FILE: &str = "memory of the client is in a file that can become shorter, so the device does not reach it: use a memfd that is \
                          sealed (QEMU: memory-backend-memfd with share=on)";

/// Result of polling the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// No request.
    Nothing,
    /// Requests were answered.
    Requests,
    /// The client disconnected, and what it started is stopped. The next one finds the device as after power-up.
    Gone,
}

/// Serves a PCI function at a path.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    function: Function,
    client: Option<Client>,
    /// Clients that connected while the device is in use, until they send a request.
    turned_away: Vec<Channel>,
    notes: Vec<String>,
}

impl Server {
    /// Listens at a path.
    ///
    /// # Errors
    /// As [`Listener::bind`].
    pub fn bind(path: &Path, identity: Identity) -> io::Result<Self> {
        Ok(Self {
            listener: Listener::bind(path)?,
            function: Function::new(identity),
            client: None,
            turned_away: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// The client's memory, for the device's DMA.
    pub fn memory(&self) -> Rc<GuestMemory> {
        Rc::clone(&self.function.memory)
    }

    /// Returns whether a client is connected.
    pub fn has_client(&self) -> bool {
        self.client.is_some()
    }

    /// Raises an interrupt: its message is sent as soon as the client takes it.
    pub fn raise(&mut self, vector: u32) {
        self.function.interrupts.raise(vector);
        self.function.deliver();
    }

    /// Returns messages for the owner of the server since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Returns what to wait for while idle.
    pub fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        let client = self.client.as_ref().map(|client| client.channel.as_fd());
        let turned_away = self.turned_away.iter().map(Channel::as_fd);
        [self.listener.as_fd()]
            .into_iter()
            .chain(client)
            .chain(turned_away)
            .collect()
    }

    /// Serves pending requests without blocking.
    ///
    /// # Errors
    /// If the socket or the application itself fails.
    pub fn serve(&mut self, application: &mut impl Application) -> io::Result<Served> {
        let served = self.answer(application)?;
        self.accept()?;
        self.turn_away();
        Ok(served)
    }

    /// Serves the client, for a limited time.
    fn answer(&mut self, application: &mut impl Application) -> io::Result<Served> {
        let mut served = Served::Nothing;
        let begun = Instant::now();
        while let Some(client) = &mut self.client {
            let done = client.serve(&mut self.function, application);
            if client.warning == Warning::Due {
                client.warning = Warning::Told;
                self.notes.push(SHORT_FILE.to_owned());
            }
            match done {
                Ok(true) => served = Served::Requests,
                Ok(false) => break,
                Err(Break::Application(error)) => return Err(error),
                Err(Break::Client(error)) => {
                    if error.kind() == ErrorKind::InvalidData {
                        let path = self.listener.path().display();
                        let note = format!("{path}: the client is dropped, because it sent {error}");
                        self.notes.push(note);
                    }
                    self.client = None;
                    self.function.disconnect(application)?;
                    return Ok(Served::Gone);
                }
            }
            if begun.elapsed() >= TURN {
                break;
            }
        }
        Ok(served)
    }

    /// Takes one client; the others are turned away.
    fn accept(&mut self) -> io::Result<()> {
        while let Some(stream) = self.listener.accept()? {
            let channel = Channel::new(stream)?;
            match self.client {
                None => self.client = Some(Client::new(channel)),
                // Further clients are dropped without a reply.
                Some(_) if self.turned_away.len() < TURNED_AWAY => self.turned_away.push(channel),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Tells waiting clients that sent a request that the device is in use.
    fn turn_away(&mut self) {
        self.turned_away.retain_mut(|channel| match channel.next() {
            Ok(None) => true,
            Ok(Some(message)) => {
                // Ignore errors: the client has disconnected.
                let _ = channel.send(&message.header.answer(Err(Errno::BUSY)));
                false
            }
            Err(_) => false,
        });
    }
}
