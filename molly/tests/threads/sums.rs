//! Sums over all ranks have the bits of a serial run, and take one reduction.

use molly::model::{Program, Sizes};
use molly::{FastSum, Field, Geometry, Network, Options, Plan, Sum};

/// The sum of a field.
#[molly::scop]
fn sum(a: &Field<f64, 2>, total: &mut Sum<f64>) {
    for x in 0..a.len(0) {
        for y in 0..a.len(1) {
            *total += a[[x, y]];
        }
    }
}

/// A step of a stencil, how much it changed in all, and how often that was much.
#[molly::scop]
fn step(
    a: &mut Field<f64, 2>,
    b: &mut Field<f64, 2>,
    change: &mut Sum<f64>,
    often: &mut Sum<i64>,
    least: f64,
) {
    for x in 1..a.len(0) - 1 {
        for y in 1..a.len(1) - 1 {
            b[[x, y]] = 0.25 * (a[[x - 1, y]] + a[[x + 1, y]] + a[[x, y - 1]] + a[[x, y + 1]]);
            let by = (b[[x, y]] - a[[x, y]]).abs();
            *change += by * by;
            if by > least {
                *often += 1i64;
            }
        }
    }
    for x in 1..a.len(0) - 1 {
        for y in 1..a.len(1) - 1 {
            a[[x, y]] = b[[x, y]];
        }
    }
}

/// A product of two vectors, of which one is turned round, in the type of its numbers.
#[molly::scop]
fn product(a: &Field<f64, 1>, b: &Field<f64, 1>, exact: &mut Sum<f64>, fast: &mut FastSum) {
    for x in 0..a.len(0) {
        let both = a[[x]] * b[[a.len(0) - 1 - x]];
        *exact += both;
        *fast += both;
    }
}

/// Numbers whose sum depends on the order if it is rounded on the way.
fn wild<const D: usize>(at: [i64; D]) -> f64 {
    let place = at.iter().fold(7i64, |place, at| place * 131 + at * 29 + 17);
    let value = (place % 1009 - 504) as f64 * 1.1;
    value * [1e-9, 1.0, 1e12, 1e17][(place % 4) as usize]
}

const GRIDS: [&str; 5] = ["1x1", "2x2", "3x2", "1x5", "8x1"];

#[test]
fn sums_have_the_same_bits_on_all_grids() {
    let mut serial = Sum::new();
    serial += 0.5;
    let field = Field::new([37, 23], wild);
    sum(&field, &mut serial);
    let plain: f64 = 0.5 + field.owned().iter().sum::<f64>();
    assert_ne!(
        plain.to_bits(),
        serial.value().to_bits(),
        "these numbers are too tame"
    );
    for grid in GRIDS {
        let all = molly::threads(&Geometry::parse(grid).unwrap(), &Network::default(), |rank| {
            let mut total = Sum::new();
            // The value that the sum has before is the same on all ranks, and counts once.
            total += 0.5;
            sum::run(rank, &mut rank.field([37, 23], wild), &mut total)?;
            Ok(total.value().to_bits())
        });
        let all = all.unwrap();
        assert!(all.iter().all(|bits| *bits == serial.value().to_bits()), "{grid}");
    }
}

#[test]
fn steps_with_sums_are_those_of_a_serial_run() {
    let (mut a, mut b) = (Field::new([14, 11], wild), Field::new([14, 11], |_| 0.0));
    let serial: Vec<(u64, i128)> = (0..3)
        .map(|_| {
            let (mut change, mut often) = (Sum::new(), Sum::new());
            step(&mut a, &mut b, &mut change, &mut often, 1e15);
            (change.value().to_bits(), often.value())
        })
        .collect();
    assert!(serial[0].1 > 0 && serial[0].1 < 108, "{serial:?}");
    for grid in GRIDS {
        let network = Network {
            delays: Some(3),
            ..Network::default()
        };
        let all = molly::threads(&Geometry::parse(grid).unwrap(), &network, |rank| {
            let (mut a, mut b) = (rank.field([14, 11], wild), rank.field([14, 11], |_| 0.0));
            let mut found = Vec::new();
            for _ in 0..3 {
                let (mut change, mut often) = (Sum::new(), Sum::new());
                step::run(rank, &mut a, &mut b, &mut change, &mut often, 1e15)?;
                found.push((change.value().to_bits(), often.value()));
            }
            Ok((found, rank.gather(&a)?))
        });
        let all = all.unwrap();
        assert_eq!(all[0].1.as_ref(), Some(&a), "{grid}");
        assert!(all.iter().all(|(found, _)| *found == serial), "{grid}");
    }
}

#[test]
fn fast_sums_are_close_and_the_same_on_all_ranks() {
    let tame = |[x]: [i64; 1]| (x % 17) as f64 / 3.0;
    let fields = [Field::new([101], tame), Field::new([101], tame)];
    let (mut exact, mut fast) = (Sum::new(), FastSum::new());
    product(&fields[0], &fields[1], &mut exact, &mut fast);
    for grid in ["1", "4", "7"] {
        let all = molly::threads(&Geometry::parse(grid).unwrap(), &Network::default(), |rank| {
            let (mut exact, mut fast) = (Sum::new(), FastSum::new());
            let (mut a, mut b) = (rank.field([101], tame), rank.field([101], tame));
            product::run(rank, &mut a, &mut b, &mut exact, &mut fast)?;
            Ok((exact.value().to_bits(), fast.value()))
        });
        for (bits, quick) in all.unwrap() {
            assert_eq!(bits, exact.value().to_bits(), "{grid}");
            assert!((quick - exact.value()).abs() < 1e-10, "{grid}: {quick}");
        }
    }
}

#[test]
fn a_sum_needs_no_messages_but_one_reduction() {
    let plan = |program: &Program, shape: &[i64], grid: &str| {
        let sizes = Sizes {
            params: Vec::new(),
            shapes: vec![shape.to_vec(); program.fields.len()],
        };
        Plan::new(
            program,
            &sizes,
            &Geometry::parse(grid).unwrap(),
            Options::default(),
        )
        .unwrap()
    };
    let whole = plan(&sum::program(), &[1024, 1024], "8x8");
    assert!(whole.channels.is_empty(), "{:?}", whole.channels);
    let executed: u64 = (0..64).map(|rank| whole.executed(rank).instances).sum();
    assert_eq!(executed, 1024 * 1024);
    // An element that lives elsewhere is sent to the rank that multiplies it.
    assert_eq!(plan(&product::program(), &[101], "4").channels.len(), 1);
}

#[test]
fn error_names_the_rank_missing_from_a_sum() {
    let network = Network {
        patience: std::time::Duration::from_millis(200),
        ..Network::default()
    };
    let result = molly::threads(&Geometry::parse("2").unwrap(), &network, |rank| {
        let field = &mut rank.field([4, 4], wild);
        match rank.rank() {
            0 => sum::run(rank, field, &mut Sum::new()).map(|_| ()),
            // These are two lines of messages: what one rank sends is not what the other waits for.
            _ => rank.gather(field).and_then(|_| rank.gather(field)).map(|_| ()),
        }
    });
    let text = result.unwrap_err().to_string();
    assert!(
        text.starts_with("rank 0 waited 200ms for rank 1 to send"),
        "{text}"
    );
    let calls = [
        "rank 0 is in `sum` (molly/tests/threads/sums.rs:",
        "rank 1 was last in `gather` (molly/tests/threads/sums.rs:",
    ];
    assert!(calls.iter().all(|call| text.contains(call)), "{text}");
}
