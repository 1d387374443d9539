//! The plan: what every rank does, in which order, as loops with a rank's coordinates as parameters.

use crate::channels::{Channel, Messages, elements, merge};
use crate::expressions::names;
use crate::flow::{Flow, Known, Remote, flows};
use crate::geometry::Geometry;
use crate::nest::Nest;
use crate::order::order;
use crate::overlap::{Split, splits};
use crate::pipeline::{Flows, Pipeline, Sweep, Turns, sweeps};
use crate::program::{Cut, Program, Sizes, Tiled, tile};
use crate::schedule::schedule;
use crate::tree::{Call, Points, Row, Run, Tree};
use crate::versions::{Exchange, Group, exchanges};
use crate::{Error, Result};
use spinneret_isl::{Set, limited};

/// The work of every rank. One plan serves all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The grid of ranks.
    pub geometry: Geometry,
    /// The numbers it was made with.
    pub sizes: Sizes,
    /// Which reads need which writes.
    pub flows: Vec<Flow>,
    /// The messages between ranks.
    pub channels: Vec<Channel>,
    /// Loops in which ranks take turns.
    pub turns: Vec<Turns>,
    /// Copies that are not made.
    pub exchanges: Vec<Exchange>,
    /// Fields that exchange what is stored of them.
    pub groups: Vec<Group>,
    /// The steps of a rank. The parameters are its coordinates.
    pub tree: Tree,
    /// Messages only.
    events: Tree,
    /// For each dimension of each field the indices that a rank needs, in any order, some of them more than once.
    needs: Vec<Vec<Points>>,
}

/// isl's operations in which an order with work before messages has to be found.
const OVERLAP_OPERATIONS: u64 = 4_000_000;

/// Part of a field in one dimension: `len` indices from `from` on, where the first follows the last one of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first index.
    pub from: i64,
    /// Number of indices.
    pub len: i64,
}

/// A message to send or to receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Whether it is sent, or received.
    pub is_send: bool,
    /// The channel.
    pub channel: usize,
    /// The other rank.
    pub peer: usize,
    /// The chunk.
    pub chunk: Vec<i64>,
}

/// The limit on isl's operations, and the optimizations that a plan may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// isl's operations; 0 is no limit.
    pub operations: u64,
    /// Whether ranks work while messages are under way.
    pub overlap: bool,
    /// Whether fields exchange what is stored where a program only copies.
    pub exchange: bool,
    /// Whether ranks take turns in sweeps that read what they write.
    pub pipeline: Pipeline,
    /// Whether messages under MPI are packed.
    pub columns: Columns,
}

impl Default for Options {
    /// All that is right, with operations for minutes, which is far more than any program in the tests needs.
    fn default() -> Self {
        Self {
            operations: 2_000_000_000,
            overlap: true,
            exchange: true,
            pipeline: Pipeline::default(),
            columns: Columns::Chosen,
        }
    }
}

/// How MPI sends messages whose elements may be apart in the memory of a field, as those of a column are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Columns {
    /// They are copied to a buffer before they are sent, and out of one when they have come.
    Packed,
    /// They go straight out of the field and into it, by MPI's vector types, wherever that is right.
    Vector,
    /// Those of one piece go straight, which saves a copy on each side, and all others are packed: short columns take
    /// less time so, and for long ones a step takes as long in both ways (docs/molly.md, "Columns").
    #[default]
    Chosen,
}

impl Columns {
    /// Whether messages in `pieces` pieces of a field's memory go straight.
    pub fn go_straight(self, pieces: usize) -> bool {
        match self {
            Self::Packed => false,
            Self::Vector => true,
            Self::Chosen => pieces <= 1,
        }
    }
}

impl Plan {
    /// Analyses a program.
    ///
    /// # Errors
    /// If sizes do not fit the program, an element is accessed that a field does not have, something is not affine with
    /// these sizes, or isl needs more than it is allowed.
    pub fn new(program: &Program, sizes: &Sizes, geometry: &Geometry, options: Options) -> Result<Self> {
        let made = limited(options.operations, || {
            Self::make(program, sizes, geometry, options)
        });
        made.map_err(|error| match error {
            Error::Isl(spinneret_isl::Error::Limit { limit }) => Error::Limit {
                site: program.site(),
                program: program.name.clone(),
                limit,
            },
            other => other,
        })
    }

