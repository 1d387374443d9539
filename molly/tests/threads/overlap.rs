//! Overlap of work and messages, avoided copies, and lifetimes of messages in fields.

use molly::model::{Access, Call, Costs, Executed, Lifetimes, Message, Program, Sizes};
use molly::programs::{factors, five, heat, life9, red_black, wave};
use molly::random::Case;
use molly::{Field, Geometry, Network, Options, Plan};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;

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

// When messages may come into their places, and when they have to be gone.

fn sizes(shape: &[i64], fields: usize, params: &[i64]) -> Sizes {
    Sizes {
        params: params.to_vec(),
        shapes: vec![shape.to_vec(); fields],
    }
}

/// A rank's messages, each with the rows that come before it.
fn messages(plan: &Plan, rank: usize) -> Vec<(usize, Message)> {
    let (mut rows, mut messages) = (0, Vec::new());
    let Ok(()) = plan.tree.visit(&mut plan.slots(rank), &mut |row| {
        plan.messages_of(rank, row, &mut |message| {
            messages.push((rows, message));
            Ok::<(), Infallible>(())
        })?;
        rows += 1;
        Ok::<(), Infallible>(())
    });
    messages
}

#[test]
fn places_are_free_before_messages_are_waited_for() {
    let program = five::program();
    for exchange in [false, true] {
        let options = Options {
            exchange,
            ..Options::default()
        };
        let (sizes, grid) = (sizes(&[64, 64], 2, &[5]), Geometry::parse("2x1").unwrap());
        let plan = Plan::new(&program, &sizes, &grid, options).unwrap();
        assert_eq!(plan.exchanges.len(), usize::from(exchange));
        let Lifetimes { rooms, departures } = plan.lifetimes(&program, 0, &|_| true);
        let messages = messages(&plan, 0);
        let waits: Vec<usize> = messages
            .iter()
            .filter(|(_, message)| !message.is_send)
            .map(|(rows, _)| *rows)
            .collect();
        assert_eq!(rooms.len(), waits.len());
        // All have room before they are waited for, and in turn in both storages if there are two.
        let mut pairs = rooms.iter().zip(&waits);
        assert!(
            pairs.all(|(room, wait)| room.after < *wait),
            "{rooms:?}, {waits:?}"
        );
        let storages: Vec<usize> = rooms.iter().map(|room| room.storage).collect();
        let expected = if exchange { [0, 1, 0, 1, 0] } else { [0; 5] };
        assert_eq!(storages, expected);
        // Where two storages take turns, the neighbour's next message says that this rank's was taken, or nothing is written
        // there any more. Where a step writes what was sent before it, nothing says it in time.
        let known = departures.iter().filter(|departure| departure.is_known);
        assert_eq!(
            (departures.len(), known.count()),
            (5, if exchange { 5 } else { 0 })
        );
    }
}

/// Elements of storages, each with the first row after another one in which it is written.
struct Written(HashMap<(usize, Vec<i64>), Vec<usize>>);

/// The elements that each row writes, found one by one.
fn written(
    program: &Program,
    plan: &Plan,
    rank: usize,
    lifetimes: &Lifetimes,
) -> (Written, Vec<(Message, usize, usize)>) {
    let mut written: HashMap<(usize, Vec<i64>), Vec<usize>> = HashMap::new();
    let (mut rows, mut sent) = (0, Vec::new());
    let mut holds: Vec<usize> = (0..program.fields.len()).collect();
    let mut grouped = BTreeSet::new();
    let bodies = program.bodies();
    let Ok(()) = plan.tree.visit(&mut plan.slots(rank), &mut |row| {
        match row.call {
            Call::Body(body) => row.each(|loops| {
                for Access {
                    field, subscripts, ..
                } in bodies[body].accesses.iter().filter(|access| access.is_write)
                {
                    let at = subscripts
                        .iter()
                        .map(|index| index.value(loops, &plan.sizes).unwrap())
                        .collect();
                    written.entry((holds[*field], at)).or_default().push(rows);
                }
                Ok::<(), Infallible>(())
            })?,
            Call::Exchange(number) => {
                let exchange = &plan.exchanges[number];
                let of_group = |group: &molly::model::Group| group.fields.contains(&exchange.to);
                let group = plan.groups.iter().position(of_group).unwrap();
                if grouped.insert(group) {
                    let group = &plan.groups[group];
                    let mut copied = BTreeSet::new();
                    for run in group.elements.runs(&[]) {
                        run.each(|at| {
                            copied.insert(at.to_vec());
                            Ok::<(), Infallible>(())
                        })?;
                    }
                    for &field in group.fields.iter().filter(|field| **field != group.border) {
                        for at in points(&plan.sizes.shapes[field])
                            .into_iter()
                            .filter(|at| !copied.contains(at))
                        {
                            written.entry((holds[field], at)).or_default().push(rows);
                        }
                    }
                }
                holds.swap(exchange.from, exchange.to);
            }
            _ => plan.messages_of(rank, row, &mut |message| {
                let storage = holds[plan.channels[message.channel].field];
                if message.is_send {
                    sent.push((message, storage, rows));
                    return Ok::<(), Infallible>(());
                }
                // From when on it has room it may come.
                let room = lifetimes.rooms.iter().find(|room| room.message == message);
                let room = room.expect("all have room").after;
                for run in plan.elements(rank, &message) {
                    run.each(|at| {
                        written.entry((storage, at.to_vec())).or_default().push(room);
                        Ok::<(), Infallible>(())
                    })?;
                }
                Ok(())
            })?,
        }
        rows += 1;
        Ok::<(), Infallible>(())
    });
    (Written(written), sent)
}

