//! The slots of the packet buffer and when they are freed, and the counters of the path.

use spinneret_sim::prelude::*;
use std::collections::VecDeque;
use std::fmt;
use std::ops::{AddAssign, Index, IndexMut};

/// Cause of a dropped packet, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// No room in the queue of the DMA.
    Overload,
    /// No free slot.
    NoSlot,
    /// The memory refused a burst.
    WriteError,
    /// The frame says that it is bad, or its `tkeep` is impossible.
    BadFrame,
    /// More bytes than the largest slot.
    Oversize,
    /// Neither the packet's context nor context 0 is enabled.
    NoContext,
    /// The packet's context has as many slots as it may have.
    Bound,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 7] = [
        Self::Overload,
        Self::NoSlot,
        Self::WriteError,
        Self::BadFrame,
        Self::Oversize,
        Self::NoContext,
        Self::Bound,
    ];

    /// Name of its counter, or of its counters, one for each context.
    fn port(self) -> &'static str {
        match self {
            Self::Overload => "dropped_overload_o",
            Self::NoSlot => "dropped_no_slot_o",
            Self::WriteError => "dropped_write_error_o",
            Self::BadFrame => "dropped_bad_frame_o",
            Self::Oversize => "dropped_oversize_o",
            Self::NoContext => "dropped_no_context_o",
            Self::Bound => "dropped_bound_o",
        }
    }

    /// For reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overload => "overload",
            Self::NoSlot => "no slot",
            Self::WriteError => "write error",
            Self::BadFrame => "bad frame",
            Self::Oversize => "oversize",
            Self::NoContext => "no context",
            Self::Bound => "bound",
        }
    }
}

/// Dropped packets by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; Cause::ALL.len()]);

impl Drops {
    /// Of all causes.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Index<Cause> for Drops {
    type Output = u64;

    fn index(&self, cause: Cause) -> &u64 {
        &self.0[cause as usize]
    }
}

impl IndexMut<Cause> for Drops {
    fn index_mut(&mut self, cause: Cause) -> &mut u64 {
        &mut self.0[cause as usize]
    }
}

impl AddAssign for Drops {
    fn add_assign(&mut self, other: Self) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own += others;
        }
    }
}

/// `2 overload, 1 bad frame`, without causes that did not happen.
impl fmt::Display for Drops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let happened = Cause::ALL.into_iter().filter(|cause| self[*cause] > 0);
        let parts: Vec<String> = happened
            .map(|cause| format!("{} {}", self[cause], cause.name()))
            .collect();
        f.write_str(&if parts.is_empty() {
            "none".to_owned()
        } else {
            parts.join(", ")
        })
    }
}

/// Refused frees by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// No slot starts at the address.
    pub no_start: u64,
    /// The slot was not out.
    pub not_out: u64,
    /// Before all slots were in their lists.
    pub early: u64,
}

/// Counters of the path since its reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Matched packets.
    pub matched: u64,
    /// Unmatched packets.
    pub bypassed: u64,
    /// HERs that the cluster took.
    pub hers: u64,
    /// Dropped packets.
    pub drops: Drops,
    /// The public design's counter of dropped packets.
    pub alloc_dropped: u64,
    /// Refused frees.
    pub refused: Refusals,
    /// Small slots that are out, and the most there were.
    pub small: Occupancy,
    /// Large slots likewise.
    pub large: Occupancy,
}

impl Counters {
    /// Packets that left the path, one way or the other.
    pub fn packets(&self) -> u64 {
        self.bypassed + self.hers + self.drops.sum()
    }
}

/// Slots of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Slots that are out.
    pub used: u64,
    /// Most that were out at the same time.
    pub peak: u64,
}

/// The ports of the counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterPorts {
    traffic: [PortHandle; 3],
    /// Only paths with bounds have that of [`Cause::Bound`].
    drops: [Option<PortHandle>; Cause::ALL.len()],
    alloc_dropped: PortHandle,
    refused: [PortHandle; 3],
    slots: [PortHandle; 4],
}

impl CounterPorts {
    /// Looks them up.
    ///
    /// # Panics
    /// If one is missing.
    pub(super) fn find(dut: &Instance) -> Self {
        let find = |name: &str| {
            let port = dut.port(name, Direction::Output);
            port.unwrap_or_else(|error| panic!("{error}"))
        };
        Self {
            traffic: ["matched_pkts_o", "bypassed_pkts_o", "her_pkts_o"].map(find),
            drops: Cause::ALL.map(|cause| match cause {
                Cause::Bound => dut.find(cause.port()),
                cause => Some(find(cause.port())),
            }),
            alloc_dropped: find("alloc_dropped_pkts"),
            refused: ["refused_no_start_o", "refused_not_out_o", "refused_early_o"].map(find),
            slots: ["small_used_o", "small_peak_o", "large_used_o", "large_peak_o"].map(find),
        }
    }

