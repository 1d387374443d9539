//! Bytes from one rank to another, waited for.

use super::Comm;
use crate::Error;
use crate::error::{Class, int};
use crate::functions::{RawStatus, first, first_mut};
use crate::session::Session;

/// What is known of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Who sent it.
    pub source: usize,
    /// What it is called.
    pub tag: u32,
    /// How long it is.
    pub bytes: u64,
}

impl Status {
    pub(super) fn from_raw(raw: &RawStatus) -> Self {
        Self {
            source: usize::try_from(raw.source).unwrap_or(0),
            tag: u32::try_from(raw.tag).unwrap_or(0),
            bytes: u64::try_from(raw.bytes).unwrap_or(0),
        }
    }
}

impl Session {
    /// What a receive into so many bytes has come to.
    pub(super) fn received(
        &self,
        call: &'static str,
        code: i32,
        status: &RawStatus,
        fits: usize,
    ) -> Result<Status, Error> {
        match self.check(call, code) {
            Ok(()) => Ok(Status::from_raw(status)),
            Err(error) if error.class() == Some(Class::Truncate) => {
                // Some MPIs give the length of the message, others what they have stored.
                let told = u64::try_from(status.bytes).ok();
                Err(Error::Truncated {
                    fits,
                    bytes: told.filter(|&bytes| bytes > fits as u64),
                })
            }
            Err(error) => Err(error),
        }
    }
}

/// A rank as MPI takes it.
pub(super) fn rank(rank: usize) -> Result<i32, Error> {
    int("a rank", rank)
}

/// A tag as MPI takes it.
pub(super) fn tag(tag: u32) -> Result<i32, Error> {
    int("a tag", tag as usize)
}

/// Who and what a receive is for, as the layer takes it.
pub(super) fn wanted(source: Option<usize>, tag_: Option<u32>) -> Result<(i32, i32), Error> {
    let source = source.map_or(Ok(-1), rank)?;
    let tag = tag_.map_or(Ok(-1), tag)?;
    Ok((source, tag))
}

impl Comm {
    /// Sends bytes, and comes back when they can be changed, which may be before anybody takes them.
    ///
    /// # Errors
    /// If there is no such rank, or there are too many bytes.
    pub fn send(&self, bytes: &[u8], destination: usize, tag_: u32) -> Result<(), Error> {
        let count = int("bytes of a message", bytes.len())?;
        let (destination, tag) = (rank(destination)?, tag(tag_)?);
        // SAFETY: there are as many bytes.
        let code = unsafe { (self.session.functions.send)(self.raw, first(bytes), count, destination, tag) };
        self.session.check("MPI_Send", code)
    }

    /// Takes a message of some rank, or of any, with some tag, or any. It may be shorter than the area.
    ///
    /// # Errors
    /// If it is longer ([`Error::Truncated`]: it is gone then, and the area holds some of it or not), or there is no such rank.
    pub fn recv(&self, bytes: &mut [u8], source: Option<usize>, tag: Option<u32>) -> Result<Status, Error> {
        let count = int("bytes of a message", bytes.len())?;
        let (source, tag) = wanted(source, tag)?;
        let mut status = RawStatus::default();
        // SAFETY: the area has as many bytes, and the status a place.
        let code = unsafe {
            (self.session.functions.recv)(self.raw, first_mut(bytes), count, source, tag, &mut status)
        };
        self.session.received("MPI_Recv", code, &status, bytes.len())
    }

    /// Takes a message of any length.
    ///
    /// # Errors
    /// If there is no such rank, or it is longer than what MPI can count.
    pub fn recv_any(&self, source: Option<usize>, tag: Option<u32>) -> Result<(Vec<u8>, Status), Error> {
        let (source, tag) = wanted(source, tag)?;
        let (mut message, mut status) = (0, RawStatus::default());
        let functions = self.session.functions;
        // SAFETY: message and status have places.
        let code = unsafe { (functions.mprobe)(self.raw, source, tag, &mut message, &mut status) };
        self.session.check("MPI_Mprobe", code)?;
        let length = usize::try_from(status.bytes).unwrap_or(usize::MAX);
        let count = int("bytes of a message", length)?;
        let mut bytes = vec![0; length];
        // SAFETY: the message was just found and is taken once; the area has as many bytes as it.
        let code = unsafe { (functions.mrecv)(message, first_mut(&mut bytes), count, &mut status) };
        let status = self.session.received("MPI_Mrecv", code, &status, length)?;
        Ok((bytes, status))
    }

    /// Waits until there is a message, and leaves it there.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn probe(&self, source: Option<usize>, tag: Option<u32>) -> Result<Status, Error> {
        let (source, tag) = wanted(source, tag)?;
        let mut status = RawStatus::default();
        // SAFETY: the status has a place.
        let code = unsafe { (self.session.functions.probe)(self.raw, source, tag, &mut status) };
        self.session.check("MPI_Probe", code)?;
        Ok(Status::from_raw(&status))
    }

    /// Whether there is a message, which is left there.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn iprobe(&self, source: Option<usize>, tag: Option<u32>) -> Result<Option<Status>, Error> {
        let (source, tag) = wanted(source, tag)?;
        let (mut is_there, mut status) = (0, RawStatus::default());
        // SAFETY: flag and status have places.
        let code =
            unsafe { (self.session.functions.iprobe)(self.raw, source, tag, &mut is_there, &mut status) };
        self.session.check("MPI_Iprobe", code)?;
        Ok((is_there != 0).then(|| Status::from_raw(&status)))
    }
}
