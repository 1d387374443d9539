//! What a plan sends, in numbers.

use crate::flow::Level;
use crate::plan::Plan;
use crate::tree::Call;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;

/// What all ranks send on a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The field.
    pub field: usize,
    /// When.
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

/// What a rank executes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Executed {
    /// Instances of bodies.
    pub instances: u64,
    /// Those that are executed between sending and waiting for messages.
    pub early: u64,
}

impl Plan {
    /// What a rank executes, and how much of it while it could as well wait.
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

    /// What all ranks send, channel by channel.
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