    fn make(program: &Program, sizes: &Sizes, geometry: &Geometry, options: Options) -> Result<Self> {
        let nest = Nest::new(program, sizes, geometry)?;
        nest.check_bounds()?;
        let found = flows(&nest)?;
        if let Some(plan) = Self::in_turns(&nest, &found, options)? {
            return Ok(plan);
        }
        let plan = Self::of(&nest, found, &[], options)?;
        plan.ok_or_else(|| spinneret_isl::Error::Isl("no loops for an order of time".to_owned()).into())
    }

    /// A plan in which ranks take turns; nothing if there are no sweeps for that, or they are not found to be right in tiles.
    fn in_turns(nest: &Nest<'_>, flows: &Flows, options: Options) -> Result<Option<Self>> {
        let sweeps = match options.pipeline {
            Pipeline::Off => Vec::new(),
            _ => sweeps(nest, flows)?,
        };
        if sweeps.is_empty() {
            return Ok(None);
        }
        let mut cuts = Vec::new();
        for sweep in &sweeps {
            let Sweep { bodies, number, .. } = sweep.clone();
            let rows = match options.pipeline {
                Pipeline::Rows(rows) => rows,
                Pipeline::Chosen(message) => sweep.best_rows(nest, message),
                Pipeline::Off => return Ok(None),
            };
            cuts.push(Cut { bodies, number, rows });
        }
        let Tiled { program, hidden } = tile(nest.program, &cuts);
        let mut nest = Nest::new(&program, nest.sizes, nest.geometry)?;
        nest.hidden = hidden;
        let mut found = self::flows(&nest)?;
        let mut in_strips = Vec::new();
        for sweep in &sweeps {
            // The loop over tiles has one loop in it, so its variable is enough.
            let depth = sweep.depth + 1;
            let sweep = Sweep {
                depth,
                ..sweep.clone()
            };
            if !sweep.take_turns(&nest, &mut found)? {
                return Ok(None);
            }
            in_strips.push(sweep);
        }
        let turns = sweeps.into_iter().zip(&cuts).map(|(sweep, cut)| Turns {
            fields: sweep.fields,
            rows: cut.rows,
            site: nest.statements[sweep.bodies.start].body.site.clone(),
        });
        let turns = turns.collect();
        let plan = Self::of(&nest, found, &in_strips, options)?;
        Ok(plan.map(|plan| Self { turns, ..plan }))
    }

    /// Nothing if the order of a nest with hidden loops cannot be said.
    fn of(
        nest: &Nest<'_>,
        flows: Vec<(Known, Option<Remote>)>,
        sweeps: &[Sweep],
        options: Options,
    ) -> Result<Option<Self>> {
        let (flows, remote): (Vec<Known>, Vec<_>) = flows.into_iter().unzip();
        let messages = merge(nest, remote.into_iter().flatten().collect(), sweeps)?;
        let (exchanges, groups) = match options.exchange {
            true => exchanges(nest, &flows, sweeps)?,
            false => (Vec::new(), Vec::new()),
        };
        let Some(tree) = ordered(nest, &messages, &exchanges, options)? else {
            return Ok(None);
        };
        let is_message = |call| matches!(call, Call::Send(_) | Call::Receive(_));
        let events = tree.only(&is_message).unwrap_or(Tree::Block(Vec::new()));
        let mut all_needs: Vec<Vec<Points>> = Vec::new();
        for field in 0..nest.program.fields.len() {
            // Fields that exchange what is stored have the same sizes, and need the same.
            let group = groups.iter().find(|group| group.fields.contains(&field));
            let known = group.and_then(|group| group.fields.iter().find(|other| **other < field));
            all_needs.push(match known {
                Some(&other) => all_needs[other].clone(),
                None => needs(nest, field, &groups)?,
            });
        }
        Ok(Some(Self {
            geometry: nest.geometry.clone(),
            sizes: nest.sizes.clone(),
            flows: flows.iter().map(Known::flow).collect(),
            turns: Vec::new(),
            exchanges,
            groups,
            channels: messages.into_iter().map(|messages| messages.channel).collect(),
            tree,
            events,
            needs: all_needs,
        }))
    }

