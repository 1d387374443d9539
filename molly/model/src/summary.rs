//! Figures of a plan: its messages, its time, and whether it terminates.

use crate::flow::Level;
use crate::plan::{Message, Plan};
use crate::tree::Call;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::convert::Infallible;
use std::fmt;

/// The messages of all ranks on a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The field.
    pub field: usize,
    /// When its values travel.
    pub level: Level,
    /// Buffers of each pair of ranks.
    pub buffers: usize,
    /// Chunks in which something is sent.
    pub chunks: u64,
    /// All messages.
    pub messages: u64,
    /// Elements in them.
    pub elements: u64,
    /// The chunk with most elements: its messages and elements.
    pub busiest: (u64, u64),
    /// Pieces of neighbouring elements in the messages of that chunk.
    pub pieces: u64,
    /// Pairs of ranks, sender first, and the elements of their messages in that chunk.
    pub pairs: BTreeMap<(usize, usize), u64>,
}

/// Messages of a chunk.
#[derive(Debug, Default)]
struct Chunk {
    messages: u64,
    elements: u64,
    pieces: u64,
    pairs: BTreeMap<(usize, usize), u64>,
}

/// The work of a rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Executed {
    /// Instances of bodies.
    pub instances: u64,
    /// Those that are executed between sending and waiting for messages.
    pub early: u64,
}

impl Plan {
    /// Counts the instances that a rank executes, and those among them that it executes while it could as well wait.
    pub fn executed(&self, rank: usize) -> Executed {
        let (mut executed, mut since) = (Executed::default(), 0);
        let Ok(()) = self.tree.visit(&mut self.slots(rank), &mut |row| {
            match row.call {
                Call::Body(_) => {
                    let count = (row.count * row.again.count) as u64;
                    executed.instances += count;
                    since += count;
                }
                Call::Send(_) | Call::Receive(_) => {
                    let mut messages = 0;
                    self.messages_of(rank, row, &mut |_| {
                        messages += 1;
                        Ok::<(), Infallible>(())
                    })?;
                    if messages > 0 {
                        executed.early += if let Call::Receive(_) = row.call { since } else { 0 };
                        since = 0;
                    }
                }
                _ => {}
            }
            Ok::<(), Infallible>(())
        });
        executed
    }

    /// The messages of all ranks, channel by channel.
    pub fn summaries(&self) -> Vec<Summary> {
        let mut chunks: Vec<HashMap<Vec<i64>, Chunk>> =
            self.channels.iter().map(|_| HashMap::new()).collect();
        let same: HashSet<usize> = (0..self.channels.len())
            .filter(|&channel| self.is_same_in_all_chunks(channel))
            .collect();
        for rank in 0..self.geometry.ranks() {
            let mut known: HashMap<(usize, usize), (u64, u64)> = HashMap::new();
            let Ok(()) = self.messages(rank, |message| {
                if !message.is_send {
                    return Ok(());
                }
                let count = || {
                    let runs = self.elements(rank, &message);
                    (runs.iter().map(|run| run.count as u64).sum(), runs.len() as u64)
                };
                let (elements, pieces) = match same.contains(&message.channel) {
                    true => *known.entry((message.channel, message.peer)).or_insert_with(count),
                    false => count(),
                };
                let chunk = chunks[message.channel].entry(message.chunk).or_default();
                chunk.messages += 1;
                chunk.elements += elements;
                chunk.pieces += pieces;
                *chunk.pairs.entry((rank, message.peer)).or_default() += elements;
                Ok::<(), Infallible>(())
            });
        }
        let summary = |(channel, chunks): (usize, HashMap<Vec<i64>, Chunk>)| {
            let (messages, elements) = chunks.values().fold((0, 0u64), |(messages, elements), chunk| {
                (messages + chunk.messages, elements.saturating_add(chunk.elements))
            });
            let count = chunks.len() as u64;
            // Of equal ones the same in each run.
            let busiest = chunks
                .into_iter()
                .max_by(|(a, one), (b, other)| one.elements.cmp(&other.elements).then(b.cmp(a)));
            let busiest = busiest.map_or_else(Chunk::default, |(_, chunk)| chunk);
            let channel = &self.channels[channel];
            Summary {
                field: channel.field,
                level: channel.level,
                buffers: channel.buffers,
                chunks: count,
                messages,
                elements,
                busiest: (busiest.messages, busiest.elements),
                pieces: busiest.pieces,
                pairs: busiest.pairs,
            }
        };
        chunks.into_iter().enumerate().map(summary).collect()
    }
}

