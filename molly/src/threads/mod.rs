//! Ranks as threads of one process: for tests, and for programs that want the cores of one machine.

mod placed;

use crate::error::{Error, Result};
use crate::transport::{Line, Place, Placing, Transport};
use placed::Heap;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How threads' messages go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Messages of a line that are taken from the sender although the receiver has no buffer for them. 0 is rendezvous: a
    /// sender has its buffer until the receiver has one.
    pub eager: usize,
    /// If there is a seed, each message is held back for some random time, so that those of different lines overtake each
    /// other.
    pub delays: Option<u64>,
    /// How long each message takes at least.
    pub latency: Duration,
    /// Whether messages are put into their places in fields by the transport, as a NIC does it. While one is expected,
    /// something else is there.
    pub places: bool,
    /// After how long a rank gives up waiting.
    pub patience: Duration,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            eager: 0,
            delays: None,
            latency: Duration::ZERO,
            places: false,
            patience: Duration::from_secs(30),
        }
    }
}

/// What all ranks share.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    lines: Mutex<HashMap<(usize, usize, usize), Arc<Shared>>>,
    failed: AtomicBool,
    /// What each rank has called last.
    calls: Mutex<HashMap<usize, String>>,
}

/// A line between two ranks.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Messages that nobody has received yet, and when they can be.
    messages: VecDeque<(Instant, Vec<u8>)>,
    sent: usize,
    released: usize,
}

/// One rank's transport.
#[derive(Debug)]
pub(crate) struct Threads {
    rank: usize,
    hub: Arc<Hub>,
    network: Network,
    delays: Option<ChaCha8Rng>,
    pub(crate) lines: Vec<Opened>,
    /// What its fields have had of memory where messages are put.
    pub(crate) memory: Vec<Heap>,
}

#[derive(Debug)]
pub(crate) struct Opened {
    line: Line,
    shared: Arc<Shared>,
    /// The buffer that is filled, or the message that is read.
    pub(crate) buffer: Vec<u8>,
    /// Messages started or received.
    count: usize,
    /// Places of messages that are expected.
    pub(crate) expected: VecDeque<Place>,
    /// Places of messages that may not be gone, with what was sent.
    pub(crate) leaving: VecDeque<(Place, Vec<u8>)>,
}

impl Hub {
    /// Says to all ranks that one failed.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Release);
    }
}

impl Threads {
    pub(crate) fn new(rank: usize, hub: Arc<Hub>, network: Network) -> Self {
        let delays = network
            .delays
            .map(|seed| ChaCha8Rng::seed_from_u64(seed ^ ((rank as u64) << 32)));
        Self {
            rank,
            hub,
            network,
            delays,
            lines: Vec::new(),
            memory: Vec::new(),
        }
    }

    /// Waits until something is so, and gives the state in which it is.
    fn until(
        &self,
        line: usize,
        what: &'static str,
        so: impl Fn(&State) -> bool,
    ) -> Result<MutexGuard<'_, State>> {
        let Opened {
            line, shared, count, ..
        } = &self.lines[line];
        let start = Instant::now();
        let mut state = lock(&shared.state);
        while !so(&state) {
            if self.hub.failed.load(Ordering::Acquire) {
                return Err(Error::OtherFailed { rank: self.rank });
            }
            if start.elapsed() > self.network.patience {
                return Err(Error::TimeOut {
                    rank: self.rank,
                    peer: line.peer,
                    what,
                    number: *count,
                    line: format!("channel {}", line.tag),
                    waited: self.network.patience,
                });
            }
            // A message that is held back becomes visible without a notice. Sleep would be longer than most messages take.
            if !self.network.latency.is_zero() {
                drop(state);
                std::thread::yield_now();
                state = lock(&shared.state);
                continue;
            }
            let pause = Duration::from_micros(if self.delays.is_some() { 50 } else { 20_000 });
            state = shared
                .changed
                .wait_timeout(state, pause)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        Ok(state)
    }
}

impl Threads {
    /// Waits for the next message of a line.
    pub(crate) fn take(&mut self, line: usize) -> Result<&[u8]> {
        let message = self.until(line, "send", has_come)?.messages.pop_front();
        let opened = &mut self.lines[line];
        opened.count += 1;
        opened.buffer = message.map(|(_, message)| message).unwrap_or_default();
        Ok(&opened.buffer)
    }

    /// Waits until the receiver has taken all messages of a line but so many.
    pub(crate) fn taken_up_to(&self, line: usize, rest: usize) -> Result<()> {
        let done = |state: &State| state.released + rest >= state.sent;
        self.until(line, "take", done).map(drop)
    }

    pub(crate) fn wrong(&self, what: &str, line: usize) -> Error {
        Error::Transport {
            rank: self.rank,
            what: format!("{what} on {:?}", self.lines[line].line),
        }
    }

    /// Says to the sender that the message was taken out of its buffer.
    pub(crate) fn give_back(&self, line: usize) {
        let opened = &self.lines[line];
        lock(&opened.shared.state).released += 1;
        opened.shared.changed.notify_all();
    }
}

/// A rank that panics says so by the hub; what it left in a line is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Transport for Threads {
    fn open(&mut self, line: &Line) -> Result<usize> {
        let (from, to) = if line.is_send {
            (self.rank, line.peer)
        } else {
            (line.peer, self.rank)
        };
        let shared = lock(&self.hub.lines)
            .entry((from, to, line.tag))
            .or_default()
            .clone();
        self.lines.push(Opened {
            line: line.clone(),
            shared,
            buffer: Vec::new(),
            count: 0,
            expected: VecDeque::new(),
            leaving: VecDeque::new(),
        });
        Ok(self.lines.len() - 1)
    }

    fn buffer(&mut self, line: usize, bytes: usize) -> Result<&mut [u8]> {
        let buffers = self.lines[line].line.buffers;
        // A buffer is free when the message that was in it has gone into one of the receiver's, or was taken eagerly.
        let room = 2 * buffers + self.network.eager;
        drop(self.until(line, "take", |state| state.sent < state.released + room)?);
        self.lines[line].buffer.resize(bytes, 0);
        Ok(&mut self.lines[line].buffer)
    }

    fn start(&mut self, line: usize) -> Result<()> {
        self.disturb();
        let hold = self
            .delays
            .as_mut()
            .map_or(0, |delays| delays.random_range(0..400));
        let hold = self.network.latency + Duration::from_micros(hold);
        let opened = &mut self.lines[line];
        let message = std::mem::take(&mut opened.buffer);
        let mut state = lock(&opened.shared.state);
        state.messages.push_back((Instant::now() + hold, message));
        state.sent += 1;
        opened.count += 1;
        opened.shared.changed.notify_all();
        Ok(())
    }

    fn test(&mut self, line: usize) -> Result<bool> {
        Ok(has_come(&lock(&self.lines[line].shared.state)))
    }

    fn wait(&mut self, line: usize) -> Result<&[u8]> {
        self.take(line)
    }

    fn enter(&mut self, call: &str) {
        lock(&self.hub.calls).insert(self.rank, call.to_owned());
    }

    fn last_call(&self, peer: usize) -> Option<String> {
        lock(&self.hub.calls).get(&peer).cloned()
    }

    fn release(&mut self, line: usize) -> Result<()> {
        self.give_back(line);
        Ok(())
    }

    fn placing(&mut self) -> Option<&mut dyn Placing> {
        if self.network.places { Some(self) } else { None }
    }
}

/// Whether the next message can be received.
fn has_come(state: &State) -> bool {
    state
        .messages
        .front()
        .is_some_and(|(when, _)| *when <= Instant::now())
}
