//! Timing in clocks of the cluster: latencies, contention for L2, and instruction fetch.

use crate::map::Place;
use crate::rv::{Costs, DivisionCost, Misaligned};

/// Latencies of the model, in clocks. [`Default`] has those of PsPIN, [`Timing::spinneret`] those of spinneret's own clusters.
///
/// The published figure is the sum: a handler starts 26 ns after its packet of 64 bytes is in L2, at 1 GHz (Di Girolamo et
/// al., "A RISC-V in-network accelerator for flexible high-performance low-power packet processing", ISCA 2021, abstract).
/// The parts are chosen to add up to it. Access latencies were measured on FPsPIN's PULP cluster:
/// `sim/interop/recorded/costs.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Instructions.
    pub costs: Costs,
    /// From a HER in its queue to its task in a cluster.
    pub schedule: u64,
    /// From a task in a cluster to the first beat of its packet in L1, if the copy engine is idle.
    pub copy: u64,
    /// From a packet in L1 to its task at an HPU.
    pub assign: u64,
    /// From then until the HPU can begin: its protection ranges are set.
    pub give: u64,
    /// Accesses to the cluster's own L1, beyond the instruction.
    pub l1: u32,
    /// Loads from another cluster's L1, beyond the instruction.
    pub l1_remote_load: u32,
    /// Stores to another cluster's L1, beyond the instruction.
    pub l1_remote_store: u32,
    /// Loads from L2, beyond the instruction.
    pub l2_load: u32,
    /// Loads from the packet buffer, which has no atomics unit.
    pub l2_packet_load: u32,
    /// Stores to L2, beyond the instruction: the HPU waits for the response.
    pub l2_store: u32,
    /// Atomic operations in L2, beyond the instruction.
    pub l2_atomic: u32,
    /// Clocks for which a load occupies its L2 memory.
    pub l2_load_busy: u64,
    /// Clocks for which a load occupies the packet buffer.
    pub l2_packet_load_busy: u64,
    /// Clocks for which a store occupies its L2 memory.
    pub l2_store_busy: u64,
    /// Clocks for which an atomic operation occupies its L2 memory.
    pub l2_atomic_busy: u64,
    /// The same, if it waited while the one before changed the same line.
    pub l2_follower_busy: u64,
    /// How many may follow one another so.
    pub l2_followers: u32,
    /// Fetch of a line from program memory, while the cache is off.
    pub fetch_uncached: u32,
    /// Fetch of a line on a cache miss.
    pub fetch_miss: u32,
    /// From a cache miss until the line is in the cache; later requests hit.
    pub fetch_filled: u32,
    /// Accesses to registers of the HPU.
    pub register: u32,
    /// Reads that start a command, beyond an access to a register: the memory that it names is checked.
    pub issue: u32,
    /// Accesses of handlers that only the upper half of the protection ranges allows: the packet buffer and scratchpads.
    pub upper: u32,
    /// From the start of a command until it leaves the cluster.
    pub command: u64,
    /// From one line that the NIC reads to the next.
    pub port_line: u64,
    /// From the last line of a burst that the NIC reads to the next burst.
    pub port_burst: u64,
}

/// Bytes that are copied in one clock: 512 bits.
pub const BEAT_BYTES: u32 = 64;

impl Default for Timing {
    fn default() -> Self {
        Self {
            costs: Costs {
                misaligned: Misaligned::Split,
                ..Costs::default()
            },
            schedule: 3,
            copy: 16,
            assign: 5,
            give: 0,
            l1: 0,
            l1_remote_load: 21,
            l1_remote_store: 22,
            l2_load: 27,
            l2_packet_load: 24,
            l2_store: 29,
            l2_atomic: 36,
            l2_load_busy: 2,
            l2_packet_load_busy: 1,
            l2_store_busy: 3,
            l2_atomic_busy: 15,
            l2_follower_busy: 15,
            l2_followers: 0,
            fetch_uncached: 11,
            fetch_miss: 20,
            fetch_filled: 12,
            register: 0,
            issue: 0,
            upper: 0,
            command: 4,
            port_line: 1,
            port_burst: 1,
        }
    }
}

