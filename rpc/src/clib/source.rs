//! Standard input, which may let a call wait.

use super::elsewhere::Elsewhere;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// Bytes of one read.
const CHUNK_BYTES: usize = 4096;

type Reader = Box<dyn Read + Send>;

/// Standard input. What has been read and nobody has taken yet is kept by its owner.
pub(super) struct Source {
    state: State,
    /// Calls that wait for the same read.
    waiting: Vec<Waker>,
}

enum State {
    Ready(Reader),
    Reading(Elsewhere<(Reader, io::Result<Vec<u8>>)>),
    Ended,
}

impl Source {
    pub(super) fn new(reader: Option<Reader>) -> Self {
        Self {
            state: reader.map_or(State::Ended, State::Ready),
            waiting: Vec::new(),
        }
    }

    /// The next bytes; none at the end.
    pub(super) fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Vec<u8>>> {
        if let State::Ready(_) = self.state
            && let State::Ready(reader) = std::mem::replace(&mut self.state, State::Ended)
        {
            self.state = State::Reading(Elsewhere::start(|| read(reader))?);
        }
        let State::Reading(task) = &mut self.state else {
            return Poll::Ready(Ok(Vec::new()));
        };
        let is_new = !self.waiting.iter().any(|waker| waker.will_wake(context.waker()));
        if is_new {
            self.waiting.push(context.waker().clone());
        }
        let (reader, bytes) = ready!(Pin::new(task).poll(context));
        self.state = State::Ready(reader);
        // The others find what this one leaves, or begin the next read.
        self.waiting.drain(..).for_each(Waker::wake);
        Poll::Ready(bytes)
    }
}

fn read(mut reader: Reader) -> (Reader, io::Result<Vec<u8>>) {
    let mut bytes = vec![0; CHUNK_BYTES];
    let count = loop {
        match reader.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    let result = count.map(|count| {
        bytes.truncate(count);
        bytes
    });
    (reader, result)
}
