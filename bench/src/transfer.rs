//! A message from host to host, through two NICs and the cable between them.
//!
//! ```text
//! host A: Sender                                                        host B: MessageReceiver
//!    | transmit      ^ take_host                                              ^ host memory
//!    v               |                                                        |
//!  NIC A: other traffic passes <======= cable =======> NIC B: handlers for SLMP
//! ```

use anyhow::{Context as _, Error, Result, bail, ensure};
use spinneret_cluster::Program;
use spinneret_fabric::topology::Simple;
use spinneret_fabric::{Counts, Faults, NodeExit, Settings};
use spinneret_host::slmp::{Event, MessageReceiver, SegmentCounters};
use spinneret_host::{Counters, Nic};
use spinneret_nic::Simulated;
use spinneret_nic::fabric::{Hosted, Signal, run_programs};
use spinneret_nic::nic::{NicConfig, NicError};
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::PORT;
use spinneret_slmp::{Confirm, ReceiverConfig, Segment, Sender, SenderConfig, Statistics, Step};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Message id of the transfer.
const MESSAGE: u32 = 0x5eed_0001;
/// Messages without progress for this long are given up.
const IDLE: Duration = Duration::from_millis(100);
/// Longest time for which the receiving host waits for an acknowledged message.
const PATIENCE_PS: u64 = 1_000_000_000;
/// Polling interval of the hosts.
const LOOK_PS: u64 = 1_000_000;
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

/// Settings of a transfer.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Both NICs.
    pub nic: NicConfig,
    /// Faults of the cable, in both directions.
    pub faults: Faults,
    /// For the faults.
    pub seed: u64,
    /// How the sender sends.
    pub sender: SenderConfig,
    /// Whether segments carry a UDP checksum for the handlers to verify.
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

/// Results of a transfer.
#[derive(Clone, Debug)]
pub struct Transferred {
    /// Simulated time from the first segment to the acknowledgement of the last.
    pub time: Duration,
    /// Its bytes.
    pub bytes: usize,
    /// Statistics of the sender.
    pub sender: Statistics,
    /// Counters of the handlers.
    pub segments: SegmentCounters,
    /// Counters of the cable: from the sender, and back.
    pub cables: [Counts; 2],
    /// Counters of the receiver's NIC during the transfer.
    pub counters: Counters,
    /// Fraction of the time in which handlers ran, over all HPUs.
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

/// A message that the sender knows to be there.
const MISSING: &str = "the message was acknowledged, and did not arrive";

/// Sends a message and compares the received one.
///
/// The hosts take no time of their own: this measures the cable, both NICs, and the handlers.
///
/// # Errors
/// If it does not arrive as it was sent.
pub fn transfer(program: &Program, message: &[u8], how: &Transfer) -> Result<Transferred> {
    let topology = Simple {
        faults: how.faults,
        seed: how.seed,
        ..Simple::default()
    };
    let topology = topology.topology()?;
    let hosts = Hosts {
        program,
        message,
        how,
        ready: Signal::new(topology.lookahead_ps()),
        sent: Signal::new(topology.lookahead_ps()),
        failure: Mutex::new(None),
        sending: Mutex::new(None),
        receiving: Mutex::new(None),
    };
    let programs: Vec<Hosted<'_>> = vec![
        Box::new(|nic| hosts.run(&hosts.sending, hosts.send(nic))),
        Box::new(|nic| hosts.run(&hosts.receiving, hosts.receive(nic))),
    ];
    let report = run_programs(&topology, &how.nic, Settings::default(), programs);
    if let Some(failure) = take(&hosts.failure) {
        return Err(failure);
    }
    let report = report?;
    let ended = take(&hosts.sending).zip(take(&hosts.receiving));
    let ((time, sender), received) = ended.context(MISSING)?;
    let mut pairs = received.bytes.iter().zip(message);
    let differs = pairs.position(|(one, other)| one != other);
    let differs = differs.unwrap_or(received.bytes.len().min(message.len()));
    ensure!(
        received.bytes == message,
        "the message that arrived differs from the one that was sent at byte {differs}"
    );
    let cluster = &how.nic.cluster;
    let all =
        time.as_secs_f64() * 1e12 / how.nic.cluster_ps as f64 * (cluster.clusters * cluster.hpus) as f64;
    Ok(Transferred {
        time,
        bytes: message.len(),
        sender,
        segments: received.segments,
        cables: [report.cables[0].counts, report.cables[1].counts],
        counters: received.counters,
        hpu_load: received.hpu_clocks as f64 / all,
        hpu_clocks: received.hpu_clocks,
    })
}