/// Clocks of a slot: the pipelines of spinneret's own clusters have four threads.
const SLOT: u32 = 4;

impl Timing {
    /// Those of spinneret's own clusters, measured on the simulated hardware: `./dev interop --own --step costs`.
    pub fn spinneret() -> Self {
        Self {
            costs: Costs {
                alu: SLOT,
                mul: SLOT,
                mulh: SLOT,
                div: DivisionCost::Fixed(33 * SLOT),
                load: SLOT,
                store: SLOT,
                atomic: SLOT,
                branch_taken: 2 * SLOT,
                branch_not_taken: SLOT,
                jump: 2 * SLOT,
                fence: SLOT,
                csr: SLOT,
                csr_flush: SLOT,
                mret: 2 * SLOT,
                wfi: SLOT,
                trap: 2 * SLOT,
                load_use: SLOT,
                jump_register: 0,
                misaligned_fetch: 0,
                misaligned_access: 2 * SLOT,
                misaligned: Misaligned::Split,
            },
            schedule: 3,
            copy: 12,
            assign: 34,
            give: 20,
            l1: 0,
            l1_remote_load: 4 * SLOT,
            l1_remote_store: 4 * SLOT,
            l2_load: 4 * SLOT,
            l2_packet_load: 4 * SLOT,
            l2_store: 4 * SLOT,
            l2_atomic: 4 * SLOT,
            l2_load_busy: 1,
            l2_packet_load_busy: 1,
            l2_store_busy: 1,
            l2_atomic_busy: 10,
            l2_follower_busy: 3,
            l2_followers: 7,
            // Program memory is private to a pipeline.
            fetch_uncached: 0,
            fetch_miss: 0,
            fetch_filled: 0,
            register: 0,
            issue: 20,
            upper: 2 * SLOT,
            command: 34,
            port_line: 1,
            port_burst: 16,
        }
    }
}

const LINE_SHIFT: u32 = 4;
const WAYS: usize = 4;
const SETS: usize = 64;
/// An HPU that requests a line this many clocks after the first one belongs to the second group.
const BEHIND: u64 = 5;
/// No line has this number.
const NONE: u32 = u32::MAX;

/// The instruction cache of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Icache {
    is_on: bool,
    lines: [[Line; WAYS]; SETS],
}

/// A line, or an empty way.
#[derive(Clone, Copy, Debug)]
struct Line {
    number: u32,
    /// When it was requested.
    asked: u64,
    /// An HPU received it as soon as it was filled.
    is_taken: bool,
}

impl Line {
    const EMPTY: Self = Self {
        number: NONE,
        asked: 0,
        is_taken: false,
    };

    /// When an HPU that needs the line now receives it. The HPU that requested it is notified late, and so are all that wait
    /// with it, except one that came later (recorded: eight HPUs that run the same code).
    fn ready(&mut self, now: u64, timing: &Timing) -> u64 {
        let (since, filled) = (now - self.asked, u64::from(timing.fetch_filled));
        if since >= filled {
            return now;
        }
        if since >= BEHIND && !self.is_taken {
            self.is_taken = true;
            return self.asked + filled;
        }
        self.asked + u64::from(timing.fetch_miss)
    }
}

/// Random replacement in a full set. Each HPU has its own LFSR, which advances only then (`icache_bank_mp_128.sv`, state
/// `REQ_REFILL`; `generic_LFSR_8bit.sv`).
#[derive(Clone, Copy, Debug, Default)]
struct Draw(u8);

impl Draw {
    fn way(&mut self) -> usize {
        let Self(bits) = *self;
        let feedback = !(bits >> 7 ^ bits >> 3 ^ bits >> 2 ^ bits >> 1) & 1;
        self.0 = bits << 1 | feedback;
        usize::from(bits >> 1) % WAYS
    }
}

