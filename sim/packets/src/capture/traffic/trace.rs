//! Frames and the times at which they pass.

use super::frames::{Route, Tags};
use crate::capture::Packet;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use std::time::Duration;

/// When every scene begins, in seconds since the Unix epoch.
const BEGINNING_SECONDS: u64 = 1_700_000_000;

/// A time within a scene.
pub(super) type Nanoseconds = u64;

/// A microsecond.
pub(super) const MICROSECOND: Nanoseconds = 1000;

/// A packet of a scene.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    pub(super) at: Nanoseconds,
    /// Whether the packet passed on a link that carries VLAN tags.
    pub(super) on_trunk: bool,
    frame: Vec<u8>,
}

impl Passed {
    /// The packet as a capture holds it.
    pub(super) fn packet(&self) -> Packet {
        Packet {
            timestamp: Duration::from_secs(BEGINNING_SECONDS) + Duration::from_nanos(self.at),
            data: self.frame.clone(),
            original_len: self.frame.len() as u32,
        }
    }
}

/// A scene while it is made: flows are added one after the other, each with its own times.
#[derive(Debug)]
pub(super) struct Trace {
    passed: Vec<Passed>,
    chance: ChaCha8Rng,
    packet_id: u16,
}

impl Trace {
    pub(super) fn new(seed: u64) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let packet_id = chance.random_range(0..=u16::MAX);
        Self {
            passed: Vec::new(),
            chance,
            packet_id,
        }
    }

    /// Adds a frame.
    pub(super) fn pass(&mut self, at: Nanoseconds, route: Route, frame: Vec<u8>) {
        self.passed.push(Passed {
            at,
            on_trunk: route.tags != Tags::None,
            frame,
        });
    }

    /// The packets in the order of their times; packets of the same time stay in the order of their flow.
    pub(super) fn finish(mut self) -> Vec<Passed> {
        self.passed.sort_by_key(|passed| passed.at);
        self.passed
    }

    /// The next IPv4 identification.
    pub(super) fn packet_id(&mut self) -> u16 {
        self.packet_id = self.packet_id.wrapping_add(1);
        self.packet_id
    }

    /// A number of the range, by chance.
    pub(super) fn number(&mut self, range: Range<u64>) -> u64 {
        self.chance.random_range(range)
    }

    /// A delay of so many microseconds, by chance, to the nanosecond.
    pub(super) fn microseconds(&mut self, range: Range<u64>) -> Nanoseconds {
        self.number(range.start * MICROSECOND..range.end * MICROSECOND)
    }

    /// Bytes by chance.
    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.chance.fill_bytes(&mut bytes);
        bytes
    }
}
