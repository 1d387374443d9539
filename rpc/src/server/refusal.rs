//! What was not done, by its name.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

/// Why something was not done. A service declares those of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Refusal(&'static str);

impl Refusal {
    /// No service has such a call. The client gets its own packet back, as from LLVM's server.
    pub const UNKNOWN_OPCODE: Self = Self("unknown opcode");
    /// The mask of lanes has not the only lane that there is.
    pub const NO_LANE: Self = Self("no lane");
    /// A mailbox holds neither 0 nor 1. The port is passed over until it does.
    pub const MAILBOX: Self = Self("mailbox out of range");
    /// The client began another call in the middle of one, or is gone: the call is forgotten.
    pub const ABANDONED: Self = Self("call abandoned");
    /// A stream is longer than the call takes. It is received and forgotten.
    pub const TOO_LONG: Self = Self("too long");

    /// A refusal with a name of a few words.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What a server has done and refused so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that a service got.
    pub calls: u64,
    /// How often each refusal happened; those that never did are missing.
    pub refusals: BTreeMap<Refusal, u64>,
}

impl Counts {
    /// How often a refusal happened.
    pub fn of(&self, refusal: Refusal) -> u64 {
        self.refusals.get(&refusal).copied().unwrap_or(0)
    }
}

/// How a client ended itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By `exit`, with its status.
    Exit(i32),
    /// By `abort`.
    Abort,
}

/// What all calls of a server write to.
#[derive(Debug, Default)]
pub(crate) struct Board {
    pub(crate) calls: Cell<u64>,
    refusals: RefCell<BTreeMap<Refusal, u64>>,
    /// All of them.
    refused: Cell<u64>,
    end: Cell<Option<End>>,
}

impl Board {
    pub(crate) fn refuse(&self, refusal: Refusal) {
        *self.refusals.borrow_mut().entry(refusal).or_default() += 1;
        self.refused.set(self.refused.get() + 1);
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.get()
    }

    /// The first end counts.
    pub(crate) fn end(&self, end: End) {
        self.end.set(self.end.get().or(Some(end)));
    }

    pub(crate) fn ended(&self) -> Option<End> {
        self.end.get()
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            calls: self.calls.get(),
            refusals: self.refusals.borrow().clone(),
        }
    }
}
