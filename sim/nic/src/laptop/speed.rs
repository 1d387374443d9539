//! How fast the simulation is.

use super::ping::recipe as parse;
use super::{BenchError, start};
use crate::nic::{Nic, NicConfig};
use std::time::Instant;

/// Frames that wait at the NIC's input, so that it never runs dry.
const WAITING: usize = 32;

/// Figures of a second of wall-clock time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Clocks of the core that were simulated.
    pub clocks: f64,
    /// Clocks of the core that passed, also those that were left out.
    pub passed: f64,
    /// Instructions of all HPUs.
    pub instructions: f64,
    /// Part of the second in which this program had a processor; 0 if the system does not tell.
    pub share: f64,
}

/// With packets of 1400 bytes of payload for `icmp_ping`, as fast as the NIC takes them, for so many clocks of the core.
///
/// # Errors
/// If something fails.
pub fn traffic(clocks: u64) -> Result<Speed, BenchError> {
    let mut nic = start("icmp_ping", NicConfig::default())?;
    let recipe = parse("icmp,size=1442")?;
    let mut number = 0;
    measure(&mut nic, clocks, |nic| {
        while nic.receiving() < WAITING {
            nic.receive(recipe.frame(number));
            number = number.wrapping_add(1);
        }
        nic.step(u64::MAX)?;
        while nic.take_wire().is_some() {}
        nic.take_events();
        Ok(())
    })
}

/// Without any packet, for so many clocks of the core; `skips` says whether time is left out.
///
/// # Errors
/// If something fails.
pub fn idle(clocks: u64, skips: bool) -> Result<Speed, BenchError> {
    let config = NicConfig {
        skips,
        ..NicConfig::default()
    };
    let mut nic = start("icmp_ping", config)?;
    measure(&mut nic, clocks, |nic| {
        let step = nic.config().core_ps * 1000;
        Ok(nic.run_until(nic.now_ps() + step)?)
    })
}

/// Lets so many clocks of the core pass, step by step.
pub(super) fn measure(
    nic: &mut Nic,
    clocks: u64,
    mut step: impl FnMut(&mut Nic) -> Result<(), BenchError>,
) -> Result<Speed, BenchError> {
    let state = |nic: &Nic| [nic.simulated_clocks(), nic.now_ps(), nic.cluster().instructions()];
    let (begun, had, before) = (Instant::now(), processor_seconds(), state(nic));
    let end = before[1] + clocks * nic.config().core_ps;
    while nic.now_ps() < end {
        step(nic)?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let had = processor_seconds() - had;
    let after = state(nic);
    let rate = |place: usize| (after[place] - before[place]) as f64 / seconds;
    Ok(Speed {
        clocks: rate(0),
        passed: rate(1) / nic.config().core_ps as f64,
        instructions: rate(2),
        share: had / seconds,
    })
}

/// For how long this thread has had a processor, as Linux tells (`proc_pid_schedstat`, in nanoseconds).
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text
        .split_whitespace()
        .next()
        .and_then(|text| text.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
