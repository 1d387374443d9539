//! Whether all ranks come to their end, whatever the transport.

use crate::plan::{Message, Plan};
use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;

/// Ranks that wait for each other, or messages that nobody receives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Stuck {
    /// For each rank that does not come to its end: what it would do next, and how many messages it has behind it.
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
    /// Runs all ranks' messages, without data, over a transport that takes a message only when the receiver has a buffer for
    /// it, with `buffers` of them for each pair of ranks and channel, or those of the plan. What comes out does not depend on
    /// who goes first, so if all come to their end here, they always do.
    ///
    /// # Errors
    /// Which ranks wait, if some do.
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
