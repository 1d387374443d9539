//! Streams with the state of C's `FILE`, and tasks that block.

use cap_std::fs::File;
use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::{io, thread};

/// Bytes of one read from a file.
const CHUNK_BYTES: usize = 4096;
/// Bytes that can be pushed back; C promises one.
const PUSHED_BACK: usize = 8;

/// Where the bytes of a stream come from or go to.
pub(super) enum Kind {
    Input(Source),
    Output(Box<dyn Output>),
    /// A regular file, so it never blocks for long.
    File(File),
}

/// A stream, with its two flags and what was read ahead or pushed back.
pub(super) struct Stream {
    kind: Kind,
    ahead: VecDeque<u8>,
    pushed_back: usize,
    is_at_end: bool,
    has_failed: bool,
}

impl Stream {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            ahead: VecDeque::new(),
            pushed_back: 0,
            is_at_end: false,
            has_failed: false,
        }
    }

    /// `feof`.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// `ferror`.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// `clearerr`.
    pub(super) fn clear(&mut self) {
        (self.is_at_end, self.has_failed) = (false, false);
    }

    /// Notes an error that was found outside.
    pub(super) fn fail(&mut self) {
        self.has_failed = true;
    }

    /// Writes for the handler that calls by a port, and says how many bytes were.
    pub(super) fn write(&mut self, port: u32, bytes: &[u8]) -> usize {
        let written = self.begin_write().map_or(0, |()| self.write_all(port, bytes));
        self.has_failed |= written < bytes.len();
        written
    }

    /// A file goes on where its reader was, not where the bytes end that were read ahead.
    fn begin_write(&mut self) -> io::Result<()> {
        if !self.ahead.is_empty()
            && let Some(place) = self.tell()
        {
            self.place(SeekFrom::Start(place))?;
        }
        Ok(())
    }

    fn write_all(&mut self, port: u32, bytes: &[u8]) -> usize {
        let mut written = 0;
        while written < bytes.len() {
            let now = match &mut self.kind {
                Kind::Input(_) => return 0,
                Kind::Output(output) => output.write_of(port, &bytes[written..]),
                Kind::File(file) => file.write(&bytes[written..]),
            };
            match now {
                Ok(0) => break,
                Ok(now) => written += now,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        written
    }

    /// `fflush`, of one port or of all: says whether it worked.
    pub(super) fn flush(&mut self, port: Option<u32>) -> bool {
        let flushed = match &mut self.kind {
            Kind::Input(_) => Ok(()),
            Kind::Output(output) => output.flush_of(port),
            Kind::File(file) => file.flush(),
        };
        self.has_failed |= flushed.is_err();
        flushed.is_ok()
    }

    /// Reads until there are `wanted` bytes, or one that ends the reading, or no more. `bytes` keeps those that are
    /// there while a call waits.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        wanted: usize,
        last: Option<u8>,
        bytes: &mut Vec<u8>,
    ) -> Poll<()> {
        while bytes.len() < wanted {
            let Some(byte) = self.ahead.pop_front() else {
                if self.is_at_end || !ready!(self.fill(context)) {
                    break;
                }
                continue;
            };
            self.pushed_back = self.pushed_back.saturating_sub(1);
            bytes.push(byte);
            if Some(byte) == last {
                break;
            }
        }
        Poll::Ready(())
    }

    /// Reads ahead, and returns whether there was anything.
    fn fill(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        let read = match &mut self.kind {
            Kind::Input(source) => ready!(source.poll_read(context)),
            Kind::Output(_) => Err(io::ErrorKind::Unsupported.into()),
            Kind::File(file) => {
                let mut bytes = Vec::with_capacity(CHUNK_BYTES);
                let read = file.take(CHUNK_BYTES as u64).read_to_end(&mut bytes);
                read.map(|_| bytes)
            }
        };
        match read {
            Ok(bytes) if bytes.is_empty() => self.is_at_end = true,
            Ok(bytes) => self.ahead.extend(bytes),
            Err(_) => self.has_failed = true,
        }
        Poll::Ready(!self.ahead.is_empty())
    }

    /// `ungetc`: returns whether there was room.
    pub(super) fn push_back(&mut self, byte: u8) -> bool {
        let can_be_read = !matches!(self.kind, Kind::Output(_));
        let has_room = can_be_read && self.pushed_back < PUSHED_BACK;
        if has_room {
            self.ahead.push_front(byte);
            self.pushed_back += 1;
            self.is_at_end = false;
        }
        has_room
    }

    /// `fseek`: says whether it worked. Only files have places.
    pub(super) fn seek(&mut self, offset: i64, whence: u64) -> bool {
        let place = match whence {
            0 => u64::try_from(offset).ok().map(SeekFrom::Start),
            1 => self
                .tell()
                .and_then(|place| place.checked_add_signed(offset))
                .map(SeekFrom::Start),
            2 => Some(SeekFrom::End(offset)),
            _ => None,
        };
        place.is_some_and(|place| self.place(place).is_ok())
    }

    fn place(&mut self, place: SeekFrom) -> io::Result<()> {
        let Kind::File(file) = &mut self.kind else {
            return Err(io::ErrorKind::NotSeekable.into());
        };
        file.seek(place)?;
        self.ahead.clear();
        (self.pushed_back, self.is_at_end) = (0, false);
        Ok(())
    }

    /// `ftell`. Before the first byte, where only `ungetc` leads, there is no place.
    pub(super) fn tell(&mut self) -> Option<u64> {
        let Kind::File(file) = &mut self.kind else {
            return None;
        };
        file.stream_position().ok()?.checked_sub(self.ahead.len() as u64)
    }
}

