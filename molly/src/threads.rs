//! Ranks as threads of one process: for tests, and for programs that want the cores of one machine.

use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::rank::{Plans, Rank};
use crate::transport::{Line, Place, Placing, Transport};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_molly_model::{Columns, Geometry};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The simulated network between threads.
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

/// State that all ranks share.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    lines: Mutex<HashMap<(usize, usize, usize), Arc<Shared>>>,
    failed: AtomicBool,
    /// The last call of each rank.
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
    /// Messages that the receiver has not received yet, and when it can receive them.
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
    /// Memory into which messages are put, of its fields and of earlier ones.
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

    /// Waits until the receiver has taken all but `left` messages of a line.
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

/// A rank that panics reports it through the hub; the data that it leaves in a line is consistent.
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
        // A buffer is free when its message has moved into one of the receiver's buffers, or was taken eagerly.
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

// Messages that are put into their place in fields, as a NIC does it.

/// The bytes in the place of a message that is expected.
const NOTHING: u8 = 0xa5;

/// A line of a cache: as fields want their memory.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Cells {
    _bytes: [u8; 64],
}

/// Memory of this process. A rank keeps what its fields have had, as messages may still be expected there after a failure.
#[derive(Debug, Clone)]
pub(crate) struct Heap(Arc<Leaked>);

#[derive(Debug)]
struct Leaked(NonNull<[Cells]>);

// SAFETY: it is bytes that are this field's alone.
#[allow(unsafe_code)]
unsafe impl Send for Leaked {}
// SAFETY: nothing can be done with it but to ask where it is.
#[allow(unsafe_code)]
unsafe impl Sync for Leaked {}

impl Heap {
    fn new(bytes: usize) -> Self {
        let cells = vec![Cells { _bytes: [0; 64] }; bytes.div_ceil(64)].into_boxed_slice();
        Self(Arc::new(Leaked(NonNull::from(Box::leak(cells)))))
    }
}

impl Drop for Leaked {
    fn drop(&mut self) {
        // SAFETY: `new` has leaked it, and no other code frees it.
        #[allow(unsafe_code)]
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

// SAFETY: the cells have values, are aligned, stay where they are, and only a place that is expected is written to.
#[allow(unsafe_code)]
unsafe impl Memory for Heap {
    fn start(&self) -> NonNull<u8> {
        self.0.0.cast()
    }

    fn bytes(&self) -> usize {
        64 * self.0.0.len()
    }
}

/// Puts bytes into a place, one after the other.
fn put(place: &Place, mut bytes: impl Iterator<Item = u8>) {
    for at in place.pieces.iter().flat_map(Clone::clone) {
        if let Some(byte) = bytes.next() {
            // SAFETY: a rank expects messages in memory of its own fields, which it keeps, and accesses the place only
            // when the message has come.
            #[allow(unsafe_code)]
            unsafe {
                place.start.add(at).write(byte);
            }
        }
    }
}

/// The bytes of a place, one after the other.
fn taken(place: &Place) -> Vec<u8> {
    let places = place.pieces.iter().flat_map(Clone::clone);
    // SAFETY: as in `put`; and nothing is expected there.
    #[allow(unsafe_code)]
    places.map(|at| unsafe { place.start.add(at).read() }).collect()
}

impl Threads {
    /// Something else comes into all places where messages are expected.
    pub(crate) fn disturb(&self) {
        let expected = self.lines.iter().flat_map(|line| &line.expected);
        expected.for_each(|place| put(place, std::iter::repeat(NOTHING)));
    }
}

impl Placing for Threads {
    fn memory(&mut self, bytes: usize, _line: usize) -> Result<Box<dyn Memory>> {
        let memory = Heap::new(bytes);
        self.memory.push(memory.clone());
        Ok(Box::new(memory))
    }

    fn owns(&self, _memory: &dyn Memory) -> bool {
        true
    }

    fn takes(&self, line: &Line, pieces: Option<usize>, columns: Columns) -> bool {
        !line.is_send || (pieces.is_some() && columns != Columns::Packed)
    }

    fn expect(&mut self, line: usize, place: &Place) -> Result<()> {
        self.lines[line].expected.push_back(place.clone());
        self.disturb();
        Ok(())
    }

    fn placed(&mut self, line: usize) -> Result<usize> {
        let place = self.lines[line].expected.pop_front();
        let bytes = self.take(line)?;
        if let Some(place) = place {
            put(&place, bytes.iter().copied());
        }
        let count = bytes.len();
        self.give_back(line);
        self.disturb();
        Ok(count)
    }

    fn start_from(&mut self, line: usize, place: &Place) -> Result<()> {
        let bytes = taken(place);
        self.lines[line].buffer.clone_from(&bytes);
        self.lines[line].leaving.push_back((place.clone(), bytes));
        self.start(line)
    }

    fn departed(&mut self, line: usize) -> Result<()> {
        let Some((place, bytes)) = self.lines[line].leaving.pop_front() else {
            return Err(self.wrong("nothing was sent from a place", line));
        };
        self.taken_up_to(line, self.lines[line].leaving.len())?;
        match taken(&place) == bytes {
            true => Ok(()),
            false => Err(self.wrong("a place was written before its message was gone", line)),
        }
    }
}

// All ranks together.

/// Ranks that [`threads`] runs at most.
pub const MOST_THREADS: usize = 1024;

/// Runs `each` on every rank of a grid, as threads, and returns the results in the order of the ranks.
///
/// # Errors
/// [`Error::Threads`], before anything runs, if there are more than [`MOST_THREADS`] ranks; else the error of the first
/// rank that failed for a reason of its own, or was not started; the others stop.
pub fn threads<R: Send>(
    geometry: &Geometry,
    network: &Network,
    each: impl Fn(&mut Rank) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if geometry.ranks() > MOST_THREADS {
        return Err(Error::Threads {
            geometry: geometry.clone(),
            limit: MOST_THREADS,
        });
    }
    let (hub, plans) = (Arc::new(Hub::default()), Plans::default());
    let one = &|number: usize| {
        let transport = Threads::new(number, hub.clone(), network.clone());
        let mut rank = Rank::new(number, geometry.clone(), Box::new(transport), plans.clone());
        // The rank is not used after a panic, and the others only see that it failed.
        let done = catch_unwind(AssertUnwindSafe(|| each(&mut rank)));
        let done = done.unwrap_or_else(|panic| {
            Err(Error::Panicked {
                rank: number,
                message: words(&*panic),
            })
        });
        if done.is_err() {
            hub.fail();
        }
        done
    };
    let all: Vec<Result<R>> = std::thread::scope(|scope| {
        let start = |number: usize| {
            let started = Builder::new().spawn_scoped(scope, move || one(number));
            started.map_err(|error| {
                hub.fail();
                Error::Start {
                    rank: number,
                    what: error.to_string(),
                }
            })
        };
        let ranks: Vec<_> = (0..geometry.ranks()).map(start).collect();
        let joined = |started: Result<ScopedJoinHandle<'_, Result<R>>>| {
            let thread = started?;
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        ranks.into_iter().map(joined).collect()
    });
    let is_cause =
        |done: &Result<R>| matches!(done, Err(error) if !matches!(error, Error::OtherFailed { .. }));
    match all.iter().position(is_cause) {
        Some(cause) => all
            .into_iter()
            .nth(cause)
            .map_or(Ok(Vec::new()), |done| done.map(|one| vec![one])),
        None => all.into_iter().collect(),
    }
}

/// The message of a panic.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("nothing")
        .to_owned()
}