    /// Slots with a rank's coordinates, for [`Tree::visit`] of [`Plan::tree`].
    pub fn slots(&self, rank: usize) -> Vec<i64> {
        self.geometry.coordinates(rank)
    }

    /// Visits the messages that a row of [`Call::Send`] or [`Call::Receive`] in [`Plan::tree`] stands for.
    ///
    /// # Errors
    /// The first one of `visit`.
    pub fn messages_of<E>(
        &self,
        rank: usize,
        row: Row<'_>,
        visit: &mut impl FnMut(Message) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (is_send, channel) = match row.call {
            Call::Send(channel) => (true, channel),
            Call::Receive(channel) => (false, channel),
            _ => return Ok(()),
        };
        let peers = if is_send {
            &self.channels[channel].to
        } else {
            &self.channels[channel].from
        };
        let chunk_in_peers = if is_send { self.channels[channel].depth } else { 0 };
        row.each(|moment| {
            let mut slots = self.geometry.coordinates(rank);
            slots.extend(moment);
            peers.runs(&slots).iter().try_for_each(|run| {
                run.each(|point| {
                    let (chunk, peer) = point.split_at(chunk_in_peers);
                    let chunk = if is_send { chunk } else { moment };
                    visit(Message {
                        is_send,
                        channel,
                        peer: self.geometry.rank(peer),
                        chunk: chunk.to_vec(),
                    })
                })
            })
        })
    }

    /// Visits all messages of a rank in the order in which it sends and receives them.
    ///
    /// # Errors
    /// The first one of `visit`.
    pub fn messages<E>(
        &self,
        rank: usize,
        mut visit: impl FnMut(Message) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.events.visit(&mut self.slots(rank), &mut |row| {
            self.messages_of(rank, row, &mut visit)
        })
    }

    /// The elements of a message, in its order.
    pub fn elements(&self, rank: usize, message: &Message) -> Vec<Run> {
        let (from, to) = if message.is_send {
            (rank, message.peer)
        } else {
            (message.peer, rank)
        };
        let mut params = self.geometry.coordinates(from);
        params.extend(self.geometry.coordinates(to));
        params.extend(&message.chunk);
        self.channels[message.channel].contents.runs(&params)
    }

    /// Whether the messages of a channel between two ranks have the same elements in all chunks.
    pub fn is_same_in_all_chunks(&self, channel: usize) -> bool {
        self.channels[channel].is_same_in_all_chunks(self.geometry.extents().len())
    }

    /// Number of elements of a message.
    pub fn count(&self, rank: usize, message: &Message) -> u64 {
        self.elements(rank, message)
            .iter()
            .map(|run| run.count as u64)
            .sum()
    }

    /// The part of a field that a rank stores: what it owns, and what it reads and writes of others, widened to the
    /// shortest span in each dimension. Where the field is periodic, a span can go over its end.
    pub fn storage(&self, rank: usize, field: usize) -> Vec<Span> {
        let shape = &self.sizes.shapes[field];
        let mut spans: Vec<Span> = Vec::new();
        for (indices, &size) in self.needs[field].iter().zip(shape) {
            let mut ranges = Vec::new();
            for run in indices.runs(&self.slots(rank)) {
                // Between indices that are far apart there may be the gap that is not stored.
                let (pieces, len) = if run.step == 1 {
                    (1, run.count)
                } else {
                    (run.count, 1)
                };
                let first = |piece: i64| run.first[0] + piece * run.step;
                ranges.extend((0..pieces).map(|piece| (first(piece), first(piece) + len - 1)));
            }
            spans.push(span(ranges, size));
        }
        if spans.iter().any(|span| span.len == 0) {
            spans.fill(Span { from: 0, len: 0 });
        }
        spans
    }
}

