//! Messages of pipelined sweeps, by rows in a turn.

use super::*;

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
    // With strips of k of R rows all but about 1 / (1 + k / R) is work. With whole sweeps, ranks take turns, and no two
    // of them work at the same time.
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
    // The values at the right border are read once at the beginning.
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
        // A point needs an old value of a point after it, which no order of ranks can give.
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
    // Row 2 x - 64 was written in this sweep up to the middle, and in the one before after that. A message with both
    // would be sent
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
fn loops_with_steps_are_tiled() {
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
