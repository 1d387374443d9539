//! Messages and elements of known programs, counted over all ranks.

mod programs;

use programs::{
    Case, at, body, elimination, gauss_seidel, hop, loops, neighbours, product, program, red_black, stencil,
    transposition,
};
use spinneret_molly_model::{Access, Bounds, Costs, Expr, Geometry, Level, Node, Options, Pipeline, Plan};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroU32;

fn plan((program, sizes): &Case, geometry: &str) -> Plan {
    let start = std::time::Instant::now();
    let plan = Plan::new(
        program,
        sizes,
        &Geometry::parse(geometry).unwrap(),
        // Messages are the same in any order of work.
        Options {
            overlap: false,
            pipeline: Pipeline::Off,
            ..Options::default()
        },
    )
    .unwrap();
    println!("{} on {geometry}: {:?}", program.name, start.elapsed());
    plan
}

/// Sends of a level and chunk: how many of each length.
fn lengths(plan: &Plan, level: Level, chunk: &[i64]) -> BTreeMap<u64, u64> {
    let mut lengths = BTreeMap::new();
    for rank in 0..plan.geometry.ranks() {
        let Ok(()) = plan.messages(rank, |message| {
            if message.is_send && plan.channels[message.channel].level == level && message.chunk == chunk {
                *lengths.entry(plan.count(rank, &message)).or_default() += 1;
            }
            Ok::<(), Infallible>(())
        });
    }
    lengths
}

/// Messages and elements of all that is sent at a level, with a chunk.
fn sent(plan: &Plan, level: Level, chunk: &[i64]) -> (u64, u64) {
    let lengths = lengths(plan, level, chunk);
    (
        lengths.values().sum(),
        lengths.iter().map(|(length, count)| length * count).sum(),
    )
}

/// Levels at which values of a field travel.
fn levels(plan: &Plan) -> Vec<Level> {
    let mut levels: Vec<Level> = plan.flows.iter().filter_map(|flow| flow.level).collect();
    levels.sort();
    levels.dedup();
    levels
}

fn star_2d(size: i64) -> Case {
    stencil("5-point", &[size, size], 1, 100, &neighbours(2, true))
}

fn box_2d(size: i64) -> Case {
    stencil("9-point", &[size, size], 1, 100, &neighbours(2, false))
}

#[test]
fn five_points_on_8x8() {
    let plan = plan(&star_2d(1024), "8x8");
    assert_eq!(levels(&plan), [Level::Initial, Level::Time(1)]);
    assert_eq!(
        lengths(&plan, Level::Time(1), &[0, 50]),
        BTreeMap::from([(128, 168), (127, 56)])
    );
    assert_eq!(sent(&plan, Level::Time(1), &[0, 50]), (224, 28616));
    assert_eq!(sent(&plan, Level::Initial, &[]), (224, 28616));
    // 100 iterations are the initial chunk and 99 others.
    assert_eq!(plan.check_progress(None).unwrap(), 22400);
    assert!(plan.channels.iter().all(|channel| channel.buffers == 1));
    let mut sends = BTreeMap::new();
    for rank in 0..64 {
        let mut count = 0;
        let Ok(()) = plan.messages(rank, |message| {
            count += usize::from(message.is_send && message.chunk == [0, 50]);
            Ok::<(), Infallible>(())
        });
        *sends.entry(count).or_insert(0) += 1;
    }
    assert_eq!(sends, BTreeMap::from([(4, 36), (3, 24), (2, 4)]));
}

#[test]
fn five_points_on_2x2() {
    let plan = plan(&star_2d(1024), "2x2");
    assert_eq!(
        lengths(&plan, Level::Time(1), &[0, 50]),
        BTreeMap::from([(511, 8)])
    );
    assert_eq!(sent(&plan, Level::Time(1), &[0, 50]), (8, 4088));
}

