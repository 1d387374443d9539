//! What a NIC has of the fabric: the cable that it sends on, what comes to it, and how far it may go.

use crate::cable::{Cable, Counts, Delivery, Sent};
use crate::digest::Digest;
use crate::meeting::{Outside, Stopped};
use crate::rounds::crew::{Crew, Done};
use crate::{NicReport, Ps};
use std::collections::VecDeque;
use std::sync::Arc;

/// The NIC's end of its cable.
///
/// Whoever has it runs a NIC from its time 0 on, on a thread of its own: not beyond [`horizon_ps`](Self::horizon_ps), where it
/// [meets](Self::meet) the others.
#[derive(Debug)]
pub struct Port {
    nic: usize,
    crew: Arc<Crew>,
    cable: Option<Cable>,
    /// What is sent is noted for a capture.
    notes: bool,
    noted: Vec<(Ps, Vec<u8>)>,
    sent: Vec<Delivery>,
    arrivals: VecDeque<Delivery>,
    horizon_ps: Ps,
    report: NicReport,
    digest: Digest,
}

impl Port {
    pub(crate) fn new(nic: usize, crew: Arc<Crew>, cable: Option<Cable>, notes: bool) -> Self {
        Self {
            nic,
            crew,
            cable,
            notes,
            noted: Vec::new(),
            sent: Vec::new(),
            arrivals: VecDeque::new(),
            horizon_ps: 0,
            report: NicReport::default(),
            digest: Digest::default(),
        }
    }

    /// Until when time may pass before the next meeting.
    pub fn horizon_ps(&self) -> Ps {
        self.horizon_ps
    }

    /// A frame leaves the NIC at that time, which is not before that of the last one.
    pub fn send(&mut self, at_ps: Ps, bytes: Vec<u8>) {
        if self.notes {
            self.noted.push((at_ps, bytes.clone()));
        }
        let sent = Sent {
            born_ps: at_ps,
            is_bad: false,
            bytes,
        };
        if let Some(cable) = &mut self.cable {
            self.sent.extend(cable.send(at_ps, sent));
        }
    }

    /// Bytes that have left the NIC, and are not on the cable yet at that time.
    pub fn queued_bytes(&mut self, now_ps: Ps) -> u64 {
        self.cable.as_mut().map_or(0, |cable| cable.queued_bytes(now_ps))
    }

    /// When the next frame is there, as far as is known.
    pub fn next_arrival_ps(&self) -> Option<Ps> {
        self.arrivals.front().map(|arrival| arrival.last_ps)
    }

    /// The next frame that is there at that time. Those with a wrong check sequence are counted, and never seen.
    pub fn arrival(&mut self, now_ps: Ps) -> Option<Vec<u8>> {
        while let Some(arrival) = self.arrivals.pop_front_if(|arrival| arrival.last_ps <= now_ps) {
            if arrival.is_bad {
                self.report.bad += 1;
                continue;
            }
            self.report.received += 1;
            self.report.received_bytes += arrival.bytes.len() as u64;
            self.report.last_ps = arrival.last_ps;
            let latency_ps = arrival.last_ps - arrival.born_ps;
            self.report.latency_ps.0 = self.report.latency_ps.0.max(latency_ps);
            self.report.latency_ps.1 += latency_ps;
            self.digest.number(arrival.last_ps);
            self.digest.bytes(&arrival.bytes);
            return Some(arrival.bytes);
        }
        None
    }

    /// Tells the others what was sent, and that nothing is to be done here before `wants_ps` unless a frame comes; waits
    /// until time may go on, and gives the new [`horizon_ps`](Self::horizon_ps).
    ///
    /// # Errors
    /// If it is over.
    pub fn meet(&mut self, wants_ps: Ps) -> Result<Ps, Stopped> {
        let wants_ps = self.next_arrival_ps().map_or(wants_ps, |next| next.min(wants_ps));
        let granted = self.crew.meet(
            self.nic,
            wants_ps,
            std::mem::take(&mut self.sent),
            std::mem::take(&mut self.noted),
        )?;
        self.arrivals.extend(granted.arrivals);
        // Frames that were held up may come before those that were known already.
        self.arrivals
            .make_contiguous()
            .sort_by_key(|arrival| (arrival.last_ps, arrival.number));
        self.horizon_ps = granted.horizon_ps;
        Ok(granted.horizon_ps)
    }

    /// Does something that waits for somebody outside; others use the processor meanwhile, and hear who holds them if it
    /// takes long.
    pub fn outside<R>(&self, why: Outside, wait: impl FnOnce() -> R) -> R {
        self.crew.leave(self.nic, why);
        let done = wait();
        self.crew.come_back(self.nic);
        done
    }

    /// Whether it is over.
    pub fn is_stopped(&self) -> bool {
        self.crew.is_stopped()
    }

    /// Ends everything, for everybody.
    pub fn stop(&self) {
        self.crew.stop();
    }
}

impl Drop for Port {
    /// The NIC is gone; frames that still come to it are counted as such.
    fn drop(&mut self) {
        self.report.digest = self.digest.value();
        self.report.off += self.arrivals.len() as u64;
        let done = Done {
            report: self.report.clone(),
            cable: self.cable.as_ref().map_or(Counts::default(), Cable::counts),
        };
        let (sent, noted) = (std::mem::take(&mut self.sent), std::mem::take(&mut self.noted));
        self.crew.finish(self.nic, sent, noted, done);
    }
}