impl Icache {
    /// Returns a cache in the state after reset: off and empty.
    pub(crate) fn new() -> Self {
        Self {
            is_on: false,
            lines: [[Line::EMPTY; WAYS]; SETS],
        }
    }

    /// Writes a register (`mp_pf_icache_ctrl_unit.sv`): the first enables or disables the cache, the second flushes it.
    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        match offset {
            0 => self.is_on = value & 1 != 0,
            _ if value & 1 != 0 => self.lines = [[Line::EMPTY; WAYS]; SETS],
            _ => {}
        }
    }

    /// Reads a register: the first returns whether the cache is on (recorded: `sim/interop/recorded/accesses.csv`).
    pub(crate) fn read(&self, offset: u32) -> u32 {
        u32::from(offset == 0 && self.is_on)
    }

    /// When a line that is needed now is available, with the cache on.
    fn ready(&mut self, line: u32, now: u64, draw: &mut Draw, timing: &Timing) -> u64 {
        let ways = &mut self.lines[line as usize % SETS];
        // The last empty way is filled first.
        let empty = ways.iter().rposition(|there| there.number == NONE);
        let mut choose = || empty.unwrap_or_else(|| draw.way());
        if let Some(there) = ways.iter().position(|there| there.number == line) {
            if now - ways[there].asked < u64::from(timing.fetch_filled) {
                // A refill is in flight. A miss now requests the line again, and so advances the LFSR.
                choose();
            }
            return ways[there].ready(now, timing);
        }
        ways[choose()] = Line {
            number: line,
            asked: now,
            is_taken: false,
        };
        now + u64::from(timing.fetch_miss)
    }
}

/// The line that an HPU executes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch {
    line: u32,
    /// When it began to execute from it.
    since: u64,
    draw: Draw,
}

impl Default for Fetch {
    fn default() -> Self {
        Self {
            line: NONE,
            since: 0,
            draw: Draw::default(),
        }
    }
}

impl Fetch {
    /// Returns the clocks for which the instruction at `pc` waits for its line.
    #[inline]
    pub(crate) fn wait(&mut self, pc: u32, now: u64, cache: &mut Icache, timing: &Timing) -> u32 {
        // A 4-byte instruction that crosses a line boundary needs the next line.
        let line = pc.wrapping_add(2) >> LINE_SHIFT;
        if line == self.line {
            return 0;
        }
        self.enter(line, now, cache, timing)
    }

    fn enter(&mut self, line: u32, now: u64, cache: &mut Icache, timing: &Timing) -> u32 {
        // The next line is prefetched from program memory when this one is entered.
        let is_next = line == self.line.wrapping_add(1);
        let asked = if is_next { self.since } else { now };
        let ready = match cache.is_on {
            true => cache.ready(line, now, &mut self.draw, timing),
            false => asked + u64::from(timing.fetch_uncached),
        };
        let wait = ready.saturating_sub(now);
        self.line = line;
        self.since = now + wait;
        wait as u32
    }
}

/// The kind of an access to L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Load,
    Store,
    Atomic,
}

/// Contention for the L2 memories: when each is free again.
///
/// An access occupies its memory for a part of its latency. An HPU that finds the memory busy waits until it is free.
#[derive(Clone, Debug, Default)]
pub(crate) struct L2Contention {
    handler: Contended,
    packet: Contended,
}

/// A memory of L2.
#[derive(Clone, Debug, Default)]
struct Contended {
    /// When it is free again.
    free: u64,
    /// The line that the last access changed, if it was an atomic operation.
    changed: Option<usize>,
    /// Atomic operations of that line that followed one another.
    followers: u32,
}

