//! How fast a design runs with a source, two sinks and a monitor on each stream.
//!
//! `cargo bench -p spinneret-sim`

use spinneret_fixtures::FixtureFork;
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::{Frame, Pause};
use std::time::Instant;

/// Frames that are sent.
const FRAMES: u64 = 50_000;

fn main() {
    for (name, pause) in [
        ("without pauses", Pause::Never),
        ("with pauses", Pause::Random { percent: 25 }),
    ] {
        for bytes in [64, 1500] {
            let per_second = cycles_per_second(bytes, &pause);
            println!(
                "frames of {bytes:4} bytes {name:14}: {:.2} million cycles per second",
                per_second / 1e6
            );
        }
    }
}

fn cycles_per_second(bytes: usize, pause: &Pause) -> f64 {
    let mut sim = Simulation::new(FixtureFork::new()).expect("the design has a clock");
    sim.set_cycle_limit(u64::MAX);
    let source = sim.source("s_axis", pause.clone());
    let sinks = ["a_axis", "b_axis"].map(|name| sim.sink(name, pause.clone()));
    sim.reset();
    (0..FRAMES).for_each(|_| source.send(Frame::new(vec![0x55; bytes])));
    let start = Instant::now();
    let mut left = FRAMES;
    while left > 0 {
        sim.run(100);
        left -= sinks
            .iter()
            .map(|sink| sink.receive_all().len() as u64)
            .sum::<u64>();
    }
    let per_second = sim.cycle_count() as f64 / start.elapsed().as_secs_f64();
    sim.finish();
    per_second
}
