//! Breakpoints and watchpoints: marks at addresses, as the handlers name them.

use gdbstub::target::ext::breakpoints::WatchKind;
use spinneret_cluster::Cluster;
use spinneret_cluster::rv::{Hart, Instruction, Op};
use std::ops::Range;

/// Memory that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watch {
    pub(super) address: u32,
    pub(super) bytes: u32,
    pub(super) kind: WatchKind,
}

/// A watched address that an instruction touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) address: u32,
    pub(super) kind: WatchKind,
}

/// All marks of a debugger.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) breakpoints: Vec<u32>,
    pub(super) watches: Vec<Watch>,
}

impl Marks {
    /// Whether there is a breakpoint.
    pub(super) fn breaks_at(&self, pc: u32) -> bool {
        self.breakpoints.contains(&pc)
    }

    /// The watched address that the next instruction of an HPU touches.
    pub(super) fn hit(&self, cluster: &Cluster, hpu: usize) -> Option<Hit> {
        if self.watches.is_empty() {
            return None;
        }
        let hart = cluster.hart(hpu);
        let access = Access::of(&cluster.instruction_at(hart.pc()), hart)?;
        self.watches.iter().find_map(|watch| access.hits(watch))
    }
}

/// What an instruction does with memory.
#[derive(Debug)]
struct Access {
    addresses: Range<u64>,
    reads: bool,
    writes: bool,
}

impl Access {
    fn of(instruction: &Instruction, hart: &Hart) -> Option<Self> {
        let (bytes, reads, writes) = match instruction.op() {
            Op::Lb | Op::Lbu => (1, true, false),
            Op::Lh | Op::Lhu => (2, true, false),
            Op::Lw | Op::LrW => (4, true, false),
            Op::Sb => (1, false, true),
            Op::Sh => (2, false, true),
            Op::Sw | Op::ScW => (4, false, true),
            op if op.is_atomic() => (4, true, true),
            _ => return None,
        };
        let offset = match instruction.op() {
            op if op.is_atomic() => 0,
            _ => instruction.imm() as u32,
        };
        let address = u64::from(hart.x(instruction.rs1()).wrapping_add(offset));
        Some(Self {
            addresses: address..address + bytes,
            reads,
            writes,
        })
    }

    fn hits(&self, watch: &Watch) -> Option<Hit> {
        let is_meant = match watch.kind {
            WatchKind::Read => self.reads,
            WatchKind::Write => self.writes,
            WatchKind::ReadWrite => true,
        };
        let start = u64::from(watch.address);
        let overlaps = self.addresses.start < start + u64::from(watch.bytes) && start < self.addresses.end;
        (is_meant && overlaps).then(|| Hit {
            address: self.addresses.start.max(start) as u32,
            kind: watch.kind,
        })
    }
}
