//! How long a message owns its place in a field: from when on a received message may come there, and until when a
//! message that is sent straight out of it must have left.
//!
//! A message may come as soon as no row accesses the old values there any more, and must have left before a row writes
//! there. One walk through the rank's order finds both. It notes for the place of each message to come the last row
//! that accesses something in it, and for each message that has left the first row that writes something in it. Places
//! and the accesses of rows are boxes here. A box can be larger than its content. Then the rank makes room later, and
//! waits for a message earlier, than it could, but never the reverse. If there are very many different places, the last
//! ones to come get room when the rank waits for them.

use crate::plan::{Message, Plan};
use crate::program::{Access, Program};
use crate::storage::{Span, bounding_box, overlaps, range};
use crate::tree::{Call, Row};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::rc::Rc;

/// Places that the walk tracks; a stencil has two for each neighbour, at the beginning and in each step.
const REGIONS: usize = 256;

/// When the places of a rank's messages are theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lifetimes {
    /// Of what it receives, the earliest first. Those of one channel from one rank are in their order.
    pub rooms: Vec<Room>,
    /// Of what it sends, the earliest first. Those of one channel to one rank are in their order.
    pub departures: Vec<Departure>,
}

/// From when on a message may come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Rows of [`Plan::tree`] that the rank has done before.
    pub after: usize,
    /// The message.
    pub message: Message,
    /// The field that has stored, before anything was exchanged, where the message belongs.
    pub storage: usize,
}

/// Until when a message that is sent straight out of a field has to be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// Rows of [`Plan::tree`] that the rank has done until then; all of them, if nothing is written there any more.
    pub before: usize,
    /// The message.
    pub message: Message,
    /// Whether the rank knows by then that the other one has it, because it has received a message that the other one
    /// sends only afterwards. A rank that has done all rows need not know it: no row waits for it any more.
    pub is_known: bool,
}

/// The place of messages, and after how many rows it was accessed last in each storage.
struct Region {
    span: Rc<[Span]>,
    accessed: Vec<usize>,
}

/// A message that was sent, and whose place has not been written since.
struct Leaving {
    departure: usize,
    storage: usize,
    span: Rc<[Span]>,
}

/// A message that is received: its channel, its sender and its chunk.
type Received = (usize, usize, Vec<i64>);

struct Walk<'p> {
    plan: &'p Plan,
    regions: Vec<Region>,
    /// The elements of each message, in the order in which messages are sent and received.
    covered: VecDeque<Rc<[Span]>>,
    /// Whether a message goes straight into its place or out of it.
    is_in_place: &'p dyn Fn(&Message) -> bool,
    /// Whose storage each field has.
    holds: Vec<usize>,
    rows: usize,
    rooms: Vec<Room>,
    departures: Vec<Departure>,
    leaving: Vec<Leaving>,
    /// Of each line, when the last message had room.
    latest: HashMap<(usize, usize), usize>,
    /// In which row each message is received.
    received: HashMap<Received, usize>,
}

impl Plan {
    /// When the places of those of a rank's messages are theirs that go straight into fields or out of them.
    pub fn lifetimes(
        &self,
        program: &Program,
        rank: usize,
        is_in_place: &dyn Fn(&Message) -> bool,
    ) -> Lifetimes {
        let fields = program.fields.len();
        let mut walk = Walk {
            plan: self,
            regions: Vec::new(),
            covered: VecDeque::new(),
            is_in_place,
            holds: (0..fields).collect(),
            rows: 0,
            rooms: Vec::new(),
            departures: Vec::new(),
            leaving: Vec::new(),
            latest: HashMap::new(),
            received: HashMap::new(),
        };
        let mut known: HashMap<(usize, usize, bool), Rc<[Span]>> = HashMap::new();
        let Ok(()) = self.messages(rank, |message| {
            let span = || bounding_box(&self.elements(rank, &message)).into();
            let span = match self.is_same_in_all_chunks(message.channel) {
                true => Rc::clone(
                    known
                        .entry((message.channel, message.peer, message.is_send))
                        .or_insert_with(span),
                ),
                false => span(),
            };
            walk.note(span, &message, fields);
            Ok::<(), Infallible>(())
        });
        let accesses = program.bodies();
        let accesses: Vec<&[Access]> = accesses.iter().map(|body| &body.accesses[..]).collect();
        let mut grouped = vec![false; self.groups.len()];
        let Ok(()) = self.tree.visit(&mut self.slots(rank), &mut |row| {
            match row.call {
                Call::Body(body) => walk.body(accesses[body], row),
                Call::Exchange(number) => walk.exchange(number, &mut grouped),
                _ => self.messages_of(rank, row, &mut |message| {
                    walk.message(&message);
                    Ok::<(), Infallible>(())
                })?,
            }
            walk.rows += 1;
            Ok::<(), Infallible>(())
        });
        walk.end(rank)
    }
}

