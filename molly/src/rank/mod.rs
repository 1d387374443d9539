//! A rank: its fields, and the execution of plans.

mod execution;

pub use execution::{Traffic, Work};

use crate::error::{Error, Result};
use crate::field::Field;
use crate::memory::{Element, Sealed, has_room};
use crate::transport::{Line, Transport};
use execution::{End, execute};
use spinneret_molly_model::{Geometry, Lifetimes, Options, Plan, Program, Sizes};
use std::collections::{BTreeSet, HashMap};
use std::panic::Location;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of a function, its numbers, and what plans may do.
type Key = (String, Sizes, Options);

/// Plans that were made.
pub(crate) type Plans = Arc<Mutex<HashMap<Key, Arc<Plan>>>>;

/// One of the ranks that run a program together.
pub struct Rank {
    rank: usize,
    geometry: Geometry,
    pub(crate) transport: Box<dyn Transport>,
    plans: Plans,
    /// Lines of messages, to or from a rank, with a tag; and how long messages can be.
    lines: HashMap<(usize, bool, usize), (usize, usize)>,
    /// Tags of the channels of each plan begin here.
    tags: HashMap<Key, usize>,
    next_tag: usize,
    /// When messages that go straight are in their places, in each plan, and which ones go so.
    lifetimes: HashMap<Key, (BTreeSet<End>, Rc<Lifetimes>)>,
    options: Options,
    /// The last call, and its place in the source.
    call: String,
}

impl std::fmt::Debug for Rank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.geometry)
    }
}

/// The tags of messages of [`Rank::gather`] and [`Rank::reduce`], and the first one of plans.
const GATHER: usize = 0;
const REDUCE: usize = 1;
const PLANS: usize = 2;

/// The line of messages of no plan.
fn alone(tag: usize, peer: usize, is_send: bool, capacity: usize) -> Line {
    Line {
        peer,
        is_send,
        tag,
        buffers: 1,
        capacity,
        pieces: 1,
        is_straight: false,
    }
}

impl Rank {
    /// A rank of a grid, whose messages go over a transport. Threads and ranks of MPI are made by
    /// [`threads`](crate::threads) and
    /// [`mpi::ranks`](crate::mpi::ranks); this is for other transports.
    pub fn over(transport: Box<dyn Transport>, rank: usize, geometry: Geometry) -> Self {
        Self::new(rank, geometry, transport, Plans::default())
    }

    pub(crate) fn new(rank: usize, geometry: Geometry, transport: Box<dyn Transport>, plans: Plans) -> Self {
        Self {
            rank,
            geometry,
            transport,
            plans,
            lines: HashMap::new(),
            tags: HashMap::new(),
            next_tag: PLANS,
            lifetimes: HashMap::new(),
            options: Options::default(),
            call: String::new(),
        }
    }

    /// Notes what is called, and where, for the errors of ranks that wait for others. Code that `#[molly::scop]` writes
    /// calls it.
    pub fn enter(&mut self, what: &str, at: &Location<'_>) {
        self.call = format!("`{what}` ({}:{}:{})", at.file(), at.line(), at.column());
        self.transport.enter(&self.call);
    }

    /// Names the blocked calls of both ranks in the error, if one waited for the other without success.
    pub(crate) fn located(&self, error: Error) -> Error {
        match error {
            Error::TimeOut { rank, peer, .. } => Error::Absent {
                what: error.to_string(),
                rank,
                here: self.call.clone(),
                peer,
                there: self.transport.last_call(peer),
            },
            other => other,
        }
    }

    /// Sets what plans may do from now on; the same on all ranks.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Its number.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The grid of ranks.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// This rank's block of a field, filled. All ranks make the same fields.
    ///
    /// # Panics
    /// If a size is negative, or the elements do not fit into memory.
    #[track_caller]
    pub fn field<T, const D: usize>(&self, shape: [i64; D], fill: impl FnMut([i64; D]) -> T) -> Field<T, D> {
        Field::block(shape, &self.geometry, self.rank, fill)
    }

    /// The whole field on rank 0, nothing elsewhere. All ranks call it.
    ///
    /// # Errors
    /// If a rank does not.
    #[track_caller]
    pub fn gather<T: Element, const D: usize>(&mut self, field: &Field<T, D>) -> Result<Option<Field<T, D>>> {
        self.enter("gather", Location::caller());
        self.gathered(field).map_err(|error| self.located(error))
    }

    fn gathered<T: Element, const D: usize>(&mut self, field: &Field<T, D>) -> Result<Option<Field<T, D>>> {
        let shape = field.shape();
        if self.rank != 0 {
            let owned = field.owned();
            let bytes = T::bytes(&owned, Sealed);
            let line = self.line(&alone(GATHER, 0, true, bytes.len()))?;
            self.transport.buffer(line, bytes.len())?.copy_from_slice(bytes);
            self.transport.start(line)?;
            return Ok(None);
        }
        let mut whole = Field::new(shape, |_| T::zero(Sealed));
        for peer in 0..self.geometry.ranks() {
            let mut block = Field::block(shape, &self.geometry, peer, |_| ());
            let mut elements = if peer == 0 {
                field.owned().into_iter()
            } else {
                let line = self.line(&alone(GATHER, peer, false, block.stored() * size_of::<T>()))?;
                let bytes = self.transport.wait(line)?.chunks_exact(size_of::<T>().max(1));
                let elements: Vec<T> = bytes.map(|bytes| T::of(bytes, Sealed)).collect();
                self.transport.release(line)?;
                elements.into_iter()
            };
            let (found, expected) = (elements.len(), block.stored());
            if found != expected {
                return Err(Error::Length {
                    rank: 0,
                    peer,
                    found,
                    expected,
                });
            }
            block.fill(|at| {
                whole[at] = elements.next().unwrap_or_else(|| T::zero(Sealed));
            });
        }
        Ok(Some(whole))
    }

