//! A thread for each NIC, of which as many run at once as there are processors.

use crate::cable::{Counts, Delivery};
use crate::{ExternalWait, NicReport, Ps, Stopped};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which a waiting thread checks whether the simulation was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// The horizon of a NIC in an epoch, and the frames that reach it.
#[derive(Debug, Default)]
pub(crate) struct EpochGrant {
    pub(crate) horizon_ps: Ps,
    pub(crate) arrivals: Vec<Delivery>,
}

/// Report of a NIC at the end of an epoch.
#[derive(Debug)]
pub(crate) struct EpochReport {
    pub(crate) nic: usize,
    /// It has nothing to do before; `Ps::MAX` if it only waits for frames.
    pub(crate) wants_ps: Ps,
    pub(crate) sent: Vec<Delivery>,
    pub(crate) noted: Vec<(Ps, Vec<u8>)>,
    /// Final counters, if the NIC has terminated.
    pub(crate) done: Option<Done>,
}

/// Final counters of a NIC.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) report: NicReport,
    pub(crate) cable: Counts,
}

/// The threads of NICs of this process, by their places among them.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    state: Mutex<State>,
    /// Signalled when all NICs have reported, or when the simulation stops.
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
    /// Free processors; negative if a NIC waits outside without having had one.
    processors: isize,
    told: Vec<EpochReport>,
    granted: Vec<Option<EpochGrant>>,
    /// NICs that wait for something outside of the simulation, and since when.
    outside: Vec<Option<(ExternalWait, Instant)>>,
    is_stopped: bool,
}

impl WorkerPool {
    /// Creates a pool whose NICs are all running, `threads` of them at once.
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

    /// Ignores poisoning: the thread that panicked reports it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a processor at the start of a thread. The port returns it, even after an error.
    ///
    /// # Errors
    /// If the simulation was stopped before the thread began.
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

    /// Reports that a NIC reached its horizon, and waits for the next epoch.
    pub(crate) fn exchange(
        &self,
        nic: usize,
        wants_ps: Ps,
        sent: Vec<Delivery>,
        noted: Vec<(Ps, Vec<u8>)>,
    ) -> Result<EpochGrant, Stopped> {
        let mut state = self.lock();
        if state.is_stopped {
            return Err(Stopped);
        }
        self.tell(
            &mut state,
            EpochReport {
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

    /// Reports that a NIC has terminated, with its last frames.
    pub(crate) fn finish(&self, nic: usize, sent: Vec<Delivery>, noted: Vec<(Ps, Vec<u8>)>, done: Done) {
        let wants_ps = Ps::MAX;
        let done = Some(done);
        self.tell(
            &mut self.lock(),
            EpochReport {
                nic,
                wants_ps,
                sent,
                noted,
                done,
            },
        );
    }

    fn tell(&self, state: &mut State, told: EpochReport) {
        state.told.push(told);
        state.running = state.running.saturating_sub(1);
        self.give_processor(state);
        if state.running == 0 {
            self.met.notify_one();
        }
    }

    /// Marks a NIC as waiting for something outside, and frees its processor.
    pub(crate) fn leave(&self, nic: usize, why: ExternalWait) {
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

    /// Stops the simulation: all waiting threads return an error.
    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.free.notify_all();
        self.met.notify_one();
        self.go.iter().for_each(Condvar::notify_one);
    }

    /// Lets NICs go on.
    pub(crate) fn grant(&self, grants: Vec<(usize, EpochGrant)>) {
        let mut state = self.lock();
        state.running += grants.len();
        for (nic, granted) in grants {
            state.granted[nic] = Some(granted);
            self.go[nic].notify_one();
        }
    }

    /// Waits until all NICs have reported or the simulation stops; returns their reports in the order of NICs. While
    /// waiting, calls `look` now and then with the NICs that wait outside.
    pub(crate) fn gather(
        &self,
        mut look: impl FnMut(&[Option<(ExternalWait, Instant)>]),
    ) -> Vec<EpochReport> {
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
