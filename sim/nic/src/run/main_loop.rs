//! The main loop of a NIC, used by `run`, `serve`, `receive`, Python and the fabric. The host program
//! runs, its frames are sent, time advances, and all outputs are recorded and forwarded.

use super::host::{HostProgram, HostStep};
use super::setup::PacketIo;
use crate::device::Simulated;
use crate::net::Next;
use crate::report::{Occupancy, Recorder};
use anyhow::Result;

/// Queued frames at an input of the NIC: enough that it never runs empty.
pub(super) const WAITING: usize = 32;
/// Interval between samples of fill levels.
const OCCUPANCY_PS: u64 = 1_000_000;
/// Simulated time between polls of an idle interface of the host.
const LOOK_PS: u64 = 200_000_000;

/// A NIC, its host, and the recorder.
pub(crate) struct MainLoop {
    pub(crate) nic: Simulated,
    pub(crate) ends: PacketIo,
    pub(crate) recorder: Recorder,
    /// The host program, and its last step.
    pub(crate) host: Option<Box<dyn HostProgram>>,
    pub(crate) attention: HostStep,
    /// Origin of recorded times.
    pub(super) start_ps: u64,
    noted_ps: u64,
    /// The next frame of each source of the host, and its time.
    from_host: Vec<Option<(u64, Vec<u8>)>>,
}

impl MainLoop {
    /// A run that started at `start_ps`.
    pub(crate) fn new(
        nic: Simulated,
        ends: PacketIo,
        recorder: Recorder,
        host: Option<Box<dyn HostProgram>>,
        start_ps: u64,
    ) -> Self {
        Self {
            nic,
            from_host: vec![None; ends.host_sources.len()],
            ends,
            recorder,
            host,
            attention: HostStep::Idle,
            start_ps,
            noted_ps: start_ps,
        }
    }

    /// Whether a step of the host program is due.
    pub(super) fn is_due(&self) -> bool {
        matches!(self.attention, HostStep::WakeAt(at) if at <= self.nic.borrow().now_ps())
    }

    /// Runs the debugger and the host program.
    pub(crate) fn attend(&mut self) -> Result<()> {
        self.nic.borrow_mut().attend_debugger();
        if let Some(host) = &mut self.host {
            self.attention = host.poll(&self.nic)?;
            for mut call in host.take_calls() {
                for at in [&mut call.asked_ps, &mut call.taken_ps, &mut call.ended_ps] {
                    *at = at.saturating_sub(self.start_ps);
                }
                self.recorder.call(&call);
            }
            for program in self.nic.borrow_mut().take_loaded() {
                self.recorder.add_program(&program);
            }
        }
        Ok(())
    }

    /// Sends due frames of the host, if its sources have started: time of the next one.
    pub(crate) fn feed_from_host(&mut self, since_ps: u64) -> Result<u64> {
        let mut nic = self.nic.borrow_mut();
        let (now_ps, mut again_ps) = (nic.now_ps(), u64::MAX);
        for (source, next) in self.ends.host_sources.iter_mut().zip(&mut self.from_host) {
            while nic.transmitting() < WAITING {
                if next.is_none() {
                    match source.next(now_ps - since_ps)? {
                        Next::Packet { at_ps, bytes } => {
                            *next = Some((at_ps.saturating_add(since_ps), bytes))
                        }
                        Next::WithRoom(bytes) => *next = Some((now_ps, bytes)),
                        Next::Nothing => again_ps = again_ps.min(now_ps + LOOK_PS),
                        Next::End => {}
                    }
                }
                let Some((_, bytes)) = next.take_if(|(at_ps, _)| *at_ps <= now_ps) else {
                    break;
                };
                self.recorder.from_host(now_ps - self.start_ps, bytes.len());
                nic.transmit(bytes);
            }
            if let Some((at_ps, _)) = next {
                again_ps = again_ps.min(*at_ps);
            }
        }
        // Late frames wait for room in the queue.
        Ok(again_ps.max(now_ps + 1))
    }

    /// A step of the simulation, up to the next step of the host program.
    pub(crate) fn step(&mut self, limit_ps: u64) -> Result<()> {
        let limit_ps = match self.attention {
            HostStep::WakeAt(at_ps) => limit_ps.min(at_ps),
            _ => limit_ps,
        };
        Ok(self.nic.borrow_mut().step(limit_ps)?)
    }

    /// Records events, and forwards outputs.
    pub(crate) fn pass_on(&mut self) -> Result<()> {
        let Self {
            ends, recorder, host, ..
        } = self;
        let start_ps = self.start_ps;
        let mut nic = self.nic.borrow_mut();
        // The NIC logs frames of a cable, because they pass while other code drives it.
        let log = nic.take_frame_log();
        let is_logged = log.is_some();
        let [came, to_host] = log.unwrap_or_default();
        for (at_ps, bytes) in came {
            recorder.received(at_ps - start_ps, &bytes, nic.matching_handler(&bytes));
        }
        for (at_ps, bytes) in to_host {
            recorder.to_host(at_ps - start_ps, &bytes);
        }
        while let Some(out) = nic.take_wire() {
            let at_ps = out.at_ps.saturating_sub(start_ps);
            recorder.sent(at_ps, out.bytes.len(), out.is_host);
            for sink in &mut ends.wire {
                sink.put(at_ps, &out.bytes)?;
            }
        }
        let takes_frames = host.as_ref().is_some_and(|host| host.takes_frames());
        while (!takes_frames || !ends.host.is_empty())
            && let Some(out) = nic.take_host()
        {
            let at_ps = out.at_ps.saturating_sub(start_ps);
            if !is_logged {
                recorder.to_host(at_ps, &out.bytes);
            }
            for sink in &mut ends.host {
                sink.put(at_ps, &out.bytes)?;
            }
        }
        while let Some(word) = nic.take_printed() {
            recorder.stdout(word);
        }
        let time = nic.cluster_time();
        for event in nic.take_events() {
            recorder.event(&event, |clock| time(clock).saturating_sub(start_ps));
        }
        if recorder.wants_occupancy() && nic.now_ps() >= self.noted_ps + OCCUPANCY_PS {
            self.noted_ps = nic.now_ps();
            recorder.occupancy(self.noted_ps - start_ps, &Occupancy::of(&nic));
        }
        Ok(())
    }
}
