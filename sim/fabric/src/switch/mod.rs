//! A switch: where each frame goes, and when.
//!
//! ```text
//! cable ==> arrive --> where to? --> queue of a port, drop-tail ==> cable
//!                      table, or flood
//! ```
//!
//! The queue of a port is that of the [`Cable`] which it sends on. What a switch does not have: ageing of what it learned,
//! VLANs, pause frames, priorities, and a memory that its ports share.

mod flow;

use crate::cable::{Cable, Delivery, Sent};
use crate::topology::{Mode, SwitchConfig, Table};
use crate::{OVERHEAD_BYTES, Ps};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Bytes that have come when a cut-through switch knows where a frame goes: preamble, and the first 64.
const HEADER_BYTES: u64 = 8 + 64;

/// What a switch has done with the frames that came to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchCounts {
    /// Frames that came.
    pub received: u64,
    /// Frames with a wrong check sequence, which were dropped.
    pub bad: u64,
    /// Frames for somebody on the side from which they came.
    pub filtered: u64,
    /// Frames that went to one port.
    pub forwarded: u64,
    /// Frames that went to all ports.
    pub flooded: u64,
    /// Frames that were put into queues of ports, or found them full: a flooded frame counts once for each port.
    pub copies: u64,
}

impl SwitchCounts {
    /// Whether every frame is accounted for.
    pub fn adds_up(&self) -> bool {
        self.received == self.bad + self.filtered + self.forwarded + self.flooded
    }
}

/// A switch.
#[derive(Debug)]
pub(crate) struct Switch {
    config: SwitchConfig,
    ports: Vec<SwitchPort>,
    /// Frames that are to be looked at: when, at which port, and the frame.
    arrivals: BinaryHeap<Reverse<(Ps, u16, u64, Arrived)>>,
    /// Where each address is.
    table: HashMap<[u8; 6], Vec<u16>>,
    /// What the choice among ways depends on beside the flow, so that switches in a row do not choose alike.
    salt: u64,
    counts: SwitchCounts,
}

/// A port of it.
#[derive(Debug)]
pub(crate) struct SwitchPort {
    /// What it sends on.
    pub(crate) cable: Cable,
    /// Frames to everybody pass.
    pub(crate) floods: bool,
}

/// A frame, ordered by nothing: what is before it in the tuple is never the same twice.
#[derive(Debug)]
struct Arrived(Delivery);

impl PartialEq for Arrived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Arrived {}

impl PartialOrd for Arrived {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Arrived {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Switch {
    /// A switch that knows the addresses in `table` from the start.
    pub(crate) fn new(
        config: SwitchConfig,
        ports: Vec<SwitchPort>,
        table: HashMap<[u8; 6], Vec<u16>>,
        salt: u64,
    ) -> Self {
        Self {
            config,
            ports,
            arrivals: BinaryHeap::new(),
            table,
            salt,
            counts: SwitchCounts::default(),
        }
    }

    /// A frame will come out of the cable at a port.
    pub(crate) fn arrive(&mut self, port: u16, delivery: Delivery) {
        let known_ps = known_ps(self.config.mode, &delivery);
        let number = delivery.number;
        self.arrivals
            .push(Reverse((known_ps, port, number, Arrived(delivery))));
    }

    /// When it looks at the next frame.
    pub(crate) fn next_ps(&self) -> Option<Ps> {
        self.arrivals.peek().map(|Reverse((at, ..))| *at)
    }

    /// What it has done.
    pub(crate) fn counts(&self) -> SwitchCounts {
        self.counts
    }

    /// Its ports.
    pub(crate) fn ports(&self) -> &[SwitchPort] {
        &self.ports
    }

    /// The same, to ask for their queues.
    pub(crate) fn ports_mut(&mut self) -> &mut [SwitchPort] {
        &mut self.ports
    }

    /// Frames on their way here on a cable.
    pub(crate) fn arriving(&self, cable: u32) -> u64 {
        let arrivals = self.arrivals.iter();
        let on_cable = arrivals.filter(|Reverse((.., Arrived(frame)))| frame.way.cable == cable);
        on_cable.count() as u64
    }

    /// Looks at all frames before that time; gives what comes out of the cables. Notes what comes to a port, and what is put
    /// on its cable (`true`).
    pub(crate) fn run(&mut self, until_ps: Ps, mut noted: impl FnMut(u16, Ps, bool, &[u8])) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        while self.next_ps().is_some_and(|at| at < until_ps) {
            let Some(Reverse((at_ps, from, _, Arrived(frame)))) = self.arrivals.pop() else {
                break;
            };
            self.counts.received += 1;
            noted(from, at_ps, false, &frame.bytes);
            if frame.is_bad && self.config.mode == Mode::StoreAndForward {
                self.counts.bad += 1;
                continue;
            }
            self.learn(from, &frame);
            let to = self.way(from, &frame.bytes);
            for port in &to {
                self.counts.copies += 1;
                let cable = &mut self.ports[usize::from(*port)].cable;
                let takes_ps = cable.takes_ps(frame.bytes.len() as u64 + OVERHEAD_BYTES);
                // A port that is faster than the one from which the frame comes must not run out of it.
                let ready_ps = at_ps.max(frame.last_ps.saturating_sub(takes_ps)) + self.config.delay_ps;
                noted(*port, ready_ps, true, &frame.bytes);
                let sent = Sent {
                    born_ps: frame.born_ps,
                    is_bad: frame.is_bad,
                    bytes: frame.bytes.clone(),
                };
                deliveries.extend(cable.send(ready_ps, sent));
            }
        }
        deliveries
    }

    fn learn(&mut self, from: u16, frame: &Delivery) {
        let sender = address(&frame.bytes, 6);
        let is_one = sender[0] & 1 == 0;
        if self.config.table == Table::Learning && is_one && !frame.is_bad && self.floods(from) {
            self.table.insert(sender, vec![from]);
        }
    }

    fn floods(&self, port: u16) -> bool {
        self.ports[usize::from(port)].floods
    }

    /// The ports to which a frame goes.
    fn way(&mut self, from: u16, bytes: &[u8]) -> Vec<u16> {
        let receiver = address(bytes, 0);
        let known = self.table.get(&receiver).filter(|ports| !ports.is_empty());
        if let Some(ports) = known {
            let port = match ports.len() {
                1 => ports[0],
                count => ports[(flow::hash(bytes, self.salt) % count as u64) as usize],
            };
            let is_back = port == from;
            *(if is_back {
                &mut self.counts.filtered
            } else {
                &mut self.counts.forwarded
            }) += 1;
            return if is_back { Vec::new() } else { vec![port] };
        }
        if !self.floods(from) {
            self.counts.filtered += 1;
            return Vec::new();
        }
        self.counts.flooded += 1;
        let ports = 0..self.ports.len() as u16;
        ports.filter(|port| *port != from && self.floods(*port)).collect()
    }
}

/// When a switch knows where a frame goes.
pub(crate) fn known_ps(mode: Mode, frame: &Delivery) -> Ps {
    let takes_ps = frame.last_ps - frame.first_ps;
    let bytes = frame.bytes.len() as u64 + OVERHEAD_BYTES;
    match mode {
        Mode::StoreAndForward => frame.last_ps,
        Mode::CutThrough => frame.first_ps + (takes_ps * HEADER_BYTES.min(bytes)).div_ceil(bytes),
    }
}

/// The address at a place of a frame, which is never shorter than the smallest one.
fn address(bytes: &[u8], at: usize) -> [u8; 6] {
    let mut address = [0; 6];
    address.copy_from_slice(&bytes[at..at + 6]);
    address
}

#[cfg(test)]
mod tests;
