//! Two NICs whose times go together.

use super::cable::{Cable, Faults};
use crate::device::Simulated;
use crate::nic::{NicConfig, NicError};

/// From the last bit out of one NIC to the last bit into the other, in picoseconds: a cable of two metres, and the MACs and
/// line coding at both ends, which the simulated part of the NIC does not have.
const DELAY_PS: u64 = 500_000;

/// Two NICs at the ends of a cable.
///
/// Neither gets further ahead of the other than the cable is long, so each frame is there before its time.
#[derive(Debug)]
pub struct Pair {
    nics: [Simulated; 2],
    /// What each sends to the other.
    cables: [Cable; 2],
}

impl Pair {
    /// Two NICs that are alike, and a cable with the same faults both ways.
    ///
    /// # Errors
    /// If the hardware fails in reset.
    pub fn new(config: &NicConfig, faults: Faults, seed: u64) -> Result<Self, NicError> {
        let nics = [Simulated::new(config.clone())?, Simulated::new(config.clone())?];
        let cable = |end: u64| Cable::new(DELAY_PS, faults, seed.wrapping_mul(2).wrapping_add(end));
        let cables = [cable(0), cable(1)];
        Ok(Self { nics, cables })
    }

    /// The NIC at an end, 0 or 1.
    pub fn nic(&self, end: usize) -> &Simulated {
        &self.nics[end]
    }

    /// The cable on which an end sends.
    pub fn cable(&self, end: usize) -> &Cable {
        &self.cables[end]
    }

    /// Time at the end that is behind.
    pub fn now_ps(&self) -> u64 {
        let [one, other] = self.times();
        one.min(other)
    }

    fn times(&self) -> [u64; 2] {
        [0, 1].map(|end: usize| self.nics[end].borrow().now_ps())
    }

    /// Brings both NICs to the same time, after one of them was started.
    ///
    /// # Errors
    /// If the hardware fails.
    pub fn align(&mut self) -> Result<(), NicError> {
        let [one, other] = self.times();
        let latest = one.max(other);
        self.nics
            .iter()
            .try_for_each(|nic| nic.borrow_mut().run_until(latest))
    }

    /// Lets a little time pass: a step of the NIC that is behind, but not beyond `limit_ps`. Whoever has something to do at an
    /// end does it between two steps.
    ///
    /// # Errors
    /// If the hardware fails.
    pub fn step(&mut self, limit_ps: u64) -> Result<(), NicError> {
        if self.is_idle() {
            return self
                .nics
                .iter()
                .try_for_each(|nic| nic.borrow_mut().run_until(limit_ps));
        }
        let times = self.times();
        let end = usize::from(times[1] < times[0]);
        let (ahead, now) = (times[1 - end], times[end]);
        let incoming = &mut self.cables[1 - end];
        let mut nic = self.nics[end].borrow_mut();
        while let Some(frame) = incoming.take(now) {
            nic.receive(frame);
        }
        let arrival = incoming.next_ps().unwrap_or(u64::MAX);
        let limit = limit_ps.min(ahead + incoming.delay_ps()).min(arrival);
        nic.step(limit)?;
        nic.take_events();
        while let Some(out) = nic.take_wire() {
            self.cables[end].put(out.at_ps, out.bytes);
        }
        Ok(())
    }

    /// Whether nothing is on its way in the NICs and on the cable.
    pub fn is_idle(&self) -> bool {
        self.cables.iter().all(|cable| cable.next_ps().is_none())
            && self.nics.iter().all(|nic| nic.borrow().is_idle())
    }
}