#[test]
fn nine_points_are_merged_with_their_corners() {
    let small = plan(&box_2d(1024), "2x2");
    assert_eq!(
        lengths(&small, Level::Time(1), &[0, 50]),
        BTreeMap::from([(511, 8), (1, 4)])
    );
    assert_eq!(sent(&small, Level::Initial, &[]), (12, 4100));
    let large = plan(&box_2d(1024), "8x8");
    assert_eq!(sent(&large, Level::Time(1), &[0, 50]), (420, 28812));
    assert_eq!(sent(&large, Level::Initial, &[]), (420, 28868));
}

#[test]
fn heat_in_three_dimensions() {
    let case = stencil("heat", &[256, 256, 256], 1, 100, &neighbours(3, true));
    let large = plan(&case, "4x4x4");
    assert_eq!(sent(&large, Level::Time(1), &[0, 50]), (288, 1161288));
    let lengths_of_faces: Vec<u64> = lengths(&large, Level::Time(1), &[0, 50]).into_keys().collect();
    assert_eq!(lengths_of_faces, [3969, 4032, 4096]);
    assert_eq!(
        lengths(&plan(&case, "2x2x2"), Level::Time(1), &[0, 50]),
        BTreeMap::from([(16129, 24)])
    );
}

#[test]
fn one_dimension() {
    let plan_of = plan(&stencil("jacobi", &[4096], 1, 100, &neighbours(1, true)), "4");
    assert_eq!(sent(&plan_of, Level::Time(1), &[0, 50]), (6, 6));
    let offsets: Vec<Vec<i64>> = (-3..=3).map(|by| vec![by]).collect();
    let wide = plan(&stencil("radius 3", &[16], 3, 100, &offsets), "8");
    assert_eq!(sent(&wide, Level::Time(1), &[0, 50]), (18, 26));
}

#[test]
fn gauss_seidel_in_place() {
    let plan = plan(&gauss_seidel(1024, 3), "2x2");
    let of_reads: Vec<Vec<Level>> = (0..4)
        .map(|read| {
            let flows = plan
                .flows
                .iter()
                .filter(|flow| flow.to == Some((0, read)) && flow.from.is_some());
            flows.filter_map(|flow| flow.level).collect()
        })
        .collect();
    let time = |level| vec![Level::Time(level)];
    assert_eq!(of_reads, [time(3), time(1), time(5), time(1)]);
    assert_eq!(sent(&plan, Level::Time(1), &[0, 1]), (4, 2044));
    assert_eq!(sent(&plan, Level::Time(3), &[0, 1, 0, 512]), (2, 1022));
    let mut all = (0, 0);
    for rank in 0..4 {
        let Ok(()) = plan.messages(rank, |message| {
            if message.is_send && message.chunk.len() == 6 && message.chunk[1] == 1 {
                all = (all.0 + 1, all.1 + plan.count(rank, &message));
            }
            Ok::<(), Infallible>(())
        });
    }
    assert_eq!(all, (1022, 1022));
}

#[test]
fn sweeps_in_turns_send_once_to_each_neighbour() {
    let in_strips = |(program, sizes): &Case, grid: &str, rows: u32| {
        let options = Options {
            pipeline: NonZeroU32::new(rows).into(),
            ..Options::default()
        };
        let plan = Plan::new(program, sizes, &Geometry::parse(grid).unwrap(), options).unwrap();
        plan.check_progress(None).unwrap();
        plan
    };
    let turns = |case: &Case, grid: &str| in_strips(case, grid, 5000);
    let small = turns(&gauss_seidel(1024, 3), "2x2");
    // All rows are in one strip: what the sweep before wrote comes before the sweep, and what it writes itself before the strip.
    let within = Level::Time(3);
    assert_eq!(levels(&small), [Level::Initial, Level::Time(1), within]);
    for (level, chunk) in [(Level::Time(1), &[0, 1][..]), (within, &[0, 1, 0, 0])] {
        assert_eq!(lengths(&small, level, chunk), BTreeMap::from([(511, 4)]));
    }
    let large = turns(&gauss_seidel(64, 3), "4x3");
    assert_eq!(sent(&large, within, &[0, 1, 0, 0]).0, 17);
    // Strips of 8 rows: 64 for each half of the columns, and one of them for the row between both halves.
    let strips = in_strips(&gauss_seidel(1024, 3), "2x2", 8);
    let of_sweep = |strip| sent(&strips, within, &[0, 1, 0, strip]);
    assert_eq!(
        [of_sweep(0), of_sweep(1), of_sweep(64)],
        [(1, 7), (1, 8), (3, 1030)]
    );
    assert_eq!((0..128).map(|strip| of_sweep(strip).0).sum::<u64>(), 130);
    // Over corners the next rank reads what was there before the sweep, and then what is new.
    let mut all_around = gauss_seidel(64, 3);
    if let Node::Loop(_, rows) = &mut all_around.0.nodes[0]
        && let Node::Loop(_, columns) = &mut rows[0]
        && let Node::Loop(_, bodies) = &mut columns[0]
        && let Node::Body(body) = &mut bodies[0]
    {
        body.accesses
            .insert(0, Access::read(0, vec![at(1) - 1, at(2) + 1]));
    }
    // So only within a row.
    let plan = turns(&all_around, "2x2");
    let times = [1, 3, 5].map(Level::Time);
    assert_eq!(levels(&plan), [&[Level::Initial][..], &times].concat());
}

