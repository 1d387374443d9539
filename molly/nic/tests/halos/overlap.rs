//! How much of the time ranks work, where each instance takes a nanosecond and acts of hosts what is stated of them.

use super::heat;
use super::support::{Costs, Done, is_whole, on_nics};
use molly::programs::five;
use molly::{Options, Traffic};
use spinneret_fabric::Faults;
use spinneret_nic::mpi::HostLatencies;
use std::time::Duration;

/// As fast as a core of a machine of today with numbers that are not in its caches.
const COSTS: Costs = Costs {
    instance: Duration::from_nanos(1),
    prices: HostLatencies::STATED,
};
/// Steps of each run.
const STEPS: i64 = 10;

/// One rank's part of five points in single precision.
fn plane(rank: &mut molly::Rank, size: i64) -> molly::Result<Traffic> {
    let fill = |[x, y]: [i64; 2]| ((x * 31 + y * 17) % 101) as f32;
    let (mut now, mut next) = (rank.field([size; 2], fill), rank.field([size; 2], |_| 0.0));
    five::run(rank, &mut now, &mut next, STEPS)
}

/// With work before messages are waited for, and without.
fn both(grid: &str, each: impl Fn(&mut molly::Rank) -> molly::Result<Traffic> + Sync) -> [Done; 2] {
    [true, false].map(|overlap| {
        on_nics(grid, Faults::default(), COSTS, |rank| {
            rank.set_options(Options {
                overlap,
                ..Options::default()
            });
            each(rank)
        })
    })
}

fn show(what: &str, instances: i64, [with, without]: &[Done; 2]) {
    let work_us = instances as f64 * COSTS.instance.as_secs_f64() * 1e6;
    let share = |done: &Done| work_us / done.step_us(STEPS);
    println!(
        "{what}: work {work_us:.0} us a step; with overlap {:.0} us, R {:.3}; without {:.0} us, R {:.3}",
        with.step_us(STEPS),
        share(with),
        without.step_us(STEPS),
        share(without)
    );
}

#[test]
fn ranks_work_while_their_nics_put_messages_in_place() {
    if !is_whole() {
        let size = 512;
        let done = both("1x2", |rank| plane(rank, size));
        done.iter().for_each(|done| done.is_placed(2 * STEPS as u64));
        show("five, 512x512 on 1x2", size * size / 2, &done);
        let [with, without] = done.map(|done| done.step_us(STEPS));
        let work_us = (size * size / 2) as f64 * COSTS.instance.as_secs_f64() * 1e6;
        // The column comes while the rank works.
        assert!(
            with < 1.2 * work_us && with + 50.0 < without,
            "{with} and {without} us"
        );
        return;
    }
    for (size, grid, ranks) in [
        (256, "1x2", 2),
        (512, "1x2", 2),
        (1024, "1x2", 2),
        (1024, "2x2", 4),
    ] {
        let done = both(grid, |rank| plane(rank, size));
        show(
            &format!("five, {size}x{size} on {grid}"),
            size * size / ranks,
            &done,
        );
    }
    let serial = heat::serial(STEPS);
    for grid in ["2x1", "1x2", "1x1x2"] {
        let done = both(grid, |rank| heat::part(rank, &serial, STEPS));
        show(&format!("heat, 64x64x64 on {grid}"), 64 * 64 * 64 / 2, &done);
    }
}