/// The steps of a rank, with work before the wait for messages if that is allowed, right, and found soon enough.
fn ordered(
    nest: &Nest<'_>,
    messages: &[Messages],
    exchanges: &[Exchange],
    options: Options,
) -> Result<Option<Tree>> {
    let any = |splits: &[Split]| match order(nest, messages, exchanges, splits)? {
        Some(tree) => Ok(Some(tree)),
        None if !nest.hidden.is_empty() => Ok(None),
        None => schedule(nest, messages, exchanges, splits).map(Some),
    };
    if options.overlap {
        let early = limited(OVERLAP_OPERATIONS, || {
            let splits = splits(nest, messages, exchanges)?;
            match splits.is_empty() {
                true => Ok(None),
                false => any(&splits),
            }
        });
        match early {
            Ok(Some(tree)) => return Ok(Some(tree)),
            // The same on all ranks, as isl counts the same everywhere.
            Ok(None) | Err(Error::Isl(spinneret_isl::Error::Limit { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    any(&[])
}

/// The shortest span around all runs of a ring of `size` indices: what is left without the longest gap. Without need, the
/// span does not go over the end.
fn span(mut runs: Vec<(i64, i64)>, size: i64) -> Span {
    runs.sort_unstable();
    let (Some(&(first, _)), Some(end)) = (runs.first(), runs.iter().map(|run| run.1).max()) else {
        return Span { from: 0, len: 0 };
    };
    // The gap over the end, and then those between runs.
    let mut gap = size - (end - first + 1);
    let mut found = Span {
        from: first,
        len: size - gap,
    };
    let mut reached = runs[0].1;
    for &(from, to) in &runs[1..] {
        if from - reached - 1 > gap {
            gap = from - reached - 1;
            found = Span {
                from,
                len: size - gap,
            };
        }
        reached = reached.max(to);
    }
    found
}

/// For each dimension the indices that a rank owns or accesses.
fn needs(nest: &Nest<'_>, field: usize, groups: &[Group]) -> Result<Vec<Points>> {
    // Fields that exchange what is stored store the same.
    let group = groups.iter().find(|group| group.fields.contains(&field));
    let fields = group.map_or_else(|| vec![field], |group| group.fields.clone());
    let (grid, time, dims) = (
        nest.geometry.extents().len(),
        nest.time_dims(),
        nest.shape(field).len(),
    );
    let (p, t, e) = (names("p", grid), names("t", time), names("e", dims));
    let space = [&p[..], &t, &e].concat().join(", ");
    let flat = |map: spinneret_isl::Map| map.wrap()?.flatten();
    let (owned, _) = nest.everything("L", field, 0)?;
    let mut all: Vec<Set> = Vec::new();
    for owned in owned.maps()? {
        all.push(flat(owned.apply_domain(nest.home("L", field, 0)?)?)?);
    }
    for (body, at, _) in nest
        .accesses()
        .filter(|(_, _, access)| fields.contains(&access.field))
    {
        all.push(flat(nest.access(body, at)?.apply_domain(nest.place(body, at)?)?)?);
    }
    let mut trees = Vec::new();
    for dim in &e {
        let index = nest.relation(&format!("{{ [{space}] -> [{}, {dim}] }}", p.join(", ")))?;
        let mut indices: Option<Set> = None;
        for accessed in &all {
            let next = accessed.clone().apply(index.clone())?.coalesce()?;
            indices = Some(match indices {
                Some(indices) => indices.union(next)?.coalesce()?,
                None => next,
            });
        }
        let indices = indices.map_or_else(|| Set::parse("{ [] : false }"), Ok)?;
        trees.push(elements(indices, p.len())?);
    }
    Ok(trees)
}

#[cfg(test)]
mod tests {
    use super::{Span, span};

    #[test]
    fn spans_wrap_around_only_if_shorter() {
        let of = |runs: &[(i64, i64)], size| span(runs.to_vec(), size);
        assert_eq!(of(&[(3, 4), (2, 2)], 10), Span { from: 2, len: 3 });
        assert_eq!(of(&[(0, 3), (9, 9)], 10), Span { from: 9, len: 5 });
        assert_eq!(of(&[(0, 9)], 10), Span { from: 0, len: 10 });
        assert_eq!(of(&[], 10), Span { from: 0, len: 0 });
        assert_eq!(of(&[(0, 0), (2, 2)], 4), Span { from: 0, len: 3 });
    }
}