#[test]
fn ranks_that_take_turns_work_at_the_same_time() {
    let costs = Costs {
        instance_s: 1e-9,
        latency_s: 2e-6,
        element_s: 0.0,
        overhead_s: 0.5e-6,
    };
    let (program, sizes) = gauss_seidel(1024, 3);
    let pace = |rows| {
        let options = Options {
            pipeline: NonZeroU32::new(rows).into(),
            ..Options::default()
        };
        let grid = Geometry::parse("1x2").unwrap();
        let pace = Plan::new(&program, &sizes, &grid, options).unwrap().pace(&costs);
        pace.work_s / pace.seconds
    };
    let (each, strips, whole) = (pace(0), pace(8), pace(2000));
    // With strips of k of R rows all but about 1 / (1 + k / R) is work; whole sweeps take turns, and no rank works beside another.
    assert!(
        strips > 0.85 && whole < 0.6 && each < strips,
        "{each} {strips} {whole}"
    );
}

#[test]
fn the_rows_of_turns_can_be_chosen() {
    // A message costs its two sides as much as 2000 instances.
    let costs = Costs {
        instance_s: 1e-9,
        latency_s: 2e-6,
        element_s: 0.0,
        overhead_s: 1e-6,
    };
    let chosen = Pipeline::Chosen(NonZeroU32::new(2000).unwrap());
    for (grid, steps) in [("1x2", 3), ("2x2", 2)] {
        let (program, sizes) = gauss_seidel(256, steps);
        let grid = Geometry::parse(grid).unwrap();
        let plan = |pipeline| {
            let options = Options {
                pipeline,
                ..Options::default()
            };
            Plan::new(&program, &sizes, &grid, options).unwrap()
        };
        let best = plan(chosen);
        let seconds = |plan: &Plan| plan.pace(&costs).seconds;
        for rows in [12, 30, 110] {
            let other = plan(NonZeroU32::new(rows).into());
            assert_eq!(NonZeroU32::new(rows), Some(other.turns[0].rows));
            let (chosen, other) = (seconds(&best), seconds(&other));
            assert!(
                chosen < 1.05 * other,
                "{grid}: {:?} take {chosen}, {rows} rows {other}",
                best.turns
            );
        }
    }
    // Of two bodies the one counts that has most to do, and each rank has all rows that are not those of its block: the root of
    // 64 rows times 2000 instances for a message, by 2 ranks and 1056 instances.
    let (program, sizes) = elimination(64, true);
    let options = Options {
        pipeline: chosen,
        overlap: false,
        ..Options::default()
    };
    let plan = Plan::new(&program, &sizes, &Geometry::parse("2x2").unwrap(), options).unwrap();
    let rows: Vec<u32> = plan.turns.iter().map(|turns| turns.rows.get()).collect();
    assert_eq!(rows, [8]);
    // Without turns there are no rows.
    let (program, sizes) = star_2d(64);
    let options = Options {
        pipeline: chosen,
        ..Options::default()
    };
    let plan = Plan::new(&program, &sizes, &Geometry::parse("2x2").unwrap(), options).unwrap();
    assert_eq!(plan.turns, []);
}