// The time that a plan takes.

/// Costs in seconds. The model is LogGP, with an overhead of 0 for messages whose cost is their latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// An instance of a body.
    pub instance_s: f64,
    /// A message, from its start until it can be received.
    pub latency_s: f64,
    /// Each element of a message, on top of that.
    pub element_s: f64,
    /// Time for which a message keeps its sender and its receiver from work.
    pub overhead_s: f64,
}

/// How long all ranks take.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pace {
    /// Until the last rank has come to its end.
    pub seconds: f64,
    /// Of that rank that works most, its instances alone.
    pub work_s: f64,
}

enum Step {
    Work(u64),
    Message(Message, u64),
}

/// One direction of a channel between two ranks: when messages come, and when they were taken.
#[derive(Debug, Default)]
struct Queue {
    coming: VecDeque<f64>,
    sent: usize,
    taken: Vec<f64>,
}

impl Plan {
    /// Runs all ranks' order with these costs.
    pub fn pace(&self, costs: &Costs) -> Pace {
        let ranks = self.geometry.ranks();
        let steps: Vec<Vec<Step>> = (0..ranks).map(|rank| self.steps(rank)).collect();
        let mut clocks = vec![0.0f64; ranks];
        let mut done = vec![0; ranks];
        let mut lines: HashMap<(usize, usize, usize), Queue> = HashMap::new();
        let mut ready: Vec<usize> = (0..ranks).collect();
        while let Some(rank) = ready.pop() {
            while let Some(step) = steps[rank].get(done[rank]) {
                match step {
                    Step::Work(instances) => clocks[rank] += *instances as f64 * costs.instance_s,
                    Step::Message(message, elements) => {
                        let (from, to) = match message.is_send {
                            true => (rank, message.peer),
                            false => (message.peer, rank),
                        };
                        let line = lines.entry((message.channel, from, to)).or_default();
                        let room = 2 * self.channels[message.channel].buffers;
                        if message.is_send {
                            if let Some(before) = line.sent.checked_sub(room) {
                                let Some(&taken) = line.taken.get(before) else {
                                    break;
                                };
                                clocks[rank] = clocks[rank].max(taken);
                            }
                            clocks[rank] += costs.overhead_s;
                            let way = costs.latency_s + *elements as f64 * costs.element_s;
                            line.coming.push_back(clocks[rank] + way);
                            line.sent += 1;
                        } else {
                            let Some(came) = line.coming.pop_front() else {
                                break;
                            };
                            clocks[rank] = clocks[rank].max(came) + costs.overhead_s;
                            line.taken.push(clocks[rank]);
                        }
                        ready.push(message.peer);
                    }
                }
                done[rank] += 1;
            }
        }
        let work = (0..ranks).map(|rank| self.executed(rank).instances).max();
        Pace {
            seconds: clocks.into_iter().fold(0.0, f64::max),
            work_s: work.unwrap_or(0) as f64 * costs.instance_s,
        }
    }

