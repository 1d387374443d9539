//! Game of Life: the grid after every step is that of the serial function.

use super::support::{BAD, FREE, is_whole, on_nics, steps};
use molly::{Field, Traffic};
use spinneret_fabric::Faults;

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

/// Runs it on a grid of ranks; each step has so many messages.
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
