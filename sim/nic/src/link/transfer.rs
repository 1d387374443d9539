//! A message from host to host, through both NICs and the cable between them.

use super::cable::{Faults, Losses};
use super::pair::Pair;
use crate::nic::{NicConfig, NicError};
use spinneret_cluster::Program;
use spinneret_host::slmp::{Event, MessageReceiver, SegmentCounters};
use spinneret_host::{Counters, Nic};
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::PORT;
use spinneret_slmp::{
    Confirm, ReceiverConfig, ReceiverConfigError, Segment, SendError, Sender, SenderConfig,
    SenderConfigError, Statistics, Step,
};
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
/// Message id of the transfer.
const MESSAGE: u32 = 0x5eed_0001;
/// Messages without progress for so long are given up.
const IDLE: Duration = Duration::from_millis(100);
/// Longest that the receiver's host looks for a message that the sender knows to be there.
const PATIENCE_PS: u64 = 1_000_000_000;

/// What is sent, and how.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Both NICs.
    pub nic: NicConfig,
    /// What happens on the cable, both ways.
    pub faults: Faults,
    /// For the faults.
    pub seed: u64,
    /// How the sender sends.
    pub sender: SenderConfig,
    /// Whether segments carry a UDP checksum, which handlers verify.
    pub checksum: UdpChecksum,
}

impl Default for Transfer {
    /// A window of 16 on a cable without faults, with timeouts for round trips of some ten microseconds.
    fn default() -> Self {
        Self {
            nic: NicConfig::default(),
            faults: Faults::default(),
            seed: 1,
            sender: SenderConfig {
                mode: spinneret_slmp::Mode::Window(16),
                initial_timeout: Duration::from_micros(500),
                min_timeout: Duration::from_micros(100),
                max_timeout: Duration::from_millis(20),
                give_up: Duration::from_millis(100),
                ..SenderConfig::default()
            },
            checksum: UdpChecksum::Absent,
        }
    }
}

/// What became of it.
#[derive(Clone, Debug)]
pub struct Transferred {
    /// Simulated time from the first segment to the acknowledgement of the last.
    pub time: Duration,
    /// Its bytes.
    pub bytes: usize,
    /// What the sender has done.
    pub sender: Statistics,
    /// What the handlers have counted.
    pub segments: SegmentCounters,
    /// What happened on the cable, from the sender on and back.
    pub cables: [Losses; 2],
    /// What the receiver's NIC has counted meanwhile.
    pub counters: Counters,
    /// Share of the time in which a handler ran, over all HPUs.
    pub hpu_load: f64,
    /// Clocks of the cluster that handlers took together.
    pub hpu_clocks: u64,
}

impl Transferred {
    /// Bytes of the message a second, in gigabits.
    pub fn gbps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64() / 1e9
    }
}

/// Why a message did not come through.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The NICs failed.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// The receiver cannot be set up or asked.
    #[error(transparent)]
    Host(#[from] spinneret_host::Error),
    /// The sender cannot send like that.
    #[error(transparent)]
    Sender(#[from] SenderConfigError),
    /// The receiver cannot receive like that.
    #[error(transparent)]
    Receiver(#[from] ReceiverConfigError),
    /// The sender gave up.
    #[error(transparent)]
    GaveUp(#[from] SendError),
    /// The sender has every acknowledgement, and the message is not there.
    #[error("the message was acknowledged, and did not arrive")]
    Missing,
    /// Something else arrived.
    #[error("the message that arrived differs from the one that was sent at byte {0}")]
    Different(usize),
}

/// Sends a message and compares what arrives.
///
/// The hosts take no time of their own: what is measured is the cable, both NICs, and the handlers.
///
/// # Errors
/// If it does not arrive as it was sent.
pub fn transfer(program: &Program, message: &[u8], how: &Transfer) -> Result<Transferred, TransferError> {
    let mut pair = Pair::new(&how.nic, how.faults, how.seed)?;
    let nic = Nic::new(pair.nic(1).clone())?;
    let config = ReceiverConfig {
        places: 1,
        capacity_bytes: message.len().max(1),
        confirm: Confirm::Memory,
    };
    let mut receiver = MessageReceiver::open(&nic, program, config, IDLE)?;
    let sender = Sender::new(how.sender, MESSAGE, message.len() as u64)?;
    pair.align()?;
    let before = (nic.counters()?, busy(&pair));
    pair.align()?;
    let mut host = SendingHost {
        sender,
        message,
        checksum: how.checksum,
        start_ps: pair.now_ps(),
        sent: 0,
    };
    let time = host.run(&mut pair)?;
    let arrived = arrived(&mut pair, &mut receiver)?;
    if arrived != message {
        let differs = arrived.iter().zip(message).position(|(one, other)| one != other);
        return Err(TransferError::Different(
            differs.unwrap_or(arrived.len().min(message.len())),
        ));
    }
    let cluster = &how.nic.cluster;
    let hpu_clocks = busy(&pair) - before.1;
    let all =
        time.as_secs_f64() * 1e12 / how.nic.cluster_ps as f64 * (cluster.clusters * cluster.hpus) as f64;
    Ok(Transferred {
        time,
        bytes: message.len(),
        sender: *host.sender.statistics(),
        segments: receiver.counters()?,
        cables: [0, 1].map(|end| pair.cable(end).losses()),
        counters: nic.counters()?.since(&before.0),
        hpu_load: hpu_clocks as f64 / all,
        hpu_clocks,
    })
}

/// Clocks in which handlers of the receiving NIC have run.
fn busy(pair: &Pair) -> u64 {
    pair.nic(1).borrow().cluster().busy().sum()
}

/// What the receiving host finds in its memory.
fn arrived(
    pair: &mut Pair,
    receiver: &mut MessageReceiver<crate::Simulated>,
) -> Result<Vec<u8>, TransferError> {
    let limit = pair.now_ps() + PATIENCE_PS;
    while pair.now_ps() < limit {
        match receiver.poll()? {
            Some(Event::Complete(received)) => return Ok(received.data),
            Some(Event::GivenUp(_)) => return Err(TransferError::Missing),
            None => pair.step(limit)?,
        }
    }
    Err(TransferError::Missing)
}

/// The host at the first end, which does nothing but to send.
struct SendingHost<'m> {
    sender: Sender,
    message: &'m [u8],
    checksum: UdpChecksum,
    start_ps: u64,
    sent: u16,
}

impl SendingHost<'_> {
    /// Until the sender is done: how long it took.
    fn run(&mut self, pair: &mut Pair) -> Result<Duration, TransferError> {
        loop {
            let now_ps = pair.nic(0).borrow().now_ps();
            let now = Duration::from_nanos((now_ps - self.start_ps) / 1000);
            self.take_acks(pair, now);
            if pair.nic(0).borrow().transmitting() >= QUEUE {
                pair.step(u64::MAX)?;
                continue;
            }
            match self.sender.poll(now) {
                Step::Send(segment) => {
                    let frame = self.frame(&segment);
                    pair.nic(0).borrow_mut().transmit(frame);
                }
                // A little more, so that the time is not before the one that is waited for.
                Step::Wait(until) => pair.step(self.start_ps + (until.as_nanos() as u64 + 1) * 1000)?,
                Step::Done => return Ok(now),
                Step::Failed(error) => return Err(error.into()),
            }
        }
    }

    fn take_acks(&mut self, pair: &Pair, now: Duration) {
        let mut nic = pair.nic(0).borrow_mut();
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