fn points(shape: &[i64]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![Vec::new()], |points, &size| {
        let with = |point: &Vec<i64>| {
            (0..size)
                .map(|at| [&point[..], &[at]].concat())
                .collect::<Vec<_>>()
        };
        points.iter().flat_map(with).collect()
    })
}

/// All ranks, of which each does only what others need to go on.
struct Needed {
    messages: Vec<Vec<(usize, Message)>>,
    done: Vec<usize>,
}

impl Needed {
    /// Executes a rank's messages up to number `until`, and those of other ranks that these need.
    fn advance(&mut self, rank: usize, until: usize) {
        while self.done[rank] < until {
            let message = self.messages[rank][self.done[rank]].1.clone();
            if !message.is_send {
                let sent = self.place(
                    message.peer,
                    &Message {
                        is_send: true,
                        peer: rank,
                        ..message.clone()
                    },
                );
                self.advance(message.peer, sent + 1);
            }
            self.done[rank] += 1;
        }
    }

    fn place(&self, rank: usize, wanted: &Message) -> usize {
        let place = self.messages[rank]
            .iter()
            .position(|(_, message)| message == wanted);
        place.expect("what is received is sent")
    }
}

/// Looks at all departures of a plan; how many there are, and of how many it is known that they were taken.
fn look(program: &Program, plan: &Plan) -> (usize, usize) {
    let ranks = plan.geometry.ranks();
    let (mut all, mut known) = (0, 0);
    for rank in 0..ranks {
        let lifetimes = plan.lifetimes(program, rank, &|_| true);
        let (Written(written), sent) = written(program, plan, rank, &lifetimes);
        let mut needed = Needed {
            messages: (0..ranks).map(|rank| messages(plan, rank)).collect(),
            done: vec![0; ranks],
        };
        assert_eq!(sent.len(), lifetimes.departures.len());
        for departure in &lifetimes.departures {
            let (_, storage, row) = sent
                .iter()
                .find(|(message, ..)| *message == departure.message)
                .unwrap();
            let mut first = usize::MAX;
            for run in plan.elements(rank, &departure.message) {
                let Ok(()) = run.each(|at| {
                    let rows = written.get(&(*storage, at.to_vec())).into_iter().flatten();
                    first = rows
                        .copied()
                        .filter(|written| written > row)
                        .fold(first, usize::min);
                    Ok::<(), Infallible>(())
                });
            }
            assert!(
                row < &departure.before && departure.before <= first,
                "{departure:?}: sent after {row} rows, written after {first}"
            );
            // The other ranks have done nothing that they do not have to do by then.
            let received = needed.messages[rank]
                .iter()
                .take_while(|(rows, _)| *rows < departure.before)
                .count();
            needed.advance(rank, received);
            let peer = departure.message.peer;
            let taken = needed.place(
                peer,
                &Message {
                    is_send: false,
                    peer: rank,
                    ..departure.message.clone()
                },
            );
            all += 1;
            if departure.is_known && received < needed.messages[rank].len() {
                assert!(
                    needed.done[peer] > taken,
                    "{departure:?}: it may not have been taken"
                );
                known += 1;
            }
        }
    }
    (all, known)
}

#[test]
fn messages_leave_before_their_place_is_overwritten() {
    let grid = |text: &str| Geometry::parse(text).unwrap();
    for (program, sizes, grid, is_known) in [
        (five::program(), sizes(&[12, 12], 2, &[4]), grid("2x2"), true),
        (life9::program(), sizes(&[16, 16], 2, &[4]), grid("4x4"), true),
        (heat::program(), sizes(&[6, 6, 6], 2, &[4]), grid("2x1x2"), true),
        (wave::program(), sizes(&[12, 12], 3, &[6]), grid("2x2"), true),
        (
            red_black::program(),
            sizes(&[12, 12], 1, &[3]),
            grid("2x2"),
            false,
        ),
    ] {
        let plan = Plan::new(&program, &sizes, &grid, Options::default()).unwrap();
        let (all, known) = look(&program, &plan);
        assert!(
            all > 0 && (known > 0 || !is_known),
            "{}: {known} of {all}",
            program.name
        );
    }
    let (mut all, mut known) = (0, 0);
    for seed in 0..24 {
        let case = Case::new(seed, None);
        let plan = Plan::new(&case.program, &case.sizes, &case.grid, Options::default()).unwrap();
        let found = look(&case.program, &plan);
        (all, known) = (all + found.0, known + found.1);
    }
    assert!(known > 0 && known < all, "{known} of {all}");
}