    /// Sends a part of a reduction.
    pub(crate) fn send_words(&mut self, peer: usize, words: &[u64]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let line = self.line(&alone(REDUCE, peer, true, bytes.len()))?;
        self.transport.buffer(line, bytes.len())?.copy_from_slice(bytes);
        self.transport.start(line)
    }

    /// Receives a part of a reduction.
    pub(crate) fn receive_words(&mut self, peer: usize, count: usize) -> Result<Vec<u64>> {
        let expected = count * size_of::<u64>();
        let line = self.line(&alone(REDUCE, peer, false, expected))?;
        let bytes = self.transport.wait(line)?;
        let found = bytes.len();
        if found != expected {
            let rank = self.rank;
            return Err(Error::Length {
                rank,
                peer,
                found,
                expected,
            });
        }
        let words = bytes.chunks_exact(size_of::<u64>());
        let words = words.map(bytemuck::pod_read_unaligned).collect();
        self.transport.release(line)?;
        Ok(words)
    }

    /// The plan of a program with these numbers; one rank makes it, if no other has yet.
    ///
    /// # Errors
    /// If there is none.
    pub fn plan(&mut self, program: &Program, sizes: &Sizes) -> Result<Arc<Plan>> {
        let key = (program.name.clone(), sizes.clone(), self.options);
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let plan = match plans.get(&key) {
            Some(plan) => plan.clone(),
            None => {
                let plan = Arc::new(Plan::new(program, sizes, &self.geometry, self.options)?);
                plans.insert(key.clone(), plan.clone());
                plan
            }
        };
        if !self.tags.contains_key(&key) {
            self.tags.insert(key, self.next_tag);
            self.next_tag += plan.channels.len();
        }
        Ok(plan)
    }

    /// Makes a field store what a plan needs of it, where the transport can put messages.
    ///
    /// # Errors
    /// If the field belongs to another rank, or there is no room for it.
    pub fn prepare<T: Element, const D: usize>(
        &mut self,
        program: &Program,
        plan: &Plan,
        number: usize,
        field: &mut Field<T, D>,
    ) -> Result<()> {
        if !field.belongs_to(&self.geometry, self.rank) {
            return Err(Error::Foreign {
                field: program.fields[number].clone(),
                made: field.made(),
                call: self.call.clone(),
                here: format!("rank {} of the grid {}", self.rank, self.geometry),
            });
        }
        let (spans, rows) = (
            plan.storage(self.rank, number),
            plan.row_begin(program, self.rank, number),
        );
        let elements = spans.iter().map(|span| span.len).product::<i64>();
        if !has_room::<T>(elements as usize) {
            return Err(Error::Room {
                rank: self.rank,
                field: program.fields[number].clone(),
                elements,
            });
        }
        field.cover(&spans, rows, self.transport.placing())
    }

    /// Does a rank's part of a plan: executes rows of bodies, sends and receives.
    ///
    /// # Errors
    /// If another rank does not do its part.
    pub fn execute(&mut self, program: &Program, plan: &Plan, work: &mut dyn Work) -> Result<Traffic> {
        execute(self, program, plan, work).map_err(|error| self.located(error))
    }

    /// The limit and the optimizations of plans.
    pub(crate) fn options(&self) -> Options {
        self.options
    }

    /// The tag of the first channel of a plan.
    pub(crate) fn first_tag(&self, program: &Program, plan: &Plan) -> usize {
        let key = (program.name.clone(), plan.sizes.clone(), self.options);
        self.tags.get(&key).copied().unwrap_or(PLANS)
    }

    /// When the messages of some ends are in their places. It stays the same from run to run.
    pub(crate) fn lifetimes(&mut self, program: &Program, plan: &Plan, ends: BTreeSet<End>) -> Rc<Lifetimes> {
        let key = (program.name.clone(), plan.sizes.clone(), self.options);
        if let Some((known, lifetimes)) = self.lifetimes.get(&key)
            && *known == ends
        {
            return Rc::clone(lifetimes);
        }
        let found = plan.lifetimes(program, self.rank, &|message| {
            ends.contains(&(message.channel, message.peer, message.is_send))
        });
        let found = Rc::new(found);
        self.lifetimes.insert(key, (ends, Rc::clone(&found)));
        found
    }

    /// The line of messages to or from a rank, opened if there is none for messages of this length.
    pub(crate) fn line(&mut self, line: &Line) -> Result<usize> {
        let key = (line.peer, line.is_send, line.tag);
        match self.lines.get(&key) {
            Some(&(number, longest)) if line.capacity <= longest => Ok(number),
            _ => {
                let number = self.transport.open(line)?;
                self.lines.insert(key, (number, line.capacity));
                Ok(number)
            }
        }
    }
}
