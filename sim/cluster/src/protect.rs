//! What a handler may touch: the memory of its task, its stack, and its HPU's registers.

use crate::map::{self, Target};
use crate::task::Task;
use spinneret_regmap::pspin::{
    HANDLER_BASE, L1_ALIAS, L1_AREA_BYTES, L1_AREAS, L1_BYTES, driver as register, l1_address,
};
use std::ops::Range;

/// What the public cluster protects together.
const PAGE: u32 = 0x1000;
const ALL_L1: u32 = 0x100_0000;
const ALL_HANDLER_MEMORY: u32 = 0x10_0000;
const SHARED: u32 = 0x1_0000;

/// The parts of memory that a handler may read and write; program memory it may also read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protection {
    allowed: Vec<Range<u32>>,
    /// Whether registers are for handlers as well.
    is_wide: bool,
}

impl Protection {
    /// What the handler of a task may touch; `shared` is the program's own data in L2.
    pub(crate) fn of(task: &Task, packet_in_l1: u32, hpu: (usize, usize), shared: &Range<u32>) -> Self {
        let (cluster, core) = hpu;
        let range = |[address, bytes]: [u32; 2]| address..address.saturating_add(bytes);
        let stack = l1_address(cluster, L1_AREAS + core as u32 * L1_AREA_BYTES);
        let mut allowed = vec![
            range([packet_in_l1, task.her.copied]),
            range([stack, L1_AREA_BYTES]),
            range(task.meta.handler_memory),
            range([task.her.address, task.her.size]),
            shared.clone(),
        ];
        allowed.extend(task.scratchpads().map(range));
        allowed.retain(|range| !range.is_empty());
        Self {
            allowed,
            is_wide: false,
        }
    }

    /// What the public cluster's driver allows: naturally aligned powers of two of 4 KiB and more (`hpu_driver.sv`,
    /// `pmp_addr_d`), all registers among them.
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
            around(HANDLER_BASE, SHARED),
        ];
        allowed.extend(task.scratchpads().map(|[address, _]| around(address, PAGE)));
        Self {
            allowed,
            is_wide: true,
        }
    }

    /// Whether an access that means `target` is allowed.
    pub(crate) fn allows(
        &self,
        address: u32,
        bytes: u32,
        cluster: usize,
        target: Target,
        writes: bool,
    ) -> bool {
        match target {
            // The end of a task is the runtime's to tell.
            Target::Driver(register::DOORBELL | register::ERROR) => self.is_wide,
            Target::Driver(_) | Target::Dma(_) | Target::Stdout(..) | Target::Terminate | Target::Silence => {
                true
            }
            // Machine mode alone turns the cache on: a handler that turned it off would slow all others.
            Target::Icache(_) | Target::Other => self.is_wide,
            Target::Memory(map::Place::Program(_)) => !writes,
            Target::Memory(_) => {
                // The alias is another name of the same memory.
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

/// The program's own data, if it came word by word and nobody told how much of L2 it takes: what the public cluster's driver
/// allows.
pub(crate) fn unknown() -> Range<u32> {
    HANDLER_BASE..HANDLER_BASE + SHARED
}

/// The program's own data: L2 handler memory up to what it leaves to contexts.
pub(crate) fn shared(free_memory: u32) -> Range<u32> {
    HANDLER_BASE..free_memory.max(HANDLER_BASE)
}
