//! Values that handlers push to counters.
//!
//! ```text
//! __counter_queue: for each HPU a ring of 32 places {value, tag}, in L2; tag = number of the value on its HPU << 4 | counter
//! ```
//!
//! Handlers never wait for the host: they overwrite the oldest value of their HPU. A gap in the numbers is a number of lost
//! values.

use crate::context::{Context, HANDLER_COUNTERS};
use crate::device::{Device, OpenDevice};
use crate::error::Error;
use crate::memory::HandlerMemory;
use std::collections::VecDeque;

/// The variable with the values; `pspin.h` describes it.
const QUEUE: &str = "__counter_queue";
/// Places of an HPU (`SPIN_QUEUE_VALUES`).
const PLACES: u32 = 32;
/// Size of a place in bytes.
const PLACE_BYTES: u32 = 8;
/// Bits of a tag below the number (`SPIN_QUEUE_COUNTER_BITS`).
const COUNTER_BITS: u32 = 4;
/// Bits of a number.
const NUMBER_MASK: u32 = u32::MAX >> COUNTER_BITS;
/// Most values of a counter that wait for the program; more are lost.
const MOST_WAITING: usize = 1 << 16;

/// The values of [`push_counter`](Context::handler_counter), a queue for each counter. The order of values is that of their
/// HPU. The queues begin with the newest values at the time of the first call, up to 31 of each
/// HPU.
#[derive(Debug)]
pub struct CounterQueue<D: Device = OpenDevice> {
    memory: HandlerMemory<D>,
    /// Number of the next value of each HPU, once one was looked for.
    next: Vec<Option<u32>>,
    waiting: [VecDeque<u32>; HANDLER_COUNTERS as usize],
    lost: u64,
}

impl<D: Device> Context<D> {
    /// Returns the queues of values that handlers push. Contexts of one program share its counters, and each reader gets
    /// all values.
    ///
    /// # Errors
    /// The handlers push no values, or are built with `COUNTERS=sums`.
    pub fn counter_queue(&self) -> Result<CounterQueue<D>, Error> {
        let memory = self.variable(QUEUE)?;
        let hpus = memory.len() / (PLACES * PLACE_BYTES);
        Ok(CounterQueue {
            memory,
            next: vec![None; hpus as usize],
            waiting: Default::default(),
            lost: 0,
        })
    }
}

impl<D: Device> CounterQueue<D> {
    /// Takes the oldest value of a counter.
    ///
    /// # Errors
    /// The NIC does not answer, or the context is closed.
    ///
    /// # Panics
    /// If there is no such counter: there are [`HANDLER_COUNTERS`].
    pub fn pop(&mut self, counter: u32) -> Result<Option<u32>, Error> {
        if self.waiting[counter as usize].is_empty() {
            self.fetch()?;
        }
        Ok(self.waiting[counter as usize].pop_front())
    }

    /// Discards the values of a counter.
    ///
    /// # Errors
    /// As [`pop`](Self::pop).
    ///
    /// # Panics
    /// As [`pop`](Self::pop).
    pub fn clear(&mut self, counter: u32) -> Result<(), Error> {
        self.fetch()?;
        self.waiting[counter as usize].clear();
        Ok(())
    }

    /// Reads new values, and returns the number of values, of all counters, that were overwritten since the first call.
    ///
    /// # Errors
    /// As [`pop`](Self::pop).
    pub fn lost(&mut self) -> Result<u64, Error> {
        self.fetch()?;
        Ok(self.lost)
    }

    /// Reads all new values.
    fn fetch(&mut self) -> Result<(), Error> {
        for hpu in 0..self.next.len() {
            self.fetch_from(hpu)?;
        }
        Ok(())
    }

    /// Reads the new values of an HPU, and counts those that it has overwritten.
    fn fetch_from(&mut self, hpu: usize) -> Result<(), Error> {
        let wanted = self.next[hpu].map_or_else(|| self.first(hpu), Ok)?;
        self.next[hpu] = Some(wanted);
        if distance(wanted, self.tag(hpu, wanted)? >> COUNTER_BITS) < 0 {
            return Ok(());
        }
        let mut bytes = [0; (PLACES * PLACE_BYTES) as usize];
        self.memory.read(place(hpu, 0), &mut bytes)?;
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let mut found: Vec<[u32; 2]> = (0..bytes.len())
            .step_by(PLACE_BYTES as usize)
            .map(|at| [word(at + 4), word(at)])
            .filter(|[tag, _]| distance(wanted, tag >> COUNTER_BITS) >= 0)
            .collect();
        found.sort_by_key(|[tag, _]| distance(wanted, tag >> COUNTER_BITS));
        let Some([tag, _]) = found.last() else {
            return Ok(());
        };
        let next = (tag >> COUNTER_BITS).wrapping_add(1) & NUMBER_MASK;
        // The value before the next one of its place has been overwritten since, or while it was read.
        let oldest = self.newest(hpu, next)?.wrapping_sub(PLACES - 2);
        found.retain(|[tag, _]| distance(oldest, tag >> COUNTER_BITS) >= 0);
        self.lost += (distance(wanted, next) as u64).saturating_sub(found.len() as u64);
        self.next[hpu] = Some(next);
        for [tag, value] in found {
            let queue = &mut self.waiting[(tag & ((1 << COUNTER_BITS) - 1)) as usize];
            queue.push_back(value);
            if queue.len() > MOST_WAITING {
                queue.pop_front();
                self.lost += 1;
            }
        }
        Ok(())
    }

    /// The number of the newest value, which is `next` - 1 or later.
    fn newest(&self, hpu: usize, next: u32) -> Result<u32, Error> {
        let ahead = distance(next, self.tag(hpu, next)? >> COUNTER_BITS);
        match ahead {
            0.. => self.newest(hpu, next.wrapping_add(ahead as u32 + 1) & NUMBER_MASK),
            _ => Ok(next.wrapping_sub(1)),
        }
    }

    /// The number of the oldest value that is not about to be overwritten. Values before it are not counted as lost.
    fn first(&self, hpu: usize) -> Result<u32, Error> {
        Ok(match self.tag(hpu, PLACES - 1)? >> COUNTER_BITS {
            0 => 1,
            last => last.wrapping_sub(PLACES - 2) & NUMBER_MASK,
        })
    }

    fn tag(&self, hpu: usize, number: u32) -> Result<u32, Error> {
        self.memory.load(place(hpu, number) + 4)
    }
}

/// Offset of the place of a value.
fn place(hpu: usize, number: u32) -> u32 {
    (hpu as u32 * PLACES + number % PLACES) * PLACE_BYTES
}

/// How far a number is after another one; numbers wrap around.
fn distance(from: u32, to: u32) -> i32 {
    (to.wrapping_sub(from) << COUNTER_BITS) as i32 >> COUNTER_BITS
}
