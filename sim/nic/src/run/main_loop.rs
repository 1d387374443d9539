//! The main loop of a NIC: `run`, `serve`, `receive`, Python and the fabric put it together of the same parts. The program on
//! the host acts, its frames go in, time passes, and everything that comes out is recorded and passed on.

use super::host::{HostProgram, HostStep};
use super::setup::PacketIo;
use crate::device::Simulated;
use crate::net::Next;
use crate::report::{Occupancy, Recorder};
use anyhow::Result;

/// Frames that wait at an input of the NIC before more are taken from their source: enough that it never runs dry.
pub(super) const WAITING: usize = 32;
/// Between two notes of how full everything is.
const OCCUPANCY_PS: u64 = 1_000_000;
/// Simulated time after which a silent interface of the host is looked at again.
const LOOK_PS: u64 = 200_000_000;

/// A NIC, its host, and who records what happens.
pub(crate) struct MainLoop {
    pub(crate) nic: Simulated,
    pub(crate) ends: PacketIo,
    pub(crate) recorder: Recorder,
    /// A program on the host, and what it wants.
    pub(crate) host: Option<Box<dyn HostProgram>>,
    pub(crate) attention: HostStep,
    /// Recorded times count from then on.
    pub(super) start_ps: u64,
    noted_ps: u64,
    /// The next frame of each source of the host, and when it is to be sent.
    from_host: Vec<Option<(u64, Vec<u8>)>>,
}

impl MainLoop {
    /// A run that began then.
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

    /// Whether the program on the host wants to look now.
    pub(super) fn is_due(&self) -> bool {
        matches!(self.attention, HostStep::WakeAt(at) if at <= self.nic.borrow().now_ps())
    }

    /// Lets the debugger and the program on the host look at the NIC.
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
            if let Some(program) = self.nic.borrow_mut().take_loaded() {
                self.recorder.set_program(&program);
            }
        }
        Ok(())
    }

    /// Gives the NIC the frames that the host sends by now, if its sources began at a time: when to do so again.
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
        // Frames that are late wait for room at the NIC, which comes with the next clocks.
        Ok(again_ps.max(now_ps + 1))
    }

    /// A step of the simulation, no further than to the next look of the program on the host.
    pub(crate) fn step(&mut self, limit_ps: u64) -> Result<()> {
        let limit_ps = match self.attention {
            HostStep::WakeAt(at_ps) => limit_ps.min(at_ps),
            _ => limit_ps,
        };
        Ok(self.nic.borrow_mut().step(limit_ps)?)
    }

    /// Records what happened, and passes on what came out.
    pub(crate) fn pass_on(&mut self) -> Result<()> {
        let Self {
            ends, recorder, host, ..
        } = self;
        let start_ps = self.start_ps;
        let mut nic = self.nic.borrow_mut();
        // Frames of a cable come and go while others have the NIC, so it keeps them.
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
