//! Calls that have answered their client and go on: the port is free for the client's next call meanwhile.

use super::call::{Slot, Want};
use super::service::Answer;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Whether a parked call wants to go on.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// By what a parked call is woken.
#[derive(Debug)]
pub(super) struct Alarm {
    flag: Arc<Flag>,
    waker: Waker,
}

impl Default for Alarm {
    fn default() -> Self {
        let flag = Arc::new(Flag::default());
        Self {
            waker: Waker::from(Arc::clone(&flag)),
            flag,
        }
    }
}

impl Alarm {
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Wakes the call.
    pub(super) fn ring(&self) {
        self.flag.0.store(true, Ordering::Relaxed);
    }

    /// Whether the call was woken.
    pub(super) fn rings(&self) -> bool {
        self.flag.0.load(Ordering::Relaxed)
    }

    /// Whether the call was woken since this was asked.
    pub(super) fn take(&self) -> bool {
        self.rings() && self.flag.0.swap(false, Ordering::Acquire)
    }
}

/// How far a tail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It waits for its service.
    Waits,
    /// It has ended.
    Ended,
    /// It wants something of the client, which has begun another call.
    WantsClient,
}

/// What is left of a call behind its answer.
pub(super) struct Tail {
    answer: Answer,
    slot: Rc<Slot>,
    alarm: Alarm,
}

impl Tail {
    pub(super) fn new(answer: Answer, slot: Rc<Slot>, alarm: Alarm) -> Self {
        Self { answer, slot, alarm }
    }

    /// Whether it can go on.
    pub(super) fn is_woken(&self) -> bool {
        self.alarm.rings()
    }

    /// Goes on, if it can.
    pub(super) fn advance(&mut self) -> Progress {
        if !self.alarm.take() {
            return Progress::Waits;
        }
        let mut context = Context::from_waker(self.alarm.waker());
        match self.answer.as_mut().poll(&mut context) {
            Poll::Ready(()) => Progress::Ended,
            Poll::Pending if self.slot.want.get() == Want::Nothing => Progress::Waits,
            Poll::Pending => Progress::WantsClient,
        }
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tail")
            .field("is_woken", &self.is_woken())
            .finish_non_exhaustive()
    }
}
