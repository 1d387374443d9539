//! The host that sends.

use anyhow::Result;
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicError;
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::PORT;
use spinneret_slmp::{Segment, Sender, Step};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

/// The host that sends.
const SENDER: Endpoint = Endpoint {
    mac: [2, 0, 0, 0, 0, 1],
    socket: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 40_000),
};
/// The host that receives.
const RECEIVER: Endpoint = Endpoint {
    mac: [2, 0, 0, 0, 0, 2],
    socket: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), PORT),
};
/// Frames that wait at the sender's NIC; more of them would only wait elsewhere.
const QUEUE: usize = 16;

/// The host at the first end, which does nothing but to send.
pub(super) struct SendingHost<'m> {
    pub(super) nic: &'m Simulated,
    pub(super) sender: Sender,
    pub(super) message: &'m [u8],
    pub(super) checksum: UdpChecksum,
    pub(super) start_ps: u64,
    pub(super) sent: u16,
}

impl SendingHost<'_> {
    /// Until the sender is done: how long it took.
    pub(super) fn run(&mut self) -> Result<Duration> {
        loop {
            let now_ps = self.nic.borrow().now_ps();
            let now = Duration::from_nanos((now_ps - self.start_ps) / 1000);
            self.take_acks(now);
            if self.nic.borrow().transmitting() >= QUEUE {
                self.step(u64::MAX)?;
                continue;
            }
            match self.sender.poll(now) {
                Step::Send(segment) => {
                    let frame = self.frame(&segment);
                    self.nic.borrow_mut().transmit(frame);
                }
                // A little more, so that the time is not before the one that is waited for.
                Step::Wait(until) => self.step(self.start_ps + (until.as_nanos() as u64 + 1) * 1000)?,
                Step::Done => return Ok(now),
                Step::Failed(error) => return Err(error.into()),
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
            from: SENDER,
            to: RECEIVER,
            header: segment.header,
            payload: &self.message[segment.range.clone()],
        };
        frame
            .build(self.sent, self.checksum)
            .unwrap_or_else(|_| unreachable!("segments of SLMP fit into frames"))
    }
}
