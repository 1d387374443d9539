//! The cluster as a target of gdbstub: threads, registers, memory;
//! breakpoints and watchpoints, which do not change memory; and resume actions of HPUs, named by gdb
//! or not.

use super::registers;
use gdbstub::common::{Signal, Tid};
use gdbstub::stub::MultiThreadStopReason as Stop;
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::base::{BaseOps, multithread as many};
use gdbstub::target::ext::breakpoints::{BreakpointsOps, WatchKind};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::ext::{breakpoints as ext, target_description_xml_override as description};
use gdbstub::target::{Target, TargetError, TargetResult};
use gdbstub_arch::riscv::Riscv32;
use gdbstub_arch::riscv::reg::RiscvCoreRegs;
use gdbstub_arch::riscv::reg::id::RiscvRegId;
use spinneret_cluster::rv::{Hart, Instruction, Op, Privilege};
use spinneret_cluster::{Cluster, Config};
use std::convert::Infallible;
use std::ops::Range;

/// The target of gdbstub, and its state.
pub(super) struct DebugTarget {
    /// The cluster while it is held, otherwise a placeholder, because gdbstub owns its target.
    cluster: Cluster,
    pub(super) breakpoints: BreakpointSet,
    orders: ResumeActions,
    /// The current thread.
    current: Tid,
    description: String,
}

/// The thread of an HPU.
pub(super) fn thread(hpu: usize) -> Tid {
    Tid::MIN.saturating_add(hpu)
}

impl DebugTarget {
    pub(super) fn new() -> Self {
        let least = Config {
            clusters: 1,
            hpus: 1,
            ..Config::default()
        };
        Self {
            cluster: Cluster::new(least),
            breakpoints: BreakpointSet::default(),
            orders: ResumeActions::default(),
            current: thread(0),
            description: registers::description(),
        }
    }

    /// Starts debugging of that many HPUs.
    pub(super) fn begin(&mut self, hpus: usize) {
        self.orders = ResumeActions::new(hpus);
    }

    /// Ends debugging: all HPUs continue.
    pub(super) fn release(&mut self) {
        self.breakpoints = BreakpointSet::default();
        self.orders.clear();
    }

    /// Swaps the cluster with the placeholder.
    pub(super) fn swap(&mut self, cluster: &mut Cluster) {
        std::mem::swap(&mut self.cluster, cluster);
    }

    /// The resume action of an HPU.
    pub(super) fn order(&self, hpu: usize) -> ResumeAction {
        self.orders.of(hpu)
    }

    /// Whether the HPU has completed its resume action at this program counter.
    pub(super) fn is_done(&self, hpu: usize, pc: u32) -> bool {
        self.orders.is_done(hpu, pc)
    }

    /// Sets why the cluster is held.
    pub(super) fn note_stop(&mut self, stop: &Stop<u32>) {
        if let Stop::SwBreak(tid) | Stop::Watch { tid, .. } | Stop::SignalWithThread { tid, .. } = stop {
            self.current = *tid;
        }
    }

    /// The stop reason of Ctrl-C.
    pub(super) fn interrupted(&self) -> Stop<u32> {
        Stop::SignalWithThread {
            tid: self.current,
            signal: Signal::SIGINT,
        }
    }

    fn hpu(&self, tid: Tid) -> Option<usize> {
        Some(tid.get() - 1).filter(|hpu| *hpu < self.cluster.hpus())
    }

    fn known(&self, tid: Tid) -> TargetResult<usize, Self> {
        self.hpu(tid).ok_or(TargetError::NonFatal)
    }
}

impl Target for DebugTarget {
    type Arch = Riscv32;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Riscv32, Infallible> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<description::TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl description::TargetDescriptionXmlOverride for DebugTarget {
    fn target_description_xml(
        &self,
        _annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = self.description.as_bytes().get(offset..).unwrap_or_default();
        Ok(copy(&rest[..rest.len().min(length)], buf))
    }
}

impl many::MultiThreadBase for DebugTarget {
    fn read_registers(&mut self, regs: &mut RiscvCoreRegs<u32>, tid: Tid) -> TargetResult<(), Self> {
        *regs = registers::read_all(&self.cluster, self.known(tid)?);
        Ok(())
    }

    fn write_registers(&mut self, regs: &RiscvCoreRegs<u32>, tid: Tid) -> TargetResult<(), Self> {
        let hpu = self.known(tid)?;
        registers::write_all(&mut self.cluster, hpu, regs);
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, start: u32, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        let count = self.cluster.read_as(self.known(tid)?, start, data);
        (count > 0).then_some(count).ok_or(TargetError::NonFatal)
    }

    fn write_addrs(&mut self, start: u32, data: &[u8], tid: Tid) -> TargetResult<(), Self> {
        let hpu = self.known(tid)?;
        let is_there = self.cluster.write_as(hpu, start, data);
        is_there.then_some(()).ok_or(TargetError::NonFatal)
    }

