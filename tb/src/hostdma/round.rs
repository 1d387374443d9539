//! Rounds of random traffic, and cycles of bursts.

use super::HostDmaBench;
use super::config::{Counters, HalfCounters, Setup, Stimulus, Window};
use crate::bench::Finish;
use spinneret_sim::prelude::*;
use std::fmt;
use std::ops::AddAssign;

/// Transfers between two comparisons of everything, after which the windows change, and which of them counts.
const BATCH: u64 = 200;
/// Most transfers of each kind that wait in the cluster.
const WAITING: usize = 100;

/// Transfers by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bursts that were answered, by kind of answer, and statuses.
    pub counters: Counters,
    /// Descriptors, of writes and of reads.
    pub descriptors: [u64; 2],
    /// Clock cycles that were simulated.
    pub cycles: u64,
}

impl Totals {
    /// All transfers.
    pub fn transfers(&self) -> u64 {
        self.counters.writes.bursts + self.counters.reads.bursts
    }
}

impl AddAssign for HalfCounters {
    fn add_assign(&mut self, other: Self) {
        self.bursts += other.bursts;
        self.refused += other.refused;
        self.outside += other.outside;
        self.stray_status += other.stray_status;
        for (errors, others) in self.dma_errors.iter_mut().zip(other.dma_errors) {
            *errors += others;
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.counters += other.counters;
        for (descriptors, others) in self.descriptors.iter_mut().zip(other.descriptors) {
            *descriptors += others;
        }
        self.cycles += other.cycles;
    }
}

/// `5 writes: 1 refused, 0 outside, 2 failed descriptors, 0 unsolicited; 3 reads: ...`.
impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = |name: &str, half: &HalfCounters| {
            format!(
                "{} {name}: {} refused, {} outside, {} failed descriptors, {} unsolicited",
                half.bursts,
                half.refused,
                half.outside,
                half.dma_errors.iter().sum::<u64>(),
                half.stray_status
            )
        };
        let Counters { writes, reads } = &self.counters;
        write!(f, "{}; {}", half("writes", writes), half("reads", reads))
    }
}

/// Random transfers through a host DMA, with new windows now and then and at times a reset in the middle.
///
/// At the end all tags and all lines of the rings are in use at once.
///
/// # Panics
/// At the first byte, response or counter that is wrong, and if a tag or a line is lost.
pub fn run_round<M: Model>(sim: Simulation<M>, stimulus: Stimulus, transfers: u64) -> Totals {
    let mut rng = sim.rng("transfers");
    let mut bench = HostDmaBench::new(sim, stimulus);
    let mut traffic = Traffic::new(bench.setup, bench.sim.rng("traffic"));
    let mut totals = Totals::default();
    let mut left = transfers;
    while left > 0 {
        let windows = traffic.windows();
        bench.set_windows(&windows);
        bench.set_by_context(rng.random());
        let batch = left.min(BATCH);
        send(&mut bench, &mut traffic, &mut rng, batch);
        bench.settle();
        left -= batch;
        if rng.random_ratio(1, 10) {
            totals.counters += bench.counters();
            reset_in_traffic(&mut bench, &mut traffic, &mut rng);
        }
    }
    totals.counters += bench.counters();
    totals.descriptors = bench.descriptors;
    totals.cycles = bench.sim.cycle_count();
    // The load of an atomic operation counts as a read.
    assert!(totals.transfers() >= transfers, "{totals}");
    bench.finish();
    totals
}

/// Sends that many writes and reads.
fn send<M: Model>(bench: &mut HostDmaBench<M>, traffic: &mut Traffic, rng: &mut ChaCha8Rng, count: u64) {
    for _ in 0..count {
        bench.wait_for_at_most([WAITING, WAITING]);
        if rng.random_bool(0.5) {
            bench.write(traffic.write());
        } else {
            bench.read(traffic.read());
        }
    }
}

/// Some transfers, and a reset in the middle of them; they are not in the totals.
fn reset_in_traffic<M: Model>(bench: &mut HostDmaBench<M>, traffic: &mut Traffic, rng: &mut ChaCha8Rng) {
    send(bench, traffic, rng, 60);
    bench.run(rng.random_range(1..300));
    if bench.setup.drain && rng.random_ratio(3, 4) {
        bench.reset_alone();
    } else {
        bench.reset();
    }
}

/// Start address of measured writes.
const ADDRESS: u64 = 0x4000_0000;
/// Distance from the writes to the reads in bytes.
const READS_BEHIND: u64 = 0x4000_0000;
/// Bytes that are moved each way before counting starts: twice what a ring holds.
const WARM_UP: u64 = 2 * 16384;
/// Bytes each way that are counted, at least.
const COUNTED: u64 = 256 * 1024;
/// Fewest bursts that are counted.
const BURSTS: u64 = 1000;