fn take<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Results of the receiving host.
struct Received {
    bytes: Vec<u8>,
    segments: SegmentCounters,
    counters: Counters,
    hpu_clocks: u64,
}

/// Both hosts.
struct Hosts<'t> {
    program: &'t Program,
    message: &'t [u8],
    how: &'t Transfer,
    /// The receiver can receive.
    ready: Signal,
    /// The sender has all acknowledgements.
    sent: Signal,
    failure: Mutex<Option<Error>>,
    sending: Mutex<Option<(Duration, Statistics)>>,
    receiving: Mutex<Option<Received>>,
}

impl Hosts<'_> {
    /// Stores the result of a host; a failure stops the simulation.
    fn run<T>(&self, place: &Mutex<Option<T>>, done: Result<T>) -> Result<(), NodeExit> {
        let failure = match done {
            Ok(done) => {
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
                return Ok(());
            }
            Err(failure) => failure,
        };
        if let Some(NicError::Stopped(stopped)) = failure.downcast_ref() {
            return Err((*stopped).into());
        }
        let text = failure.to_string();
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        Err(NodeExit::Failed(text))
    }

    /// Runs the sending host; returns the time and the statistics.
    fn send(&self, nic: &Simulated) -> Result<(Duration, Statistics)> {
        let mut host = SendingHost {
            nic,
            sender: Sender::new(self.how.sender, MESSAGE, self.message.len() as u64)?,
            message: self.message,
            checksum: self.how.checksum,
            start_ps: 0,
            sent: 0,
        };
        while self.ready.told(nic.borrow().now_ps()).is_none() {
            pass(nic, LOOK_PS)?;
        }
        host.start_ps = nic.borrow().now_ps();
        let time = host.run()?;
        self.sent.tell(nic.borrow().now_ps());
        Ok((time, *host.sender.statistics()))
    }

    /// The host that receives.
    fn receive(&self, simulated: &Simulated) -> Result<Received> {
        let nic = Nic::new(simulated.clone())?;
        let config = ReceiverConfig {
            places: 1,
            capacity_bytes: self.message.len().max(1),
            confirm: Confirm::Memory,
        };
        let mut receiver = MessageReceiver::open(&nic, self.program, config, IDLE)?;
        let busy = || simulated.borrow().cluster().busy().iter().sum::<u64>();
        let before = (nic.counters()?, busy());
        self.ready.tell(simulated.borrow().now_ps());
        let bytes = loop {
            match receiver.poll()? {
                Some(Event::Complete(received)) => break received.data,
                Some(Event::GivenUp(_)) => bail!(MISSING),
                None => {}
            }
            let now_ps = simulated.borrow().now_ps();
            if self
                .sent
                .told(now_ps)
                .is_some_and(|sent_ps| now_ps > sent_ps + PATIENCE_PS)
            {
                bail!(MISSING);
            }
            pass(simulated, LOOK_PS)?;
        };
        // Late duplicates count as well.
        while self.sent.told(simulated.borrow().now_ps()).is_none() {
            pass(simulated, LOOK_PS)?;
        }
        let hpu_clocks = busy() - before.1;
        Ok(Received {
            bytes,
            segments: receiver.counters()?,
            counters: nic.counters()?.since(&before.0),
            hpu_clocks,
        })
    }
}

/// Lets so much time pass.
fn pass(nic: &Simulated, time_ps: u64) -> Result<(), NicError> {
    let mut nic = nic.borrow_mut();
    let until_ps = nic.now_ps() + time_ps;
    while nic.now_ps() < until_ps {
        nic.step(until_ps)?;
        nic.take_events();
        while nic.take_wire().is_some() {}
    }
    Ok(())
}

/// The sending host, which does nothing else.
struct SendingHost<'m> {
    nic: &'m Simulated,
    sender: Sender,
    message: &'m [u8],
    checksum: UdpChecksum,
    start_ps: u64,
    sent: u16,
}

impl SendingHost<'_> {
    /// Until the sender is done: how long it took.
    fn run(&mut self) -> Result<Duration> {
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
                // Add one nanosecond, so that the sender's deadline has passed.
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
