//! Ranks with a simulated NIC each, whose handlers put all that comes from others into place, give what the serial
//! function gives.
//!
//! With `MOLLY_NIC_STEPS=100` there are as many steps, more programs, grids and bad cables, and tables of times;
//! docs/results/software.md has the output.

use molly::programs::{five, heat};
use molly::{Field, Geometry, Options, Traffic};
use molly_nic::{Host, Placed, run};
use spinneret_fabric::Faults;
use spinneret_fabric::topology::{ip_of, mac_of};
use spinneret_host::{Address, Nic};
use spinneret_mpi::Rank;
use spinneret_mpi::library::Config;
use spinneret_nic::mpi::{ExchangeError, HostLatencies, LatencyModel, Work, program, ranks};
use std::sync::Mutex;
use std::time::Duration;

/// The variable that says how many steps; with it, everything is run that there is.
const STEPS_VARIABLE: &str = "MOLLY_NIC_STEPS";

/// One frame in a hundred is lost, one comes twice, one is overtaken.
const BAD: Faults = Faults {
    loss: 0.01,
    duplication: 0.01,
    reordering: 0.01,
    corruption: 0.0,
};

/// How many steps programs have.
fn steps() -> i64 {
    let told = std::env::var(STEPS_VARIABLE).ok();
    told.map_or(2, |steps| steps.parse().expect("MOLLY_NIC_STEPS is a number"))
}

/// Whether everything is to be run that there is.
fn is_whole() -> bool {
    std::env::var_os(STEPS_VARIABLE).is_some()
}

/// The work of the ranks of a grid.
#[derive(Debug)]
struct Done(Vec<(Traffic, Placed)>);

/// The time of instances and of the hosts' actions.
#[derive(Debug, Clone, Copy)]
struct Costs {
    instance: Duration,
    prices: HostLatencies,
}

/// Time passes for messages only.
const FREE: Costs = Costs {
    instance: Duration::ZERO,
    prices: HostLatencies::NONE,
};

/// Runs a program on each rank of a grid, which compares what it owns with a serial run.
fn on_nics(
    grid: &str,
    faults: Faults,
    costs: Costs,
    each: impl Fn(&mut molly::Rank) -> molly::Result<Traffic> + Sync,
) -> Done {
    Done(try_on_nics(grid, faults, costs, each).unwrap_or_else(|error| panic!("on {grid}: {error}")))
}

/// The same with a program that gives something else, or fails.
fn try_on_nics<R: Send>(
    grid: &str,
    faults: Faults,
    costs: Costs,
    each: impl Fn(&mut molly::Rank) -> molly::Result<R> + Sync,
) -> Result<Vec<(R, Placed)>, ExchangeError> {
    let geometry = Geometry::parse(grid).unwrap();
    let handlers = program().unwrap_or_else(|error| panic!("{error}"));
    let address = |rank| Address {
        mac: mac_of(rank),
        ip: ip_of(rank),
    };
    let addresses: Vec<Address> = (0..geometry.ranks()).map(address).collect();
    let host = Host {
        patience: Duration::from_secs(1),
        instance: costs.instance,
    };
    let ended: Mutex<Vec<(R, Placed)>> = Mutex::default();
    let work = |own: usize| -> Work<'_> {
        let (geometry, handlers, addresses, ended, each) = (&geometry, &handlers, &addresses, &ended, &each);
        Box::new(move |nic| {
            let nic = Nic::new(LatencyModel::new(nic.clone()))?;
            let world = (own, (0..addresses.len()).collect());
            let rank = Rank::new(&nic, handlers, addresses, world, Config::default())?;
            nic.device().set_latencies(costs.prices);
            let done = run(rank, geometry, host, |rank| each(rank));
            let done = done.map_err(|error| ExchangeError::Wrong(error.to_string()))?;
            ended.lock().unwrap().push((done.result, done.placed));
            Ok(())
        })
    };
    let works = (0..geometry.ranks()).map(work).collect();
    ranks(faults, 20, 2, works)?;
    Ok(ended.into_inner().unwrap())
}

impl Done {
    fn sum(&self, of: fn(&(Traffic, Placed)) -> u64) -> u64 {
        self.0.iter().map(of).sum()
    }

    /// NICs have put all messages in place, this number of them, and hosts none.
    fn is_placed(&self, messages: u64) {
        let [sent, placed] = [
            self.sum(|(traffic, _)| traffic.messages),
            self.sum(|(_, placed)| placed.messages),
        ];
        assert_eq!([sent, placed], [messages; 2], "sent, and put in place by NICs");
        assert_eq!(
            self.sum(|(_, placed)| placed.bytes),
            self.sum(|(traffic, _)| traffic.bytes)
        );
        let by_hosts = self.sum(|(traffic, placed)| traffic.unpacked + placed.unpacked);
        assert_eq!(by_hosts, 0, "bytes put in place by hosts");
    }

    /// Bytes of all messages.
    fn bytes(&self) -> u64 {
        self.sum(|(traffic, _)| traffic.bytes)
    }

