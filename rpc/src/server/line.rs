//! Ports: one port as the server drives it.

use super::call::{Answer, Slot, Transfer, Want};
use crate::layout::Packet;
use crate::memory::Memory;
use crate::opcode::Fault;
use crate::process::{Header, Process, State};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::{fmt, mem};

/// Packets of a port in one go. A client that sends as fast as the server receives must not keep it from others.
const PACKETS_A_VISIT: u32 = 16;

/// A value that no mailbox holds, except for one whose port is passed over in any case.
const NEVER_QUIET: u32 = u32::MAX;

/// A call that is under way.
struct Active {
    answer: Answer,
    opcode: u32,
    generation: u32,
    /// The last packet that went between it and its client was one to the client.
    has_answered: bool,
}

impl Active {
    /// Gives the port back at the end of the call. A packet that has come since the answer, and was not received, is the
    /// next call of a client that writes no generation.
    fn give_back<M: Memory>(&self, process: &Process<M, true>, state: &mut State) -> Result<(), M::Error> {
        match self.has_answered && self.generation == 0 {
            true => {
                process.pass_on(state);
                Ok(())
            }
            false => process.finish(state),
        }
    }
}

/// The server's state of a port.
pub(crate) struct Line {
    pub(crate) state: State,
    pub(crate) slot: Rc<Slot>,
    /// The other side's mailbox holds what no side writes.
    pub(crate) is_quarantined: bool,
    active: Option<Active>,
    alarm: Alarm,
    /// The call that has given up the port and goes on.
    tail: Option<Tail>,
}

impl Line {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state,
            slot: Rc::default(),
            is_quarantined: false,
            active: None,
            alarm: Alarm::default(),
            tail: None,
        }
    }

    /// The value of the other side's mailbox as long as there is nothing to do. A parked call can continue without a
    /// packet, so its port is checked in any case.
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
            true => self.alarm.rings(),
            false => self.state.owns(),
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Whether a packet of a client with this header belongs to the call that is under way. LLVM's clients write no
    /// generation, so two calls in a row of the same opcode cannot be distinguished.
    pub(crate) fn goes_on(&self, header: &Header) -> bool {
        self.active
            .as_ref()
            .is_some_and(|active| (active.opcode, active.generation) == (header.opcode, header.generation))
    }

    /// Drops the call that is under way, and returns whether there was one. Wakers of it that others still have wake
    /// nothing.
    pub(crate) fn forget(&mut self) -> bool {
        let was_active = self.active.take().is_some();
        if was_active {
            self.alarm = Alarm::default();
            self.slot.want.set(Want::Nothing);
        }
        was_active
    }

    /// Takes the call away from the port if it has answered its client and waits for something else.
    pub(crate) fn part(&mut self) -> Option<Tail> {
        let is_parked = self.is_parked();
        let active = self.active.take_if(|active| is_parked && active.has_answered)?;
        Some(self.tail_of(active.answer))
    }

    /// The call that has given up the port on its own, if one has since this was last called.
    pub(crate) fn take_tail(&mut self) -> Option<Tail> {
        self.tail.take()
    }

    fn tail_of(&mut self, answer: Answer) -> Tail {
        Tail::new(answer, mem::take(&mut self.slot), mem::take(&mut self.alarm))
    }

    pub(crate) fn begin(&mut self, answer: Answer, header: &Header) {
        self.active = Some(Active {
            answer,
            opcode: header.opcode,
            generation: header.generation,
            has_answered: false,
        });
        self.alarm.ring();
    }

    /// Does what the call can do now, and says whether it did anything.
    pub(crate) fn advance<M: Memory>(&mut self, process: &Process<M, true>) -> Result<bool, Fault<M::Error>> {
        let Some(active) = &mut self.active else {
            return Ok(false);
        };
        let mut context = Context::from_waker(self.alarm.waker());
        for packets in 0..PACKETS_A_VISIT {
            let can_go_on = match self.slot.want.get() {
                Want::Nothing => self.alarm.take(),
                Want::Send => {
                    let is_sent = process.try_send(&mut self.state, &self.slot.packet.get().0)?;
                    active.has_answered |= is_sent;
                    is_sent
                }
                Want::Receive => {
                    let mut packet = Packet::default();
                    let has_come = process.try_receive(&mut self.state, &mut packet.0)?;
                    self.slot.packet.set(packet);
                    active.has_answered &= !has_come;
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
                active.give_back(process, &mut self.state)?;
                self.active = None;
                break;
            }
            // Without its `Call`, a service wants nothing of the client any more.
            if Rc::strong_count(&self.slot) == 1 {
                active.give_back(process, &mut self.state)?;
                self.tail = self.active.take().map(|active| self.tail_of(active.answer));
                break;
            }
        }
        Ok(true)
    }
}

// Calls that have answered their client and go on: the port is free for the client's next call meanwhile.

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

/// The rest of a call after its answer.
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
