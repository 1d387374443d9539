//! As many packets as the wire carries.

use super::ping::recipe as parse;
use super::{BenchError, start};
use crate::nic::{Nic, NicConfig};
use spinneret_regmap::{egress, ingress};
use std::time::{Duration, Instant};

/// Frames that wait at the NIC's input, so that it never runs dry.
const WAITING: usize = 32;
/// Longest that packets are on their way behind the last one.
const DRAIN_PS: u64 = 1_000_000_000_000;
/// What became of the packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Packets that were sent.
    pub sent: u64,
    /// Packets that were answered, all of them rightly.
    pub answered: u64,
    /// Packets that the hardware dropped, by cause.
    pub dropped: Vec<(&'static str, u64)>,
    /// Simulated time in microseconds.
    pub microseconds: f64,
    /// Simulated clocks of the core.
    pub clocks: u64,
    /// Wall-clock time.
    pub wall: Duration,
    /// Memory of the process after a tenth of the packets, and at the end, in bytes.
    pub memory: [u64; 2],
}

/// Sends so many packets of mixed sizes through `udp_ping`, as fast as the NIC takes them, and checks every answer.
///
/// # Errors
/// If something fails, an answer is wrong, or the sums do not add up.
pub fn full_load(count: u64) -> Result<Load, BenchError> {
    let begun = Instant::now();
    let mut nic = start("udp_ping", NicConfig::default())?;
    let recipe = parse(&format!("udp,size=60..1500,count={count}"))?;
    let (start_ps, start_clocks) = (nic.now_ps(), nic.simulated_clocks());
    let mut load = Load::default();
    while load.sent < count {
        while load.sent < count && nic.receiving() < WAITING {
            nic.receive(recipe.frame(load.sent as u32));
            load.sent += 1;
            if load.sent == count / 10 {
                load.memory[0] = memory();
            }
        }
        nic.step(u64::MAX)?;
        check(&mut nic, &recipe, &mut load)?;
    }
    let end = nic.now_ps() + DRAIN_PS;
    while !nic.is_idle() {
        if nic.now_ps() > end {
            return Err(BenchError::Wrong("packets stay on their way".to_owned()));
        }
        nic.step(end)?;
        check(&mut nic, &recipe, &mut load)?;
    }
    load.memory[1] = memory();
    load.microseconds = (nic.now_ps() - start_ps) as f64 / 1e6;
    load.clocks = nic.simulated_clocks() - start_clocks;
    load.wall = begun.elapsed();
    count_up(&mut nic, &mut load)?;
    Ok(load)
}

fn check(nic: &mut Nic, recipe: &crate::net::Recipe, load: &mut Load) -> Result<(), BenchError> {
    nic.take_events();
    while let Some(out) = nic.take_wire() {
        recipe
            .check_reply(&out.bytes)
            .map_err(|error| BenchError::Wrong(format!("answer {}: {error}", load.answered)))?;
        load.answered += 1;
    }
    Ok(())
}

/// Compares what came out with what the hardware has counted.
fn count_up(nic: &mut Nic, load: &mut Load) -> Result<(), BenchError> {
    let mut get = |register: Option<u32>| -> Result<u64, BenchError> {
        let register = register.ok_or_else(|| BenchError::Wrong("a counter has no register".to_owned()))?;
        Ok(nic.get(register)?.into())
    };
    for (cause, register) in ingress::drops() {
        load.dropped.push((cause, get(Some(register.offset))?));
    }
    let sums = [
        load.sent,
        get(ingress::offset("matched"))?,
        get(ingress::offset("hers"))? + load.dropped.iter().map(|(_, count)| count).sum::<u64>(),
    ];
    let frames = [
        load.answered,
        get(egress::offset("frames"))?,
        get(ingress::offset("hers"))?,
    ];
    if sums.iter().any(|sum| *sum != load.sent) || frames.iter().any(|sum| *sum != load.answered) {
        return Err(BenchError::Wrong(format!(
            "the sums do not add up: sent, matched, HERs and drops {sums:?}; answered, frames, HERs {frames:?}"
        )));
    }
    Ok(())
}

/// Memory of this process in bytes; 0 where the system does not tell.
fn memory() -> u64 {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * PAGE
}