    /// Simulated time of a step, in microseconds.
    fn step_us(&self, steps: i64) -> f64 {
        let longest = self.0.iter().map(|(_, placed)| placed.time).max();
        longest.unwrap_or_default().as_secs_f64() * 1e6 / steps as f64
    }
}

/// Size in all directions.
const HEAT_SIZE: i64 = 64;

fn warm(at: [i64; 3]) -> f64 {
    at.iter().fold(1, |sum, index| (sum * 31 + index * 17 + 3) % 101) as f64 / 7.0
}

/// After the serial run.
fn heat_serial(steps: i64) -> Field<f64, 3> {
    let (mut now, mut next) = (
        Field::new([HEAT_SIZE; 3], warm),
        Field::new([HEAT_SIZE; 3], |_| 0.0),
    );
    heat(&mut now, &mut next, steps, 0.1);
    now
}

/// One rank's part, which compares all that it owns with the serial run.
fn heat_part(rank: &mut molly::Rank, serial: &Field<f64, 3>, steps: i64) -> molly::Result<Traffic> {
    let (mut now, mut next) = (
        rank.field([HEAT_SIZE; 3], warm),
        rank.field([HEAT_SIZE; 3], |_| 0.0),
    );
    let traffic = heat::run(rank, &mut now, &mut next, steps, 0.1)?;
    let (from, len) = now.home();
    let whole = |dim: usize| from[dim]..from[dim] + len[dim];
    for x in whole(0) {
        for (y, z) in whole(1).flat_map(|y| whole(2).map(move |z| (y, z))) {
            let (at, rank) = ([x, y, z], rank.rank());
            assert_eq!(now[at].to_bits(), serial[at].to_bits(), "rank {rank}: {at:?}");
        }
    }
    Ok(traffic)
}

#[test]
fn faces_of_rows_and_of_single_numbers() {
    let steps = steps();
    let serial = heat_serial(steps);
    let cases = [
        ("1x2", Faults::default(), 2),
        ("1x1x2", BAD, 2),
        ("2x2", Faults::default(), 8),
    ];
    for (grid, faults, messages) in cases.into_iter().take(if is_whole() { 3 } else { 1 }) {
        let done = on_nics(grid, faults, FREE, |rank| heat_part(rank, &serial, steps));
        done.is_placed(messages * steps as u64);
        println!(
            "heat on {grid}, {steps} steps, {} % of frames bad: {messages} messages and {} B a step, {:.1} us",
            100.0 * faults.loss,
            done.bytes() / steps as u64,
            done.step_us(steps)
        );
    }
}

/// Size of the grid in both directions.
const SIZE: i64 = 256;

/// With the four nearest neighbours; `seen` is the grid after each step.
#[molly::scop]
fn life5(front: &mut Field<u8, 2>, back: &mut Field<u8, 2>, seen: &mut Field<u8, 3>, steps: i64) {
    for step in 0..steps {
        for x in 1..front.len(0) - 1 {
            for y in 1..front.len(1) - 1 {
                let around = front[[x - 1, y]] + front[[x, y + 1]] + front[[x + 1, y]] + front[[x, y - 1]];
                back[[x, y]] = u8::from(around == 3 || (around == 2 && front[[x, y]] == 1));
            }
        }
        for x in 1..front.len(0) - 1 {
            for y in 1..front.len(1) - 1 {
                front[[x, y]] = back[[x, y]];
            }
        }
        for x in 0..front.len(0) {
            for y in 0..front.len(1) {
                seen[[x, y, step]] = front[[x, y]];
            }
        }
    }
}

