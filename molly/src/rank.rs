//! A rank: its fields, and how it executes plans.

use crate::error::{Error, Result};
use crate::field::{Field, Storage};
use crate::strides::Stride;
use crate::transport::{Line, Place, Transport};
use bytemuck::Pod;
use spinneret_molly_model::{
    Again, Call, Geometry, Group, Message, Options, Plan, Program, Room, Row, Run, Sizes,
};
use std::collections::{HashMap, VecDeque};
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
    /// Bytes that it received and copied to their places itself; the transport has put all others there.
    pub unpacked: u64,
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

/// The line of messages of no plan.
fn alone(tag: usize, peer: usize, is_send: bool, capacity: usize) -> Line {
    Line {
        peer,
        is_send,
        tag,
        buffers: 1,
        capacity,
        pieces: 1,
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
    #[track_caller]
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
            let line = self.line(&alone(GATHER, 0, true, bytes.len()))?;
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
                let line = self.line(&alone(GATHER, peer, false, block.stored() * size_of::<T>()))?;
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

    /// Makes a field store what a plan needs of it, where the transport can put messages.
    ///
    /// # Errors
    /// If the field belongs to another rank, or there is no room for it.
    pub fn prepare<T: Pod, const D: usize>(
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
        field.cover(&spans, rows, self.transport.placing())
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
            strides: HashMap::new(),
            kept: HashMap::new(),
            rooms: VecDeque::new(),
            places: HashMap::new(),
            holds: (0..program.fields.len()).collect(),
            traffic: Traffic::default(),
        };
        run.open(self, work)?;
        if self.transport.placing().is_some() {
            run.rooms = plan.rooms(program, self.rank).into();
        }
        let mut rows = 0;
        plan.tree.visit(&mut plan.slots(self.rank), &mut |row: Row<'_>| {
            run.expect(self, program, work, rows)?;
            rows += 1;
            match row.call {
                Call::Body(number) => self.work(work, number, row),
                Call::Exchange(number) => {
                    run.exchange_fields(work, number);
                    Ok(())
                }
                _ => plan.messages_of(self.rank, row, &mut |message| run.exchange(self, work, &message)),
            }
        })?;
        run.restore(work);
        Ok(run.traffic)
    }

    /// Executes rows of a body, with moments for the transport between them.
    fn work(&mut self, work: &mut dyn Work, body: usize, row: Row<'_>) -> Result<()> {
        let rows = (INSTANCES / row.count.max(1)).max(1);
        if row.again.count <= rows {
            work.body(body, &row);
            return self.transport.worked(instances(&row));
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
            self.transport.worked(instances(&part))?;
            self.transport.progress()?;
        }
        Ok(())
    }

    /// The line of messages to or from a rank, opened if there is none for messages of this length.
    fn line(&mut self, line: &Line) -> Result<usize> {
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

/// Instances of a body in rows.
fn instances(row: &Row<'_>) -> u64 {
    (row.count * row.again.count) as u64
}

/// One run of a plan.
struct Execution<'a> {
    plan: &'a Plan,
    first_tag: usize,
    /// Elements of messages that are the same in all chunks.
    contents: HashMap<(usize, usize, bool), Rc<Vec<Run>>>,
    /// Where these are stored; fields that exchange what is stored of them store the same.
    strides: HashMap<(usize, usize, bool), Rc<Vec<Stride>>>,
    /// What was in the fields of groups that are not their border, where nothing is copied.
    kept: HashMap<usize, Kept>,
    /// Messages that the transport is to put in place, and that have no room yet; the first one that has comes first.
    rooms: VecDeque<Room>,
    /// Places of messages that have the same elements in all chunks, by channel, sender and storage.
    places: HashMap<(usize, usize, usize), Place>,
    /// Whose storage, before anything was exchanged, each field has.
    holds: Vec<usize>,
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
    /// Does what a copy would. Before it is done for the first time, what is never copied gets into all places of the
    /// group.
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
        self.holds.swap(exchange.from, exchange.to);
    }

    /// Lets messages come into their places that nobody accesses any more after so many rows.
    fn expect(&mut self, rank: &mut Rank, program: &Program, work: &mut dyn Work, rows: usize) -> Result<()> {
        while let Some(room) = self.rooms.pop_front_if(|room| room.after <= rows) {
            let Room { message, storage, .. } = room;
            let key = (message.channel, message.peer, storage);
            let place = match self.places.get(&key) {
                Some(place) => place.clone(),
                None => {
                    let runs = self.elements(rank.rank, &message);
                    let field = self.holds.iter().position(|held| *held == storage);
                    let field = field.expect("what is stored is some field's");
                    let place = work
                        .storage(field)
                        .place_of(&runs)
                        .ok_or_else(|| Error::Transport {
                            rank: rank.rank,
                            what: format!("no message can be put into `{}`", program.fields[field]),
                        })?;
                    if self.plan.is_same_in_all_chunks(message.channel) {
                        self.places.insert(key, place.clone());
                    }
                    place
                }
            };
            let line = self.line(rank, &message)?;
            if let Some(placing) = rank.transport.placing() {
                placing.expect(line, &place)?;
            }
        }
        Ok(())
    }

    /// The line of a message, which is open.
    fn line(&self, rank: &mut Rank, message: &Message) -> Result<usize> {
        rank.line(&self.about(message))
    }

    /// The line of a message, before it is known how long messages are.
    fn about(&self, message: &Message) -> Line {
        Line {
            peer: message.peer,
            is_send: message.is_send,
            tag: self.first_tag + message.channel,
            buffers: self.plan.channels[message.channel].buffers,
            capacity: 0,
            pieces: 0,
        }
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
        let mut lines: Vec<Line> = Vec::new();
        let mut places = HashMap::new();
        let plan = self.plan;
        plan.messages(rank.rank, |message| {
            let runs = self.elements(rank.rank, &message);
            let elements: i64 = runs.iter().map(|run| run.count).sum();
            let field = work.storage(plan.channels[message.channel].field);
            let key = (message.channel, message.peer, message.is_send);
            let place = *places.entry(key).or_insert(lines.len());
            if place == lines.len() {
                lines.push(self.about(&message));
            }
            let line = &mut lines[place];
            line.capacity = line.capacity.max(elements as usize * field.element_bytes());
            line.pieces = line.pieces.max(runs.len());
            Ok::<(), Error>(())
        })?;
        lines.iter().try_for_each(|line| rank.line(line).map(|_| ()))
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

    /// Where the elements of a message are stored.
    fn stored(&mut self, field: &dyn Storage, runs: &[Run], message: &Message) -> Rc<Vec<Stride>> {
        let key = (message.channel, message.peer, message.is_send);
        if let Some(known) = self.strides.get(&key) {
            return known.clone();
        }
        let strides = Rc::new(field.strides(runs));
        if self.plan.is_same_in_all_chunks(message.channel) {
            self.strides.insert(key, strides.clone());
        }
        strides
    }

    fn exchange(&mut self, rank: &mut Rank, work: &mut dyn Work, message: &Message) -> Result<()> {
        let runs = self.elements(rank.rank, message);
        let field = work.storage(self.plan.channels[message.channel].field);
        let line = self.line(rank, message)?;
        let elements: i64 = runs.iter().map(|run| run.count).sum();
        let expected = elements as usize * field.element_bytes();
        if message.is_send {
            let buffer = rank.transport.buffer(line, expected)?;
            field.pack(&self.stored(field, &runs, message), buffer);
            self.traffic.messages += 1;
            self.traffic.elements += elements as u64;
            self.traffic.bytes += expected as u64;
            return rank.transport.start(line);
        }
        let wrong = |found| Error::Length {
            rank: rank.rank,
            peer: message.peer,
            found,
            expected,
        };
        if let Some(placing) = rank.transport.placing() {
            let found = placing.placed(line)?;
            return if found == expected {
                Ok(())
            } else {
                Err(wrong(found))
            };
        }
        let bytes = rank.transport.wait(line)?;
        if bytes.len() != expected {
            return Err(wrong(bytes.len()));
        }
        let stored = self.stored(field, &runs, message);
        field.unpack(&stored, bytes);
        self.traffic.unpacked += expected as u64;
        rank.transport.release(line)
    }
}
