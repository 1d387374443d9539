//! One packet after another: the next is sent when the answer is there.

use super::{BenchError, start};
use crate::net::MIN_FRAME_BYTES;
use crate::net::generator::{Recipe, check_reply};
use crate::nic::{Nic, NicConfig};
use spinneret_cluster::Event;
use std::time::{Duration, Instant};

/// Longest that an answer takes.
const PATIENCE_PS: u64 = 1_000_000_000;
/// Bytes before the payload of an echo request or a datagram.
pub(crate) const HEADERS: usize = 42;

/// Medians of the paper's Figure 7, in microseconds: payload and round trip of ICMP, answered on the NIC.
pub const PAPER_ICMP: &[(usize, f64)] = &[(16, 27.0), (416, 44.0), (816, 59.0), (1216, 76.0)];
/// Of UDP only the range is known.
pub const PAPER_UDP: [f64; 2] = [29.0, 45.0];

/// One size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrip {
    /// Bytes of payload.
    pub payload: usize,
    /// From the first beat into the NIC to the last one out of it, in microseconds.
    pub microseconds: f64,
    /// Clocks of the handler.
    pub cycles: u64,
}

/// Sends so many requests, each when the answer to the one before is there: wall-clock time, with everything from the start
/// of the NIC on.
///
/// # Errors
/// If something fails, or an answer is wrong.
pub fn ping_pong(count: u32) -> Result<Duration, BenchError> {
    let begun = Instant::now();
    let mut nic = start("icmp_ping", NicConfig::default())?;
    let recipe: Recipe = recipe("icmp,size=98")?;
    for number in 0..count {
        exchange(&mut nic, &recipe.frame(number))?;
    }
    Ok(begun.elapsed())
}

/// Round trips of an example's handlers for payloads from 16 to 1400 bytes.
///
/// # Errors
/// If something fails, or an answer is wrong.
pub fn round_trips(example: &str, protocol: &str) -> Result<Vec<RoundTrip>, BenchError> {
    let mut nic = start(example, NicConfig::default())?;
    let payloads = (16..=1400).step_by(100).chain([56, 1400]);
    let mut payloads: Vec<usize> = payloads.collect();
    payloads.sort_unstable();
    let mut trips = Vec::new();
    for payload in payloads {
        // 16 bytes are 18 on the wire, where no frame is shorter.
        let size = (HEADERS + payload).max(MIN_FRAME_BYTES);
        let recipe: Recipe = recipe(&format!("{protocol},size={size}"))?;
        // The first one warms up the instruction cache; its handler ends after its answer.
        exchange(&mut nic, &recipe.frame(0))?;
        nic.run_until_idle(nic.now_ps() + PATIENCE_PS)?;
        nic.take_events();
        let took = exchange(&mut nic, &recipe.frame(1))?;
        nic.run_until_idle(nic.now_ps() + PATIENCE_PS)?;
        let cycles = nic.take_events().into_iter().find_map(|event| match event {
            Event::Ran(run) => Some(run.ended - run.begun),
            _ => None,
        });
        trips.push(RoundTrip {
            payload,
            microseconds: took as f64 / 1e6,
            cycles: cycles.ok_or_else(|| BenchError::Wrong("a handler did not end".to_owned()))?,
        });
    }
    Ok(trips)
}

/// Sends a request and waits for the answer: the time between, in picoseconds.
fn exchange(nic: &mut Nic, request: &[u8]) -> Result<u64, BenchError> {
    let sent = nic.now_ps();
    nic.receive(request.to_vec());
    loop {
        if let Some(reply) = nic.take_wire() {
            check_reply(request, &reply.bytes).map_err(|error| BenchError::Wrong(error.to_string()))?;
            return Ok(reply.at_ps - sent);
        }
        if nic.now_ps() > sent + PATIENCE_PS {
            return Err(BenchError::Wrong(format!("no answer to {} bytes", request.len())));
        }
        nic.step(sent + PATIENCE_PS)?;
    }
}

/// Traffic from its description, which is ours.
pub(crate) fn recipe(text: &str) -> Result<Recipe, BenchError> {
    text.parse()
        .map_err(|error| BenchError::Wrong(format!("{text}: {error}")))
}
