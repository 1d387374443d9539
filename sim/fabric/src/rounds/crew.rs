//! Threads of NICs that run while the others wait, as many at once as there are processors for them.

use crate::cable::{Counts, Delivery};
use crate::meeting::{Outside, Stopped};
use crate::{NicReport, Ps};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long who waits for the crew sleeps, before it looks whether somebody wants an end.
const LOOK: Duration = Duration::from_millis(50);

/// What a NIC is allowed, and what comes to it meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Granted {
    pub(crate) horizon_ps: Ps,
    pub(crate) arrivals: Vec<Delivery>,
}

/// What a NIC has told at a meeting.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) nic: usize,
    /// It has nothing to do before; `Ps::MAX` if it only waits for frames.
    pub(crate) wants_ps: Ps,
    pub(crate) sent: Vec<Delivery>,
    pub(crate) noted: Vec<(Ps, Vec<u8>)>,
    /// It is gone, and that is all.
    pub(crate) done: Option<Done>,
}

/// What is left of a NIC.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) report: NicReport,
    pub(crate) cable: Counts,
}

/// The threads of NICs of this process, by their places among them.
#[derive(Debug)]
pub(crate) struct Crew {
    state: Mutex<State>,
    /// All have met, or something else is to be seen.
    met: Condvar,
    /// For each NIC: it may go on.
    go: Vec<Condvar>,
    /// A processor is free.
    free: Condvar,
}

#[derive(Debug)]
struct State {
    /// NICs that have not met yet.
    running: usize,
    /// Processors that nobody uses; fewer than none if somebody leaves without having had one.
    processors: isize,
    told: Vec<Told>,
    granted: Vec<Option<Granted>>,
    /// Who waits for somebody outside, and since when.
    outside: Vec<Option<(Outside, Instant)>>,
    is_stopped: bool,
}

impl Crew {
    /// A crew that runs already, of which so many run at once.
    pub(crate) fn new(nics: usize, threads: usize) -> Self {
        Self {
            state: Mutex::new(State {
                running: nics,
                processors: threads.max(1).cast_signed(),
                told: Vec::new(),
                granted: (0..nics).map(|_| None).collect(),
                outside: vec![None; nics],
                is_stopped: false,
            }),
            met: Condvar::new(),
            go: (0..nics).map(|_| Condvar::new()).collect(),
            free: Condvar::new(),
        }
    }

    /// A panic elsewhere is told by who panicked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread begins; it waits for a processor. Its port gives that back, also after an error.
    ///
    /// # Errors
    /// If it is over, so that nothing is made for nobody.
    pub(crate) fn begin(&self) -> Result<(), Stopped> {
        let mut state = self.lock();
        while state.processors <= 0 && !state.is_stopped {
            state = self.free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.processors -= 1;
        match state.is_stopped {
            true => Err(Stopped),
            false => Ok(()),
        }
    }

    fn take_processor<'s>(&self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        while state.processors <= 0 {
            state = self.free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.processors -= 1;
        state
    }

    fn give_processor(&self, state: &mut State) {
        state.processors += 1;
        self.free.notify_one();
    }

    /// A NIC has come as far as it may.
    pub(crate) fn meet(
        &self,
        nic: usize,
        wants_ps: Ps,
        sent: Vec<Delivery>,
        noted: Vec<(Ps, Vec<u8>)>,
    ) -> Result<Granted, Stopped> {
        let mut state = self.lock();
        if state.is_stopped {
            return Err(Stopped);
        }
        self.tell(
            &mut state,
            Told {
                nic,
                wants_ps,
                sent,
                noted,
                done: None,
            },
        );
        while state.granted[nic].is_none() && !state.is_stopped {
            state = self.go[nic].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let granted = state.granted[nic].take();
        let state = self.take_processor(state);
        match state.is_stopped {
            true => Err(Stopped),
            false => Ok(granted.unwrap_or_default()),
        }
    }

    /// A NIC is gone, with what it has sent to the last.
    pub(crate) fn finish(&self, nic: usize, sent: Vec<Delivery>, noted: Vec<(Ps, Vec<u8>)>, done: Done) {
        let wants_ps = Ps::MAX;
        let done = Some(done);
        self.tell(
            &mut self.lock(),
            Told {
                nic,
                wants_ps,
                sent,
                noted,
                done,
            },
        );
    }

    fn tell(&self, state: &mut State, told: Told) {
        state.told.push(told);
        state.running = state.running.saturating_sub(1);
        self.give_processor(state);
        if state.running == 0 {
            self.met.notify_one();
        }
    }

    /// A NIC waits for somebody outside.
    pub(crate) fn leave(&self, nic: usize, why: Outside) {
        let mut state = self.lock();
        state.outside[nic] = Some((why, Instant::now()));
        self.give_processor(&mut state);
    }

    /// It does no more.
    pub(crate) fn come_back(&self, nic: usize) {
        let mut state = self.take_processor(self.lock());
        state.outside[nic] = None;
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Everybody who waits comes back with an error.
    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.free.notify_all();
        self.met.notify_one();
        self.go.iter().for_each(Condvar::notify_one);
    }

    /// Lets NICs go on.
    pub(crate) fn grant(&self, grants: Vec<(usize, Granted)>) {
        let mut state = self.lock();
        state.running += grants.len();
        for (nic, granted) in grants {
            state.granted[nic] = Some(granted);
            self.go[nic].notify_one();
        }
    }

    /// Waits until all have met, or it is over; gives what they told, in the order of NICs. Meanwhile somebody looks now and
    /// then at who waits for somebody outside.
    pub(crate) fn gather(&self, mut look: impl FnMut(&[Option<(Outside, Instant)>])) -> Vec<Told> {
        let mut state = self.lock();
        while state.running > 0 && !state.is_stopped {
            let (locked, waited) = self
                .met
                .wait_timeout(state, LOOK)
                .unwrap_or_else(PoisonError::into_inner);
            state = locked;
            if waited.timed_out() {
                let outside = state.outside.clone();
                drop(state);
                look(&outside);
                state = self.lock();
            }
        }
        let mut told = std::mem::take(&mut state.told);
        told.sort_by_key(|told| told.nic);
        told
    }
}
