//! The network stack of this machine behind a TAP interface: the time that a client takes, and a host that replies.

use crate::harness::HEADERS;
use anyhow::{Context as _, Result, bail};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, connect, ipproto, recv, send, socket};
use spinneret_nic::net::{Next, Recipe, Sink as _, Source as _, Tap, TapConfig};
use spinneret_nic::run::reply;
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Name of the interface.
const NAME: &str = "spinfig7";
/// The ends of the cable, as [`TapConfig::new`] has them.
const HOST: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const WIRE: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
/// Where programs listen.
const PORT: u16 = 7007;
/// Requests before those that count: the first ones wait for addresses to be found out.
const WARM_UP: usize = 5;
/// Longest that a reply takes.
const PATIENCE: Duration = Duration::from_secs(2);
/// The client sleeps in its call when the reply comes.
const ASLEEP: Duration = Duration::from_micros(200);
/// Bytes before the headers of ICMP and UDP, which have 8 bytes.
const NETWORK: usize = HEADERS - 8;

/// Protocol of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Echo requests.
    Icmp,
    /// Datagrams.
    Udp,
}

impl Protocol {
    pub(super) const ALL: [Self; 2] = [Self::Icmp, Self::Udp];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Icmp => "ICMP",
            Self::Udp => "UDP",
        }
    }

    pub(super) fn recipe(self) -> &'static str {
        match self {
            Self::Icmp => "icmp",
            Self::Udp => "udp",
        }
    }
}

/// The network stack of this machine, and a program that sends datagrams back.
#[derive(Debug)]
pub(super) struct Stack {
    cable: Tap,
    mac: String,
    program: Option<JoinHandle<()>>,
    ends: Arc<AtomicBool>,
}

impl Stack {
    /// Makes the interface, and starts the program.
    ///
    /// # Errors
    /// If this process may not create interfaces.
    pub(super) fn open() -> Result<Self> {
        let cable = Tap::create(&TapConfig::new(NAME))?;
        let path = format!("/sys/class/net/{NAME}/address");
        let mac = std::fs::read_to_string(&path).context(path)?;
        let socket = UdpSocket::bind((HOST, PORT)).context("the echo program")?;
        socket.set_read_timeout(Some(Duration::from_millis(50)))?;
        let ends = Arc::new(AtomicBool::new(false));
        let program = thread::spawn({
            let ends = Arc::clone(&ends);
            move || echo(&socket, &ends)
        });
        Ok(Self {
            cable,
            mac: mac.trim().to_owned(),
            program: Some(program),
            ends,
        })
    }

    /// Microseconds from the arrival of requests in Linux to the departure of their replies: by the kernel for ICMP, by a
    /// program for UDP.
    ///
    /// # Errors
    /// If Linux does not answer.
    pub(super) fn host(&self, protocol: Protocol, frame_bytes: usize, runs: usize) -> Result<Vec<f64>> {
        let kind = match protocol {
            Protocol::Icmp => "icmp".to_owned(),
            Protocol::Udp => format!("udp,dport={PORT}"),
        };
        let text = format!("{kind},size={frame_bytes},src={WIRE},dst={HOST},mac={}", self.mac);
        let recipe: Recipe = text.parse()?;
        timed(runs, |number| {
            let request = recipe.frame(number);
            let begun = Instant::now();
            self.cable.host.clone().put(0, &request)?;
            self.next_sent(&request, WIRE)?;
            Ok(begun.elapsed())
        })
    }

    /// Microseconds that a client takes: from its call to the departure of its request, and from the reply's arrival until its
    /// call returns.
    ///
    /// # Errors
    /// If the system does not allow it, or the request does not leave.
    pub(super) fn client(&self, protocol: Protocol, frame_bytes: usize, runs: usize) -> Result<Vec<f64>> {
        let client = client(protocol).context("a socket of the client")?;
        let text = format!("{},size={frame_bytes},src={HOST},dst={WIRE}", protocol.recipe());
        let recipe: Recipe = text.parse()?;
        timed(runs, |number| {
            let request = recipe.frame(number);
            let sent = match protocol {
                Protocol::Icmp => &request[NETWORK..],
                Protocol::Udp => &request[HEADERS..],
            };
            let begun = Instant::now();
            send(&client, sent, SendFlags::empty())?;
            let frame = self.next_sent(&request, WIRE)?;
            let out = begun.elapsed();
            thread::scope(|scope| {
                let receiver = scope.spawn(|| {
                    let received = recv(&client, &mut [0; 2048], RecvFlags::empty());
                    received.map(|_| Instant::now())
                });
                thread::sleep(ASLEEP);
                let begun = Instant::now();
                self.cable.host.clone().put(0, &reply(frame))?;
                let received = receiver.join().expect("it does not panic");
                let received = received.context("the client gets no reply from Linux")?;
                Ok(out + received.saturating_duration_since(begun))
            })
        })
    }