/// With all eight neighbours.
#[molly::scop]
fn life9(front: &mut Field<u8, 2>, back: &mut Field<u8, 2>, seen: &mut Field<u8, 3>, steps: i64) {
    for step in 0..steps {
        for x in 1..front.len(0) - 1 {
            for y in 1..front.len(1) - 1 {
                let mut around = front[[x - 1, y - 1]] + front[[x - 1, y]] + front[[x - 1, y + 1]];
                around += front[[x, y - 1]] + front[[x, y + 1]];
                around += front[[x + 1, y - 1]] + front[[x + 1, y]] + front[[x + 1, y + 1]];
                back[[x, y]] = u8::from(around == 3 || (around == 2 && front[[x, y]] == 1));
            }
        }
        for x in 1..front.len(0) - 1 {
            for y in 1..front.len(1) - 1 {
                front[[x, y]] = back[[x, y]];
            }
        }
        for x in 0..front.len(0) {
            for y in 0..front.len(1) {
                seen[[x, y, step]] = front[[x, y]];
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Points {
    Five,
    Nine,
}

fn alive([x, y]: [i64; 2]) -> u8 {
    u8::from((x * x * 7 + y * 5 + x * y) % 3 == 0)
}

/// The grid after each step of a serial run.
fn serial(points: Points, steps: i64) -> Field<u8, 3> {
    let (mut front, mut back) = (Field::new([SIZE; 2], alive), Field::new([SIZE; 2], |_| 0));
    let mut seen = Field::new([SIZE, SIZE, steps], |_| 0);
    match points {
        Points::Five => life5(&mut front, &mut back, &mut seen, steps),
        Points::Nine => life9(&mut front, &mut back, &mut seen, steps),
    }
    seen
}

/// One rank's part, which compares all that it owns with the serial run.
fn part(rank: &mut molly::Rank, points: Points, serial: &Field<u8, 3>) -> molly::Result<Traffic> {
    let steps = serial.len(2);
    let (mut front, mut back) = (rank.field([SIZE; 2], alive), rank.field([SIZE; 2], |_| 0));
    let mut seen = rank.field([SIZE, SIZE, steps], |_| 0);
    let traffic = match points {
        Points::Five => life5::run(rank, &mut front, &mut back, &mut seen, steps)?,
        Points::Nine => life9::run(rank, &mut front, &mut back, &mut seen, steps)?,
    };
    let (from, len) = seen.home();
    for x in from[0]..from[0] + len[0] {
        for y in from[1]..from[1] + len[1] {
            for step in 0..steps {
                let at = [x, y, step];
                assert_eq!(
                    seen[at],
                    serial[at],
                    "rank {} after step {step}: {x}, {y}",
                    rank.rank()
                );
            }
        }
    }
    Ok(traffic)
}

/// Runs it on a grid of ranks; each step has `messages_a_step` messages.
fn same_after_every_step(points: Points, grid: &str, faults: Faults, messages_a_step: u64) {
    let steps = steps();
    let serial = serial(points, steps);
    let done = on_nics(grid, faults, FREE, |rank| part(rank, points, &serial));
    done.is_placed(messages_a_step * steps as u64);
    println!(
        "life, {points:?} points on {grid}, {steps} steps, {} % of frames bad: {messages_a_step} messages and {} B a step, \
         {:.1} us",
        100.0 * faults.loss,
        done.bytes() / steps as u64,
        done.step_us(steps)
    );
}

#[test]
fn columns_of_two_ranks_on_a_cable() {
    same_after_every_step(Points::Five, "1x2", Faults::default(), 2);
    if is_whole() {
        same_after_every_step(Points::Five, "1x2", BAD, 2);
        same_after_every_step(Points::Nine, "1x2", Faults::default(), 2);
        same_after_every_step(Points::Nine, "1x2", BAD, 2);
    }
}

#[test]
fn four_ranks_around_a_switch() {
    same_after_every_step(Points::Nine, "2x2", BAD, 12);
    if is_whole() {
        same_after_every_step(Points::Nine, "2x2", Faults::default(), 12);
        same_after_every_step(Points::Five, "2x2", Faults::default(), 8);
        same_after_every_step(Points::Five, "2x2", BAD, 8);
    }
}

/// As fast as a core of a machine of today with numbers that are not in its caches.
const COSTS: Costs = Costs {
    instance: Duration::from_nanos(1),
    prices: HostLatencies::STATED,
};
/// Steps of each run.
const OVERLAP_STEPS: i64 = 10;

/// One rank's part of five points in single precision.
fn plane(rank: &mut molly::Rank, size: i64) -> molly::Result<Traffic> {
    let fill = |[x, y]: [i64; 2]| ((x * 31 + y * 17) % 101) as f32;
    let (mut now, mut next) = (rank.field([size; 2], fill), rank.field([size; 2], |_| 0.0));
    five::run(rank, &mut now, &mut next, OVERLAP_STEPS)
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
    let share = |done: &Done| work_us / done.step_us(OVERLAP_STEPS);
    println!(
        "{what}: work {work_us:.0} us a step; with overlap {:.0} us, R {:.3}; without {:.0} us, R {:.3}",
        with.step_us(OVERLAP_STEPS),
        share(with),
        without.step_us(OVERLAP_STEPS),
        share(without)
    );
}

#[test]
fn ranks_work_while_their_nics_put_messages_in_place() {
    if !is_whole() {
        let size = 512;
        let done = both("1x2", |rank| plane(rank, size));
        done.iter()
            .for_each(|done| done.is_placed(2 * OVERLAP_STEPS as u64));
        show("five, 512x512 on 1x2", size * size / 2, &done);
        let [with, without] = done.map(|done| done.step_us(OVERLAP_STEPS));
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
    let serial = heat_serial(OVERLAP_STEPS);
    for grid in ["2x1", "1x2", "1x1x2"] {
        let done = both(grid, |rank| heat_part(rank, &serial, OVERLAP_STEPS));
        show(&format!("heat, 64x64x64 on {grid}"), 64 * 64 * 64 / 2, &done);
    }
}

#[test]
fn a_field_does_not_outlive_its_rank() {
    let kept = |rank: &mut molly::Rank| {
        let (mut now, mut next) = (rank.field([8; 2], |_| 1.0), rank.field([8; 2], |_| 0.0));
        five::run(rank, &mut now, &mut next, 1)?;
        Ok(now)
    };
    let Err(error) = try_on_nics("1x2", Faults::default(), FREE, kept) else {
        panic!("a field has outlived its rank");
    };
    let text = error.to_string();
    assert!(
        text.contains("a field outlives its rank, whose NIC has the memory: return `Field::owned`"),
        "{text}"
    );
}
