//! Breakpoints and watchpoints as gdb sets them: marks, and no changes of memory.

use super::Held;
use crate::gdb::marks::Watch;
use gdbstub::target::TargetResult;
use gdbstub::target::ext::breakpoints as marks;

impl marks::Breakpoints for Held {
    fn support_sw_breakpoint(&mut self) -> Option<marks::SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<marks::HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<marks::HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl marks::SwBreakpoint for Held {
    fn add_sw_breakpoint(&mut self, addr: u32, _: usize) -> TargetResult<bool, Self> {
        self.marks.breakpoints.push(addr);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, addr: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(remove(&mut self.marks.breakpoints, &addr))
    }
}

/// In a model both kinds are the same.
impl marks::HwBreakpoint for Held {
    fn add_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        marks::SwBreakpoint::add_sw_breakpoint(self, addr, kind)
    }

    fn remove_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        marks::SwBreakpoint::remove_sw_breakpoint(self, addr, kind)
    }
}

impl marks::HwWatchpoint for Held {
    fn add_hw_watchpoint(&mut self, addr: u32, len: u32, kind: marks::WatchKind) -> TargetResult<bool, Self> {
        self.marks.watches.push(watch(addr, len, kind));
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        addr: u32,
        len: u32,
        kind: marks::WatchKind,
    ) -> TargetResult<bool, Self> {
        Ok(remove(&mut self.marks.watches, &watch(addr, len, kind)))
    }
}

fn watch(address: u32, bytes: u32, kind: marks::WatchKind) -> Watch {
    Watch { address, bytes, kind }
}

/// Takes out one that is equal: whether there was one.
fn remove<T: PartialEq>(marks: &mut Vec<T>, mark: &T) -> bool {
    let found = marks.iter().position(|one| one == mark);
    found.map(|place| marks.swap_remove(place)).is_some()
}
