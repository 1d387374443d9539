//! The receiver with its host: shared memory, regions and completions.

pub(crate) use spinneret_slmp::memory::place::{
    CAPACITY, CLAIMED, DONE, GENERATION, MESSAGE_ID, PORT, RECIPROCAL, REGION, SEGMENT_BYTES, SOURCE, START,
    STATE, USERS,
};

use super::{Ack, Segment};
use crate::bench::{Bench, HOST};
use spinneret_cluster::Config;
use spinneret_cluster::rv::CsrSet;
use spinneret_regmap::pspin::{L1_SCRATCHPADS, l1_address};
use spinneret_slmp::memory::{
    self, ACCEPTED_AND_ACKED, ACKS_SENT, COUNTERS, Cause, HPUS, LOCAL_BYTES, MAGIC, State, VERSION, common,
    place,
};
use spinneret_slmp::{Confirm, MessageKey};
use std::net::{Ipv4Addr, SocketAddrV4};

const PLACE_BYTES: u32 = place::SIZE as u32;
const PLACES_AT: u32 = common::SIZE as u32;
/// A place's record in the L1 of a cluster: where it says how many words hold bits, and where these begin.
const RECORD_BYTES: u32 = LOCAL_BYTES as u32;
const USED: u32 = 12;
const BITS: u32 = 128;
/// Where the context's scratchpads are in each L1.
const PAD: u32 = 0x4000;
/// Bits of a place's bitmap.
pub(crate) const MAX_SEGMENTS: u32 = memory::MAX_SEGMENTS as u32;
/// Guard bytes between the regions.
const GAP: u32 = 192;
const PAGE: u32 = memory::REGIONS as u32;

/// States of a place, as words.
pub(crate) const FREE: u32 = State::Free as u32;
pub(crate) const OPEN: u32 = State::Open as u32;
pub(crate) const COMPLETE: u32 = State::Complete as u32;
pub(crate) const RELEASED: u32 = State::Released as u32;
pub(crate) const CLOSED: u32 = State::Closed as u32;

/// The handler on a cluster, and the host's side.
pub(crate) struct Receiver {
    pub(crate) bench: Bench,
    memory: u32,
    places: usize,
    clusters: usize,
    /// Whether the HPUs are spinneret's own, whose bits are in the place.
    is_own: bool,
    /// Number that changes with each start of the host.
    start: u32,
}

impl Receiver {
    /// Returns a receiver with a number of places and their capacity in bytes.
    pub(crate) fn new(places: usize, capacity: u32, confirm: Confirm) -> Self {
        Self::on(Config::default(), places, capacity, confirm)
    }

    /// The same on HPUs of each kind, one after the other: those of the PULP cluster, and spinneret's own.
    pub(crate) fn each(places: usize, capacity: u32, confirm: Confirm) -> impl Iterator<Item = Self> {
        [Config::default(), Config::spinneret()]
            .into_iter()
            .map(move |config| Self::on(config, places, capacity, confirm))
    }

    /// The same on another cluster.
    pub(crate) fn on(config: Config, places: usize, capacity: u32, confirm: Confirm) -> Self {
        let clusters = config.clusters;
        let is_own = config.csrs == CsrSet::Hpu;
        let mut bench = Bench::new("examples/slmp", config);
        bench.meta.handler_memory[1] = PLACES_AT + places as u32 * PLACE_BYTES;
        for (cluster, pad) in bench.meta.scratchpads.iter_mut().enumerate() {
            let is_there = u32::from(cluster < clusters);
            *pad = [PAD * is_there, places as u32 * RECORD_BYTES * is_there];
        }
        let memory = bench.meta.handler_memory[0];
        let mut receiver = Self {
            bench,
            memory,
            places,
            clusters,
            is_own,
            start: 0x5eed_0000,
        };
        receiver.prepare(capacity, confirm);
        receiver
    }

    /// The host prepares the memory for messages of `capacity` bytes each, as after a start.
    pub(crate) fn prepare(&mut self, capacity: u32, confirm: Confirm) {
        let places = self.places as u32;
        let [memory, bytes] = self.bench.meta.handler_memory;
        self.bench.cluster.write(memory, &vec![0; bytes as usize]);
        self.bench.host.clear();
        self.bench.meta.host_memory.1 = PAGE + places * (capacity + GAP);
        for place in 0..self.places {
            self.set(place, REGION, PAGE + place as u32 * (capacity + GAP));
            self.set(place, CAPACITY, capacity);
            self.set(place, START, self.start);
            self.set(place, GENERATION, self.start);
        }
        self.start = self.start.wrapping_mul(0x9e37_79b1).wrapping_add(0x1234_5679);
        let words = [MAGIC, VERSION, places, confirm as u32];
        for (number, word) in words.into_iter().enumerate() {
            self.write(4 * number as u32, word);
        }
    }

