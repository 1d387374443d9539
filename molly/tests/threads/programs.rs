//! Built-in programs on many ranks match the serial function bit by bit.

use molly::programs::{factors, five, gauss_seidel, heat, life5, life9, product, red_black, transposition};
use molly::{Error, Field, Geometry, MOST_THREADS, Network, Options, Pipeline, Rank};
use std::num::NonZeroU32;
use std::sync::Mutex;

/// Geometries of two dimensions, some with ranks that own nothing.
const GRIDS: [&str; 6] = ["1x1", "2x2", "3x2", "1x5", "4x3", "12x1"];

/// Checks that the result of `one` on rank 0 is the serial field, on each grid.
fn same<const D: usize>(
    grids: &[&str],
    serial: &Field<f64, D>,
    one: impl Fn(&mut Rank) -> Result<Option<Field<f64, D>>, Error> + Sync,
) {
    for grid in grids {
        let whole = molly::threads(&Geometry::parse(grid).unwrap(), &Network::default(), &one).unwrap();
        let bits = |field: &Field<f64, D>| {
            field
                .owned()
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>()
        };
        assert!(whole[0].as_ref().map(&bits) == Some(bits(serial)), "on {grid}");
    }
}

fn value<const D: usize>(at: [i64; D]) -> f64 {
    at.iter().fold(1, |sum, index| (sum * 31 + index * 17 + 3) % 101) as f64 / 7.0
}

#[test]
fn lives_are_the_same() {
    let alive = |[x, y]: [i64; 2]| u8::from((x * x * 7 + y * 5 + x * y) % 3 == 0);
    let (shape, steps) = ([17, 13], 6);
    for torus in [false, true] {
        let (mut front, mut back) = (Field::new(shape, alive), Field::new(shape, |_| 0));
        match torus {
            true => life9(&mut front, &mut back, steps),
            false => life5(&mut front, &mut back, steps),
        }
        for grid in if torus { &GRIDS[1..2] } else { &GRIDS[..] } {
            let whole = molly::threads(&Geometry::parse(grid).unwrap(), &Network::default(), |rank| {
                let (mut front, mut back) = (rank.field(shape, alive), rank.field(shape, |_| 0));
                match torus {
                    true => life9::run(rank, &mut front, &mut back, steps)?,
                    false => life5::run(rank, &mut front, &mut back, steps)?,
                };
                rank.gather(&front)
            });
            assert_eq!(
                whole.unwrap()[0].as_ref().map(Field::owned),
                Some(front.owned()),
                "{grid}, torus {torus}"
            );
        }
    }
}

#[test]
fn heat_is_the_same() {
    let shape = [7, 9, 6];
    let (mut now, mut next) = (Field::new(shape, value), Field::new(shape, value));
    heat(&mut now, &mut next, 4, 0.1);
    same(&["1x1x1", "2x2x2", "3x1x2", "1x4x1", "2x2"], &now, |rank| {
        let (mut now, mut next) = (rank.field(shape, value), rank.field(shape, value));
        heat::run(rank, &mut now, &mut next, 4, 0.1)?;
        rank.gather(&now)
    });
}

#[test]
fn sweeps_in_place_are_the_same() {
    let mut serial = Field::new([12, 10], value);
    gauss_seidel(&mut serial, 3);
    same(&GRIDS, &serial, |rank| {
        let mut u = rank.field([12, 10], value);
        gauss_seidel::run(rank, &mut u, 3)?;
        rank.gather(&u)
    });
    red_black(&mut serial, 3);
    same(&GRIDS, &serial, |rank| {
        let mut u = rank.field([12, 10], value);
        gauss_seidel::run(rank, &mut u, 3)?;
        red_black::run(rank, &mut u, 3)?;
        rank.gather(&u)
    });
}

/// The part of a field that another one has as well.
#[molly::scop]
fn corner(a: &mut Field<f64, 2>, b: &Field<f64, 2>) {
    for x in 0..b.len(0) {
        for y in 0..b.len(1) {
            let value = b[[x, y]];
            if x < a.len(0) && y < a.len(1) {
                a[[x, y]] += value;
            }
        }
    }
}

