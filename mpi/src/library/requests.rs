//! What a program does with a request, whatever it is.

use super::error::Error;
use super::{Library, Request};
use spinneret_host::Device;
use std::time::Duration;

/// Between two looks of somebody who waits.
const LOOK: Duration = Duration::from_nanos(500);

impl<D: Device> Library<D> {
    /// Starts a request.
    ///
    /// # Errors
    /// If it is active, was freed, or the NIC does not answer.
    pub fn start(&mut self, request: Request) -> Result<(), Error> {
        self.start_all(&[request])
    }

    /// Starts requests, and looks for what they need once for all of them. Messages to one rank are announced, and those from
    /// one rank granted, by one frame for 60 of them.
    ///
    /// # Errors
    /// As [`start`](Self::start), or if a request is there twice; none is started then.
    pub fn start_all(&mut self, requests: &[Request]) -> Result<(), Error> {
        for (place, request) in requests.iter().enumerate() {
            self.of(*request)?;
            let is_there = requests[..place].contains(request);
            if is_there || self.activity(*request) != Activity::Inactive {
                return Err(Error::Active);
            }
        }
        for request in requests {
            match request.is_receive {
                true => self.start_receive(request.number)?,
                false => self.start_send(request.number)?,
            }
        }
        self.advance()
    }

    /// Whether a request has ended: what came of it, once. A send gives its own numbers.
    ///
    /// # Errors
    /// If it is not active, or has failed: it is inactive then, and can be started again.
    pub fn test(&mut self, request: Request) -> Result<Option<Status>, Error> {
        self.of(request)?;
        self.progress()?;
        self.take(request)
    }

    /// Whether all of these requests have ended, by one look: what came of each, once.
    ///
    /// # Errors
    /// If one is not active; or what one has failed with, and all are inactive then.
    pub fn test_all(&mut self, requests: &[Request]) -> Result<Option<Vec<Status>>, Error> {
        for request in requests {
            self.of(*request)?;
            if self.activity(*request) == Activity::Inactive {
                return Err(Error::Inactive);
            }
        }
        self.take_frames()?;
        let all_have_ended = self.look_at(requests)?;
        self.go_on()?;
        if !all_have_ended {
            return Ok(None);
        }
        let results: Vec<_> = requests.iter().map(|request| self.take(*request)).collect();
        // All have ended, so each has given something.
        results.into_iter().collect()
    }

    /// Lets time pass until a request has ended.
    ///
    /// # Errors
    /// As [`test`](Self::test), or if it has not ended in that time.
    pub fn wait(&mut self, request: Request, limit: Duration) -> Result<Status, Error> {
        self.until(limit, |library| library.test(request))
    }

    /// Lets time pass until all of these requests have ended.
    ///
    /// # Errors
    /// As [`test_all`](Self::test_all), or if they have not ended in that time.
    pub fn wait_all(&mut self, requests: &[Request], limit: Duration) -> Result<Vec<Status>, Error> {
        self.until(limit, |library| library.test_all(requests))
    }

    fn until<T>(
        &mut self,
        limit: Duration,
        mut look: impl FnMut(&mut Self) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let begun = self.nic.now();
        loop {
            if let Some(done) = look(self)? {
                return Ok(done);
            }
            if self.nic.now().saturating_sub(begun) >= limit {
                return Err(Error::TimedOut {
                    seconds: limit.as_secs_f64(),
                });
            }
            self.nic.wait(LOOK)?;
        }
    }

    /// Lets time pass, and does meanwhile what is to be done for requests.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn run_for(&mut self, time: Duration) -> Result<(), Error> {
        let end = self.nic.now() + time;
        while self.nic.now() < end {
            self.progress()?;
            self.nic.wait(LOOK)?;
        }
        Ok(())
    }

    /// Takes a receive back that has no message yet: it is inactive then, and what would have come goes to another one.
    /// Says whether that was so; a send, and a receive that has its message, end as ever.
    ///
    /// # Errors
    /// If the request is not active.
    pub fn cancel(&mut self, request: Request) -> Result<bool, Error> {
        self.of(request)?;
        match request.is_receive {
            true => self.cancel_receive(request.number),
            false if self.activity(request) == Activity::Inactive => Err(Error::Inactive),
            false => Ok(false),
        }
    }

    /// Frees a request. An active one ends first, and its result is lost.
    ///
    /// # Errors
    /// If it was freed before.
    pub fn free(&mut self, request: Request) -> Result<(), Error> {
        self.of(request)?;
        match request.is_receive {
            true => self.free_receive(request.number),
            false => {
                self.outbox.free(request.number);
                Ok(())
            }
        }
    }

    /// Whether all of these have ended. What stands behind one that has not is not looked at, unless somebody waits for a slot.
    fn look_at(&mut self, requests: &[Request]) -> Result<bool, Error> {
        if !self.inbox.unmatched.is_empty() {
            self.look_for_completions()?;
        }
        for request in requests {
            if request.is_receive {
                self.look_for_completion(request.number)?;
            }
            if self.activity(*request) != Activity::HasEnded {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What came of a request, if it has ended; it is inactive then.
    fn take(&mut self, request: Request) -> Result<Option<Status>, Error> {
        match request.is_receive {
            true => self.test_receive(request.number),
            false => self.outbox.test(request.number),
        }
    }

    fn activity(&self, request: Request) -> Activity {
        match request.is_receive {
            true => self.receive_activity(request.number),
            false => self.outbox.activity(request.number),
        }
    }

    pub(super) fn of(&self, request: Request) -> Result<(), Error> {
        let is_there = match request.is_receive {
            true => matches!(self.receives.get(request.number), Some(Some(receive)) if !receive.is_freed),
            false => self.outbox.is_there(request.number),
        };
        match request.library == self.name && is_there {
            true => Ok(()),
            false => Err(Error::NoRequest),
        }
    }
}

// How far a request is, and what came of it.

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Inactive,
    GoesOn,
    HasEnded,
}

/// The rank of nobody, as `MPI_PROC_NULL`: what goes there, or is to come from there, has ended when it has begun.
pub const NOBODY: usize = usize::MAX;

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Bytes of the message; elements are these by the type's size.
    pub bytes: u32,
    /// The other rank.
    pub rank: usize,
    /// The tag; -1 if there was no message.
    pub tag: i32,
}

impl Status {
    /// That of a message from nobody or to nobody.
    pub(super) const NOTHING: Self = Self {
        bytes: 0,
        rank: NOBODY,
        tag: -1,
    };
}