    fn list_active_threads(&mut self, found: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        (0..self.cluster.hpus()).map(thread).for_each(found);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<many::MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl SingleRegisterAccess<Tid> for DebugTarget {
    fn read_register(
        &mut self,
        tid: Tid,
        register: RiscvRegId<u32>,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let value = registers::read(&self.cluster, self.known(tid)?, register);
        Ok(copy(&value.ok_or(TargetError::NonFatal)?, buf))
    }

    fn write_register(
        &mut self,
        tid: Tid,
        register: RiscvRegId<u32>,
        value: &[u8],
    ) -> TargetResult<(), Self> {
        let hpu = self.known(tid)?;
        let is_written = registers::write(&mut self.cluster, hpu, register, value);
        is_written.then_some(()).ok_or(TargetError::NonFatal)
    }
}

impl ThreadExtraInfo for DebugTarget {
    fn thread_extra_info(&self, tid: Tid, buf: &mut [u8]) -> Result<usize, Infallible> {
        let Some(hpu) = self.hpu(tid) else { return Ok(0) };
        let id = self.cluster.id(hpu);
        let what = match self.cluster.hart(hpu).privilege() {
            Privilege::User => ", in a handler",
            Privilege::Machine => "",
        };
        let name = format!("cluster {}, core {}{what}", id.cluster, id.core);
        Ok(copy(name.as_bytes(), buf))
    }
}

/// Copies as many bytes as fit: their number.
fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let count = from.len().min(to.len());
    to[..count].copy_from_slice(&from[..count]);
    count
}

impl ext::Breakpoints for DebugTarget {
    fn support_sw_breakpoint(&mut self) -> Option<ext::SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<ext::HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<ext::HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl ext::SwBreakpoint for DebugTarget {
    fn add_sw_breakpoint(&mut self, addr: u32, _: usize) -> TargetResult<bool, Self> {
        self.breakpoints.addresses.push(addr);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, addr: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(remove(&mut self.breakpoints.addresses, &addr))
    }
}

/// Hardware and software breakpoints are the same in a model.
impl ext::HwBreakpoint for DebugTarget {
    fn add_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        ext::SwBreakpoint::add_sw_breakpoint(self, addr, kind)
    }

    fn remove_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        ext::SwBreakpoint::remove_sw_breakpoint(self, addr, kind)
    }
}

impl ext::HwWatchpoint for DebugTarget {
    fn add_hw_watchpoint(&mut self, addr: u32, len: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        self.breakpoints.watches.push(watch(addr, len, kind));
        Ok(true)
    }

    fn remove_hw_watchpoint(&mut self, addr: u32, len: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        Ok(remove(&mut self.breakpoints.watches, &watch(addr, len, kind)))
    }
}

fn watch(address: u32, bytes: u32, kind: WatchKind) -> Watch {
    Watch { address, bytes, kind }
}

/// Removes an equal item: whether there was one.
fn remove<T: PartialEq>(marks: &mut Vec<T>, mark: &T) -> bool {
    let found = marks.iter().position(|one| one == mark);
    found.map(|place| marks.swap_remove(place)).is_some()
}

/// Resume action of an HPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ResumeAction {
    /// Continue.
    Continue,
    /// Continue while the program counter is in this range, and for one instruction at least.
    Step(Range<u32>),
    /// Stay stopped, while others run.
    Hold,
}

/// Resume actions of all HPUs.
#[derive(Debug, Default)]
pub(super) struct ResumeActions {
    /// Actions by HPU; `None` if gdb did not name it.
    told: Vec<Option<ResumeAction>>,
    /// HPUs that gdb did not name stay stopped.
    is_locked: bool,
}

impl ResumeActions {
    /// All of that many HPUs continue.
    pub(super) fn new(hpus: usize) -> Self {
        Self {
            told: vec![None; hpus],
            is_locked: false,
        }
    }

    /// All HPUs continue.
    pub(super) fn clear(&mut self) {
        self.told.fill(None);
        self.is_locked = false;
    }

    /// The resume action of an HPU.
    pub(super) fn of(&self, hpu: usize) -> ResumeAction {
        match &self.told[hpu] {
            Some(order) => order.clone(),
            None if self.is_locked => ResumeAction::Hold,
            None => ResumeAction::Continue,
        }
    }

    /// Whether the HPU has completed its resume action at this program counter.
    pub(super) fn is_done(&self, hpu: usize, pc: u32) -> bool {
        matches!(&self.told.get(hpu), Some(Some(ResumeAction::Step(range))) if !range.contains(&pc))
    }
}

impl DebugTarget {
    fn set(&mut self, tid: Tid, order: ResumeAction) {
        if let Some(hpu) = self.hpu(tid) {
            self.orders.told[hpu] = Some(order);
        }
    }
}

impl many::MultiThreadResume for DebugTarget {
    fn resume(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.orders.clear();
        Ok(())
    }

    /// Signals are ignored: handlers have none.
    fn set_resume_action_continue(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        self.set(tid, ResumeAction::Continue);
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<many::MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_range_step(&mut self) -> Option<many::MultiThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<many::MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl many::MultiThreadSingleStep for DebugTarget {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        self.set(tid, ResumeAction::Step(0..0));
        Ok(())
    }
}

impl many::MultiThreadRangeStepping for DebugTarget {
    fn set_resume_action_range_step(&mut self, tid: Tid, start: u32, end: u32) -> Result<(), Infallible> {
        self.set(tid, ResumeAction::Step(start..end));
        Ok(())
    }
}

impl many::MultiThreadSchedulerLocking for DebugTarget {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        self.orders.is_locked = true;
        Ok(())
    }
}

/// A watchpoint.
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

/// All breakpoints and watchpoints.
#[derive(Debug, Default)]
pub(super) struct BreakpointSet {
    pub(super) addresses: Vec<u32>,
    pub(super) watches: Vec<Watch>,
}

impl BreakpointSet {
    /// Whether there is a breakpoint.
    pub(super) fn breaks_at(&self, pc: u32) -> bool {
        self.addresses.contains(&pc)
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

/// Memory access of an instruction.
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
