//! Heat in three dimensions: rows of 512 B, and single numbers.

use super::support::{BAD, FREE, is_whole, on_nics, steps};
use molly::programs::heat;
use molly::{Field, Traffic};
use spinneret_fabric::Faults;

/// Size in all directions.
const SIZE: i64 = 64;

fn warm(at: [i64; 3]) -> f64 {
    at.iter().fold(1, |sum, index| (sum * 31 + index * 17 + 3) % 101) as f64 / 7.0
}

/// After the serial run.
pub(crate) fn serial(steps: i64) -> Field<f64, 3> {
    let (mut now, mut next) = (Field::new([SIZE; 3], warm), Field::new([SIZE; 3], |_| 0.0));
    heat(&mut now, &mut next, steps, 0.1);
    now
}

/// One rank's part, which compares all that it owns with the serial run.
pub(crate) fn part(rank: &mut molly::Rank, serial: &Field<f64, 3>, steps: i64) -> molly::Result<Traffic> {
    let (mut now, mut next) = (rank.field([SIZE; 3], warm), rank.field([SIZE; 3], |_| 0.0));
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
    let serial = serial(steps);
    let cases = [
        ("1x2", Faults::default(), 2),
        ("1x1x2", BAD, 2),
        ("2x2", Faults::default(), 8),
    ];
    for (grid, faults, messages) in cases.into_iter().take(if is_whole() { 3 } else { 1 }) {
        let done = on_nics(grid, faults, FREE, |rank| part(rank, &serial, steps));
        done.is_placed(messages * steps as u64);
        println!(
            "heat on {grid}, {steps} steps, {} % of frames bad: {messages} messages and {} B a step, {:.1} us",
            100.0 * faults.loss,
            done.bytes() / steps as u64,
            done.step_us(steps)
        );
    }
}