/// A loop over x around one over y, each forwards or backwards, in which each element needs others of the same field.
fn sweep(around: usize, size: i64, backwards: [bool; 2], offsets: &[[i64; 2]]) -> Node {
    let bounds = backwards.map(|reversed| Bounds {
        reversed,
        ..Bounds::new(1, size - 1)
    });
    let reads = offsets
        .iter()
        .map(|by| Access::read(0, vec![at(around) + by[0], at(around + 1) + by[1]]));
    let write = Access::write(0, vec![at(around), at(around + 1)]);
    loops(bounds.to_vec(), vec![body(reads.chain([write]).collect())])
}

/// All messages, with turns that begin after some rows, 0 for none, or after as many as are chosen.
fn in_turns((program, sizes): &Case, grid: &str, rows: Option<u32>) -> (u64, Plan) {
    let options = Options {
        pipeline: rows.map_or(Pipeline::default(), |rows| NonZeroU32::new(rows).into()),
        overlap: false,
        ..Options::default()
    };
    let plan = Plan::new(program, sizes, &Geometry::parse(grid).unwrap(), options).unwrap();
    (plan.check_progress(None).unwrap(), plan)
}

#[test]
fn sweeps_of_both_directions_have_turns_of_their_own() {
    let (size, steps) = (130, 10);
    let forwards = |around| sweep(around, size, [false; 2], &[[0, -1], [0, 0]]);
    let backwards = |around| sweep(around, size, [false, true], &[[0, 1], [0, 0]]);
    let repeated = |nodes| {
        let nodes = vec![Node::Loop(Bounds::new(0, steps), nodes)];
        program("directions", &["u"], vec![vec![size; 2]], nodes)
    };
    // What stands at the right border is read once at the beginning.
    let both = repeated(vec![forwards(1), backwards(1)]);
    // A message for each row; for each of 17 strips; for each sweep; and, for rows of 64 points and messages of 2000, for two
    // strips of 65 rows.
    let all = |case: &Case, rows| in_turns(case, "1x2", rows).0;
    let found = [Some(0), Some(8), Some(1000), None].map(|rows| all(&both, rows));
    assert_eq!(found, [2 * 1280, 2 * 170, 2 * 10, 2 * 20]);
    for one in [forwards(1), backwards(1)] {
        let case = repeated(vec![one]);
        assert_eq!([all(&case, Some(0)), all(&case, Some(8))], [1280, 170]);
    }
    // Along columns each rank sends one row after its part of a sweep, and has nothing to gain.
    let columns = repeated(vec![
        forwards(1),
        sweep(1, size, [false; 2], &[[-1, 0], [0, 0]]),
        backwards(1),
        sweep(1, size, [true, false], &[[1, 0], [0, 0]]),
    ]);
    let (messages, plan) = in_turns(&columns, "2x1", None);
    assert_eq!((messages, plan.turns), (20, vec![]));
    let (messages, plan) = in_turns(&columns, "2x2", Some(8));
    let fields: Vec<&[usize]> = plan.turns.iter().map(|turns| &turns.fields[..]).collect();
    // Both rows of ranks, whose halves of the rows have nine strips each, and both columns.
    assert_eq!(
        (messages, fields),
        (10 * (2 * 2 * 9 + 2 * 2), vec![&[0][..], &[0]])
    );
    // Outside of a loop over times as well.
    let alone = program(
        "alone",
        &["u"],
        vec![vec![size; 2]],
        vec![forwards(0), backwards(0)],
    );
    assert_eq!([all(&alone, Some(0)), all(&alone, None)], [256, 4]);
}

