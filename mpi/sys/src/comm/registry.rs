//! Requests that MPI works on, and how each of them ends.
//!
//! MPI uses the areas of these requests until they are done, so none may be forgotten: what its owner forgets is still here,
//! and is ended with the scope.

use crate::Error;
use crate::functions::RawStatus;
use crate::session::Session;
use std::cell::RefCell;
use std::rc::Rc;
use std::thread;

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) call: &'static str,
    pub(super) code: i32,
    pub(super) status: RawStatus,
}

/// A request.
#[derive(Debug)]
struct Slot {
    raw: u64,
    is_receive: bool,
    is_persistent: bool,
    /// Whether MPI uses its area.
    is_active: bool,
    /// How it ended, if nobody has been told yet.
    outcome: Option<Outcome>,
}

/// All requests of a scope.
#[derive(Debug)]
pub(super) struct Registry {
    pub(super) session: Rc<Session>,
    slots: RefCell<Vec<Option<Slot>>>,
}

impl Registry {
    pub(super) fn new(session: &Rc<Session>) -> Self {
        Self {
            session: Rc::clone(session),
            slots: RefCell::new(Vec::new()),
        }
    }

    /// Keeps a request, which MPI already works on unless it is persistent.
    pub(super) fn add(&self, raw: u64, is_receive: bool, is_persistent: bool) -> usize {
        let slot = Some(Slot {
            raw,
            is_receive,
            is_persistent,
            is_active: !is_persistent,
            outcome: None,
        });
        let mut slots = self.slots.borrow_mut();
        match slots.iter().position(Option::is_none) {
            Some(free) => {
                slots[free] = slot;
                free
            }
            None => {
                slots.push(slot);
                slots.len() - 1
            }
        }
    }

    fn with<T>(&self, index: usize, change: impl FnOnce(&Session, &mut Slot) -> T) -> Option<T> {
        let mut slots = self.slots.borrow_mut();
        let slot = slots.get_mut(index)?.as_mut()?;
        Some(change(&self.session, slot))
    }

    /// Starts a persistent request that is not active.
    pub(super) fn start(&self, index: usize) -> Result<(), Error> {
        let started = self.with(index, |session, slot| {
            // SAFETY: the request is persistent and not active; its area is borrowed as long as this registry lives.
            let code = unsafe { (session.functions.start)(&mut slot.raw) };
            session.check("MPI_Start", code)?;
            slot.is_active = true;
            slot.outcome = None;
            Ok(())
        });
        started.unwrap_or(Ok(()))
    }

    /// How the request ended, if it has.
    pub(super) fn test(&self, index: usize) -> Option<Outcome> {
        self.with(index, |session, slot| {
            if slot.is_active {
                let (mut is_done, mut status) = (0, RawStatus::default());
                // SAFETY: the request is alive, and flag and status have places.
                let code = unsafe { (session.functions.test)(&mut slot.raw, &mut is_done, &mut status) };
                // A request that failed is done.
                if is_done == 0 && code == 0 {
                    return None;
                }
                slot.end(
                    session,
                    Outcome {
                        call: "MPI_Test",
                        code,
                        status,
                    },
                );
            }
            slot.outcome.take()
        })?
    }

    /// Waits for a request, and says how it ended; nothing if that was said already.
    pub(super) fn wait(&self, index: usize) -> Option<Outcome> {
        self.with(index, |session, slot| {
            slot.finish(session);
            slot.outcome.take()
        })?
    }

