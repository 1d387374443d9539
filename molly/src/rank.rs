//! A rank: its fields, and how it executes plans.

use crate::error::{Error, Result};
use crate::field::{Field, Storage};
use crate::transport::{Line, Transport};
use bytemuck::Pod;
use spinneret_molly_model::{Again, Call, Geometry, Group, Message, Options, Plan, Program, Row, Run, Sizes};
use std::collections::HashMap;
use std::ops::Range;
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
    transport: Box<dyn Transport>,
    plans: Plans,
    /// Lines of messages, to or from a rank, with a tag; and how long messages can be.
    lines: HashMap<(usize, bool, usize), (usize, usize)>,
    /// Tags of the channels of each plan begin here.
    tags: HashMap<Key, usize>,
    next_tag: usize,
    options: Options,
    /// What was called last, and where.
    call: String,
}

impl std::fmt::Debug for Rank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.geometry)
    }
}

/// What a rank did in one run of a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages that it sent.
    pub messages: u64,
    /// Elements in them.
    pub elements: u64,
    /// Bytes in them.
    pub bytes: u64,
}

/// Fields and bodies of a function, for [`Rank::execute`]. `#[molly::scop]` writes it.
pub trait Work {
    /// A field, by its number.
    fn storage(&mut self, field: usize) -> &mut dyn Storage;

    /// Executes rows of a body. Their arguments are the values of the loops' variables.
    fn body(&mut self, body: usize, row: &Row<'_>);

    /// Exchanges what is stored of the two fields between which a body copies.
    fn exchange(&mut self, body: usize);
}

/// Instances between two moments of the transport: some ten microseconds of work.
const INSTANCES: i64 = 1 << 16;

/// The tags of messages of [`Rank::gather`] and [`Rank::reduce`], and the first one of plans.
const GATHER: usize = 0;
const REDUCE: usize = 1;
const PLANS: usize = 2;

impl Rank {
    pub(crate) fn new(rank: usize, geometry: Geometry, transport: Box<dyn Transport>, plans: Plans) -> Self {
        Self {
            rank,
            geometry,
            transport,
            plans,
            lines: HashMap::new(),
            tags: HashMap::new(),
            next_tag: PLANS,
            options: Options::default(),
            call: String::new(),
        }
    }

    /// Notes what is called, and where, for the errors of ranks that wait for others. Code that `#[molly::scop]` writes calls it.
    pub fn enter(&mut self, what: &str, at: &Location<'_>) {
        self.call = format!("`{what}` ({}:{}:{})", at.file(), at.line(), at.column());
        self.transport.enter(&self.call);
    }

    /// An error with the calls of both ranks, if one waited for the other in vain.
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
    /// If a size is negative.
    pub fn field<T: Pod, const D: usize>(
        &self,
        shape: [i64; D],
        fill: impl FnMut([i64; D]) -> T,
    ) -> Field<T, D> {
        Field::block(shape, &self.geometry, self.rank, fill)
    }

    /// The whole field on rank 0, nothing elsewhere. All ranks call it.
    ///
    /// # Errors
    /// If a rank does not.
    #[track_caller]
    pub fn gather<T: Pod, const D: usize>(&mut self, field: &Field<T, D>) -> Result<Option<Field<T, D>>> {
        self.enter("gather", Location::caller());
        self.gathered(field).map_err(|error| self.located(error))
    }

    fn gathered<T: Pod, const D: usize>(&mut self, field: &Field<T, D>) -> Result<Option<Field<T, D>>> {
        let shape = field.shape();
        if self.rank != 0 {
            let owned = field.owned();
            let bytes: &[u8] = bytemuck::cast_slice(&owned);
            let line = self.line(0, true, GATHER, 1, bytes.len())?;
            self.transport.buffer(line, bytes.len())?.copy_from_slice(bytes);
            self.transport.start(line)?;
            return Ok(None);
        }
        let mut whole = Field::new(shape, |_| T::zeroed());
        for peer in 0..self.geometry.ranks() {
            let mut block = Field::block(shape, &self.geometry, peer, |_| T::zeroed());
            let mut elements = if peer == 0 {
                field.owned().into_iter()
            } else {
                let line = self.line(peer, false, GATHER, 1, block.stored() * size_of::<T>())?;
                let bytes = self.transport.wait(line)?.chunks_exact(size_of::<T>().max(1));
                let elements: Vec<T> = bytes.map(bytemuck::pod_read_unaligned).collect();
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
                let element = elements.next().unwrap_or(T::zeroed());
                whole[at] = element;
                element
            });
        }
        Ok(Some(whole))
    }