#[test]
fn wavefronts_in_all_directions_have_turns() {
    let size = 34;
    let case = |backwards: [bool; 2], offsets: &[[i64; 2]]| {
        let nodes = vec![Node::Loop(
            Bounds::new(0, 2),
            vec![sweep(1, size, backwards, offsets)],
        )];
        program("wavefront", &["u"], vec![vec![size; 2]], nodes)
    };
    let before = |backwards: bool| if backwards { 1 } else { -1 };
    let (each, _) = in_turns(&case([false; 2], &[[-1, 0], [0, -1], [-1, -1]]), "2x3", Some(0));
    for backwards in [[false, false], [false, true], [true, false], [true, true]] {
        let [x, y] = backwards.map(before);
        let (turns, plan) = in_turns(&case(backwards, &[[x, 0], [0, y], [x, y]]), "2x3", Some(11));
        assert_eq!(plan.turns.len(), 1, "{backwards:?}");
        assert!(turns * 3 < each, "{backwards:?}: {turns}, {each}");
        // Of what is behind it a point needs what was there before, which no order of ranks can give.
        let (_, plan) = in_turns(&case(backwards, &[[x, 0], [0, y], [x, -y]]), "2x3", Some(11));
        assert_eq!(plan.turns, [], "{backwards:?}");
    }
}

#[test]
fn ranks_take_no_turns_where_they_would_read_another_version() {
    let no_turns = |case: &Case| {
        let (each, _) = in_turns(case, "1x2", Some(0));
        for rows in [1, 8, 1000] {
            let (same, plan) = in_turns(case, "1x2", Some(rows));
            assert_eq!((same, plan.turns), (each, vec![]), "{}, {rows} rows", case.0.name);
        }
    };
    // Row 2 x - 64 was written in this sweep up to the middle, and in the one before after that. A message with both would be sent
    // when the sender has written new values over the old ones.
    let accesses = vec![
        Access::read(0, vec![at(1) * 2 - 64, at(2) - 1]),
        Access::write(0, vec![at(1), at(2)]),
    ];
    let bounds = vec![Bounds::new(0, 3), Bounds::new(32, 96), Bounds::new(1, 130)];
    let nodes = vec![loops(bounds, vec![body(accesses)])];
    no_turns(&program("both", &["u"], vec![vec![130; 2]], nodes));
    // The reader writes b[x][y] itself, then its left neighbour does, and then it is read: what comes before the row would be
    // written over.
    let row = |accesses| loops(vec![Bounds::new(0, 33)], vec![body(accesses)]);
    let here = |field, by: i64| Access::write(field, vec![at(0), at(1) + by]);
    let nodes = vec![Node::Loop(
        Bounds::new(0, 34),
        vec![
            row(vec![here(1, 0)]),
            row(vec![here(0, 0), here(1, 1)]),
            row(vec![Access::read(1, vec![at(0), at(1)]), here(2, 0)]),
        ],
    )];
    no_turns(&program("written", &["a", "b", "c"], vec![vec![34; 2]; 3], nodes));
}

#[test]
fn loops_with_steps_are_cut_into_strips() {
    let mut nest = sweep(1, 66, [false, false], &[[0, -1], [0, 0]]);
    if let Node::Loop(bounds, _) = &mut nest {
        (bounds.step, bounds.from_end, bounds.reversed) = (3, true, true);
    }
    let case = program(
        "steps",
        &["u"],
        vec![vec![66; 2]],
        vec![Node::Loop(Bounds::new(0, 3), vec![nest])],
    );
    // 22 rows, in 6 strips of 12 values each, of which 4 are rows.
    let found = [Some(0), Some(4), Some(1000)].map(|rows| in_turns(&case, "1x2", rows).0);
    assert_eq!(found, [66, 18, 3]);
}

#[test]
fn red_and_black() {
    let plan = plan(&red_black(1024, 10), "4x4");
    assert_eq!(levels(&plan), [Level::Initial, Level::Time(1), Level::Time(2)]);
    assert_eq!(sent(&plan, Level::Time(2), &[0, 5, 1]), (48, 6132));
    assert_eq!(sent(&plan, Level::Time(1), &[0, 5]), (48, 6132));
    let lengths: Vec<u64> = lengths(&plan, Level::Time(2), &[0, 5, 1]).into_keys().collect();
    assert_eq!(lengths, [127, 128]);
}

