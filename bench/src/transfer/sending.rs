//! The sending host.

use anyhow::Result;
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicError;
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::{Segment, SendError, Sender, Step};
use std::time::Duration;

/// Frames that wait at the sender's NIC; more of them would only wait elsewhere.
const QUEUE: usize = 16;

/// Lets so much time pass.
pub(super) fn pass(nic: &Simulated, time_ps: u64) -> Result<(), NicError> {
    let mut nic = nic.borrow_mut();
    let until_ps = nic.now_ps() + time_ps;
    while nic.now_ps() < until_ps {
        nic.step(until_ps)?;
        nic.take_events();
        while nic.take_wire().is_some() {}
    }
    Ok(())
}

/// Random pauses: splitmix64 of Steele, Lea and Flood.
pub(super) struct Pauses {
    pub(super) most_ps: u64,
    pub(super) state: u64,
}

impl Pauses {
    pub(super) fn next_ps(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % (self.most_ps + 1)
    }
}

/// A sending host, which does nothing else.
pub(super) struct SendingHost<'m> {
    pub(super) nic: &'m Simulated,
    pub(super) sender: Sender,
    pub(super) message: &'m [u8],
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    pub(super) checksum: UdpChecksum,
    pub(super) start_ps: u64,
    /// The end of the pause.
    pub(super) free_ps: u64,
    pub(super) sent: u16,
}

impl SendingHost<'_> {
    /// Until the sender is done, or gives up for the returned reason.
    pub(super) fn run(&mut self, pauses: &mut Pauses) -> Result<Option<SendError>> {
        loop {
            let now_ps = self.nic.borrow().now_ps();
            let now = Duration::from_nanos((now_ps - self.start_ps) / 1000);
            self.take_acks(now);
            if now_ps < self.free_ps {
                self.step(self.free_ps)?;
                continue;
            }
            if self.nic.borrow().transmitting() >= QUEUE {
                self.step(u64::MAX)?;
                continue;
            }
            match self.sender.poll(now) {
                Step::Send(segment) => {
                    let frame = self.frame(&segment);
                    self.nic.borrow_mut().transmit(frame);
                    self.free_ps = now_ps + pauses.next_ps();
                }
                // Add one nanosecond, so that the sender's deadline has passed.
                Step::Wait(until) => self.step(self.start_ps + (until.as_nanos() as u64 + 1) * 1000)?,
                Step::Done => return Ok(None),
                Step::Failed(error) => return Ok(Some(error)),
            }
        }
    }

    fn step(&self, limit_ps: u64) -> Result<(), NicError> {
        let mut nic = self.nic.borrow_mut();
        nic.step(limit_ps)?;
        nic.take_events();
        while nic.take_wire().is_some() {}
        Ok(())
    }

    fn take_acks(&mut self, now: Duration) {
        let mut nic = self.nic.borrow_mut();
        while let Some(out) = nic.take_host() {
            if let Ok(frame) = Frame::parse(&out.bytes) {
                self.sender.acknowledge(&frame.header, now);
            }
        }
    }

    fn frame(&mut self, segment: &Segment) -> Vec<u8> {
        self.sent = self.sent.wrapping_add(1);
        let frame = Frame {
            from: self.from,
            to: self.to,
            header: segment.header,
            payload: &self.message[segment.range.clone()],
        };
        frame
            .build(self.sent, self.checksum)
            .unwrap_or_else(|_| unreachable!("segments of SLMP fit into frames"))
    }
}
