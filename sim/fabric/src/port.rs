//! A NIC's view of the fabric: its cable, the frames that reach it, and its horizon.

use crate::cable::{Cable, Counts, Delivery, Sent};
use crate::epochs::workers::{Done, WorkerPool};
use crate::{Digest, ExternalWait, NicReport, Ps, Stopped};
use std::collections::VecDeque;
use std::sync::Arc;

/// The NIC's end of its cable.
///
/// The owner simulates a NIC from time 0 on its own thread, up to [`horizon_ps`](Self::horizon_ps). There it
/// [exchanges](Self::exchange) frames with the others.
#[derive(Debug)]
pub struct Port {
    nic: usize,
    pool: Arc<WorkerPool>,
    cable: Option<Cable>,
    /// Whether sent frames are captured.
    notes: bool,
    noted: Vec<(Ps, Vec<u8>)>,
    sent: Vec<Delivery>,
    arrivals: VecDeque<Delivery>,
    horizon_ps: Ps,
    report: NicReport,
    digest: Digest,
}

impl Port {
    pub(crate) fn new(nic: usize, pool: Arc<WorkerPool>, cable: Option<Cable>, notes: bool) -> Self {
        Self {
            nic,
            pool,
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

    /// Sends a frame at `at_ps`, which must not be before the previous one.
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

    /// Returns the next frame that has arrived by `now_ps`. Frames with a wrong check sequence are counted and
    /// dropped.
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

    /// Ends an epoch: hands over the sent frames, declares that nothing happens here before `wants_ps` unless a frame
    /// arrives, waits for the next epoch and returns the new [`horizon_ps`](Self::horizon_ps).
    ///
    /// # Errors
    /// If it is over.
    pub fn exchange(&mut self, wants_ps: Ps) -> Result<Ps, Stopped> {
        let wants_ps = self.next_arrival_ps().map_or(wants_ps, |next| next.min(wants_ps));
        let granted = self.pool.exchange(
            self.nic,
            wants_ps,
            std::mem::take(&mut self.sent),
            std::mem::take(&mut self.noted),
        )?;
        self.arrivals.extend(granted.arrivals);
        // Delayed frames may arrive before frames that were already known.
        self.arrivals
            .make_contiguous()
            .sort_by_key(|arrival| (arrival.last_ps, arrival.number));
        self.horizon_ps = granted.horizon_ps;
        Ok(granted.horizon_ps)
    }

    /// Runs code that waits for something outside of the simulation. Meanwhile other NICs use the processor; the
    /// observer is notified if it takes long.
    pub fn outside<R>(&self, why: ExternalWait, wait: impl FnOnce() -> R) -> R {
        self.pool.leave(self.nic, why);
        let done = wait();
        self.pool.come_back(self.nic);
        done
    }

    /// Whether it is over.
    pub fn is_stopped(&self) -> bool {
        self.pool.is_stopped()
    }

    /// Stops the simulation for all NICs.
    pub fn stop(&self) {
        self.pool.stop();
    }
}

impl Drop for Port {
    /// Terminates the NIC; later frames to it are counted as such.
    fn drop(&mut self) {
        self.report.digest = self.digest.value();
        self.report.off += self.arrivals.len() as u64;
        let done = Done {
            report: self.report.clone(),
            cable: self.cable.as_ref().map_or(Counts::default(), Cable::counts),
        };
        let (sent, noted) = (std::mem::take(&mut self.sent), std::mem::take(&mut self.noted));
        self.pool.finish(self.nic, sent, noted, done);
    }
}