#[test]
fn sizes_stand_in_conditions() {
    let (mut serial, b) = (Field::new([5, 4], value), Field::new([7, 9], value));
    corner(&mut serial, &b);
    same(&["2x2", "1x3"], &serial, |rank| {
        let (mut a, mut b) = (rank.field([5, 4], value), rank.field([7, 9], value));
        corner::run(rank, &mut a, &mut b)?;
        rank.gather(&a)
    });
}

/// Sweeps along rows and columns, forwards and backwards.
#[molly::scop]
fn alternating(u: &mut Field<f64, 2>, steps: i64) {
    for _ in 0..steps {
        for x in 0..u.len(0) {
            for y in 1..u.len(1) {
                u[[x, y]] -= 0.25 * u[[x, y - 1]];
            }
        }
        for x in 0..u.len(0) {
            for y in (0..u.len(1) - 1).rev() {
                u[[x, y]] -= 0.25 * u[[x, y + 1]];
            }
        }
        for x in 1..u.len(0) {
            for y in 0..u.len(1) {
                u[[x, y]] -= 0.25 * u[[x - 1, y]];
            }
        }
        for x in (0..u.len(0) - 1).rev() {
            for y in 0..u.len(1) {
                u[[x, y]] -= 0.25 * u[[x + 1, y]];
            }
        }
    }
}

/// A system with three diagonals for each row: eliminates forwards, two fields in one body, and inserts backwards.
#[molly::scop]
fn tridiagonal(c: &mut Field<f64, 2>, d: &mut Field<f64, 2>) {
    for x in 0..d.len(0) {
        for y in 1..d.len(1) {
            let scale = 1.0 / (4.0 - c[[x, y - 1]]);
            c[[x, y]] *= scale;
            d[[x, y]] = scale * (d[[x, y]] - d[[x, y - 1]]);
        }
    }
    for x in (0..d.len(0)).rev() {
        for y in (0..d.len(1) - 1).rev() {
            d[[x, y]] -= c[[x, y]] * d[[x, y + 1]];
        }
    }
}

/// Fronts from one corner to the opposite one and back, and from another one.
#[molly::scop]
fn fronts(u: &mut Field<f64, 2>) {
    for x in 1..u.len(0) {
        for y in 1..u.len(1) {
            u[[x, y]] = 0.5 * (u[[x - 1, y]] + u[[x, y - 1]]) + 0.125 * u[[x - 1, y - 1]];
        }
    }
    for x in (0..u.len(0) - 1).rev() {
        for y in (0..u.len(1) - 1).rev() {
            u[[x, y]] = 0.5 * (u[[x + 1, y]] + u[[x, y + 1]]);
        }
    }
    for x in (0..u.len(0) - 1).rev() {
        for y in 1..u.len(1) {
            u[[x, y]] = 0.5 * (u[[x + 1, y]] + u[[x, y - 1]]);
        }
    }
}

/// The bits of the serial function in each way to take turns, and how many messages that takes.
fn in_turns<const N: usize>(
    grid: &str,
    ways: [Pipeline; N],
    serial: &Field<f64, 2>,
    one: impl Fn(&mut Rank) -> Result<(u64, Option<Field<f64, 2>>), Error> + Sync,
) -> [u64; N] {
    ways.map(|pipeline| {
        let sent = Mutex::new(0);
        same(&[grid], serial, |rank| {
            rank.set_options(Options {
                pipeline,
                ..Options::default()
            });
            let (messages, whole) = one(rank)?;
            *sent.lock().unwrap() += messages;
            Ok(whole)
        });
        sent.into_inner().unwrap()
    })
}

