//! Address map of the clusters, the memories, and memory protection of handlers.

use crate::task::{SCRATCHPADS, Task};
use spinneret_regmap::pspin::{
    DMA_BASE, DMA_BYTES, DRIVER_BASE, DRIVER_BYTES, HANDLER_BASE, HANDLER_BYTES, ICACHE_BASE, ICACHE_BYTES,
    L1_ALIAS, L1_AREA_BYTES, L1_AREAS, L1_BASE, L1_BYTES, L1_STRIDE, PACKET_BASE, PACKET_BYTES,
    PERIPHERAL_BYTES, PERIPHERALS, PROGRAM_BASE, PROGRAM_BYTES, SHARED_BYTES, STDOUT, STDOUT_BYTES,
    STDOUT_CLUSTER_SHIFT, STDOUT_HPU_SHIFT, TERMINATE, driver as register, l1_address,
};
use std::ops::Range;

/// A memory, and the offset in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// L1 of a cluster.
    L1(usize, usize),
    /// L2 memory of handlers.
    Handler(usize),
    /// L2 packet buffer.
    Packet(usize),
    /// Program memory.
    Program(usize),
}

/// The target of an address, as seen by an HPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Memory.
    Memory(Place),
    /// A register of the HPU's driver, by its offset.
    Driver(u32),
    /// A register of the HPU's part of the copy engine, by its offset.
    Dma(u32),
    /// The end of the program.
    Terminate,
    /// Standard output of a cluster's HPU.
    Stdout(usize, usize),
    /// The cluster's instruction cache, by the register's offset.
    Icache(u32),
    /// Another register of the cluster, which our programs do not use.
    Other,
    /// No target: the access is never granted.
    Silence,
}

/// Returns the memory at an address, if `bytes` bytes from there on are in one memory; `clusters` is the number of L1s.
pub fn place(address: u32, bytes: u32, clusters: usize) -> Option<Place> {
    let inside = |base: u32, size: u32| {
        let offset = address.wrapping_sub(base);
        (offset < size && bytes <= size - offset).then_some(offset as usize)
    };
    if let Some(offset) = inside(HANDLER_BASE, HANDLER_BYTES) {
        return Some(Place::Handler(offset));
    }
    if let Some(offset) = inside(PACKET_BASE, PACKET_BYTES) {
        return Some(Place::Packet(offset));
    }
    if let Some(offset) = inside(PROGRAM_BASE, PROGRAM_BYTES) {
        return Some(Place::Program(offset));
    }
    let cluster = address.wrapping_sub(L1_BASE) / L1_STRIDE;
    if (cluster as usize) < clusters {
        let offset = inside(L1_BASE + cluster * L1_STRIDE, L1_BYTES)?;
        return Some(Place::L1(cluster as usize, offset));
    }
    None
}

/// Returns the target of an access of `bytes` bytes by an HPU of `cluster`.
pub fn target(address: u32, bytes: u32, cluster: usize, clusters: usize) -> Option<Target> {
    let offset = address.wrapping_sub(L1_ALIAS);
    if offset < L1_BYTES {
        return (bytes <= L1_BYTES - offset).then_some(Target::Memory(Place::L1(cluster, offset as usize)));
    }
    if let Some(place) = place(address, bytes, clusters) {
        return Some(Target::Memory(place));
    }
    let inside = |base: u32, size: u32| Some(address.wrapping_sub(base)).filter(|offset| *offset < size);
    if let Some(offset) = inside(STDOUT, STDOUT_BYTES) {
        let (core, cluster) = (
            offset >> STDOUT_HPU_SHIFT & 0xf,
            offset >> STDOUT_CLUSTER_SHIFT & 0xf,
        );
        return Some(Target::Stdout(cluster as usize, core as usize));
    }
    inside(PERIPHERALS, PERIPHERAL_BYTES).map(|_| peripheral(address))
}

fn peripheral(address: u32) -> Target {
    let inside = |base: u32, size: u32| Some(address.wrapping_sub(base)).filter(|offset| *offset < size);
    if address == TERMINATE {
        Target::Terminate
    } else if let Some(offset) = inside(DRIVER_BASE, DRIVER_BYTES) {
        Target::Driver(offset)
    } else if let Some(offset) = inside(DMA_BASE, DMA_BYTES) {
        Target::Dma(offset)
    } else if let Some(offset) = inside(ICACHE_BASE, ICACHE_BYTES) {
        Target::Icache(offset)
    } else if address < DRIVER_BASE {
        Target::Other
    } else {
        Target::Silence
    }
}

/// L1 of each cluster and the three memories of L2.
#[derive(Clone, Debug)]
pub struct Memory {
    l1: Vec<Box<[u8]>>,
    handler: Box<[u8]>,
    packet: Box<[u8]>,
    program: Box<[u8]>,
}