    /// Reads them.
    pub(super) fn read(&self, dut: &Instance) -> Counters {
        let value = |port: PortHandle| dut.value(port) as u64;
        let [matched, bypassed, hers] = self.traffic.map(value);
        let [no_start, not_out, early] = self.refused.map(value);
        let [small_used, small_peak, large_used, large_peak] = self.slots.map(value);
        Counters {
            matched,
            bypassed,
            hers,
            drops: Drops(
                self.drops
                    .map(|port| port.map_or(0, |port| words(dut, port).sum())),
            ),
            alloc_dropped: value(self.alloc_dropped),
            refused: Refusals {
                no_start,
                not_out,
                early,
            },
            small: Occupancy {
                used: small_used,
                peak: small_peak,
            },
            large: Occupancy {
                used: large_used,
                peak: large_peak,
            },
        }
    }
}

/// The words of a port.
fn words(dut: &Instance, port: PortHandle) -> impl Iterator<Item = u64> {
    let words = dut.bytes(port).chunks(4);
    words.map(|word| {
        word.iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    })
}

/// The size of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// For frames of few beats.
    Small,
    /// For all others.
    Large,
}

impl Class {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Small, Self::Large];
}

/// The slots of one class, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotRange {
    /// Address of the first slot.
    pub base: u64,
    /// Bytes of a slot.
    pub bytes: u64,
    /// Number of slots.
    pub count: u64,
}

impl SlotRange {
    /// Address of a slot; that with the number [`count`](Self::count) would be after the last.
    pub fn address(&self, number: u64) -> u64 {
        self.base + number * self.bytes
    }

    /// Returns whether an address is in one of the slots.
    pub fn contains(&self, address: u64) -> bool {
        (self.base..self.address(self.count)).contains(&address)
    }
}

/// The slots of both classes; `slots[class]` are those of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotMap {
    large: SlotRange,
    small: SlotRange,
}

impl SlotMap {
    /// Large slots from an address on, and small ones after them: {bytes, count} of each.
    pub fn new(base: u64, large: (u64, u64), small: (u64, u64)) -> Self {
        let range = |base, (bytes, count)| SlotRange { base, bytes, count };
        let large = range(base, large);
        let small = range(large.address(large.count), small);
        Self { large, small }
    }

    /// Slots of both classes.
    pub fn total(&self) -> u64 {
        self.large.count + self.small.count
    }

    /// The slot that contains an address, if there is one.
    pub fn around(&self, address: u64) -> Option<Slot> {
        let class = Class::ALL
            .into_iter()
            .find(|class| self[*class].contains(address))?;
        let offset = (address - self[class].base) % self[class].bytes;
        Some(Slot {
            class,
            address: address - offset,
        })
    }

    /// The slot that starts at an address, if there is one.
    pub fn at(&self, address: u64) -> Option<Slot> {
        self.around(address).filter(|slot| slot.address == address)
    }

    /// Address after the last byte of a slot.
    pub fn end(&self, slot: Slot) -> u64 {
        slot.address + self[slot.class].bytes
    }
}

impl Index<Class> for SlotMap {
    type Output = SlotRange;

    fn index(&self, class: Class) -> &SlotRange {
        match class {
            Class::Small => &self.small,
            Class::Large => &self.large,
        }
    }
}

/// A slot of the packet buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Its size.
    pub class: Class,
    /// Address of its first byte.
    pub address: u64,
}

/// Policy by which the cluster frees slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// As soon as the HER is taken.
    AtOnce,
    /// In each cycle with that probability in percent, in any order, and at once beyond that many slots.
    Random {
        /// Probability of a free in percent.
        percent: u32,
        /// Slots that the cluster holds at most.
        most: usize,
    },
    /// Not automatically.
    Never,
}

/// A slot that the cluster has.
#[derive(Clone, Copy, Debug)]
struct Held {
    slot: Slot,
    /// Size and message id of the feedback.
    rest: [u64; 2],
}

/// Expected outcome of a queued free.
#[derive(Clone, Copy, Debug)]
enum Free {
    Good(Slot),
    NoStart,
    NotOut,
    Early,
}

/// Free slots that a class must have for a slot to be freed twice: it is at the end of the list then, and
/// surely not given out before the second free is checked.
const SAFE_DISTANCE: u64 = 128;
/// Frees that wait at most, for the same reason.
const SAFE_QUEUE: usize = 4;

/// Frees slots, and counts what has to be refused.
#[derive(Debug)]
pub(super) struct Releases {
    pub(super) policy: Release,
    /// Wrong frees, in percent of the cycles in which there is a good one.
    pub(super) bad_percent: u32,
    slots: SlotMap,
    feedback: ChannelSource,
    rng: ChaCha8Rng,
    held: Vec<Held>,
    queue: VecDeque<Free>,
    taken: u64,
    /// Refusals that have to be counted since the last comparison.
    pub(super) refused: Refusals,
}

