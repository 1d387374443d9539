//! Messages from host to host, through two NICs and the cable between them, or from several hosts through a switch.
//!
//! ```text
//! host A: Sender                                                        host B: MessageReceiver
//!    | transmit      ^ take_host                                              ^ host memory
//!    v               |                                                        |
//!  NIC A: other traffic passes <======= cable =======> NIC B: handlers for SLMP
//! ```
//!
//! In each round every sender sends the message once; a round begins when all of the one before is over.

mod sending;

use self::sending::{Pauses, SendingHost, pass};
use anyhow::{Context as _, Error, Result, ensure};
use spinneret_cluster::Program;
use spinneret_fabric::topology::{Simple, SwitchConfig, Table, Topology, ip_of, mac_of};
use spinneret_fabric::{Counts, Faults, NodeExit, Settings};
use spinneret_host::slmp::{Event, MessageReceiver, SegmentCounters};
use spinneret_host::{Counters, Nic};
use spinneret_nic::Simulated;
use spinneret_nic::fabric::{Hosted, Signal, run_programs};
use spinneret_nic::nic::{NicConfig, NicError};
use spinneret_slmp::frame::{Endpoint, UdpChecksum};
use spinneret_slmp::wire::PORT;
use spinneret_slmp::{Confirm, ReceiverConfig, SendError, Sender, SenderConfig, Statistics};
use std::net::SocketAddrV4;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Message id of the first sender in the first round.
const MESSAGE: u32 = 0x5eed_0001;
/// From one sender's id to the next one's. Receivers look for a place by the id, from the same one on for half of the pairs of
/// random ids; with this distance, in half of the rounds.
const NEXT_SENDER: u32 = 2;
/// UDP port of senders.
const SENDERS_PORT: u16 = 40_000;
/// Longest time for which the receiving host waits for an acknowledged message.
const PATIENCE_PS: u64 = 1_000_000_000;
/// Polling interval of the hosts.
const LOOK_PS: u64 = 1_000_000;
/// Pause before the next round, in which late segments are handled.
const SETTLE_PS: u64 = 50_000_000;
/// Longest message of the first round, if it warms up.
const WARM_UP_BYTES: usize = 100_000;

/// Settings of transfers.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// All NICs.
    pub nic: NicConfig,
    /// Bits a second of the cables.
    pub rate_bps: u64,
    /// Faults of the cables, in both directions.
    pub faults: Faults,
    /// For the faults and the pauses.
    pub seed: u64,
    /// Hosts that send the message at the same time; more than one are at a switch.
    pub senders: usize,
    /// How they send.
    pub sender: SenderConfig,
    /// Longest pause of a sending host after each segment. Pauses are random, from zero on, all equally likely.
    pub pause: Duration,
    /// Whether segments carry a UDP checksum for the handlers to verify.
    pub checksum: UdpChecksum,
}

impl Default for Transfer {
    /// A window of 16 on a cable without faults, with timeouts for round trips of some ten microseconds. The sender takes no
    /// time.
    fn default() -> Self {
        Self {
            nic: NicConfig::default(),
            rate_bps: Simple::default().rate_bps,
            faults: Faults::default(),
            seed: 1,
            senders: 1,
            sender: SenderConfig {
                mode: spinneret_slmp::Mode::Window(16),
                initial_timeout: Duration::from_micros(500),
                min_timeout: Duration::from_micros(100),
                max_timeout: Duration::from_millis(20),
                give_up: Duration::from_millis(100),
                ..SenderConfig::default()
            },
            pause: Duration::ZERO,
            checksum: UdpChecksum::Absent,
        }
    }
}

/// Results of a round.
#[derive(Clone, Debug)]
pub struct Transferred {
    /// Simulated time from the first segment to the acknowledgement of the last.
    pub time: Duration,
    /// Bytes of all senders.
    pub bytes: usize,
    /// Why a sender gave up, if one did.
    pub failure: Option<SendError>,
    /// Statistics of each sender.
    pub senders: Vec<Statistics>,
    /// Counters of the handlers.
    pub segments: SegmentCounters,
    /// Counters of the receiver's NIC.
    pub counters: Counters,
    /// Fraction of the time in which handlers ran, over all HPUs.
    pub hpu_load: f64,
    /// Clocks of the cluster that handlers took together.
    pub hpu_clocks: u64,
}

impl Transferred {
    /// Bytes of the messages a second, in gigabits.
    pub fn gbps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64() / 1e9
    }

    /// Segments sent, including retransmissions.
    pub fn sent(&self) -> u64 {
        self.senders.iter().map(|sender| sender.segments).sum()
    }

    /// Retransmissions.
    pub fn sent_again(&self) -> u64 {
        self.senders.iter().map(|sender| sender.retransmissions).sum()
    }
}

/// Results of all rounds on the same NICs.
#[derive(Clone, Debug)]
pub struct Session {
    /// Each of them.
    pub rounds: Vec<Transferred>,
    /// Counters of all cables: of two NICs, from the sender, and back.
    pub cables: Vec<Counts>,
}

/// A message that the sender knows to be there.
const MISSING: &str = "the message was acknowledged, and did not arrive";

