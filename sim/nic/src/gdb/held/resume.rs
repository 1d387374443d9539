//! How HPUs go on when gdb lets them: what it told each of them, and those that it did not name.

use super::Held;
use gdbstub::common::{Signal, Tid};
use gdbstub::target::ext::base::multithread as many;
use std::convert::Infallible;
use std::ops::Range;

/// What an HPU is to do when the cluster goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gdb) enum Order {
    /// Go on.
    Continue,
    /// Go on while the program counter is in this range, and for one instruction at least.
    Step(Range<u32>),
    /// Stand still, while time passes for others.
    Hold,
}

/// What all HPUs are to do.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// What HPUs were told; nothing if they were not named.
    told: Vec<Option<Order>>,
    /// Those that were not named stand still.
    is_locked: bool,
}

impl Orders {
    /// For that many HPUs, all of which go on.
    pub(super) fn new(hpus: usize) -> Self {
        Self {
            told: vec![None; hpus],
            is_locked: false,
        }
    }

    /// All go on.
    pub(super) fn clear(&mut self) {
        self.told.fill(None);
        self.is_locked = false;
    }

    /// What an HPU is to do.
    pub(super) fn of(&self, hpu: usize) -> Order {
        match &self.told[hpu] {
            Some(order) => order.clone(),
            None if self.is_locked => Order::Hold,
            None => Order::Continue,
        }
    }

    /// Whether it has done that, now that it is there.
    pub(super) fn is_done(&self, hpu: usize, pc: u32) -> bool {
        matches!(&self.told.get(hpu), Some(Some(Order::Step(range))) if !range.contains(&pc))
    }
}

impl Held {
    fn set(&mut self, tid: Tid, order: Order) {
        if let Some(hpu) = self.hpu(tid) {
            self.orders.told[hpu] = Some(order);
        }
    }
}

impl many::MultiThreadResume for Held {
    fn resume(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.orders.clear();
        Ok(())
    }

    /// Signals are not for handlers: what ends them comes anyway.
    fn set_resume_action_continue(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        self.set(tid, Order::Continue);
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

impl many::MultiThreadSingleStep for Held {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        self.set(tid, Order::Step(0..0));
        Ok(())
    }
}

impl many::MultiThreadRangeStepping for Held {
    fn set_resume_action_range_step(&mut self, tid: Tid, start: u32, end: u32) -> Result<(), Infallible> {
        self.set(tid, Order::Step(start..end));
        Ok(())
    }
}

impl many::MultiThreadSchedulerLocking for Held {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        self.orders.is_locked = true;
        Ok(())
    }
}