#[test]
fn sites_of_a_periodic_lattice() {
    let small = plan(&hop(8, 4, 10), "2x2x2x2");
    assert_eq!(levels(&small), [Level::Initial, Level::Time(1), Level::Time(2)]);
    assert_eq!(
        lengths(&small, Level::Time(2), &[0, 5, 1]),
        BTreeMap::from([(64, 64)])
    );
    assert_eq!(
        lengths(&small, Level::Time(1), &[0, 5]),
        BTreeMap::from([(64, 64)])
    );
    let large = plan(&hop(16, 4, 10), "4x4x4x4");
    assert_eq!(
        lengths(&large, Level::Time(1), &[0, 5]),
        BTreeMap::from([(32, 8 * 256)])
    );
}

#[test]
fn elimination_without_pivots() {
    let update = plan(&elimination(64, false), "4x4");
    assert_eq!(levels(&update), [Level::Initial, Level::Time(1)]);
    assert_eq!(
        lengths(&update, Level::Time(1), &[0, 20]),
        BTreeMap::from([(16, 8), (11, 4)])
    );
    assert_eq!(sent(&update, Level::Time(1), &[0, 20]), (12, 172));
    // Who divides needs the element on the diagonal as well.
    let whole = plan(&elimination(64, true), "4x4");
    assert_eq!(
        lengths(&whole, Level::Time(1), &[0, 20]),
        BTreeMap::from([(16, 4), (12, 2)])
    );
    assert_eq!(
        lengths(&whole, Level::Time(2), &[0, 20, 1]),
        BTreeMap::from([(16, 4), (11, 2)])
    );
}

#[test]
fn a_product_of_matrices() {
    let case = product(1024);
    assert_eq!(sent(&plan(&case, "2x2"), Level::Initial, &[]), (8, 2097152));
    let large = plan(&case, "4x4");
    assert_eq!(
        lengths(&large, Level::Initial, &[]),
        BTreeMap::from([(65536, 96)])
    );
}

#[test]
fn a_transposition() {
    let case = transposition(1024);
    assert_eq!(sent(&plan(&case, "2x2"), Level::Initial, &[]), (2, 524288));
    assert_eq!(sent(&plan(&case, "4x4"), Level::Initial, &[]), (12, 786432));
}

/// `for i { a[i][x] = ..; b[i][x] = a[i - distance][x - 1] + a[i - distance][x + 1] }`.
fn delayed(distance: i64) -> Case {
    let write = |field| Access::write(field, vec![at(0), at(1)]);
    let read = |by: i64| Access::read(0, vec![at(0) - distance, at(1) + by]);
    let sweep = |accesses| loops(vec![Bounds::new(1, 11)], vec![body(accesses)]);
    let nodes = vec![sweep(vec![write(0)]), sweep(vec![read(-1), read(1), write(1)])];
    let nodes = vec![Node::Loop(Bounds::new(distance, 20), nodes)];
    program("delayed", &["a", "b"], vec![vec![20, 12]; 2], nodes)
}

#[test]
fn chunks_that_are_made_long_before_need_more_buffers() {
    // The first dimension is not cut.
    let near = plan(&delayed(1), "1x2");
    assert!(near.channels.iter().all(|channel| channel.buffers == 1));
    let far = plan(&delayed(3), "1x2");
    let buffers: Vec<usize> = far.channels.iter().map(|channel| channel.buffers).collect();
    assert_eq!(buffers, [1, 2]);
    far.check_progress(None).unwrap();
    let stuck = far.check_progress(Some(1)).unwrap_err();
    assert!(
        stuck
            .to_string()
            .starts_with("2 ranks wait for each other; after "),
        "{stuck}"
    );
}