/// Sends a message and compares the received one.
///
/// # Errors
/// If it does not arrive as it was sent.
pub fn transfer(program: &Program, message: &[u8], how: &Transfer) -> Result<(Transferred, Vec<Counts>)> {
    let mut session = Hosts::of(program, message, how, 1, false)?.run()?;
    let done = session.rounds.pop().context(MISSING)?;
    match done.failure {
        Some(failure) => Err(failure.into()),
        None => Ok((done, session.cables)),
    }
}

/// Sends a message in several rounds, after a shorter one that warms up caches, and compares what is received. Rounds may fail,
/// and the next one follows.
///
/// # Errors
/// If an acknowledged message has not arrived as it was sent.
pub fn transfers(program: &Program, message: &[u8], how: &Transfer, rounds: usize) -> Result<Session> {
    let mut session = Hosts::of(program, message, how, 1 + rounds, true)?.run()?;
    session.rounds.remove(0);
    Ok(session)
}

/// A place for what one host hands to this thread or to another host.
type Place<T> = Mutex<Option<T>>;

fn take<T>(place: &Place<T>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn put<T>(place: &Place<T>, what: T) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
}

/// Results of a sending host.
struct Sent {
    begun_ps: u64,
    ended_ps: u64,
    failure: Option<SendError>,
    statistics: Statistics,
}

/// A round: what hosts tell each other, and their results.
struct Round {
    /// The receiver can receive.
    ready: Signal,
    /// Each sender has all acknowledgements, or gave up.
    sent: Vec<(Signal, Place<Sent>)>,
    received: Place<Received>,
}

/// Results of the receiving host.
struct Received {
    segments: SegmentCounters,
    counters: Counters,
    hpu_clocks: u64,
}

/// All hosts: those that send, and then the one that receives.
struct Hosts<'t> {
    program: &'t Program,
    message: &'t [u8],
    how: &'t Transfer,
    topology: Topology,
    rounds: Vec<Round>,
    warms_up: bool,
    failure: Place<Error>,
}

impl<'t> Hosts<'t> {
    fn of(
        program: &'t Program,
        message: &'t [u8],
        how: &'t Transfer,
        rounds: usize,
        warms_up: bool,
    ) -> Result<Self> {
        let topology = Simple {
            nics: how.senders + 1,
            rate_bps: how.rate_bps,
            faults: how.faults,
            seed: how.seed,
            switch: SwitchConfig {
                table: Table::Static,
                ..SwitchConfig::default()
            },
            ..Simple::default()
        };
        let topology = topology.topology()?;
        let signal = || Signal::new(topology.lookahead_ps());
        let round = |_| Round {
            ready: signal(),
            sent: (0..how.senders).map(|_| (signal(), Place::default())).collect(),
            received: Place::default(),
        };
        Ok(Self {
            program,
            message,
            how,
            rounds: (0..rounds).map(round).collect(),
            topology,
            warms_up,
            failure: Place::default(),
        })
    }

    fn run(self) -> Result<Session> {
        let mut programs: Vec<Hosted<'_>> = Vec::new();
        for number in 0..self.how.senders {
            let hosts = &self;
            programs.push(Box::new(move |nic| hosts.end(hosts.send(nic, number))));
        }
        programs.push(Box::new(|nic| self.end(self.receive(nic))));
        let report = run_programs(&self.topology, &self.how.nic, Settings::default(), programs);
        if let Some(failure) = take(&self.failure) {
            return Err(failure);
        }
        let rounds = 0..self.rounds.len();
        Ok(Session {
            rounds: rounds.map(|round| self.result(round)).collect::<Result<_>>()?,
            cables: report?.cables.iter().map(|cable| cable.counts).collect(),
        })
    }

    /// Keeps the first failure of a host, which stops the simulation.
    fn end(&self, done: Result<()>) -> Result<(), NodeExit> {
        let Err(failure) = done else {
            return Ok(());
        };
        if let Some(NicError::Stopped(stopped)) = failure.downcast_ref() {
            return Err((*stopped).into());
        }
        let text = failure.to_string();
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        Err(NodeExit::Failed(text))
    }