impl Memory {
    /// Returns zeroed memories for this number of clusters.
    pub fn new(clusters: usize) -> Self {
        let zeros = |bytes: u32| vec![0; bytes as usize].into_boxed_slice();
        Self {
            l1: (0..clusters).map(|_| zeros(L1_BYTES)).collect(),
            handler: zeros(HANDLER_BYTES),
            packet: zeros(PACKET_BYTES),
            program: zeros(PROGRAM_BYTES),
        }
    }

    /// Returns the number of clusters.
    pub fn clusters(&self) -> usize {
        self.l1.len()
    }

    /// Returns the bytes from a place to the end of its memory.
    pub fn from(&self, place: Place) -> &[u8] {
        match place {
            Place::L1(cluster, offset) => &self.l1[cluster][offset..],
            Place::Handler(offset) => &self.handler[offset..],
            Place::Packet(offset) => &self.packet[offset..],
            Place::Program(offset) => &self.program[offset..],
        }
    }

    /// Returns the bytes from a place to the end of its memory for changes.
    pub fn from_mut(&mut self, place: Place) -> &mut [u8] {
        match place {
            Place::L1(cluster, offset) => &mut self.l1[cluster][offset..],
            Place::Handler(offset) => &mut self.handler[offset..],
            Place::Packet(offset) => &mut self.packet[offset..],
            Place::Program(offset) => &mut self.program[offset..],
        }
    }

    /// Returns bytes at a global address; `None` if they are not all in one memory.
    pub fn read(&self, address: u32, bytes: u32) -> Option<&[u8]> {
        let place = place(address, bytes, self.clusters())?;
        Some(&self.from(place)[..bytes as usize])
    }

    /// Writes bytes at a global address. Returns whether they are all in one memory; if not, nothing is written.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> bool {
        let length = u32::try_from(bytes.len()).ok();
        match length.and_then(|length| place(address, length, self.clusters())) {
            Some(place) => {
                self.from_mut(place)[..bytes.len()].copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }

    /// Copies bytes between global addresses. Returns whether both are memory; if not, nothing is copied.
    pub fn copy(&mut self, source: u32, destination: u32, bytes: u32) -> bool {
        let Some(data) = self.read(source, bytes).map(<[u8]>::to_vec) else {
            return false;
        };
        self.write(destination, &data)
    }
}

/// Granularity of protection in the PULP cluster.
const PAGE: u32 = 0x1000;
const ALL_L1: u32 = 0x100_0000;
const ALL_HANDLER_MEMORY: u32 = 0x10_0000;

/// The memory that a handler may read and write. It may read program memory as well.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protection {
    allowed: Vec<Range<u32>>,
    /// Whether handlers may access all registers.
    is_wide: bool,
}

impl Protection {
    /// The protection of a task: its memory, its stack, and the program's own data in L2: that of its context, or else `shared`.
    pub(crate) fn of(task: &Task, packet_in_l1: u32, hpu: (usize, usize), shared: &Range<u32>) -> Self {
        let (cluster, core) = hpu;
        let range = |[address, bytes]: [u32; 2]| address..address.saturating_add(bytes);
        let shared = match task.meta.shared {
            [_, 0] => shared.clone(),
            own => range(own),
        };
        let stack = l1_address(cluster, L1_AREAS + core as u32 * L1_AREA_BYTES);
        let mut allowed = vec![
            range([packet_in_l1, task.her.copied]),
            range([stack, L1_AREA_BYTES]),
            range(task.meta.handler_memory),
            range([task.her.address, task.her.size]),
            shared,
        ];
        let named = task.scratchpads();
        // Four further clusters have theirs where those that the task names do.
        for cluster in 0..2 * SCRATCHPADS {
            let [address, bytes] = named[cluster % SCRATCHPADS];
            let beyond = (cluster - cluster % SCRATCHPADS) as u32;
            allowed.push(range([address.wrapping_add(beyond * L1_STRIDE), bytes]));
        }
        allowed.retain(|range| !range.is_empty());
        Self {
            allowed,
            is_wide: false,
        }
    }

    /// The protection of PsPIN's driver: naturally aligned powers of two of 4 KiB and more (`hpu_driver.sv`, `pmp_addr_d`),
    /// including all registers.
    pub(crate) fn wide(task: &Task, packet_in_l1: u32, cluster: usize) -> Self {
        let around = |address: u32, bytes: u32| {
            let base = address & !(bytes - 1);
            base..base.saturating_add(bytes)
        };
        let mut allowed = vec![
            around(l1_address(cluster, 0), ALL_L1),
            around(packet_in_l1, PAGE),
            around(task.her.address, PAGE),
            around(task.meta.handler_memory[0], ALL_HANDLER_MEMORY),
            around(HANDLER_BASE, SHARED_BYTES),
        ];
        allowed.extend(task.scratchpads().map(|[address, _]| around(address, PAGE)));
        Self {
            allowed,
            is_wide: true,
        }
    }

