//! One port, as the server drives it.

use super::call::{Slot, Transfer, Want};
use super::service::Answer;
use crate::fault::Fault;
use crate::memory::Memory;
use crate::packet::Packet;
use crate::process::{Process, State};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Packets of a port in one go. A client that sends as fast as the server receives must not keep it from others.
const PACKETS_A_VISIT: u32 = 16;

/// What no mailbox holds, but for one whose port is passed over in any case.
const NEVER_QUIET: u32 = u32::MAX;

/// Whether a parked call wants to go on.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// A call that is under way.
struct Active {
    answer: Answer,
    generation: u32,
}

/// What the server knows of a port.
pub(crate) struct Line {
    pub(crate) state: State,
    pub(crate) slot: Rc<Slot>,
    /// The other side's mailbox holds what no side writes.
    pub(crate) is_quarantined: bool,
    active: Option<Active>,
    flag: Arc<Flag>,
    waker: Waker,
}

impl Line {
    pub(crate) fn new(state: State) -> Self {
        let flag = Arc::new(Flag::default());
        Self {
            state,
            slot: Rc::default(),
            is_quarantined: false,
            active: None,
            waker: Waker::from(Arc::clone(&flag)),
            flag,
        }
    }

    /// What the other side's mailbox holds as long as there is nothing to do. A parked call can go on by itself, so its port
    /// is looked at in any case.
    pub(crate) fn quiet(&self) -> u32 {
        match self.state.owns() || self.is_parked() {
            true => NEVER_QUIET,
            false => self.state.out(),
        }
    }

    /// Whether a call waits for its service.
    fn is_parked(&self) -> bool {
        self.is_active() && self.slot.want.get() == Want::Nothing
    }

    /// Whether a call can go on without its client: it has the port, or its service has woken it.
    pub(crate) fn can_go_on(&self) -> bool {
        match self.is_parked() {
            true => self.flag.0.load(Ordering::Relaxed),
            false => self.state.owns(),
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Whether a packet of a client with this generation belongs to the call that is under way.
    pub(crate) fn goes_on(&self, generation: u32) -> bool {
        self.active
            .as_ref()
            .is_some_and(|active| active.generation == generation)
    }

    /// Forgets the call that is under way, and says whether there was one. Wakers of it that others still have wake nothing.
    pub(crate) fn forget(&mut self) -> bool {
        let was_active = self.active.take().is_some();
        if was_active {
            self.flag = Arc::default();
            self.waker = Waker::from(Arc::clone(&self.flag));
            self.slot.want.set(Want::Nothing);
        }
        was_active
    }

    pub(crate) fn begin(&mut self, answer: Answer, generation: u32) {
        self.active = Some(Active { answer, generation });
        self.flag.0.store(true, Ordering::Relaxed);
    }

    /// Does what the call can do now, and says whether it did anything.
    pub(crate) fn advance<M: Memory>(&mut self, process: &Process<M, true>) -> Result<bool, Fault<M::Error>> {
        let Some(active) = &mut self.active else {
            return Ok(false);
        };
        let mut context = Context::from_waker(&self.waker);
        for packets in 0..PACKETS_A_VISIT {
            let can_go_on = match self.slot.want.get() {
                Want::Nothing => {
                    self.flag.0.load(Ordering::Relaxed) && self.flag.0.swap(false, Ordering::Acquire)
                }
                Want::Send => process.try_send(&mut self.state, &self.slot.packet.get().0)?,
                Want::Receive => {
                    let mut packet = Packet::default();
                    let has_come = process.try_receive(&mut self.state, &mut packet.0)?;
                    self.slot.packet.set(packet);
                    has_come
                }
                Want::Read => {
                    let Transfer { offset, words } = &mut *self.slot.transfer.borrow_mut();
                    process.memory().read(*offset, words).map_err(Fault::Memory)?;
                    true
                }
                Want::Write => {
                    let Transfer { offset, words } = &*self.slot.transfer.borrow();
                    process.memory().write(*offset, words).map_err(Fault::Memory)?;
                    true
                }
            };
            if !can_go_on {
                return Ok(packets > 0);
            }
            self.slot.want.set(Want::Nothing);
            if let Poll::Ready(()) = active.answer.as_mut().poll(&mut context) {
                self.active = None;
                process.finish(&mut self.state)?;
                break;
            }
        }
        Ok(true)
    }
}