impl L2Contention {
    /// Returns the latency of an access that begins now, beyond the clocks of its instruction.
    pub(crate) fn access(&mut self, place: Place, kind: AccessKind, now: u64, timing: &Timing) -> u32 {
        let (alone, busy) = match kind {
            AccessKind::Load if matches!(place, Place::Packet(_)) => {
                (timing.l2_packet_load, timing.l2_packet_load_busy)
            }
            AccessKind::Load => (timing.l2_load, timing.l2_load_busy),
            AccessKind::Store => (timing.l2_store, timing.l2_store_busy),
            AccessKind::Atomic => (timing.l2_atomic, timing.l2_atomic_busy),
        };
        let (memory, offset) = match place {
            Place::Handler(offset) => (&mut self.handler, offset),
            Place::Packet(offset) => (&mut self.packet, offset),
            Place::L1(..) | Place::Program(_) => return alone,
        };
        let changed = (kind == AccessKind::Atomic).then_some(offset / BEAT_BYTES as usize);
        let follows = changed.is_some()
            && changed == memory.changed
            && now < memory.free
            && memory.followers < timing.l2_followers;
        let start = now.max(memory.free);
        *memory = Contended {
            free: start + if follows { timing.l2_follower_busy } else { busy },
            changed,
            followers: if follows { memory.followers + 1 } else { 0 },
        };
        alone + u32::try_from(start - now).unwrap_or(u32::MAX - alone)
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessKind, Fetch, Icache, L2Contention, Timing};
    use crate::map::Place;

    /// Stalls of a loop of four lines, per iteration; each line executes in four clocks.
    fn turns(cache: &mut Icache, count: usize) -> Vec<u32> {
        let (mut fetch, mut now, timing) = (Fetch::default(), 0, Timing::default());
        let mut turn = || {
            let lines = (0..4).map(|line| {
                let wait = fetch.wait(0x1d00_0000 + 16 * line, now, cache, &timing);
                now += u64::from(wait) + 4;
                wait
            });
            lines.sum()
        };
        (0..count).map(|_| turn()).collect()
    }

    #[test]
    fn loop_misses_once_and_then_hits() {
        let mut cache = Icache::new();
        cache.write(0, u32::MAX);
        let timing = Timing::default();
        let waits = turns(&mut cache, 3);
        assert!(waits[0] >= timing.fetch_miss);
        assert_eq!(waits[1..], [0, 0]);
        cache.write(4, 1);
        assert_eq!(turns(&mut cache, 1), waits[..1]);
    }

    #[test]
    fn without_cache_every_line_stalls() {
        let timing = Timing::default();
        let waits = turns(&mut Icache::new(), 2);
        let each = timing.fetch_uncached - 4;
        assert_eq!(waits, [timing.fetch_uncached + 3 * each; 2]);
    }

    #[test]
    fn simultaneous_access_waits_for_its_own_memory_only() {
        let (mut l2, timing) = (L2Contention::default(), Timing::default());
        let mut access = |place, kind, now| l2.access(place, kind, now, &timing);
        let (here, there) = (Place::Handler(0), Place::Packet(0));
        assert_eq!(access(here, AccessKind::Atomic, 100), timing.l2_atomic);
        assert_eq!(access(there, AccessKind::Load, 100), timing.l2_packet_load);
        assert_eq!(
            access(here, AccessKind::Load, 100),
            timing.l2_load + timing.l2_atomic_busy as u32
        );
        let free = 100 + timing.l2_atomic_busy + timing.l2_load_busy;
        assert_eq!(access(here, AccessKind::Store, free), timing.l2_store);
    }

    #[test]
    fn atomic_operations_of_a_line_follow_each_other() {
        let (mut l2, timing) = (L2Contention::default(), Timing::spinneret());
        let mut waits = |offsets: [usize; 9]| {
            let now = l2.handler.free;
            offsets.map(|offset| {
                l2.access(Place::Handler(offset), AccessKind::Atomic, now, &timing) - timing.l2_atomic
            })
        };
        // The first one of a line is not a follower, nor is the one after seven followers.
        assert_eq!(
            waits([4, 8, 4, 60, 4, 4, 4, 4, 4]),
            [0, 10, 13, 16, 19, 22, 25, 28, 31]
        );
        assert_eq!(
            waits([4, 68, 4, 68, 72, 68, 4, 4, 4]),
            [0, 10, 20, 30, 40, 43, 46, 56, 59]
        );
    }
}
