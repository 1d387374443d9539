//! The NIC at a cable of a fabric, whose clock is synchronized with the other NICs.

use super::{Nic, NicError};
use spinneret_fabric::{ExternalWait, Port};
use spinneret_sim::stream::Pause;

/// Bytes that wait for the cable at most before the NIC stops sending: the size of the FIFO of Corundum's MAC
/// (`TX_FIFO_DEPTH` of mqnic).
const FIFO_BYTES: u64 = 32_768;
/// Longest clock period of a NIC at a cable, in picoseconds.
pub const SLOWEST_PS: u64 = spinneret_fabric::SLACK_PS;

/// A frame, and its time.
pub type Timed = (u64, Vec<u8>);

/// The port of the cable.
#[derive(Debug)]
pub(super) struct Line {
    port: Port,
    /// The cable accepts no frames now.
    is_full: bool,
    /// The log of frames from the cable and to the host.
    log: Option<[Vec<Timed>; 2]>,
}

impl Nic {
    /// Connects the NIC, which has just been reset.
    pub fn connect(&mut self, port: Port) {
        self.line = Some(Line {
            port,
            is_full: false,
            log: None,
        });
    }

    /// Enables the log of frames from the cable and to the host, which [`take_frame_log`](Self::take_frame_log) returns.
    pub fn log_frames(&mut self) {
        if let Some(line) = &mut self.line {
            line.log = Some([const { Vec::new() }; 2]);
        }
    }

    /// Frames from the cable and frames to the host since the last call, with their times; nothing if the log is not
    /// enabled.
    pub fn take_frame_log(&mut self) -> Option<[Vec<Timed>; 2]> {
        let log = self.line.as_mut().and_then(|line| line.log.as_mut());
        log.map(std::mem::take)
    }

    /// Waits for an event outside of the simulation, as [`Port::outside`] does.
    pub fn outside<R>(&self, why: ExternalWait, wait: impl FnOnce() -> R) -> R {
        match &self.line {
            Some(line) => line.port.outside(why, wait),
            None => wait(),
        }
    }

    /// Whether the fabric has ended.
    pub fn is_stopped(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.port.is_stopped())
    }

    /// Ends the fabric.
    pub fn stop(&self) {
        if let Some(line) = &self.line {
            line.port.stop();
        }
    }

    /// Time until which the NIC may run without synchronization.
    pub(super) fn line_limit(&self) -> u64 {
        let Some(Line { port, .. }) = &self.line else {
            return u64::MAX;
        };
        let arrives = port.next_arrival_ps().unwrap_or(u64::MAX);
        arrives.min(port.horizon_ps())
    }

    /// Synchronizes with the other NICs if the NIC may not take another clock, and takes received frames.
    pub(super) fn look_at_line(&mut self, wants_ps: u64) -> Result<(), NicError> {
        let now_ps = self.now_ps();
        let Some(line) = &mut self.line else {
            return Ok(());
        };
        while now_ps + self.config.core_ps > line.port.horizon_ps() {
            line.port.exchange(wants_ps.max(now_ps))?;
        }
        while let Some(frame) = line.port.arrival(now_ps) {
            if let Some(log) = &mut line.log {
                log[0].push((now_ps, frame.clone()));
            }
            self.rx.send(spinneret_sim::stream::Frame::new(frame));
        }
        Ok(())
    }

    /// Skips idle time to the limit, or shortly before the next frame. A NIC that has told the others that it
    /// is idle until some time is not asked before then: it would act in their past.
    pub(super) fn skip_on_line(&mut self, limit_ps: u64) -> Result<(), NicError> {
        loop {
            let until_ps = limit_ps.min(self.line_limit());
            self.skip(until_ps);
            let now_ps = self.now_ps();
            let busy_clocks = self.backend.next_clocks();
            let is_quiet = self.is_quiet();
            let is_there = until_ps.saturating_sub(now_ps) < self.config.cluster_ps;
            let Some(line) = self.line.as_mut().filter(|line| {
                is_quiet && is_there && until_ps < limit_ps && until_ps == line.port.horizon_ps()
            }) else {
                return Ok(());
            };
            let busy_ps = busy_clocks.map_or(u64::MAX, |clocks| now_ps + clocks * self.config.cluster_ps);
            line.port.exchange(limit_ps.min(busy_ps).max(now_ps))?;
        }
    }

    /// Notes a frame that went to the host.
    pub(super) fn note_to_host(&mut self, at_ps: u64, bytes: &[u8]) {
        if let Some(log) = self.line.as_mut().and_then(|line| line.log.as_mut()) {
            log[1].push((at_ps, bytes.to_vec()));
        }
    }

    /// Sends a frame on the cable.
    pub(super) fn put_on_line(&mut self, at_ps: u64, bytes: &[u8]) {
        if let Some(line) = &mut self.line {
            line.port.send(at_ps, bytes.to_vec());
        }
    }

    /// Applies backpressure to the NIC while the cable accepts no frames.
    pub(super) fn hold_back(&mut self) {
        let now_ps = self.now_ps();
        let Some(line) = &mut self.line else {
            return;
        };
        let is_full = line.port.queued_bytes(now_ps) > FIFO_BYTES;
        if is_full != line.is_full {
            line.is_full = is_full;
            self.to_wire.set_pause(match is_full {
                true => Pause::Random { percent: 100 },
                false => Pause::Never,
            });
        }
    }
}
