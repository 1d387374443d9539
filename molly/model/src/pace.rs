//! How long a plan takes on ranks and a network of given speed: a simulation of its order without data.

use crate::plan::{Message, Plan};
use crate::tree::Call;
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;

/// What things cost, in seconds. The model is that of LogGP, with an overhead of 0 for messages whose cost is their latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// An instance of a body.
    pub instance_s: f64,
    /// A message, from its start until it can be received.
    pub latency_s: f64,
    /// Each element of a message, on top of that.
    pub element_s: f64,
    /// What sender and receiver are kept from work by a message.
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
struct Line {
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
        let mut lines: HashMap<(usize, usize, usize), Line> = HashMap::new();
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

    /// What a rank does, in its order.
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