    /// Sends a part of a reduction.
    pub(crate) fn send_words(&mut self, peer: usize, words: &[u64]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let line = self.line(peer, true, REDUCE, 1, bytes.len())?;
        self.transport.buffer(line, bytes.len())?.copy_from_slice(bytes);
        self.transport.start(line)
    }

    /// Receives a part of a reduction.
    pub(crate) fn receive_words(&mut self, peer: usize, count: usize) -> Result<Vec<u64>> {
        let expected = count * size_of::<u64>();
        let line = self.line(peer, false, REDUCE, 1, expected)?;
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

    /// The plan of a program with these numbers; one rank makes it, if nobody has yet.
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

    /// Makes a field store what a plan needs of it.
    ///
    /// # Errors
    /// If the field belongs to another rank.
    pub fn prepare<T: Pod, const D: usize>(
        &self,
        program: &Program,
        plan: &Plan,
        number: usize,
        field: &mut Field<T, D>,
    ) -> Result<()> {
        if !field.belongs_to(&self.geometry, self.rank) {
            return Err(Error::Foreign {
                field: program.fields[number].clone(),
            });
        }
        field.cover(&plan.storage(self.rank, number));
        Ok(())
    }

    /// Does a rank's part of a plan: executes rows of bodies, sends and receives.
    ///
    /// # Errors
    /// If another rank does not do its part.
    pub fn execute(&mut self, program: &Program, plan: &Plan, work: &mut dyn Work) -> Result<Traffic> {
        self.executed(program, plan, work)
            .map_err(|error| self.located(error))
    }

    fn executed(&mut self, program: &Program, plan: &Plan, work: &mut dyn Work) -> Result<Traffic> {
        let first_tag = self
            .tags
            .get(&(program.name.clone(), plan.sizes.clone(), self.options))
            .copied()
            .unwrap_or(PLANS);
        let mut run = Execution {
            plan,
            first_tag,
            contents: HashMap::new(),
            kept: HashMap::new(),
            traffic: Traffic::default(),
        };
        run.open(self, work)?;
        plan.tree
            .visit(&mut plan.slots(self.rank), &mut |row: Row<'_>| match row.call {
                Call::Body(number) => self.work(work, number, row),
                Call::Exchange(number) => {
                    run.exchange_fields(work, number);
                    Ok(())
                }
                _ => plan.messages_of(self.rank, row, &mut |message| run.exchange(self, work, &message)),
            })?;
        run.restore(work);
        Ok(run.traffic)
    }

    /// Executes rows of a body, with moments for the transport between them.
    fn work(&mut self, work: &mut dyn Work, body: usize, row: Row<'_>) -> Result<()> {
        let rows = (INSTANCES / row.count.max(1)).max(1);
        if row.again.count <= rows {
            work.body(body, &row);
            return Ok(());
        }
        let mut first = row.arguments.to_vec();
        for done in (0..row.again.count).step_by(rows as usize) {
            first[row.again.argument] = row.arguments[row.again.argument] + done * row.again.step;
            let again = Again {
                count: rows.min(row.again.count - done),
                ..row.again
            };
            let part = Row {
                arguments: &first,
                again,
                ..row
            };
            work.body(body, &part);
            self.transport.progress()?;
        }
        Ok(())
    }

    /// The line of messages to or from a rank, opened if there is none for messages of this length.
    fn line(
        &mut self,
        peer: usize,
        is_send: bool,
        tag: usize,
        buffers: usize,
        capacity: usize,
    ) -> Result<usize> {
        match self.lines.get(&(peer, is_send, tag)) {
            Some(&(line, longest)) if capacity <= longest => Ok(line),
            _ => {
                let line = self.transport.open(&Line {
                    peer,
                    is_send,
                    tag,
                    buffers,
                    capacity,
                })?;
                self.lines.insert((peer, is_send, tag), (line, capacity));
                Ok(line)
            }
        }
    }
}

/// One run of a plan.
struct Execution<'a> {
    plan: &'a Plan,
    first_tag: usize,
    /// Elements of messages that are the same in all chunks.
    contents: HashMap<(usize, usize, bool), Rc<Vec<Run>>>,
    /// What was in the fields of groups that are not their border, where nothing is copied.
    kept: HashMap<usize, Kept>,
    traffic: Traffic,
}

/// A group whose fields have exchanged what is stored.
#[derive(Debug)]
struct Kept {
    /// Places of what is copied, and of the rest.
    places: [Vec<Range<usize>>; 2],
    /// Fields, and what was in them at the rest.
    fields: Vec<(usize, Vec<u8>)>,
}

