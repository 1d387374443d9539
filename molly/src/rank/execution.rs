//! One run of a plan on a rank: bodies, messages and exchanges, row by row.

use super::Rank;
use crate::error::{Error, Result};
use crate::field::Storage;
use crate::memory::Stride;
use crate::transport::{Line, Place};
use spinneret_molly_model::{
    Again, Call, Departure, Group, Lifetimes, Message, Plan, Program, Room, Row, Run,
};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

/// The work of a rank in one run of a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages that it sent.
    pub messages: u64,
    /// Elements in them.
    pub elements: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Bytes that it copied to a buffer before it sent them; the transport has taken all others where they were.
    pub packed: u64,
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

/// Instances of a body in rows.
fn instances(row: &Row<'_>) -> u64 {
    (row.count * row.again.count) as u64
}

/// One end of a channel between two ranks: the channel, the other rank, and whether messages are sent there.
pub(crate) type End = (usize, usize, bool);

fn end(message: &Message) -> End {
    (message.channel, message.peer, message.is_send)
}

/// The elements of a message.
#[derive(Debug)]
struct Contents {
    runs: Vec<Run>,
    elements: usize,
}

/// One run of a plan.
struct Execution<'a> {
    rank: &'a mut Rank,
    program: &'a Program,
    plan: &'a Plan,
    work: &'a mut dyn Work,
    /// The number of each line, and whether its messages go straight into fields or out of them.
    lines: HashMap<End, (usize, bool)>,
    /// Elements of messages that are the same in all chunks.
    contents: HashMap<End, Rc<Contents>>,
    /// Where these are stored; fields that exchange what is stored of them store the same.
    strides: HashMap<End, Rc<Vec<Stride>>>,
    /// The old values in the fields of groups that are not their border, where nothing is copied.
    kept: HashMap<usize, Kept>,
    /// When messages may come into their places, and when they must have left.
    lifetimes: Rc<Lifetimes>,
    /// Rows that were done, messages that have room, and messages that have left.
    rows: usize,
    expected: usize,
    departed: usize,
    /// Places of messages that have the same elements in all chunks, in each storage.
    places: HashMap<(End, usize), Place>,
    /// Whose storage, before anything was exchanged, each field has.
    holds: Vec<usize>,
    traffic: Traffic,
    is_done: bool,
}

/// A group whose fields have exchanged what is stored.
#[derive(Debug)]
struct Kept {
    /// Places of what is copied, and of the rest.
    places: [Vec<Range<usize>>; 2],
    /// Fields, and what was in them at the rest.
    fields: Vec<(usize, Vec<u8>)>,
}

/// Does a rank's part of a plan.
pub(crate) fn execute(
    rank: &mut Rank,
    program: &Program,
    plan: &Plan,
    work: &mut dyn Work,
) -> Result<Traffic> {
    let mut run = Execution {
        rank,
        program,
        plan,
        work,
        lines: HashMap::new(),
        contents: HashMap::new(),
        strides: HashMap::new(),
        kept: HashMap::new(),
        lifetimes: Rc::default(),
        rows: 0,
        expected: 0,
        departed: 0,
        places: HashMap::new(),
        holds: (0..program.fields.len()).collect(),
        traffic: Traffic::default(),
        is_done: false,
    };
    run.open()?;
    plan.tree
        .visit(&mut plan.slots(run.rank.rank()), &mut |row| run.row(row))?;
    run.depart(usize::MAX)?;
    run.restore();
    run.is_done = true;
    Ok(run.traffic)
}

/// A run that ends too early leaves messages under way, which may still come into memory of the transport: so fields get
/// other memory.
impl Drop for Execution<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            (0..self.program.fields.len()).for_each(|field| self.work.storage(field).leave());
        }
    }
}