impl Walk<'_> {
    /// Keeps what a message covers.
    fn note(&mut self, span: Rc<[Span]>, message: &Message, fields: usize) {
        if !message.is_send
            && (self.is_in_place)(message)
            && self.region(&span).is_none()
            && self.regions.len() < REGIONS
        {
            self.regions.push(Region {
                span: Rc::clone(&span),
                accessed: vec![0; fields],
            });
        }
        self.covered.push_back(span);
    }

    fn region(&self, span: &[Span]) -> Option<&Region> {
        self.regions.iter().find(|region| *region.span == *span)
    }

    /// The row that comes accesses a part of a storage; all of it, if no part is named.
    fn access(&mut self, storage: usize, span: Option<&[Span]>) {
        let after = self.rows + 1;
        for region in &mut self.regions {
            if span.is_none_or(|span| overlaps(span, &region.span)) {
                region.accessed[storage] = after;
            }
        }
    }

    /// After `before` rows a part of a storage, or all of it, is written, so messages that were sent out of it must
    /// have left.
    fn write(&mut self, storage: usize, span: Option<&[Span]>, before: usize) {
        let departures = &mut self.departures;
        self.leaving.retain(|leaving| {
            let is_written =
                leaving.storage == storage && span.is_none_or(|span| overlaps(span, &leaving.span));
            if is_written {
                departures[leaving.departure].before = before;
            }
            !is_written
        });
    }

    fn body(&mut self, accesses: &[Access], row: Row<'_>) {
        let mut loops: Vec<Span> = row.arguments.iter().map(|&at| (at, at)).collect();
        let mut widen = |argument: usize, by: i64| {
            if let Some(span) = loops.get_mut(argument) {
                *span = (span.0 + by.min(0), span.1 + by.max(0));
            }
        };
        widen(row.again.argument, row.again.step * (row.again.count - 1));
        widen(row.arguments.len().wrapping_sub(1), row.step * (row.count - 1));
        for access in accesses {
            let mut loops = loops.clone();
            let sizes = &self.plan.sizes;
            for bounds in &access.inner {
                let (from, to) = (
                    range(&bounds.from, &loops, sizes),
                    range(&bounds.to, &loops, sizes),
                );
                loops.push((from.0, to.1 - 1));
            }
            let indices = access.subscripts.iter();
            let span: Vec<Span> = indices.map(|index| range(index, &loops, sizes)).collect();
            let storage = self.holds[access.field];
            self.access(storage, Some(&span));
            if access.is_write {
                self.write(storage, Some(&span), self.rows);
            }
        }
    }

    fn exchange(&mut self, number: usize, grouped: &mut [bool]) {
        let exchange = &self.plan.exchanges[number];
        let of_group = self
            .plan
            .groups
            .iter()
            .position(|group| group.fields.contains(&exchange.to));
        // Before the first exchange what is never copied gets into all fields of the group.
        if let Some(number) = of_group
            && !std::mem::replace(&mut grouped[number], true)
        {
            let group = &self.plan.groups[number];
            for &field in &group.fields {
                self.access(self.holds[field], None);
                if field != group.border {
                    self.write(self.holds[field], None, self.rows);
                }
            }
        }
        self.holds.swap(exchange.from, exchange.to);
    }

    fn message(&mut self, message: &Message) {
        let storage = self.holds[self.plan.channels[message.channel].field];
        let span = self.covered.pop_front().unwrap_or_default();
        let is_in_place = (self.is_in_place)(message);
        if message.is_send {
            self.access(storage, Some(&span));
            if is_in_place {
                self.leaving.push(Leaving {
                    departure: self.departures.len(),
                    storage,
                    span,
                });
                self.departures.push(Departure {
                    before: usize::MAX,
                    message: message.clone(),
                    is_known: false,
                });
            }
            return;
        }
        let Message { channel, peer, .. } = *message;
        self.received
            .insert((channel, peer, message.chunk.clone()), self.rows);
        let mut after = self.rows;
        if is_in_place {
            if let Some(region) = self.region(&span) {
                after = region.accessed[storage];
            }
            let latest = self.latest.entry((channel, peer)).or_default();
            *latest = after.max(*latest);
            after = *latest;
            self.rooms.push(Room {
                after,
                message: message.clone(),
                storage,
            });
        }
        // From when on it may come, it is written.
        self.write(storage, Some(&span), after);
        self.access(storage, Some(&span));
    }

    /// Of each message to another rank, by its channel and in their order, the row in which something is received that
    /// the other one sends after it has taken the message.
    fn answered(&self, rank: usize, peer: usize) -> HashMap<usize, VecDeque<usize>> {
        let (mut taken, mut answers) = (Vec::new(), Vec::new());
        let Ok(()) = self.plan.messages(peer, |message| {
            if message.peer == rank {
                match message.is_send {
                    true => {
                        let row = self.received.get(&(message.channel, peer, message.chunk));
                        answers.push(row.copied().unwrap_or(usize::MAX));
                    }
                    false => taken.push((message.channel, answers.len())),
                }
            }
            Ok::<(), Infallible>(())
        });
        for number in (1..answers.len()).rev() {
            answers[number - 1] = answers[number - 1].min(answers[number]);
        }
        let mut answered: HashMap<usize, VecDeque<usize>> = HashMap::new();
        for (channel, number) in taken {
            let row = answers.get(number).copied().unwrap_or(usize::MAX);
            answered.entry(channel).or_default().push_back(row);
        }
        answered
    }

    fn end(mut self, rank: usize) -> Lifetimes {
        // Those of a line leave in their order.
        let mut earliest: HashMap<(usize, usize), usize> = HashMap::new();
        for departure in self.departures.iter_mut().rev() {
            let line = (departure.message.channel, departure.message.peer);
            let before = earliest.entry(line).or_insert(self.rows);
            *before = departure.before.min(*before);
            departure.before = *before;
        }
        let mut answered = HashMap::new();
        let mut departures = std::mem::take(&mut self.departures);
        for departure in &mut departures {
            let Message { channel, peer, .. } = departure.message;
            let answers = answered.entry(peer).or_insert_with(|| self.answered(rank, peer));
            let row = answers.get_mut(&channel).and_then(VecDeque::pop_front);
            let is_at_end = departure.before == self.rows;
            departure.is_known = is_at_end || row.is_some_and(|row| row < departure.before);
        }
        departures.sort_by_key(|departure| departure.before);
        self.rooms.sort_by_key(|room| room.after);
        Lifetimes {
            rooms: self.rooms,
            departures,
        }
    }
}