#[test]
fn sweeps_of_both_directions_are_the_same_in_turns() {
    let shape = [24, 20];
    let rows = |rows| Pipeline::from(NonZeroU32::new(rows));
    let mut serial = Field::new(shape, value);
    alternating(&mut serial, 2);
    let ways = [rows(0), rows(3), Pipeline::default()];
    let messages = in_turns("2x2", ways, &serial, |rank| {
        let mut u = rank.field(shape, value);
        let sent = alternating::run(rank, &mut u, 2)?;
        Ok((sent.messages, rank.gather(&u)?))
    });
    // Two steps of two sweeps along 24 rows, which are 8 strips or 2, and of two along columns, which send a row once.
    assert_eq!(messages, [24, 8, 2].map(|strips| 2 * 2 * (strips + 2)));

    let (mut c, mut serial) = (Field::new(shape, |_| 1.0), Field::new(shape, value));
    tridiagonal(&mut c, &mut serial);
    let messages = in_turns("1x3", [rows(0), Pipeline::default()], &serial, |rank| {
        let (mut c, mut d) = (rank.field(shape, |_| 1.0), rank.field(shape, value));
        let sent = tridiagonal::run(rank, &mut c, &mut d)?;
        Ok((sent.messages, rank.gather(&d)?))
    });
    // Two fields forwards, and one backwards.
    assert_eq!(messages, [2 * 3 * 24, 2 * 3]);

    let mut serial = Field::new(shape, value);
    fronts(&mut serial);
    let messages = in_turns("3x2", [rows(0), rows(3)], &serial, |rank| {
        let mut u = rank.field(shape, value);
        let sent = fronts::run(rank, &mut u)?;
        Ok((sent.messages, rank.gather(&u)?))
    });
    assert!(messages[0] > 2 * messages[1], "{messages:?}");
}

#[test]
fn linear_algebra_is_the_same() {
    let diagonal = |[i, j]: [i64; 2]| value([i, j]) + if i == j { 100.0 } else { 0.0 };
    let mut serial = Field::new([11, 11], diagonal);
    factors(&mut serial);
    same(&GRIDS, &serial, |rank| {
        let mut a = rank.field([11, 11], diagonal);
        factors::run(rank, &mut a)?;
        rank.gather(&a)
    });
    let (a, b) = (Field::new([7, 5], value), Field::new([5, 8], value));
    let (mut c, mut d) = (Field::new([7, 8], value), Field::new([8, 7], value));
    product(&a, &b, &mut c);
    transposition(&c, &mut d);
    same(&GRIDS, &d, |rank| {
        let (mut a, mut b) = (rank.field([7, 5], value), rank.field([5, 8], value));
        let (mut c, mut d) = (rank.field([7, 8], value), rank.field([8, 7], value));
        product::run(rank, &mut a, &mut b, &mut c)?;
        transposition::run(rank, &mut c, &mut d)?;
        rank.gather(&d)
    });
}

#[test]
fn messages_may_come_in_any_order_and_time() {
    let mut serial = Field::new([12, 10], value);
    red_black(&mut serial, 2);
    for (eager, delays) in [
        (0, None),
        (1, None),
        (usize::MAX >> 1, None),
        (0, Some(1)),
        (1, Some(2)),
    ] {
        let network = Network {
            eager,
            delays,
            ..Network::default()
        };
        let whole = molly::threads(&Geometry::parse("3x2").unwrap(), &network, |rank| {
            let mut u = rank.field([12, 10], value);
            let traffic = red_black::run(rank, &mut u, 2)?;
            assert!(traffic.messages > 0 && traffic.bytes == 8 * traffic.elements);
            rank.gather(&u)
        });
        assert_eq!(
            whole.unwrap()[0].as_ref(),
            Some(&serial),
            "eager {eager}, delays {delays:?}"
        );
    }
}

#[test]
fn error_names_the_missing_rank() {
    let network = Network {
        patience: std::time::Duration::from_millis(200),
        ..Network::default()
    };
    let result = molly::threads(&Geometry::parse("2").unwrap(), &network, |rank| {
        let mut u = rank.field([4, 4], value);
        match rank.rank() {
            0 => gauss_seidel::run(rank, &mut u, 1).map(|_| ()),
            _ => {
                std::thread::sleep(std::time::Duration::from_millis(600));
                Ok(())
            }
        }
    });
    let text = result.unwrap_err().to_string();
    assert!(
        text.starts_with("rank 0 waited 200ms for rank 1 to send message 0 of channel"),
        "{text}"
    );
}

