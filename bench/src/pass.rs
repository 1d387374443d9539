//! Packets that handlers pass to the host (`spin_pass`), with other packets at full rate between them.

use crate::harness::start_in;
use crate::nic::WAITING;
use anyhow::{Result, ensure};
use spinneret_cluster::BEAT_BYTES;
use spinneret_nic::installed::runtime;
use spinneret_nic::net::Recipe;
use spinneret_nic::nic::{Nic, NicConfig};

/// Packets for the handlers, and those that match no rule.
const MATCHED: &str = "udp,size=64";
const OTHERS: &str = "icmp,size=1500";
/// Where the protocol is in an Ethernet frame with IPv4, and that of [`MATCHED`].
const PROTOCOL: usize = 23;
const UDP: u8 = 17;

/// Figures of some clocks.
pub(crate) struct Passed {
    /// Packets that handlers have passed.
    pub passed: u64,
    /// Packets that match no rule: sent, and those that have come to the host.
    pub others: [u64; 2],
    /// Clocks in which the receive path took no beat although one was there.
    pub held: u64,
}

/// Sends packets of both kinds in turn, back to back, for some clocks after as many to warm up.
///
/// # Errors
/// If the NIC fails, or the program cannot be built.
pub(crate) fn passed(clocks: u64, config: NicConfig) -> Result<Passed> {
    let config = NicConfig {
        skips: false,
        ..config
    };
    let period_ps = config.core_ps;
    let mut nic = start_in(&runtime()?.join("tests/pass"), config)?;
    let recipes: [Recipe; 2] = [MATCHED.parse()?, OTHERS.parse()?];
    let mut traffic = Traffic {
        frames: [0, 1].map(|kind| (0..256).map(|number| recipes[kind].frame(number)).collect()),
        sent: [0; 2],
        came: [0; 2],
    };
    traffic.run(&mut nic, clocks * period_ps)?;
    let before = traffic.came[0];
    let beats = traffic.beats_taken(&nic);
    traffic.run(&mut nic, clocks * period_ps)?;
    let passed = traffic.came[0] - before;
    let taken = traffic.beats_taken(&nic) - beats;
    while !nic.run_until_idle(nic.now_ps() + clocks * period_ps)? {}
    traffic.take(&mut nic);
    let others = [traffic.sent[1], traffic.came[1]];
    ensure!(passed > 0, "no packet was passed");
    Ok(Passed {
        passed,
        others,
        held: clocks.saturating_sub(taken),
    })
}

/// Packets of both kinds: those for handlers, others.
struct Traffic {
    frames: [Vec<Vec<u8>>; 2],
    sent: [u64; 2],
    came: [u64; 2],
}

impl Traffic {
    fn run(&mut self, nic: &mut Nic, time_ps: u64) -> Result<()> {
        let end = nic.now_ps() + time_ps;
        while nic.now_ps() < end {
            while nic.receiving() < WAITING {
                let kind = usize::from(self.sent[0] > self.sent[1]);
                let frames = &self.frames[kind];
                nic.receive(frames[self.sent[kind] as usize % frames.len()].clone());
                self.sent[kind] += 1;
            }
            nic.step(end)?;
            self.take(nic);
        }
        Ok(())
    }

    fn take(&mut self, nic: &mut Nic) {
        while let Some(out) = nic.take_host() {
            let is_other = out.bytes.get(PROTOCOL) != Some(&UDP);
            self.came[usize::from(is_other)] += 1;
        }
        nic.take_events();
    }

    /// Beats of the packets that the NIC has begun to take; all have the length of the first of their kind.
    fn beats_taken(&self, nic: &Nic) -> u64 {
        let beats = [0, 1].map(|kind: usize| self.frames[kind][0].len().div_ceil(BEAT_BYTES as usize) as u64);
        let waiting = nic.receiving() as u64;
        let sent = self.sent[0] + self.sent[1] - waiting;
        // They take turns, and the first is for a handler.
        sent.div_ceil(2) * beats[0] + sent / 2 * beats[1]
    }
}