/// Bytes a clock, with writes and reads at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Of writes.
    pub writes: f64,
    /// Of reads.
    pub reads: f64,
}

/// Clocks that a burst takes which is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// From the transfer of AW to that of B, for a write.
    pub write: u64,
    /// From the transfer of AR to that of the last R, for a read.
    pub read: u64,
}

/// A host DMA with a DMA of this latency, without pauses, with all windows open.
fn bench<M: Model>(sim: Simulation<M>, latency: u64) -> HostDmaBench<M> {
    let mut bench = HostDmaBench::new(sim, Stimulus::latency(latency));
    bench.open_windows(ADDRESS);
    bench
}

/// Counts the bytes a clock of bursts of that many bytes, which is a power of two, with a DMA of that latency; the
/// clocks that were simulated come with it.
///
/// # Panics
/// If a burst is lost or changed.
pub fn rates<M: Model>(sim: Simulation<M>, bytes: u64, latency: u64) -> (Rates, u64) {
    let mut bench = bench(sim, latency);
    let warm_up = (WARM_UP / bytes).max(1);
    let counted = (COUNTED / bytes).max(BURSTS);
    let bus = bench.setup.beat_bytes as usize;
    let data: Vec<u8> = (0..bytes).map(|index| index as u8).collect();
    for number in 0..2 * warm_up + counted {
        let address = ADDRESS + number * bytes;
        bench.write(WriteRequest::bytes(number % 16, address, &data, bus));
        let address = address + READS_BEHIND;
        bench.read(ReadRequest::bytes(number % 16, address, bytes as usize, bus));
    }
    // From the answer before the first that counts to the last that does, while bursts of both kinds follow.
    let mut starts = [None; 2];
    let mut ends = [None; 2];
    while ends.contains(&None) {
        bench.cycle();
        let sent = (2 * warm_up + counted) as usize;
        for (half, left) in bench.under_way().into_iter().enumerate() {
            let answered = (sent - left) as u64;
            let cycle = bench.sim.cycle_count();
            if answered >= warm_up {
                starts[half].get_or_insert((answered, cycle));
            }
            if answered >= warm_up + counted {
                ends[half].get_or_insert((answered, cycle));
            }
        }
    }
    let rate = |half: usize| {
        let ((first, start), (last, end)) =
            (starts[half].unwrap_or_default(), ends[half].unwrap_or_default());
        ((last - first) * bytes) as f64 / (end - start) as f64
    };
    let rates = Rates {
        writes: rate(0),
        reads: rate(1),
    };
    bench.settle();
    let cycles = bench.sim.cycle_count();
    bench.finish();
    (rates, cycles)
}

/// Counts the clocks of a write and of a read of that many bytes, each alone; the clocks that were simulated come
/// with it.
///
/// # Panics
/// If one is lost or changed.
pub fn latencies<M: Model>(sim: Simulation<M>, bytes: u64, latency: u64) -> (Latencies, u64) {
    let mut bench = bench(sim, latency);
    let bus = bench.setup.beat_bytes as usize;
    let data: Vec<u8> = (0..bytes).map(|index| index as u8).collect();
    bench.write(WriteRequest::bytes(1, ADDRESS, &data, bus));
    bench.settle();
    bench.read(ReadRequest::bytes(1, ADDRESS, bytes as usize, bus));
    bench.settle();
    let write = bench
        .last_write
        .map(|done| done.response_cycle - done.address_cycle);
    let read = bench
        .last_read
        .as_ref()
        .map(|done| done.last_cycle - done.address_cycle);
    let latencies = Latencies {
        write: write.unwrap_or_default(),
        read: read.unwrap_or_default(),
    };
    let cycles = bench.sim.cycle_count();
    bench.finish();
    (latencies, cycles)
}

/// No burst may touch two blocks of this size.
const PAGE: u64 = 4096;
/// Pages that are written, and that are read; few, so that bursts in flight meet.
const PAGES: u64 = 12;

/// Bursts of more beats have no holes, mostly.
const LONG: u64 = 8;

/// Random bursts to and from a few pages of host memory.
#[derive(Clone, Debug)]
pub struct Traffic {
    setup: Setup,
    rng: ChaCha8Rng,
    /// The first of the pages that are written; those that are read come after them.
    base: u64,
}