// Standard input, which may let a call wait.

type Reader = Box<dyn Read + Send>;

/// Standard input. Bytes that were read and not consumed stay in its buffer.
pub(super) struct Source {
    state: State,
    /// Calls that wait for the same read.
    waiting: Vec<Waker>,
}

enum State {
    Ready(Reader),
    Reading(BlockingTask<(Reader, io::Result<Vec<u8>>)>),
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
            self.state = State::Reading(BlockingTask::start(|| read(reader))?);
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

// Where text of handlers goes.

/// Where standard output or standard error of handlers goes. A type that is [`Write`] gets the bytes as they are, from
/// all handlers as they come: right for a file or a pipe of one's own, and wrong for a terminal, which obeys some of
/// them. [`TerminalOutput`](super::TerminalOutput) is for people.
pub trait Output {
    /// Takes text of the handler that calls by a port, and says how many bytes were taken.
    ///
    /// # Errors
    /// If it cannot be written.
    fn write_of(&mut self, port: u32, text: &[u8]) -> io::Result<usize>;

    /// Hands on what was kept of a port, or of all.
    ///
    /// # Errors
    /// If it cannot be written.
    fn flush_of(&mut self, port: Option<u32>) -> io::Result<()>;
}

impl<W: Write> Output for W {
    fn write_of(&mut self, _: u32, text: &[u8]) -> io::Result<usize> {
        self.write(text)
    }

    fn flush_of(&mut self, _: Option<u32>) -> io::Result<()> {
        self.flush()
    }
}

// Work that blocks, on threads of its own.

/// A task on another thread. It continues if it is dropped. It yields its result once.
#[derive(Debug)]
pub(super) struct BlockingTask<T>(Arc<Mutex<Place<T>>>);

#[derive(Debug)]
struct Place<T> {
    result: Option<T>,
    waker: Option<Waker>,
}

impl<T: Send + 'static> BlockingTask<T> {
    /// Starts the work.
    pub(super) fn start(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        let place = Arc::new(Mutex::new(Place {
            result: None,
            waker: None,
        }));
        let theirs = Arc::clone(&place);
        thread::Builder::new()
            .name("spinneret-rpc-io".to_owned())
            .spawn(move || {
                let result = work();
                let mut place = theirs.lock().unwrap_or_else(PoisonError::into_inner);
                place.result = Some(result);
                if let Some(waker) = place.waker.take() {
                    waker.wake();
                }
            })?;
        Ok(Self(place))
    }
}

impl<T> Future for BlockingTask<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match place.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                place.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