#[test]
fn messages_are_sent_in_the_order_in_which_they_are_received() {
    // Element n - 1 - i is written in iteration n - 1 - i and read in iteration i: later chunks were made earlier.
    let accesses = vec![
        Access::read(0, vec![at(0) * -1 + 15]),
        Access::write(0, vec![at(0)]),
    ];
    let case = program(
        "mirror",
        &["a"],
        vec![vec![16]],
        vec![loops(vec![Bounds::new(0, 16)], vec![body(accesses)])],
    );
    let plan = plan(&case, "4");
    plan.check_progress(None).unwrap();
    let written = plan
        .channels
        .iter()
        .position(|channel| channel.level == Level::Time(1))
        .unwrap();
    let mut chunks = Vec::new();
    let Ok(()) = plan.messages(0, |message| {
        if message.is_send && message.channel == written {
            chunks.push(message.chunk[1]);
        }
        Ok::<(), Infallible>(())
    });
    assert_eq!(chunks, [12, 13, 14, 15]);
}

#[test]
fn sizes_that_do_not_fit_into_sums_are_refused() {
    let nodes = |dims: usize| {
        let write = Access::write(0, vec![Expr::Number(0); dims]);
        vec![loops(vec![Bounds::new(0, 1)], vec![body(vec![write])])]
    };
    let planned = |shape: &[i64], grid: &str| {
        let (program, sizes) = program("sizes", &["a"], vec![shape.to_vec()], nodes(shape.len()));
        let plan = Plan::new(
            &program,
            &sizes,
            &Geometry::parse(grid).unwrap(),
            Options::default(),
        );
        plan.map(|_| ()).map_err(|error| error.to_string())
    };
    let elements = "it has at most 2^48 elements";
    for (shape, grid, said) in [
        (&[100_000; 4][..], "2x2", elements),
        (&[1 << 40; 4], "1", elements),
        (&[1 << 24, (1 << 24) + 1], "1", elements),
        (&[-1, 4], "1", "each is a number from 0 to 2^40"),
        (&[(1 << 40) + 1, 1], "1", "each is a number from 0 to 2^40"),
        (
            &[1 << 40, 1],
            "257",
            "has 1099511627776 elements along 257 ranks; the product of both is at most 2^48",
        ),
    ] {
        let error = planned(shape, grid).unwrap_err();
        assert!(
            error.starts_with("sizes: `a` ") && error.ends_with(said),
            "{error}"
        );
    }
    for (shape, grid) in [
        (&[1 << 24, 1 << 24][..], "1"),
        (&[1 << 40, 1], "256"),
        (&[1, 1], "2147483648"),
    ] {
        assert_eq!(planned(shape, grid), Ok(()));
    }
}

#[test]
fn a_limit_on_the_analysis_is_an_error() {
    let (program, sizes) = star_2d(1024);
    let grid = Geometry::parse("2x2").unwrap();
    let options = Options {
        operations: 1000,
        ..Options::default()
    };
    let error = Plan::new(&program, &sizes, &grid, options).unwrap_err();
    let said = format!(
        "{}: there is no plan for `5-point` in 1000 operations of isl; ",
        program.site()
    );
    assert!(error.to_string().starts_with(&said), "{error}");
}

#[test]
fn plans_are_found_in_few_operations() {
    // isl counts the same on every machine. Its limit is for what comes before and after the search for work that is early.
    let cases = [
        (star_2d(1024), "2x2", 200_000),
        (box_2d(1024), "2x2", 320_000),
        (
            stencil("heat", &[256; 3], 1, 100, &neighbours(3, true)),
            "2x2x2",
            400_000,
        ),
        (red_black(1024, 10), "4x4", 400_000),
        (hop(8, 4, 10), "2x2x2x2", 1_500_000),
    ];
    for ((program, sizes), grid, operations) in cases {
        let options = Options {
            operations,
            ..Options::default()
        };
        let plan = Plan::new(&program, &sizes, &Geometry::parse(grid).unwrap(), options);
        let executed = plan.unwrap().executed(0);
        assert!(executed.early > 0, "{}: {executed:?}", program.name);
    }
}

#[test]
fn one_plan_serves_all_ranks_of_the_largest_grid() {
    let plan = plan(
        &stencil("five", &[16384; 2], 1, 2, &neighbours(2, true)),
        "128x128",
    );
    assert_eq!(sent(&plan, Level::Time(1), &[0, 1]), (65024, 8_322_056));
}
