//! What is worked while messages are under way, and what is not copied.

use molly::model::{Costs, Executed};
use molly::model::{Program, Sizes};
use molly::programs::{factors, five, heat, life9, red_black, wave};
use molly::{Field, Geometry, Network, Options, Plan};

fn plan(program: &Program, shape: &[i64], params: &[i64], grid: &str, options: Options) -> Plan {
    let sizes = Sizes {
        params: params.to_vec(),
        shapes: vec![shape.to_vec(); program.fields.len()],
    };
    Plan::new(program, &sizes, &Geometry::parse(grid).unwrap(), options).unwrap()
}

#[test]
fn the_interior_is_executed_before_messages_are_waited_for() {
    let options = Options::default();
    let of = |options| plan(&five::program(), &[64, 64], &[5], "2x2", options);
    // A block of 31 x 31 that is computed; the first time needs no messages but those of the beginning.
    let early = Executed {
        instances: 5 * 31 * 31,
        early: 4 * 30 * 30,
    };
    assert_eq!(of(options).executed(0), early);
    let late = of(Options {
        overlap: false,
        ..options
    });
    assert_eq!(late.executed(0).early, 0);
    // With a copy, what depends on the border through it is the border's, too.
    let copied = of(Options {
        exchange: false,
        ..options
    });
    let executed = copied.executed(0);
    assert_eq!(executed.instances, 2 * 5 * 31 * 31);
    assert!((1..4 * 2 * 30 * 30).contains(&executed.early), "{executed:?}");
    // The points of a colour that others need, and those of the other colour around them.
    let two_colours = plan(&red_black::program(), &[64, 64], &[5], "2x2", options);
    let executed = two_colours.executed(0);
    assert!(executed.early > executed.instances / 2, "{executed:?}");
    assert_eq!(
        plan(&factors::program(), &[16, 16], &[], "2x2", options).exchanges,
        []
    );
}

#[test]
fn copies_are_exchanges_where_that_is_right() {
    let exchanges = |program: &Program, shape: &[i64]| {
        let plan = plan(program, shape, &[5], "2", Options::default());
        let pairs = plan
            .exchanges
            .iter()
            .map(|exchange| (exchange.from, exchange.to, exchange.restores));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(exchanges(&five::program(), &[32, 32]), [(1, 0, true)]);
    assert_eq!(exchanges(&life9::program(), &[32, 32]), [(1, 0, true)]);
    assert_eq!(exchanges(&heat::program(), &[8, 8, 8]), [(1, 0, true)]);
    assert_eq!(
        exchanges(&wave::program(), &[32, 32]),
        [(1, 0, false), (2, 1, true)]
    );
}

/// A sweep that reads what is left in `b` after the copy.
#[molly::scop]
fn looks_back(a: &mut Field<f64, 1>, b: &mut Field<f64, 1>, steps: i64) {
    for _ in 0..steps {
        for x in 1..a.len(0) - 1 {
            b[[x]] = 0.5 * b[[x]] + 0.25 * (a[[x - 1]] + a[[x + 1]]);
        }
        for x in 1..a.len(0) - 1 {
            a[[x]] = b[[x]];
        }
    }
}

/// A copy of less than what is written.
#[molly::scop]
fn copies_less(a: &mut Field<f64, 1>, b: &mut Field<f64, 1>, steps: i64) {
    for _ in 0..steps {
        for x in 1..a.len(0) - 1 {
            b[[x]] = a[[x - 1]] + a[[x + 1]];
        }
        for x in 2..a.len(0) - 2 {
            a[[x]] = b[[x]];
        }
    }
}

#[test]
fn copies_are_made_where_an_exchange_would_be_wrong() {
    for program in [looks_back::program(), copies_less::program()] {
        assert_eq!(
            plan(&program, &[32], &[5], "2", Options::default()).exchanges,
            [],
            "{}",
            program.name
        );
    }
}

#[test]
fn fields_are_what_they_would_be_after_any_number_of_exchanges() {
    let value = |[x, y]: [i64; 2]| (x * 31 + y * 17) as f64 / 7.0;
    for steps in 0..4 {
        let mut fields = [
            Field::new([9, 8], value),
            Field::new([9, 8], value),
            Field::new([9, 8], |_| 3.0),
        ];
        let [past, now, next] = &mut fields;
        wave(past, now, next, steps, 0.1);
        let geometry = Geometry::parse("2x2").unwrap();
        let whole = molly::threads(&geometry, &Network::default(), |rank| {
            let (mut past, mut now) = (rank.field([9, 8], value), rank.field([9, 8], value));
            let mut next = rank.field([9, 8], |_| 3.0);
            wave::run(rank, &mut past, &mut now, &mut next, steps, 0.1)?;
            Ok([rank.gather(&past)?, rank.gather(&now)?, rank.gather(&next)?])
        });
        let whole = whole.unwrap().swap_remove(0).map(Option::unwrap);
        assert!(whole == fields, "{steps} steps");
    }
}

#[test]
fn messages_cost_no_time_while_there_is_work() {
    const STEPS: i64 = 50;
    let costs = Costs {
        instance_s: 1e-9,
        latency_s: 100e-6,
        element_s: 0.0,
        overhead_s: 0.0,
    };
    // Work of a step is less than a message takes, about as much, and more.
    for size in [200, 450, 2000] {
        let pace = |overlap| {
            let options = Options {
                overlap,
                ..Options::default()
            };
            plan(&five::program(), &[size, size], &[STEPS], "2", options).pace(&costs)
        };
        let (early, late) = (pace(true), pace(false));
        let bound = early.work_s.max(STEPS as f64 * costs.latency_s);
        assert!(early.seconds <= 1.05 * bound, "{size}: {early:?}");
        // Without, both are waited for, one after the other.
        let sum = late.work_s + STEPS as f64 * costs.latency_s;
        assert!((late.seconds / sum - 1.0).abs() < 0.01, "{size}: {late:?}");
    }
}