impl Traffic {
    /// Bursts for a host DMA, somewhere in memory.
    pub fn new(setup: Setup, mut rng: ChaCha8Rng) -> Self {
        let last = u64::MAX / PAGE - 2 * PAGES;
        let page = match rng.random_range(0..4) {
            0 => last + 1,
            1 => 0,
            _ => rng.random_range(0..=last),
        };
        Self {
            setup,
            rng,
            base: page * PAGE,
        }
    }

    /// Windows, of which most bursts miss some or hit one.
    pub fn windows(&mut self) -> Vec<Window> {
        let count = self.setup.windows.unwrap_or(0);
        let bytes = 2 * PAGES * PAGE;
        let mut windows: Vec<_> = (0..count)
            .map(|_| Window::random(&mut self.rng, self.base, bytes))
            .collect();
        if self.rng.random_bool(0.5)
            && let Some(window) = windows.last_mut()
        {
            // Most of memory, so that most bursts pass.
            *window = Window::new(self.base, bytes as u32);
        }
        windows
    }

    /// A write: mostly possible, with strobes of all kinds.
    pub fn write(&mut self) -> WriteRequest {
        let request = match self.rng.random_range(0..100) {
            0..30 => self.bytes(300),
            30..35 => self.bytes(PAGE),
            35..75 => {
                let burst = self.whole_beats();
                self.filled(burst)
            }
            75..88 => {
                let burst = self.narrow();
                self.filled(burst)
            }
            88..94 => {
                let burst = self.impossible();
                self.filled(burst).illegal()
            }
            94..97 => self.spoiled(),
            _ if self.setup.atomics => {
                let burst = self.of_atomic();
                self.filled(burst).atomic(self.rng.random_range(1..64))
            }
            _ => self.bytes(8),
        };
        let request = WriteRequest {
            user: Some(self.user(self.setup.user_bits[0])),
            ..request
        };
        if self.rng.random_ratio(1, 50) {
            return request.exclusive();
        }
        request
    }

    /// A read: mostly possible.
    pub fn read(&mut self) -> ReadRequest {
        let mut burst = match self.rng.random_range(0..100) {
            0..70 => {
                let most = if self.rng.random_ratio(1, 10) { PAGE } else { 300 };
                let (address, len) = self.range(most);
                let bus = self.setup.beat_bytes as usize;
                ReadRequest::bytes(self.id(), address, len as usize, bus).burst
            }
            70..80 => self.whole_beats(),
            80..94 => self.narrow(),
            _ => self.impossible(),
        };
        burst.address += PAGES * PAGE;
        // The monitors always check the slave, so even legal reads may be marked illegal.
        let user = self.user(self.setup.user_bits[1]);
        let request = ReadRequest::new(burst).illegal().with_user(user);
        if self.rng.random_ratio(1, 50) {
            return request.exclusive();
        }
        request
    }

    /// A user signal: mostly that of the last context, whose window is the largest.
    fn user(&mut self, bits: u32) -> u64 {
        let any = self.rng.random_range(0..1 << bits);
        match self.setup.windows {
            Some(contexts) if self.rng.random_ratio(3, 4) => {
                let last = contexts as u64 - 1;
                any - any % (last + 1) + last
            }
            _ => any,
        }
    }

    fn id(&mut self) -> u64 {
        self.rng.random_range(0..1 << self.setup.id_bits.min(8))
    }

    /// Bytes in one page: address and number, at most that many.
    fn range(&mut self, most: u64) -> (u64, u64) {
        let offset = self.rng.random_range(0..PAGE);
        let page = self.rng.random_range(0..PAGES);
        let len = self.rng.random_range(1..=most.min(PAGE - offset));
        (self.base + page * PAGE + offset, len)
    }

    /// A write of bytes that follow one another.
    fn bytes(&mut self, most: u64) -> WriteRequest {
        let (address, len) = self.range(most);
        let mut bytes = vec![0; len as usize];
        self.rng.fill_bytes(&mut bytes);
        WriteRequest::bytes(self.id(), address, &bytes, self.setup.beat_bytes as usize)
    }

    /// A burst of a few whole beats; the first may start within a beat.
    fn whole_beats(&mut self) -> Burst {
        let beats = match self.rng.random_range(0..20) {
            0 => self.rng.random_range(1..=256),
            1..8 => self.rng.random_range(2..=8),
            _ => 1,
        };
        self.fitting(beats, self.setup.beat_bytes)
    }

    /// A burst of narrow beats.
    fn narrow(&mut self) -> Burst {
        let most = self.setup.beat_bytes.ilog2();
        let size = 1 << self.rng.random_range(0..=most);
        let beats = match self.rng.random_range(0..10) {
            0 => self.rng.random_range(1..=256),
            _ => self.rng.random_range(1..=16),
        };
        self.fitting(beats, size)
    }