    /// The next frame that Linux sends to this address with the request's payload. Others are forwarded, so that both ends can
    /// resolve addresses.
    fn next_sent(&self, request: &[u8], to: Ipv4Addr) -> Result<Vec<u8>> {
        let (mut to_host, mut from_host) = (self.cable.host.clone(), self.cable.host.clone());
        let (mut to_wire, mut from_wire) = (self.cable.wire.clone(), self.cable.wire.clone());
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Next::Packet { bytes, .. } = from_host.next(0)? {
                if carries(&bytes, request, to) {
                    return Ok(bytes.to_vec());
                }
                to_wire.put(0, &bytes)?;
            }
            if let Next::Packet { bytes, .. } = from_wire.next(0)? {
                to_host.put(0, &bytes)?;
            }
        }
        bail!(
            "Linux did not send {} bytes on {NAME} within {PATIENCE:?}",
            request.len()
        )
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(program) = self.program.take() {
            // Ignore errors: a panic has been reported.
            let _ = program.join();
        }
    }
}

/// Microseconds of each run, behind some to warm up.
fn timed(runs: usize, run: impl Fn(u32) -> Result<Duration>) -> Result<Vec<f64>> {
    let all = (0..(WARM_UP + runs) as u32).map(|number| Ok(run(number)?.as_secs_f64() * 1e6));
    let all: Vec<f64> = all.collect::<Result<_>>()?;
    Ok(all[WARM_UP..].to_vec())
}

/// A socket that exchanges datagrams or messages of ICMP with the end of the cable.
fn client(protocol: Protocol) -> rustix::io::Result<OwnedFd> {
    let (kind, number) = match protocol {
        Protocol::Icmp => (SocketType::RAW, Some(ipproto::ICMP)),
        Protocol::Udp => (SocketType::DGRAM, None),
    };
    let client = socket(AddressFamily::INET, kind, number)?;
    set_socket_timeout(&client, Timeout::Recv, Some(PATIENCE))?;
    connect(&client, &SocketAddrV4::new(WIRE, PORT))?;
    Ok(client)
}

/// Whether a frame of Linux goes to the address with the payload of the request.
fn carries(frame: &[u8], request: &[u8], to: Ipv4Addr) -> bool {
    frame.len() >= request.len()
        && frame[12..14] == request[12..14]
        && frame[30..34] == to.octets()
        && frame[HEADERS..request.len()] == request[HEADERS..]
}

/// Microseconds that the program of `host_ping` takes to turn a frame around: it copies it out of the memory that the NIC
/// writes, sums its message, changes its headers, and copies it back.
pub(super) fn program_takes(request: &[u8], runs: usize) -> Vec<f64> {
    let mut page = request.to_vec();
    let mut run = || {
        let begun = Instant::now();
        let frame = black_box(&page[..]).to_vec();
        let words = frame[NETWORK..].chunks(2);
        let sum = words.fold(0_u32, |sum, word| {
            sum + u32::from(word[0]) * 256 + u32::from(word.get(1).copied().unwrap_or(0))
        });
        black_box(sum);
        page.copy_from_slice(&reply(frame));
        begun.elapsed().as_secs_f64() * 1e6
    };
    let all: Vec<f64> = (0..WARM_UP + runs).map(|_| run()).collect();
    all[WARM_UP..].to_vec()
}

/// Sends everything back.
fn echo(socket: &UdpSocket, ends: &AtomicBool) {
    let mut buffer = [0; 2048];
    while !ends.load(Ordering::Relaxed) {
        if let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
            // Ignore errors: the receiver notices a missing reply.
            let _ = socket.send_to(&buffer[..bytes], from);
        }
    }
}
