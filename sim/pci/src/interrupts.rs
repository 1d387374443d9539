//! Interrupts as messages: each vector is an eventfd of the client.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::OwnedFd;

/// The vectors of a function.
#[derive(Debug)]
pub(crate) struct Interrupts {
    vectors: Vec<Vector>,
}

#[derive(Debug, Default)]
struct Vector {
    file: Option<OwnedFd>,
    /// A message that could not be sent yet.
    is_pending: bool,
}

impl Interrupts {
    pub(crate) fn new(vectors: u32) -> Self {
        Self {
            vectors: (0..vectors).map(|_| Vector::default()).collect(),
        }
    }

    /// Sends a message as soon as somebody takes it.
    pub(crate) fn raise(&mut self, vector: u32) {
        if let Some(vector) = self.vectors.get_mut(vector as usize) {
            vector.is_pending = true;
        }
    }

    /// Whether there are vectors with these numbers.
    pub(crate) fn has(&self, start: u32, count: u32) -> bool {
        start
            .checked_add(count)
            .is_some_and(|end| end as usize <= self.vectors.len())
    }

    /// Gives vectors their files, or takes them away.
    pub(crate) fn set(&mut self, start: u32, count: u32, files: Vec<OwnedFd>) {
        let vectors = self.vectors.iter_mut().skip(start as usize).take(count as usize);
        let mut files = files.into_iter();
        vectors.for_each(|vector| vector.file = files.next());
    }

    /// Takes all files away.
    pub(crate) fn disconnect(&mut self) {
        self.vectors.iter_mut().for_each(|vector| vector.file = None);
    }

    /// Forgets messages that were not sent.
    pub(crate) fn reset(&mut self) {
        self.vectors
            .iter_mut()
            .for_each(|vector| vector.is_pending = false);
    }

    /// Sends what can be sent.
    pub(crate) fn deliver(&mut self) {
        for vector in self.vectors.iter_mut().filter(|vector| vector.is_pending) {
            if let Some(file) = &vector.file {
                signal(file);
                vector.is_pending = false;
            }
        }
    }

    /// The pending bits, vector 0 in the lowest.
    pub(crate) fn pending(&self) -> u64 {
        let bits = self.vectors.iter().zip(0..);
        bits.fold(0, |all, (vector, bit)| all | u64::from(vector.is_pending) << bit)
    }
}

/// Counts an eventfd up, if that does not have to be waited for: one that nobody reads is full some time, and a client may
/// have sent any file.
fn signal(file: &OwnedFd) {
    let mut files = [PollFd::new(file, PollFlags::OUT)];
    let at_once = Timespec::default();
    if poll(&mut files, Some(&at_once)) == Ok(1) && files[0].revents() == PollFlags::OUT {
        // Who does not take it does not want it.
        let _ = rustix::io::write(file, &1_u64.to_ne_bytes());
    }
}
