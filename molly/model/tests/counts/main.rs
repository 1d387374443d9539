//! Messages and elements of known programs, counted over all ranks.

#[path = "../programs/mod.rs"]
mod programs;
mod turns;

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
    // The rank that divides needs the element on the diagonal as well.
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
