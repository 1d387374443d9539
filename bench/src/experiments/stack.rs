//! How long Linux takes for a reply: its own network stack, and a program behind it.

use crate::echo::HEADERS;
use anyhow::{Context as _, Result, bail};
use spinneret_nic::net::{Next, Recipe, Sink as _, Source as _, Tap, TapConfig};
use spinneret_table::bench::Spread;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Name of the interface.
const NAME: &str = "spinfig7";
/// Where the program listens.
const PORT: u16 = 7007;
/// Requests of one size, of which the median counts.
const RUNS: u32 = 201;
/// Longest that a reply takes; the first ones wait for addresses to be found out.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time from a request's arrival in Linux to its reply's departure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turnaround {
    /// Of echo requests, which the kernel answers, in microseconds.
    pub(super) icmp: f64,
    /// Of datagrams, which a program answers.
    pub(super) udp: f64,
}

/// This machine's network stack, at the end of a TAP interface.
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
    /// If this process may not make interfaces.
    pub(super) fn open() -> Result<Self> {
        let cable = Tap::create(&TapConfig::new(NAME))?;
        let path = format!("/sys/class/net/{NAME}/address");
        let mac = std::fs::read_to_string(&path).context(path)?;
        let socket = UdpSocket::bind(("10.9.0.1", PORT)).context("the echo program")?;
        socket.set_read_timeout(Some(Duration::from_millis(50)))?;
        let ends = Arc::new(AtomicBool::new(false));
        let program = std::thread::spawn({
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

    /// Medians for frames of a size.
    ///
    /// # Errors
    /// If Linux does not answer.
    pub(super) fn turnaround(&self, frame_bytes: usize) -> Result<Turnaround> {
        Ok(Turnaround {
            icmp: self.median(&format!("icmp,size={frame_bytes}"))?,
            udp: self.median(&format!("udp,dport={PORT},size={frame_bytes}"))?,
        })
    }

    fn median(&self, kind: &str) -> Result<f64> {
        let text = format!("{kind},src=10.9.0.2,dst=10.9.0.1,mac={}", self.mac);
        let recipe: Recipe = text.parse()?;
        let time = |number| Ok(self.exchange(&recipe.frame(number))?.as_secs_f64() * 1e6);
        let times: Spread = (0..RUNS).map(time).collect::<Result<_>>()?;
        Ok(times.median())
    }

    /// One request and its reply. Whatever else Linux says goes over the cable, so that both ends find each other.
    fn exchange(&self, request: &[u8]) -> Result<Duration> {
        let (mut to_host, mut from_host) = (self.cable.host.clone(), self.cable.host.clone());
        let (mut to_wire, mut from_wire) = (self.cable.wire.clone(), self.cable.wire.clone());
        let begun = Instant::now();
        to_host.put(0, request)?;
        while begun.elapsed() < PATIENCE {
            if let Next::Packet { bytes, .. } = from_host.next(0)? {
                let took = begun.elapsed();
                if is_reply(request, &bytes) {
                    return Ok(took);
                }
                to_wire.put(0, &bytes)?;
            }
            if let Next::Packet { bytes, .. } = from_wire.next(0)? {
                to_host.put(0, &bytes)?;
            }
        }
        bail!(
            "Linux did not answer {} bytes on {NAME} within {PATIENCE:?}",
            request.len()
        )
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(program) = self.program.take() {
            // A program that panicked has said so.
            let _ = program.join();
        }
    }
}

/// Whether a frame has the request's IPv4 addresses the other way round, and what it carried. Linux has its own Ethernet
/// addresses.
fn is_reply(request: &[u8], frame: &[u8]) -> bool {
    frame.len() >= request.len()
        && frame[12..14] == request[12..14]
        && frame[26..30] == request[30..34]
        && frame[30..34] == request[26..30]
        && frame[HEADERS..request.len()] == request[HEADERS..]
}

/// Sends everything back.
fn echo(socket: &UdpSocket, ends: &AtomicBool) {
    let mut buffer = [0; 2048];
    while !ends.load(Ordering::Relaxed) {
        if let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
            // A reply that cannot be sent is missed by who waits for it.
            let _ = socket.send_to(&buffer[..bytes], from);
        }
    }
}
