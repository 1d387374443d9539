//! What a program does with a request, whatever it is.

use super::error::Error;
use super::{Library, Request, Status};
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
        self.of(request)?;
        match request.is_receive {
            true => self.start_receive(request.number)?,
            false => self.outbox.start(request.number, self.nic.now())?,
        }
        self.progress()
    }

    /// Whether a request has ended: what came of it, once. A send gives its own numbers.
    ///
    /// # Errors
    /// If it is not active, or has failed: it is inactive then, and can be started again.
    pub fn test(&mut self, request: Request) -> Result<Option<Status>, Error> {
        self.of(request)?;
        self.progress()?;
        match request.is_receive {
            true => self.test_receive(request.number),
            false => self.outbox.test(request.number),
        }
    }

    /// Lets time pass until a request has ended.
    ///
    /// # Errors
    /// As [`test`](Self::test), or if it has not ended in that time.
    pub fn wait(&mut self, request: Request, limit: Duration) -> Result<Status, Error> {
        let begun = self.nic.now();
        loop {
            if let Some(status) = self.test(request)? {
                return Ok(status);
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

    fn of(&self, request: Request) -> Result<(), Error> {
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