    /// The message of a round.
    fn message(&self, round: usize) -> &'t [u8] {
        let warms_up = self.warms_up && round == 0;
        let most = if warms_up { WARM_UP_BYTES } else { usize::MAX };
        &self.message[..self.message.len().min(most)]
    }

    fn result(&self, number: usize) -> Result<Transferred> {
        let round = &self.rounds[number];
        let sent = round.sent.iter().map(|(_, sent)| take(sent));
        let sent: Vec<Sent> = sent.collect::<Option<_>>().context(MISSING)?;
        let received = take(&round.received).context(MISSING)?;
        let begun_ps = sent.iter().map(|sent| sent.begun_ps).min().unwrap_or(0);
        let ended_ps = sent.iter().map(|sent| sent.ended_ps).max().unwrap_or(0);
        let NicConfig {
            cluster, cluster_ps, ..
        } = &self.how.nic;
        let all =
            (ended_ps - begun_ps) as f64 / *cluster_ps as f64 * (cluster.clusters * cluster.hpus) as f64;
        Ok(Transferred {
            time: Duration::from_nanos((ended_ps - begun_ps) / 1000),
            bytes: self.message(number).len() * sent.len(),
            failure: sent.iter().find_map(|sent| sent.failure),
            senders: sent.iter().map(|sent| sent.statistics).collect(),
            segments: received.segments,
            counters: received.counters,
            hpu_load: received.hpu_clocks as f64 / all,
            hpu_clocks: received.hpu_clocks,
        })
    }

    /// A host that sends.
    fn send(&self, nic: &Simulated, number: usize) -> Result<()> {
        let mut pauses = Pauses {
            most_ps: self.how.pause.as_nanos() as u64 * 1000,
            state: self.how.seed << 8 | number as u64,
        };
        let endpoint = |number, port| Endpoint {
            mac: mac_of(number),
            socket: SocketAddrV4::new(ip_of(number), port),
        };
        for (at, round) in self.rounds.iter().enumerate() {
            while round.ready.told(nic.borrow().now_ps()).is_none() {
                pass(nic, LOOK_PS)?;
            }
            pass(nic, pauses.next_ps())?;
            let message = self.message(at);
            let message_id = MESSAGE + at as u32 + NEXT_SENDER * number as u32;
            let start_ps = nic.borrow().now_ps();
            let mut host = SendingHost {
                nic,
                sender: Sender::new(self.how.sender, message_id, message.len() as u64)?,
                message,
                from: endpoint(number, SENDERS_PORT),
                to: endpoint(self.how.senders, PORT),
                checksum: self.how.checksum,
                start_ps,
                free_ps: start_ps,
                sent: 0,
            };
            let failure = host.run(&mut pauses)?;
            let ended_ps = nic.borrow().now_ps();
            let (signal, place) = &round.sent[number];
            put(
                place,
                Sent {
                    begun_ps: start_ps,
                    ended_ps,
                    failure,
                    statistics: *host.sender.statistics(),
                },
            );
            signal.tell(ended_ps);
        }
        Ok(())
    }

    /// The host that receives.
    fn receive(&self, simulated: &Simulated) -> Result<()> {
        let nic = Nic::new(simulated.clone())?;
        let config = ReceiverConfig {
            places: self.how.senders,
            capacity_bytes: self.message.len().max(1),
            confirm: Confirm::Memory,
        };
        // A message whose sender has given up makes room for that of the next round.
        let mut receiver = MessageReceiver::open(&nic, self.program, config, self.how.sender.give_up)?;
        for (number, round) in self.rounds.iter().enumerate() {
            let busy = || simulated.borrow().cluster().busy().iter().sum::<u64>();
            let before = (receiver.counters()?, nic.counters()?, busy());
            round.ready.tell(simulated.borrow().now_ps());
            self.receive_all(simulated, &mut receiver, number)?;
            let hpu_clocks = busy() - before.2;
            pass(simulated, SETTLE_PS)?;
            let received = Received {
                segments: receiver.counters()?.since(&before.0),
                counters: nic.counters()?.since(&before.1),
                hpu_clocks,
            };
            put(&round.received, received);
        }
        Ok(())
    }

    /// Receives the messages of a round, until all have arrived or were given up at both ends.
    fn receive_all(
        &self,
        simulated: &Simulated,
        receiver: &mut MessageReceiver<Simulated>,
        number: usize,
    ) -> Result<()> {
        let (round, message) = (&self.rounds[number], self.message(number));
        let idle_ps = self.how.sender.give_up.as_nanos() as u64 * 1000;
        let (mut arrived, mut given_up) = (0, 0);
        loop {
            match receiver.poll()? {
                Some(Event::Complete(received)) => {
                    arrived += 1;
                    compare(&received.data, message)?;
                }
                Some(Event::GivenUp(_)) => given_up += 1,
                None => {}
            }
            let now_ps = simulated.borrow().now_ps();
            let told = round.sent.iter().map(|(signal, _)| signal.told(now_ps));
            let told: Option<Vec<u64>> = told.collect();
            if let Some(sent_ps) = told.and_then(|told| told.into_iter().max()) {
                // A message of which nothing arrived is not given up.
                let is_over = arrived + given_up >= self.how.senders;
                if is_over || now_ps > sent_ps + idle_ps + PATIENCE_PS {
                    let failed = round.sent.iter().filter(|(_, sent)| has_failed(sent)).count();
                    ensure!(arrived + failed >= self.how.senders, MISSING);
                    return Ok(());
                }
            }
            pass(simulated, LOOK_PS)?;
        }
    }
}

fn has_failed(sent: &Place<Sent>) -> bool {
    let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    sent.as_ref().is_some_and(|sent| sent.failure.is_some())
}

fn compare(received: &[u8], message: &[u8]) -> Result<()> {
    let mut pairs = received.iter().zip(message);
    let differs = pairs.position(|(one, other)| one != other);
    let differs = differs.unwrap_or(received.len().min(message.len()));
    ensure!(
        received == message,
        "the message that arrived differs from the one that was sent at byte {differs}"
    );
    Ok(())
}
