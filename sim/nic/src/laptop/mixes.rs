//! How fast one NIC is simulated with traffic of several sizes.

use super::ping::recipe as parse;
use super::speed::measure;
use super::{BenchError, Speed, start};
use crate::nic::NicConfig;

/// Frames that wait at the NIC's input, so that it never runs dry.
const WAITING: usize = 32;
/// Frames that are made before the clock runs, and come again and again.
const FRAMES: u32 = 1024;
/// Clocks of the core before those that count: caches are warm, and the NIC is full.
const WARM_UP: u64 = 20_000;

/// Traffic, by name and description: frames back to back, without the check sequence.
pub const MIXES: &[(&str, &str)] = &[
    ("64 bytes", "icmp,size=64"),
    ("512 bytes", "icmp,size=512"),
    ("1500 bytes", "icmp,size=1500"),
    ("60 to 1500 bytes", "icmp,size=60..1500"),
];

/// Figures of so many runs, each of so many clocks of the core, with frames for `icmp_ping` as fast as the NIC takes them. No
/// time is left out.
///
/// # Errors
/// If something fails.
pub fn under_load(mix: &str, clocks: u64, runs: usize) -> Result<Vec<Speed>, BenchError> {
    let config = NicConfig {
        skips: false,
        ..NicConfig::default()
    };
    let mut nic = start("icmp_ping", config)?;
    let recipe = parse(mix)?;
    let frames: Vec<Vec<u8>> = (0..FRAMES).map(|number| recipe.frame(number)).collect();
    let mut next = frames.iter().cycle();
    let mut run = |clocks| {
        measure(&mut nic, clocks, |nic| {
            while nic.receiving() < WAITING
                && let Some(frame) = next.next()
            {
                nic.receive(frame.clone());
            }
            nic.step(u64::MAX)?;
            while nic.take_wire().is_some() {}
            nic.take_events();
            Ok(())
        })
    };
    run(WARM_UP)?;
    (0..runs).map(|_| run(clocks)).collect()
}