    /// A burst of at most that many beats inside one page.
    fn fitting(&mut self, beats: u64, size: u64) -> Burst {
        let offset = self.rng.random_range(0..PAGE);
        let offset = if self.rng.random_bool(0.5) {
            offset
        } else {
            offset / size * size
        };
        let beats = beats.min((PAGE - offset / size * size) / size);
        Burst {
            id: self.id(),
            address: self.base + self.rng.random_range(0..PAGES) * PAGE + offset,
            beats,
            size,
            kind: BurstKind::Incrementing,
        }
    }

    /// A burst of 1, 2, 4 or 8 beats, as atomic operations have them.
    fn of_atomic(&mut self) -> Burst {
        let size = self.setup.beat_bytes;
        let beats = 1 << self.rng.random_range(0..4);
        let mut burst = self.fitting(1, size);
        burst.address -= burst.address % (8 * size);
        Burst { beats, ..burst }
    }

    /// A burst that the host DMA refuses.
    fn impossible(&mut self) -> Burst {
        let burst = self.narrow();
        let beats = burst.beats;
        match self.rng.random_range(0..6) {
            0 => Burst {
                kind: BurstKind::Fixed,
                ..burst
            },
            1 | 2 => Burst {
                kind: BurstKind::Wrapping,
                address: burst.address / burst.size * burst.size,
                beats: [2, 4, 8, 16][self.rng.random_range(0..4)],
                ..burst
            },
            3 => Burst {
                kind: BurstKind::Reserved,
                ..burst
            },
            4 => Burst {
                size: (2 * self.setup.beat_bytes).min(128),
                ..self.crossing(beats)
            },
            _ => self.crossing(beats),
        }
    }

    /// A burst that begins in one page and ends in the next.
    fn crossing(&mut self, beats: u64) -> Burst {
        let size = self.setup.beat_bytes;
        let beats = beats.max(2);
        let inside = self.rng.random_range(1..beats).min(PAGE / size);
        let page = self.rng.random_range(1..PAGES);
        Burst {
            id: self.id(),
            address: self.base + page * PAGE - inside * size + self.rng.random_range(0..size),
            beats,
            size,
            kind: BurstKind::Incrementing,
        }
    }

    /// A burst with random data, and strobes inside of the lanes that it addresses.
    fn filled(&mut self, burst: Burst) -> WriteRequest {
        let bus = self.setup.beat_bytes;
        // Holes in long bursts make thousands of descriptors, which a few tests are enough for.
        let styles = if burst.beats > LONG && self.rng.random_ratio(49, 50) {
            5
        } else {
            8
        };
        let style = self.rng.random_range(0..styles);
        let beats: Vec<_> = (0..burst.beats)
            .map(|number| {
                let mut bytes = vec![0; bus as usize];
                self.rng.fill_bytes(&mut bytes);
                let lanes = match burst.kind {
                    BurstKind::Incrementing if burst.size <= bus => burst.lanes(number, bus),
                    _ => u128::MAX,
                };
                let all = u128::MAX >> (128 - bus);
                (bytes, self.strobes(style) & lanes & all)
            })
            .collect();
        WriteRequest::new(burst, beats)
    }

    /// Strobes of a beat, in one of several styles.
    fn strobes(&mut self, style: u32) -> u128 {
        let bus = self.setup.beat_bytes as u32;
        let bit = |rng: &mut ChaCha8Rng| rng.random_range(0..bus);
        match style {
            0..3 => u128::MAX,
            3 => u128::MAX << bit(&mut self.rng),
            4 => u128::MAX >> (128 - bus + bit(&mut self.rng)),
            5 if self.rng.random_bool(0.3) => self.rng.random(),
            5 => 0,
            6 => !(((1 << self.rng.random_range(0..8)) - 1) << bit(&mut self.rng)),
            _ => match self.rng.random_range(0..4) {
                0 => 0,
                1 => 1 << bit(&mut self.rng),
                2 => 1 | 1 << (bus - 1),
                _ => u128::MAX,
            },
        }
    }

    /// A burst whose data breaks a rule: WLAST is wrong, or bytes are strobed that it does not address.
    fn spoiled(&mut self) -> WriteRequest {
        let burst = self.narrow();
        let mut request = self.filled(burst).illegal();
        let beat = self.rng.random_range(0..request.beats.len());
        if self.rng.random_bool(0.5) {
            request.beats[beat].last ^= true;
        } else {
            let all = u128::MAX >> (128 - self.setup.beat_bytes);
            request.beats[beat].strobes |= self.rng.random::<u128>() & all;
        }
        request
    }
}
