//! An application in another process, which has a NIC of a fabric.
//!
//! Time passes for it only while it waits: whatever else it does takes none, so time stands still for everybody meanwhile.

use crate::device::Simulated;
use crate::net::{self, picoseconds};
use spinneret_fabric::Outside;
use spinneret_fabric::topology::WhenGone;
use spinneret_host::device::socket::{Served, Server};
use std::io;
use std::time::Duration;

/// Longest sleep before a look whether all is over.
const SLEEP: Duration = Duration::from_millis(50);

/// What an application wants of its NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// Time is to pass until then.
    Until(u64),
    /// It has gone, and the NIC goes on without it.
    Nothing,
    /// It has gone, and everything is to end.
    End,
}

/// An application, or the place where one is to come.
#[derive(Debug)]
pub(super) struct Application {
    server: Server,
    when_gone: WhenGone,
    /// It waits until then.
    until_ps: u64,
}

impl Application {
    /// An application is to come to a socket.
    pub(super) fn at(server: Server, when_gone: WhenGone) -> Self {
        Self {
            server,
            when_gone,
            until_ps: 0,
        }
    }

    /// Answers what the application asks until it wants time to pass; waits for it as long as that takes.
    pub(super) fn attend(&mut self, nic: &Simulated) -> io::Result<Wants> {
        let now_ps = nic.borrow().now_ps();
        if now_ps < self.until_ps {
            return Ok(Wants::Until(self.until_ps));
        }
        loop {
            let mut device = nic.clone();
            match self.server.serve(&mut device)? {
                Served::Requests => {}
                Served::Waits(until) => {
                    self.until_ps = picoseconds(until);
                    return Ok(Wants::Until(self.until_ps));
                }
                Served::Gone => match self.when_gone {
                    WhenGone::GoOn => return Ok(Wants::Nothing),
                    WhenGone::Stop => return Ok(Wants::End),
                    WhenGone::Hold => {}
                },
                Served::Nothing => self.wait(nic)?,
            }
        }
    }

    /// Sleeps until it says something, or another one comes.
    fn wait(&self, nic: &Simulated) -> io::Result<()> {
        let why = match self.server.has_client() {
            true => Outside::ApplicationToSpeak,
            false => Outside::ApplicationToCome,
        };
        let nic = nic.borrow();
        let woken = nic.outside(why, || {
            while !nic.is_stopped() {
                if net::wait(&self.server.wakes(), Some(SLEEP))? {
                    break;
                }
            }
            Ok(())
        });
        woken.map_err(|error: net::NetError| io::Error::other(error))?;
        match nic.is_stopped() {
            true => Err(io::Error::other(spinneret_fabric::Stopped)),
            false => Ok(()),
        }
    }
}