    /// Waits for all requests at once. Their owners are told how each ended.
    pub(super) fn wait_all(&self) {
        let mut slots = self.slots.borrow_mut();
        let mut active: Vec<&mut Slot> = slots.iter_mut().flatten().filter(|slot| slot.is_active).collect();
        let mut requests: Vec<u64> = active.iter().map(|slot| slot.raw).collect();
        let mut statuses = vec![RawStatus::default(); requests.len()];
        let functions = self.session.functions;
        if let Ok(count) = i32::try_from(requests.len()) {
            // SAFETY: there are as many requests and statuses, and the requests are alive.
            let code = unsafe { (functions.waitall)(count, requests.as_mut_ptr(), statuses.as_mut_ptr()) };
            for ((slot, raw), status) in active.iter_mut().zip(requests).zip(statuses) {
                slot.raw = raw;
                // After a failure others may still be under way: those are waited for one by one.
                if code == 0 {
                    let call = "MPI_Waitall";
                    slot.end(&self.session, Outcome { call, code, status });
                } else if status.error != 0 && self.is_final(status.error) {
                    let (call, code) = ("MPI_Waitall", status.error);
                    slot.end(&self.session, Outcome { call, code, status });
                }
            }
        }
        for slot in active.iter_mut() {
            slot.finish(&self.session);
        }
    }

    /// Whether a request with this error in its status has ended.
    fn is_final(&self, code: i32) -> bool {
        let error = self.session.check("MPI_Waitall", code).err();
        let class = error.and_then(|error| error.class());
        class != Some(crate::Class::Pending)
    }

    /// Calls a receive off, waits until that is done, and says how it ended: the message may have been faster.
    pub(super) fn cancel(&self, index: usize) -> Result<Option<Outcome>, Error> {
        let cancelled = self.with(index, |session, slot| {
            slot.cancel(session)?;
            slot.finish(session);
            Ok(slot.outcome.take())
        });
        cancelled.unwrap_or(Ok(None))
    }

    /// Forgets a request, after it has ended: a receive is called off, since it might wait for ever; a send is waited for,
    /// since Open MPI cannot call it off.
    pub(super) fn remove(&self, index: usize) {
        // Waiting in a panic could last for ever. The registry ends the ranks, unless somebody catches the panic.
        if thread::panicking() {
            return;
        }
        self.with(index, |session, slot| slot.settle(session));
        if let Some(slot) = self.slots.borrow_mut().get_mut(index) {
            *slot = None;
        }
    }
}

impl Slot {
    fn end(&mut self, session: &Session, outcome: Outcome) {
        self.is_active = false;
        // Open MPI keeps a request that failed; where the handle is null already, this is refused, and nothing is lost.
        if outcome.code != 0 && !self.is_persistent {
            // SAFETY: the request has ended, and is used no more.
            unsafe { (session.functions.request_free)(&mut self.raw) };
        }
        self.outcome = Some(outcome);
    }

    fn finish(&mut self, session: &Session) {
        if self.is_active {
            let mut status = RawStatus::default();
            // SAFETY: the request is alive, and the status has a place.
            let code = unsafe { (session.functions.wait)(&mut self.raw, &mut status) };
            self.end(
                session,
                Outcome {
                    call: "MPI_Wait",
                    code,
                    status,
                },
            );
        }
    }

    fn cancel(&mut self, session: &Session) -> Result<(), Error> {
        if !self.is_active {
            return Ok(());
        }
        // SAFETY: the request is active.
        let code = unsafe { (session.functions.cancel)(&mut self.raw) };
        session.check("MPI_Cancel", code)
    }

    fn settle(&mut self, session: &Session) {
        if self.is_receive {
            // If it cannot be called off, it is waited for.
            let _ = self.cancel(session);
        }
        self.finish(session);
        if self.is_persistent {
            // SAFETY: the request is not active, and is used no more.
            unsafe { (session.functions.request_free)(&mut self.raw) };
            self.is_persistent = false;
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let slots = self.slots.get_mut();
        let is_any_active = slots.iter().flatten().any(|slot| slot.is_active);
        // The areas go away now, while MPI still writes them, and waiting could last for ever.
        if thread::panicking() && is_any_active {
            self.session.abort_by_panic();
        }
        for slot in slots.iter_mut().flatten() {
            slot.settle(&self.session);
        }
    }
}
