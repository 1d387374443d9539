//! As many packets as the wire carries.

use crate::echo::start;
use crate::harness::memory_bytes;
use crate::nic::WAITING;
use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use spinneret_nic::net::Recipe;
use spinneret_nic::nic::{Nic, NicConfig};
use spinneret_regmap::{egress, ingress};
use spinneret_table::say;
use std::time::Instant;

/// Longest that packets are on their way after the last one was sent.
const DRAIN_PS: u64 = 1_000_000_000_000;

/// Packets by what became of them, and what that took.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Load {
    sent: u64,
    /// Packets with a right answer.
    answered: u64,
    dropped: Vec<Drop>,
    /// Simulated time.
    microseconds: f64,
    /// Simulated clocks of the core.
    clocks: u64,
    /// Wall-clock time.
    seconds: f64,
    /// Memory of this process after a tenth of the packets, and at the end, in bytes.
    memory: [u64; 2],
}

/// Packets that the hardware dropped for the same cause.
#[derive(Clone, Debug, Serialize)]
struct Drop {
    cause: &'static str,
    packets: u64,
}

/// Sends so many packets of mixed sizes through `udp_ping`, as fast as the NIC takes them, and checks every answer.
///
/// # Errors
/// If an answer is wrong, or counts do not add up.
pub(super) fn full_load(count: u64) -> Result<Load> {
    let begun = Instant::now();
    let mut nic = start("udp_ping", NicConfig::default())?;
    let recipe: Recipe = format!("udp,size=60..1500,count={count}").parse()?;
    let (start_ps, start_clocks) = (nic.now_ps(), nic.simulated_clocks());
    let memory = || memory_bytes(std::process::id(), "VmRSS");
    let mut load = Load::default();
    while load.sent < count {
        while load.sent < count && nic.receiving() < WAITING {
            nic.receive(recipe.frame(load.sent as u32));
            load.sent += 1;
            if load.sent == count / 10 {
                load.memory[0] = memory()?;
            }
        }
        nic.step(u64::MAX)?;
        load.check(&mut nic, &recipe)?;
    }
    let end = nic.now_ps() + DRAIN_PS;
    while !nic.is_idle() {
        ensure!(nic.now_ps() <= end, "packets stay on their way");
        nic.step(end)?;
        load.check(&mut nic, &recipe)?;
    }
    load.memory[1] = memory()?;
    load.microseconds = (nic.now_ps() - start_ps) as f64 / 1e6;
    load.clocks = nic.simulated_clocks() - start_clocks;
    load.seconds = begun.elapsed().as_secs_f64();
    load.compare(&mut nic)?;
    Ok(load)
}

impl Load {
    /// Takes the answers that have come.
    fn check(&mut self, nic: &mut Nic, recipe: &Recipe) -> Result<()> {
        nic.take_events();
        while let Some(out) = nic.take_wire() {
            recipe
                .check_reply(&out.bytes)
                .with_context(|| format!("answer {}", self.answered))?;
            self.answered += 1;
        }
        Ok(())
    }

    /// Compares what came out with what the hardware has counted.
    fn compare(&mut self, nic: &mut Nic) -> Result<()> {
        let mut get = |register: Option<u32>| -> Result<u64> {
            Ok(nic.get(register.context("a counter has no register")?)?.into())
        };
        for (cause, register) in ingress::drops() {
            let packets = get(Some(register.offset))?;
            self.dropped.push(Drop { cause, packets });
        }
        let dropped: u64 = self.dropped.iter().map(|drop| drop.packets).sum();
        let hers = get(ingress::offset("hers"))?;
        let sums = [self.sent, get(ingress::offset("matched"))?, hers + dropped];
        let frames = [self.answered, get(egress::offset("frames"))?, hers];
        ensure!(
            sums.iter().all(|sum| *sum == self.sent) && frames.iter().all(|sum| *sum == self.answered),
            "the sums do not add up: sent, matched, HERs and drops {sums:?}; answered, frames, HERs {frames:?}"
        );
        Ok(())
    }

    /// Prints it.
    pub(super) fn show(&self) {
        let dropped = self.dropped.iter().filter(|drop| drop.packets > 0);
        let dropped: Vec<String> = dropped
            .map(|drop| format!("{} {}", drop.packets, drop.cause))
            .collect();
        say(format_args!(
            "{} packets of 60 to 1500 bytes for udp_ping at full rate: {} answered, all rightly, dropped: {}; {:.0} us in \
             {:.1} s, {} thousand clocks; memory {} to {} MB",
            self.sent,
            self.answered,
            dropped.join(", "),
            self.microseconds,
            self.seconds,
            self.clocks / 1000,
            self.memory[0] >> 20,
            self.memory[1] >> 20
        ));
    }
}