/// A message that was expected may come after a failure, but not into the field.
#[test]
fn late_messages_do_not_change_a_field_after_a_failure() {
    let network = Network {
        patience: std::time::Duration::from_millis(200),
        places: true,
        ..Network::default()
    };
    let fields = molly::threads(&Geometry::parse("2").unwrap(), &network, |rank| {
        let (mut now, mut next) = (
            rank.field([8, 8], |at| value(at) as f32),
            rank.field([8, 8], |_| 0.0),
        );
        if rank.rank() == 1 {
            let failed = five::run(rank, &mut now, &mut next, 2);
            assert!(matches!(failed, Err(Error::Absent { .. })), "{failed:?}");
        }
        // The other one's patience is shorter.
        if rank.rank() == 0 {
            std::thread::sleep(std::time::Duration::from_millis(600));
        }
        let (before, stored) = (now.elements().to_vec(), now.stored());
        // Messages that go disturb the places of those that are expected.
        rank.gather(&next)?;
        assert_eq!((now.elements(), now.stored()), (&before[..], stored));
        Ok(stored)
    });
    // Rank 1 stores a row of the other one, which has not come.
    assert_eq!(fields.unwrap(), [32, 40]);
}

#[test]
fn an_element_outside_of_a_field_is_named_with_its_place() {
    let result = molly::threads(&Geometry::parse("2").unwrap(), &Network::default(), |rank| {
        let (mut a, mut b) = (rank.field([4, 3], value), rank.field([4, 4], value));
        transposition::run(rank, &mut a, &mut b)
    });
    let text = result.unwrap_err().to_string();
    assert!(
        text.starts_with("molly/src/programs.rs:") && text.contains(": `a` has no element ["),
        "{text}"
    );
}

#[test]
fn fields_of_one_nest_live_on_one_grid() {
    let network = Network::default();
    let foreign = molly::threads(&Geometry::parse("2x1").unwrap(), &network, |rank| {
        Ok(rank.field([8, 8], value))
    });
    let foreign = foreign.unwrap();
    let result = molly::threads(&Geometry::parse("1x2").unwrap(), &network, |rank| {
        let (mut a, mut b) = (foreign[rank.rank()].clone(), rank.field([8, 8], value));
        transposition::run(rank, &mut a, &mut b)
    });
    // Both places: where it runs, and where the field was made.
    let text = result.unwrap_err().to_string();
    let said = [
        "`transposition` (molly/tests/threads/programs.rs:",
        " runs on rank ",
        " of the grid 1x2, and `a` was made at molly/tests/threads/programs.rs:",
        " of the grid 2x1; make it with `Rank::field` of that rank",
    ];
    assert!(said.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn more_ranks_than_threads_are_refused_before_any_runs() {
    let grid = Geometry::new([MOST_THREADS as i64 + 1]).unwrap();
    let result = molly::threads(&grid, &Network::default(), |_| -> Result<(), Error> {
        panic!("it runs")
    });
    let text = result.unwrap_err().to_string();
    let said = "the grid 1025 has 1025 ranks, and at most 1024 run as threads of one process; name a smaller grid, or start \
                them as processes under MPI";
    assert_eq!(text, said);
}

#[test]
fn field_that_exceeds_memory_reports_an_error() {
    for shape in [[1 << 40, 1 << 20], [i64::MAX, i64::MAX]] {
        let result = molly::threads(&Geometry::parse("2").unwrap(), &Network::default(), |rank| {
            rank.field(shape, |_| 0.0);
            Ok(())
        });
        let text = result.unwrap_err().to_string();
        assert!(text.contains(" panicked: there is no memory for ["), "{text}");
    }
}

#[test]
fn ranks_may_own_nothing() {
    let mut serial = Field::new([3, 2], value);
    red_black(&mut serial, 2);
    let (a, mut b) = (serial.clone(), Field::new([2, 3], value));
    transposition(&a, &mut b);
    same(&["5x7", "1x9", "11x1"], &b, |rank| {
        let (mut a, mut b) = (rank.field([3, 2], value), rank.field([2, 3], value));
        red_black::run(rank, &mut a, 2)?;
        transposition::run(rank, &mut a, &mut b)?;
        rank.gather(&b)
    });
}