impl Execution<'_> {
    fn row(&mut self, row: Row<'_>) -> Result<()> {
        self.depart(self.rows)?;
        self.expect()?;
        self.rows += 1;
        match row.call {
            Call::Body(number) => self.body(number, row),
            Call::Exchange(number) => {
                self.exchange_fields(number);
                Ok(())
            }
            _ => {
                let plan = self.plan;
                plan.messages_of(self.rank.rank(), row, &mut |message| self.exchange(&message))
            }
        }
    }

    /// Executes rows of a body, with moments for the transport between them.
    fn body(&mut self, body: usize, row: Row<'_>) -> Result<()> {
        let transport = &mut self.rank.transport;
        let rows = (INSTANCES / row.count.max(1)).max(1);
        if row.again.count <= rows {
            self.work.body(body, &row);
            return transport.worked(instances(&row));
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
            self.work.body(body, &part);
            transport.worked(instances(&part))?;
            transport.progress()?;
        }
        Ok(())
    }

    /// Does what a copy would. Before it is done for the first time, what is never copied gets into all places of the
    /// group.
    fn exchange_fields(&mut self, number: usize) {
        let exchange = &self.plan.exchanges[number];
        let of_group = |group: &Group| group.fields.contains(&exchange.to);
        if let Some(number) = self.plan.groups.iter().position(of_group)
            && !self.kept.contains_key(&number)
        {
            let group = &self.plan.groups[number];
            let border = self.work.storage(group.border);
            let places = border.split(&group.elements.runs(&[]));
            let mut shown = Vec::new();
            border.keep(&places[1], &mut shown);
            let others = group.fields.iter().filter(|field| **field != group.border);
            let fields = others.map(|&field| {
                let (mut bytes, storage) = (Vec::new(), self.work.storage(field));
                storage.keep(&places[1], &mut bytes);
                storage.put(&places[1], &shown);
                (field, bytes)
            });
            let fields = fields.collect();
            self.kept.insert(number, Kept { places, fields });
        }
        self.work.exchange(exchange.body);
        self.holds.swap(exchange.from, exchange.to);
    }

    /// Waits until messages have left places that are written after `rows` rows.
    fn depart(&mut self, rows: usize) -> Result<()> {
        let lifetimes = Rc::clone(&self.lifetimes);
        while let Some(Departure { message, before, .. }) = lifetimes.departures.get(self.departed)
            && *before <= rows
        {
            self.departed += 1;
            if let (line, true) = self.line(message)
                && let Some(placing) = self.rank.transport.placing()
            {
                placing.departed(line)?;
            }
        }
        Ok(())
    }

    /// Lets messages come into their places once no row accesses these any more.
    fn expect(&mut self) -> Result<()> {
        let lifetimes = Rc::clone(&self.lifetimes);
        while let Some(Room {
            message,
            after,
            storage,
        }) = lifetimes.rooms.get(self.expected)
            && *after <= self.rows
        {
            self.expected += 1;
            let place = self.place(message, *storage)?;
            let (line, _) = self.line(message);
            if let Some(placing) = self.rank.transport.placing() {
                placing.expect(line, &place)?;
            }
        }
        Ok(())
    }

    /// The place of a message in the memory that was a field's before anything was exchanged.
    fn place(&mut self, message: &Message, storage: usize) -> Result<Place> {
        let key = (end(message), storage);
        if let Some(place) = self.places.get(&key) {
            return Ok(place.clone());
        }
        let contents = self.contents(message);
        let field = self.holds.iter().position(|held| *held == storage);
        let field = field.expect("what is stored is some field's");
        let place = self.work.storage(field).place_of(&contents.runs);
        let place = place.ok_or_else(|| Error::Transport {
            rank: self.rank.rank(),
            what: format!(
                "`{}` is not in memory of the transport",
                self.program.fields[field]
            ),
        })?;
        if self.plan.is_same_in_all_chunks(message.channel) {
            self.places.insert(key, place.clone());
        }
        Ok(place)
    }

    /// The number of a message's line, and whether its messages go straight.
    fn line(&self, message: &Message) -> (usize, bool) {
        self.lines[&end(message)]
    }

    /// Makes fields what they would be if copies had been made.
    fn restore(&mut self) {
        for (number, kept) in std::mem::take(&mut self.kept) {
            for (field, bytes) in &kept.fields {
                self.work.storage(*field).put(&kept.places[1], bytes);
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
                    self.work.storage(exchange.to).keep(place, &mut bytes);
                    self.work.storage(exchange.from).put(place, &bytes);
                }
            }
        }
    }

    /// Opens all lines, with the length of their longest messages, and finds out which messages go straight into fields or
    /// out of them.
    fn open(&mut self) -> Result<()> {
        let (plan, number, first_tag) = (
            self.plan,
            self.rank.rank(),
            self.rank.first_tag(self.program, self.plan),
        );
        let mut lines: Vec<(End, Line)> = Vec::new();
        let mut numbers = HashMap::new();
        plan.messages(number, |message| {
            let contents = self.contents(&message);
            let element_bytes = self
                .work
                .storage(plan.channels[message.channel].field)
                .element_bytes();
            let place = *numbers.entry(end(&message)).or_insert(lines.len());
            if place == lines.len() {
                let mut line = Line {
                    peer: message.peer,
                    is_send: message.is_send,
                    tag: first_tag + message.channel,
                    buffers: plan.channels[message.channel].buffers,
                    capacity: 0,
                    pieces: 0,
                    is_straight: false,
                };
                let is_same = plan.is_same_in_all_chunks(message.channel);
                let pieces = is_same.then(|| plan.pieces(number, &message));
                let columns = self.rank.options().columns;
                let placing = self.rank.transport.placing();
                line.is_straight = placing.is_some_and(|placing| placing.takes(&line, pieces, columns));
                lines.push((end(&message), line));
            }
            let line = &mut lines[place].1;
            line.capacity = line.capacity.max(contents.elements * element_bytes);
            line.pieces = line.pieces.max(contents.runs.len());
            Ok::<(), Error>(())
        })?;
        let straight = lines.iter().filter(|(_, line)| line.is_straight);
        let straight: BTreeSet<End> = straight.map(|(end, _)| *end).collect();
        if !straight.is_empty() {
            self.lifetimes = self.rank.lifetimes(self.program, plan, straight);
        }
        // Before a write, no rank waits for a message that it does not know to be taken: ranks could wait in a circle.
        for departure in self
            .lifetimes
            .departures
            .iter()
            .filter(|departure| !departure.is_known)
        {
            lines[numbers[&end(&departure.message)]].1.is_straight = false;
        }
        for (end, line) in lines {
            let number = self.rank.line(&line)?;
            self.lines.insert(end, (number, line.is_straight));
        }
        Ok(())
    }

    fn contents(&mut self, message: &Message) -> Rc<Contents> {
        if let Some(contents) = self.contents.get(&end(message)) {
            return contents.clone();
        }
        let runs = self.plan.elements(self.rank.rank(), message);
        let elements = runs.iter().map(|run| run.count as usize).sum();
        let contents = Rc::new(Contents { runs, elements });
        if self.plan.is_same_in_all_chunks(message.channel) {
            self.contents.insert(end(message), contents.clone());
        }
        contents
    }

    /// Where the elements of a message are stored.
    fn stored(&mut self, contents: &Contents, message: &Message) -> Rc<Vec<Stride>> {
        if let Some(known) = self.strides.get(&end(message)) {
            return known.clone();
        }
        let field = self.plan.channels[message.channel].field;
        let strides = Rc::new(self.work.storage(field).strides(&contents.runs));
        if self.plan.is_same_in_all_chunks(message.channel) {
            self.strides.insert(end(message), strides.clone());
        }
        strides
    }

    /// Sends or receives a message.
    fn exchange(&mut self, message: &Message) -> Result<()> {
        let contents = self.contents(message);
        let number = self.plan.channels[message.channel].field;
        let (line, is_straight) = self.line(message);
        let expected = contents.elements * self.work.storage(number).element_bytes();
        if message.is_send {
            self.traffic.messages += 1;
            self.traffic.elements += contents.elements as u64;
            self.traffic.bytes += expected as u64;
            if is_straight {
                let place = self.place(message, self.holds[number])?;
                let placing = self.rank.transport.placing();
                return placing.map_or(Ok(()), |placing| placing.start_from(line, &place));
            }
            self.traffic.packed += expected as u64;
            let stored = self.stored(&contents, message);
            let buffer = self.rank.transport.buffer(line, expected)?;
            self.work.storage(number).pack(&stored, buffer);
            return self.rank.transport.start(line);
        }
        let (rank, peer) = (self.rank.rank(), message.peer);
        let check = |found| match found == expected {
            true => Ok(()),
            false => Err(Error::Length {
                rank,
                peer,
                found,
                expected,
            }),
        };
        if is_straight && let Some(placing) = self.rank.transport.placing() {
            return check(placing.placed(line)?);
        }
        let stored = self.stored(&contents, message);
        let bytes = self.rank.transport.wait(line)?;
        check(bytes.len())?;
        self.work.storage(number).unpack(&stored, bytes);
        self.traffic.unpacked += expected as u64;
        self.rank.transport.release(line)
    }
}