impl Releases {
    pub(super) fn new(
        feedback: ChannelSource,
        slots: SlotMap,
        policy: Release,
        bad_percent: u32,
        rng: ChaCha8Rng,
    ) -> Self {
        Self {
            policy,
            bad_percent,
            slots,
            feedback,
            rng,
            held: Vec::new(),
            queue: VecDeque::new(),
            taken: 0,
            refused: Refusals::default(),
        }
    }

    /// The cluster has a slot from now on.
    pub(super) fn hold(&mut self, slot: Slot, size: u64, message_id: u64) {
        let rest = [size, message_id];
        self.held.push(Held { slot, rest });
    }

    /// Slots that the cluster has and that no free in the queue names.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Returns whether the path has taken all frees.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// The slots of frees that the path took since the last call.
    pub(super) fn taken(&mut self) -> Vec<Slot> {
        let taken = self.feedback.counts().beats;
        let new = (taken - self.taken) as usize;
        self.taken = taken;
        let mut slots = Vec::new();
        for free in self.queue.drain(..new) {
            match free {
                Free::Good(slot) => slots.push(slot),
                Free::NoStart => self.refused.no_start += 1,
                Free::NotOut => self.refused.not_out += 1,
                Free::Early => self.refused.early += 1,
            }
        }
        slots
    }

    /// Sends what the policy says; called once a cycle.
    pub(super) fn step(&mut self, counters: impl Fn() -> Counters) {
        let due = match self.policy {
            Release::Never => false,
            Release::AtOnce => true,
            Release::Random { percent, most } => {
                self.held.len() > most || self.rng.random_range(0..100) < percent
            }
        };
        if !due || self.held.is_empty() || self.queue.len() >= SAFE_QUEUE {
            return;
        }
        let chosen = self.rng.random_range(0..self.held.len());
        let slot = self.release(chosen);
        if self.rng.random_range(0..100) < self.bad_percent {
            self.send_wrong(slot, &counters());
        }
    }

    /// Frees a slot of a class, if the cluster has one.
    pub(super) fn release_one(&mut self, class: Class) -> bool {
        let index = self.held.iter().position(|held| held.slot.class == class);
        index.map(|index| self.release(index)).is_some()
    }

    /// Frees all slots.
    pub(super) fn release_all(&mut self) {
        while !self.held.is_empty() {
            let chosen = self.rng.random_range(0..self.held.len());
            self.release(chosen);
        }
    }

    /// Sends a free of an address at which no slot starts.
    pub(super) fn send_foreign(&mut self, address: u64) {
        assert_eq!(self.slots.at(address), None, "{address:#x} is a slot");
        self.send(address, [0, 0], Free::NoStart);
    }

    /// Sends a free of a slot that surely is not out.
    pub(super) fn send_double(&mut self, slot: Slot) {
        self.send(slot.address, [0, 0], Free::NotOut);
    }

    /// Sends a free that comes before all slots are in their lists.
    pub(super) fn send_early(&mut self, address: u64) {
        self.send(address, [0, 0], Free::Early);
    }

    /// Forgets everything; the design is in reset.
    pub(super) fn reset(&mut self) {
        self.feedback.clear();
        self.held.clear();
        self.queue.clear();
        self.refused = Refusals::default();
    }

    fn release(&mut self, index: usize) -> Slot {
        let Held { slot, rest } = self.held.swap_remove(index);
        self.send(slot.address, rest, Free::Good(slot));
        slot
    }

    fn send(&mut self, address: u64, [size, message_id]: [u64; 2], free: Free) {
        self.feedback.send(&[address, size, message_id]);
        self.queue.push_back(free);
    }

    fn send_wrong(&mut self, slot: Slot, counters: &Counters) {
        let (own, small) = (self.slots[slot.class], self.slots[Class::Small]);
        let used = match slot.class {
            Class::Small => counters.small.used,
            Class::Large => counters.large.used,
        };
        if self.rng.random_bool(0.5) && used + SAFE_DISTANCE < own.count {
            self.send_double(slot);
            return;
        }
        let address = match self.rng.random_range(0..4) {
            0 => slot.address + self.rng.random_range(1..own.bytes),
            1 => self.slots[Class::Large].base - own.bytes,
            2 => small.address(small.count),
            _ => self.rng.random::<u32>().into(),
        };
        if self.slots.at(address).is_none() {
            self.send_foreign(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, SlotMap};

    #[test]
    fn slots_fill_the_buffer() {
        let start = 0x1c10_0000;
        let slots = SlotMap::new(start, (1536, 256), (128, 1024));
        let mut next = start;
        while next < start + (512 << 10) {
            let slot = slots.at(next).unwrap();
            assert_eq!(slots.around(slots.end(slot) - 1), Some(slot));
            assert_eq!(slots.at(next + 1), None);
            next = slots.end(slot);
        }
        assert_eq!(next, 0x1c18_0000);
        assert_eq!((slots.around(next), slots.around(start - 1)), (None, None));
        assert_eq!(slots[Class::Small].base, 0x1c16_0000);
        assert_eq!(slots.total(), 1280);
    }
}