impl Execution<'_> {
    /// Does what a copy would. Before it is done for the first time, what is never copied gets into all places of the group.
    fn exchange_fields(&mut self, work: &mut dyn Work, number: usize) {
        let exchange = &self.plan.exchanges[number];
        let of_group = |group: &Group| group.fields.contains(&exchange.to);
        if let Some(number) = self.plan.groups.iter().position(of_group)
            && !self.kept.contains_key(&number)
        {
            let group = &self.plan.groups[number];
            let border = work.storage(group.border);
            let places = border.split(&group.elements.runs(&[]));
            let mut shown = Vec::new();
            border.keep(&places[1], &mut shown);
            let others = group.fields.iter().filter(|field| **field != group.border);
            let fields = others.map(|&field| {
                let (mut bytes, storage) = (Vec::new(), work.storage(field));
                storage.keep(&places[1], &mut bytes);
                storage.put(&places[1], &shown);
                (field, bytes)
            });
            let fields = fields.collect();
            self.kept.insert(number, Kept { places, fields });
        }
        work.exchange(exchange.body);
    }

    /// Makes fields what they would be if copies had been made.
    fn restore(&mut self, work: &mut dyn Work) {
        for (number, kept) in std::mem::take(&mut self.kept) {
            for (field, bytes) in &kept.fields {
                work.storage(*field).put(&kept.places[1], bytes);
            }
            let group = &self.plan.groups[number];
            let exchanges = self.plan.exchanges.iter();
            for exchange in
                exchanges.filter(|exchange| exchange.restores && group.fields.contains(&exchange.to))
            {
                let mut bytes = Vec::new();
                for place in &kept.places[0] {
                    let place = std::slice::from_ref(place);
                    bytes.clear();
                    work.storage(exchange.to).keep(place, &mut bytes);
                    work.storage(exchange.from).put(place, &bytes);
                }
            }
        }
    }

    /// Opens all lines, with the length of their longest messages.
    fn open(&mut self, rank: &mut Rank, work: &mut dyn Work) -> Result<()> {
        let mut capacities: Vec<((usize, usize, bool), usize)> = Vec::new();
        let mut places = HashMap::new();
        let plan = self.plan;
        plan.messages(rank.rank, |message| {
            let key = (message.channel, message.peer, message.is_send);
            let elements: i64 = self
                .elements(rank.rank, &message)
                .iter()
                .map(|run| run.count)
                .sum();
            let bytes =
                elements as usize * work.storage(plan.channels[message.channel].field).element_bytes();
            let place = *places.entry(key).or_insert(capacities.len());
            match capacities.get_mut(place) {
                Some((_, capacity)) => *capacity = bytes.max(*capacity),
                None => capacities.push((key, bytes)),
            }
            Ok::<(), Error>(())
        })?;
        for ((channel, peer, is_send), capacity) in capacities {
            rank.line(
                peer,
                is_send,
                self.first_tag + channel,
                plan.channels[channel].buffers,
                capacity,
            )?;
        }
        Ok(())
    }

    fn elements(&mut self, rank: usize, message: &Message) -> Rc<Vec<Run>> {
        let key = (message.channel, message.peer, message.is_send);
        if let Some(runs) = self.contents.get(&key) {
            return runs.clone();
        }
        let runs = Rc::new(self.plan.elements(rank, message));
        if self.plan.is_same_in_all_chunks(message.channel) {
            self.contents.insert(key, runs.clone());
        }
        runs
    }

    fn exchange(&mut self, rank: &mut Rank, work: &mut dyn Work, message: &Message) -> Result<()> {
        let runs = self.elements(rank.rank, message);
        let channel = &self.plan.channels[message.channel];
        let field = work.storage(channel.field);
        let line = rank.line(
            message.peer,
            message.is_send,
            self.first_tag + message.channel,
            channel.buffers,
            0,
        )?;
        let elements: i64 = runs.iter().map(|run| run.count).sum();
        let expected = elements as usize * field.element_bytes();
        if message.is_send {
            let buffer = rank.transport.buffer(line, expected)?;
            runs.iter().fold(buffer, |buffer, run| field.pack(run, buffer));
            self.traffic.messages += 1;
            self.traffic.elements += elements as u64;
            self.traffic.bytes += expected as u64;
            return rank.transport.start(line);
        }
        let bytes = rank.transport.wait(line)?;
        let found = bytes.len();
        if found != expected {
            return Err(Error::Length {
                rank: rank.rank,
                peer: message.peer,
                found,
                expected,
            });
        }
        runs.iter().fold(bytes, |bytes, run| field.unpack(run, bytes));
        rank.transport.release(line)
    }
}
