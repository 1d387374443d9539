//! Game of Life on ranks with a simulated NIC each, whose handlers put all that comes from others into place: the grid after
//! every step is that of the serial function.
//!
//! With `MOLLY_NIC_STEPS=100` there are as many steps, and 5 and 9 points on 2 and 4 ranks with good cables and with bad ones;
//! docs/molly.md has what that prints.

use molly::{Field, Geometry};
use molly_nic::{Placed, run};
use spinneret_fabric::Faults;
use spinneret_fabric::topology::{ip_of, mac_of};
use spinneret_host::{Address, Nic, Program};
use spinneret_mpi::Rank;
use spinneret_mpi::library::Config;
use spinneret_nic::Simulated;
use spinneret_nic::mpi::{ExchangeError, Work, program, ranks};
use std::sync::Mutex;
use std::time::Duration;

/// The variable that says how many steps.
const STEPS: &str = "MOLLY_NIC_STEPS";
/// Size of the grid in both directions.
const SIZE: i64 = 256;
/// Longest that a rank waits, in simulated time.
const PATIENCE: Duration = Duration::from_secs(1);
/// One frame in a hundred.
const BAD: Faults = Faults {
    loss: 0.01,
    duplication: 0.01,
    reordering: 0.01,
    corruption: 0.0,
};

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

fn steps() -> i64 {
    let told = std::env::var(STEPS).ok();
    told.map_or(2, |steps| steps.parse().expect("MOLLY_NIC_STEPS is a number"))
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

/// A rank of so many, on its NIC.
fn open(
    nic: &Simulated,
    own: usize,
    ranks: usize,
    program: &Program,
) -> Result<Rank<Simulated>, ExchangeError> {
    let address = |rank| Address {
        mac: mac_of(rank),
        ip: ip_of(rank),
    };
    let addresses: Vec<Address> = (0..ranks).map(address).collect();
    let world = (own, (0..ranks).collect());
    Ok(Rank::new(
        &Nic::new(nic.clone())?,
        program,
        &addresses,
        world,
        Config::default(),
    )?)
}

/// One rank's part, which compares all that it owns with the serial run.
fn part(rank: &mut molly::Rank, points: Points, serial: &Field<u8, 3>) -> molly::Result<molly::Traffic> {
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

/// Runs it on a grid of ranks; each step has so many messages.
fn same_after_every_step(points: Points, grid: &str, faults: Faults, messages_a_step: u64) {
    let steps = steps();
    let (serial, geometry) = (serial(points, steps), Geometry::parse(grid).unwrap());
    let handlers = program().unwrap_or_else(|error| panic!("{error}"));
    let ended: Mutex<Vec<(molly::Traffic, Placed)>> = Mutex::default();
    let work = |own: usize| -> Work<'_> {
        let (serial, geometry, handlers, ended) = (&serial, &geometry, &handlers, &ended);
        Box::new(move |nic| {
            let rank = open(nic, own, geometry.ranks(), handlers)?;
            let done = run(rank, geometry, PATIENCE, |rank| part(rank, points, serial));
            let done = done.map_err(|error| ExchangeError::Wrong(error.to_string()))?;
            ended.lock().unwrap().push((done.result, done.placed));
            Ok(())
        })
    };
    let works = (0..geometry.ranks()).map(work).collect();
    ranks(faults, 20, 2, works).unwrap_or_else(|error| panic!("{points:?} on {grid}: {error}"));
    let ended = ended.into_inner().unwrap();
    let sum = |of: fn(&(molly::Traffic, Placed)) -> u64| ended.iter().map(of).sum::<u64>();
    let messages = messages_a_step * steps as u64;
    assert_eq!(
        sum(|(_, placed)| placed.messages),
        messages,
        "put in place by NICs"
    );
    assert_eq!(sum(|(traffic, _)| traffic.messages), messages, "sent");
    assert_eq!(sum(|(_, placed)| placed.bytes), sum(|(traffic, _)| traffic.bytes));
    assert_eq!(
        sum(|(traffic, placed)| traffic.unpacked + placed.unpacked),
        0,
        "unpacked by hosts"
    );
    let longest = ended.iter().map(|(_, placed)| placed.time).max().unwrap();
    println!(
        "{points:?} on {grid}, {steps} steps, {faults:?}: {messages} messages, {} B, {:.1} us a step",
        sum(|(traffic, _)| traffic.bytes),
        longest.as_secs_f64() * 1e6 / steps as f64
    );
}

/// Whether everything is to be run that there is.
fn is_whole() -> bool {
    std::env::var_os(STEPS).is_some()
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