    /// Whether an access to `target` is allowed.
    pub(crate) fn allows(
        &self,
        address: u32,
        bytes: u32,
        cluster: usize,
        target: Target,
        writes: bool,
    ) -> bool {
        match target {
            // Only the runtime ends a task.
            Target::Driver(register::DOORBELL | register::ERROR) => self.is_wide,
            Target::Driver(_) | Target::Dma(_) | Target::Stdout(..) | Target::Terminate | Target::Silence => {
                true
            }
            // Only machine mode controls the cache: a handler that disabled it would slow down all others.
            Target::Icache(_) | Target::Other => self.is_wide,
            Target::Memory(Place::Program(_)) => !writes,
            Target::Memory(_) => {
                // The alias refers to the same memory.
                let offset = address.wrapping_sub(L1_ALIAS);
                let address = match offset < L1_BYTES {
                    true => l1_address(cluster, offset),
                    false => address,
                };
                let inside = |range: &Range<u32>| {
                    range.start <= address && u64::from(address) + u64::from(bytes) <= u64::from(range.end)
                };
                self.allowed.iter().any(inside)
            }
        }
    }
}

/// The program's own data if it was written word by word, so that its size is unknown: what PsPIN's driver allows.
pub(crate) fn unknown() -> Range<u32> {
    HANDLER_BASE..HANDLER_BASE + SHARED_BYTES
}

/// The program's own data: L2 handler memory below what it leaves to contexts.
pub(crate) fn shared(free_memory: u32) -> Range<u32> {
    HANDLER_BASE..free_memory.max(HANDLER_BASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_have_the_addresses_of_pspin() {
        for (address, wanted) in [
            (0x1000_0000, Some(Place::L1(0, 0))),
            (0x1003_ffff, Some(Place::L1(0, 0x3_ffff))),
            (0x1004_0000, None),
            (0x1040_0010, Some(Place::L1(1, 0x10))),
            (0x1080_0000, None),
            (0x1c00_0000, Some(Place::Handler(0))),
            (0x1c0f_ffff, Some(Place::Handler(0xf_ffff))),
            (0x1c10_0000, Some(Place::Packet(0))),
            (0x1c17_ffff, Some(Place::Packet(0x7_ffff))),
            (0x1c18_0000, None),
            (0x1d00_7fff, Some(Place::Program(0x7fff))),
            (0x1d00_8000, None),
            (0, None),
            (u32::MAX, None),
        ] {
            assert_eq!(place(address, 1, 2), wanted, "{address:#010x}");
        }
    }

    #[test]
    fn an_access_stays_in_its_memory() {
        assert_eq!(place(0x1c0f_fffc, 4, 2), Some(Place::Handler(0xf_fffc)));
        assert_eq!(place(0x1c0f_fffd, 4, 2), None);
        assert_eq!(place(u32::MAX, 4, 2), None);
    }

    #[test]
    fn an_hpu_sees_its_own_l1_at_the_alias() {
        assert_eq!(
            target(0x1b00_0040, 4, 1, 2),
            Some(Target::Memory(Place::L1(1, 0x40)))
        );
        assert_eq!(target(0x1b03_fffd, 4, 1, 2), None);
        assert_eq!(target(0x1b20_5050, 4, 1, 2), Some(Target::Driver(0x50)));
        assert_eq!(target(0x1b20_5100, 4, 1, 2), Some(Target::Silence));
        assert_eq!(target(0x1b20_4420, 4, 1, 2), Some(Target::Dma(0x20)));
        assert_eq!(target(0x1b20_6000, 1, 1, 2), Some(Target::Silence));
        assert_eq!(
            target(0x1a10_4000 + 128 + 3 * 8, 4, 1, 2),
            Some(Target::Stdout(1, 3))
        );
        assert_eq!(target(0x1b20_1404, 4, 1, 2), Some(Target::Icache(4)));
    }

    #[test]
    fn reads_back_what_was_written() {
        let mut memory = Memory::new(2);
        assert!(memory.write(0x1040_0010, &[1, 2, 3]));
        assert_eq!(memory.read(0x1040_000f, 5), Some(&[0, 1, 2, 3, 0][..]));
        assert_eq!(memory.read(0x1000_0010, 3), Some(&[0; 3][..]));
    }

    #[test]
    fn access_across_two_memories_has_no_effect() {
        let mut memory = Memory::new(1);
        assert!(!memory.write(0x1c17_ffff, &[1, 2]));
        assert_eq!(memory.read(0x1c17_ffff, 1), Some(&[0][..]));
        assert_eq!(memory.read(0x1c17_ffff, 2), None);
        assert!(!memory.copy(0x1c00_0000, 0x1c18_0000, 4));
    }
}