    /// A word of handler memory.
    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        let written = self
            .bench
            .cluster
            .write(self.memory + offset, &value.to_le_bytes());
        assert!(written, "handler memory is there");
    }

    fn place_at(place: usize) -> u32 {
        PLACES_AT + place as u32 * PLACE_BYTES
    }

    /// A word of a place.
    pub(crate) fn get(&self, place: usize, word: usize) -> u32 {
        self.bench
            .variable(self.memory + Self::place_at(place) + word as u32)
    }

    /// Sets it.
    pub(crate) fn set(&mut self, place: usize, word: usize, value: u32) {
        self.write(Self::place_at(place) + word as u32, value);
    }

    /// The scratchpad of a cluster.
    fn pad(&self, cluster: usize) -> u32 {
        l1_address(cluster, L1_SCRATCHPADS + self.bench.meta.scratchpads[cluster][0])
    }

    /// Fills the scratchpads of all clusters, as an earlier program may have left them.
    pub(crate) fn fill_pads(&mut self, byte: impl Fn(usize) -> u8) {
        let bytes: Vec<u8> = (0..self.places * RECORD_BYTES as usize).map(byte).collect();
        for cluster in 0..self.clusters {
            assert!(self.bench.cluster.write(self.pad(cluster), &bytes), "it is there");
        }
    }

    /// Segments whose bits are set in some words.
    fn bits(&self, at: u32, words: u32) -> Vec<u32> {
        let word = |number: u32| self.bench.variable(at + 4 * number);
        (0..32 * words)
            .filter(|index| word(index / 32) & 1 << (index % 32) != 0)
            .collect()
    }

    /// Segments of the message in a place that were taken. PULP clusters have records; one that is not prepared for the message has
    /// another generation.
    pub(crate) fn all_taken(&self, place: usize) -> Vec<u32> {
        if self.is_own {
            let unit = self.get(place, SEGMENT_BYTES).max(1);
            let words = self.get(place, CAPACITY).div_ceil(unit).div_ceil(32);
            return self.bits(self.memory + Self::place_at(place) + CLAIMED as u32, words);
        }
        let records = (0..self.clusters)
            .map(|cluster| self.pad(cluster) + place as u32 * RECORD_BYTES)
            .filter(|record| self.bench.variable(*record) == self.get(place, GENERATION));
        let mut taken: Vec<u32> = records
            .flat_map(|record| self.bits(record + BITS, self.bench.variable(record + USED)))
            .collect();
        taken.sort_unstable();
        taken
    }

    /// The counters of an HPU, with those that stand for two added to both.
    fn counters_of(&self, hpu: usize) -> [u32; COUNTERS] {
        let first = self.memory + common::COUNTERS as u32;
        let mut counters: [u32; COUNTERS] =
            std::array::from_fn(|number| self.bench.variable(first + 4 * (COUNTERS * hpu + number) as u32));
        let both = std::mem::take(&mut counters[ACCEPTED_AND_ACKED]);
        counters[Cause::Accepted as usize] += both;
        counters[ACKS_SENT] += both;
        counters
    }

    /// All counters.
    pub(crate) fn counters(&self) -> [u32; COUNTERS] {
        let rows: Vec<_> = (0..HPUS).map(|hpu| self.counters_of(hpu)).collect();
        std::array::from_fn(|number| rows.iter().map(|row| row[number]).sum())
    }

    /// Segments that HPUs of a cluster have accepted.
    pub(crate) fn accepted_by(&self, cluster: usize) -> u32 {
        (8 * cluster..8 * (cluster + 1))
            .map(|hpu| self.counters_of(hpu)[Cause::Accepted as usize])
            .sum()
    }

    /// A counter.
    pub(crate) fn count(&self, cause: Cause) -> u32 {
        self.counters()[cause as usize]
    }

    /// A frame comes; its message has the number that the NIC gives to all of a ruleset.
    pub(crate) fn push(&mut self, frame: &[u8]) {
        self.bench.push(1, false, frame);
    }

    /// A frame comes that is handled in one cluster, as long as that one has room.
    pub(crate) fn push_to(&mut self, cluster: usize, frame: &[u8]) {
        self.bench.push(cluster as u32, false, frame);
    }

    /// Frames come one after another, each when the one before is done with: the acknowledgements.
    pub(crate) fn send(&mut self, segments: &[Segment]) -> Vec<Ack> {
        for segment in segments {
            self.push(&segment.frame());
            self.bench.run();
        }
        self.acks()
    }

    /// Frames come as fast as they can: the acknowledgements.
    pub(crate) fn send_at_once(&mut self, segments: &[Segment]) -> Vec<Ack> {
        for segment in segments {
            self.push(&segment.frame());
        }
        self.bench.run();
        self.acks()
    }

    /// One frame comes: what became of it, and the acknowledgements.
    pub(crate) fn receive(&mut self, frame: &[u8]) -> (Cause, Vec<Ack>) {
        let before = self.counters();
        self.push(frame);
        self.bench.run();
        let after = self.counters();
        let raised: Vec<Cause> = Cause::ALL
            .iter()
            .flat_map(|cause| vec![*cause; (after[*cause as usize] - before[*cause as usize]) as usize])
            .collect();
        let [cause] = raised[..] else {
            panic!("a segment counts under one cause: {raised:?}")
        };
        let acks = self.acks();
        let counted = after[ACKS_SENT] - before[ACKS_SENT];
        assert_eq!(counted as usize, acks.len(), "acknowledgements are counted");
        (cause, acks)
    }

    /// Goes on clock by clock until something is so.
    ///
    /// # Panics
    /// If that takes too long.
    pub(crate) fn run_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let end = self.bench.cluster.now() + 100_000;
        while !is_so(self) {
            assert!(self.bench.cluster.now() < end, "{what}: it never happens");
            self.bench.clock();
        }
    }

    /// All words of the places and of their records: what a refused segment leaves as it is.
    pub(crate) fn all_places(&self) -> Vec<u8> {
        let memory = self.bench.cluster.memory();
        let read = |address, bytes| memory.read(address, bytes).expect("it is there").to_vec();
        let places = self.places as u32;
        let mut all = read(self.memory + PLACES_AT, places * PLACE_BYTES);
        for cluster in 0..self.clusters {
            all.extend(read(self.pad(cluster), places * RECORD_BYTES));
        }
        all
    }

    /// The acknowledgements since the last call; all handlers have ended well.
    pub(crate) fn acks(&mut self) -> Vec<Ack> {
        self.bench.acks()
    }

    /// The message in a place.
    pub(crate) fn key(&self, place: usize) -> MessageKey {
        let [address, port, message_id] = [SOURCE, PORT, MESSAGE_ID].map(|word| self.get(place, word));
        // Addresses and ports are as loads give them, all other words are in host order.
        let from = SocketAddrV4::new(Ipv4Addr::from(address.swap_bytes()), (port as u16).swap_bytes());
        MessageKey { from, message_id }
    }

    /// Bytes of host memory, if all were written.
    pub(crate) fn host(&self, offset: u32, bytes: u32) -> Option<Vec<u8>> {
        let start = HOST + u64::from(offset);
        (start..start + u64::from(bytes))
            .map(|address| self.bench.host.get(&address).copied())
            .collect()
    }

    /// The completion of a place: message and length.
    pub(crate) fn completion(&self, place: usize) -> Option<(u32, u32)> {
        let word = u64::from_le_bytes(self.host(64 * place as u32, 8)?.try_into().ok()?);
        let high = (word >> 32) as u32;
        (word != 0).then(|| {
            assert_ne!(high & 0x8000_0000, 0, "a completion is valid or 0");
            (word as u32, high & 0x7fff_ffff)
        })
    }

    /// The bytes of a place's region that belong to a message of that length.
    pub(crate) fn region(&self, place: usize, length: u32) -> Option<Vec<u8>> {
        self.host(self.get(place, REGION), length)
    }

    /// The host takes what is complete in a place, and releases it: the message and its bytes.
    pub(crate) fn take(&mut self, place: usize) -> Option<(u32, Vec<u8>)> {
        let (message, length) = self.completion(place)?;
        let bytes = self.region(place, length).expect("all of a message was written");
        let start = HOST + 64 * place as u64;
        self.bench
            .host
            .extend((start..start + 8).map(|address| (address, 0)));
        self.set(place, STATE, RELEASED);
        Some((message, bytes))
    }

    /// The host takes whatever is complete, in any place.
    pub(crate) fn take_any(&mut self) -> Option<(u32, Vec<u8>)> {
        (0..self.places).find_map(|place| self.take(place))
    }

    /// The host clears a place that it has closed, but what belongs to the place or to handlers, and writes the state last.
    pub(crate) fn clear(&mut self, place: usize) {
        assert_eq!(self.get(place, USERS), 0, "somebody works on it");
        let kept = [STATE, REGION, CAPACITY, USERS, GENERATION, START];
        for word in (0..place::SIZE).step_by(4).filter(|word| !kept.contains(word)) {
            self.set(place, word, 0);
        }
        self.set(place, STATE, FREE);
    }

    /// Addresses of a place's region that were written.
    pub(crate) fn written_to(&self, place: usize) -> Vec<u64> {
        let start = HOST + u64::from(self.get(place, REGION));
        let region = start..start + u64::from(self.get(place, CAPACITY));
        self.bench
            .host
            .range(region)
            .map(|(address, _)| *address)
            .collect()
    }

    /// Host memory that was written, as ranges of offsets. It was empty before, so this is more than what has changed.
    pub(crate) fn written(&self) -> Vec<std::ops::Range<u32>> {
        let mut ranges: Vec<std::ops::Range<u32>> = Vec::new();
        for address in self.bench.host.keys() {
            let offset = (address - HOST) as u32;
            match ranges.last_mut() {
                Some(range) if range.end == offset => range.end += 1,
                _ => ranges.push(offset..offset + 1),
            }
        }
        ranges
    }
}