    /// The steps of a rank, in its order.
    fn steps(&self, rank: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut known = HashMap::new();
        let Ok(()) = self.tree.visit(&mut self.slots(rank), &mut |row| match row.call {
            Call::Body(_) => {
                let count = (row.count * row.again.count) as u64;
                match steps.last_mut() {
                    Some(Step::Work(instances)) => *instances += count,
                    _ => steps.push(Step::Work(count)),
                }
                Ok::<(), Infallible>(())
            }
            _ => self.messages_of(rank, row, &mut |message| {
                let count = || self.count(rank, &message);
                let elements = match self.is_same_in_all_chunks(message.channel) {
                    true => *known
                        .entry((message.channel, message.peer, message.is_send))
                        .or_insert_with(count),
                    false => count(),
                };
                steps.push(Step::Message(message, elements));
                Ok(())
            }),
        });
        steps
    }
}

// Whether a plan comes to its end.

/// A deadlock of ranks, or messages without a receiver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Stuck {
    /// For each blocked rank: its next message, and how many messages it has finished.
    pub ranks: Vec<(usize, Message, usize)>,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ranks wait for each other", self.ranks.len())?;
        for (rank, message, done) in &self.ranks {
            let what = if message.is_send {
                "send to"
            } else {
                "receive from"
            };
            let Message {
                channel, peer, chunk, ..
            } = message;
            write!(
                f,
                "; after {done} messages rank {rank} cannot {what} {peer} chunk {chunk:?} of channel {channel}"
            )?;
        }
        Ok(())
    }
}

/// One direction of a channel between two ranks: messages that were started, and that were taken out of their buffers.
#[derive(Debug, Default)]
struct Line {
    sent: Vec<Vec<i64>>,
    taken: usize,
}

impl Plan {
    /// Runs all ranks' messages, without data, over a transport that takes a message only when the receiver has a
    /// buffer for it, with `buffers` of them for each pair of ranks and channel, or those of the plan. The result does
    /// not depend on which rank goes first, so if all ranks come to their end here, they always do.
    ///
    /// # Errors
    /// The ranks that wait, if some do.
    pub fn check_progress(&self, buffers: Option<usize>) -> Result<u64, Stuck> {
        let ranks = self.geometry.ranks();
        let mut todo: Vec<Vec<Message>> = vec![Vec::new(); ranks];
        for (rank, todo) in todo.iter_mut().enumerate() {
            let Ok(()) = self.messages(rank, |message| {
                todo.push(message);
                Ok::<(), Infallible>(())
            });
        }
        let mut lines: HashMap<(usize, usize, usize), Line> = HashMap::new();
        let mut done = vec![0; ranks];
        let mut ready: Vec<usize> = (0..ranks).collect();
        let mut sends = 0;
        while let Some(rank) = ready.pop() {
            while let Some(message) = todo[rank].get(done[rank]) {
                let buffers = buffers.unwrap_or(self.channels[message.channel].buffers);
                let (from, to) = if message.is_send {
                    (rank, message.peer)
                } else {
                    (message.peer, rank)
                };
                let line = lines.entry((message.channel, from, to)).or_default();
                // A send waits for its own buffer, that is, for the send before by `buffers`; and that one waits until the
                // receiver has taken what is as many before it.
                let can = match message.is_send {
                    true => line.sent.len() < line.taken + 2 * buffers,
                    false => line.sent.get(line.taken) == Some(&message.chunk),
                };
                if !can {
                    break;
                }
                match message.is_send {
                    true => {
                        line.sent.push(message.chunk.clone());
                        sends += 1;
                    }
                    false => line.taken += 1,
                }
                done[rank] += 1;
                ready.push(message.peer);
            }
        }
        let stuck: Vec<_> = (0..ranks)
            .filter_map(|rank| {
                todo[rank]
                    .get(done[rank])
                    .map(|message| (rank, message.clone(), done[rank]))
            })
            .collect();
        let all_taken = lines.values().all(|line| line.sent.len() == line.taken);
        match stuck.is_empty() && all_taken {
            true => Ok(sends),
            false => Err(Stuck { ranks: stuck }),
        }
    }
}
