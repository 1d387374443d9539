//! Random stencils: the plan against a table of last writers that knows nothing of sets, and ranks that compute in the order
//! of a serial run with what they have.
//!
//! `MOLLY_CASES` says how many cases.

use molly::model::{
    Access, Body, Bounds, Comparison, Cond, Expr, Limits, Node, Plan, Program, Run, Site, Sizes,
};
use molly::{Field, Geometry, Network, Storage};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;

fn cases() -> u64 {
    std::env::var("MOLLY_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(12)
}

/// A random program with its sizes and a grid.
struct Case {
    program: Program,
    sizes: Sizes,
    grid: Geometry,
}

fn case(seed: u64) -> Case {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let shape: Vec<i64> = [rng.random_range(1..=24), rng.random_range(1..=7)].into();
    let fields = rng.random_range(1..=2usize);
    let grid: Vec<i64> = (0..rng.random_range(1..=2))
        .map(|_| rng.random_range(1..=4))
        .collect();
    let mut sweeps = Vec::new();
    for _ in 0..rng.random_range(1..=2) {
        sweeps.push(sweep(rng, &shape, fields));
    }
    let nodes = vec![Node::Loop(Bounds::new(0, rng.random_range(1..=4)), sweeps)];
    let names = (0..fields).map(|field| format!("f{field}")).collect();
    let program = Program {
        name: format!("case {seed}"),
        params: Vec::new(),
        fields: names,
        nodes,
    };
    Case {
        program,
        sizes: Sizes {
            params: Vec::new(),
            shapes: vec![shape; fields],
        },
        grid: Geometry::new(grid).unwrap(),
    }
}

/// Loops over a field, periodic or with a border, perhaps backwards, with steps or a condition; one write, up to three reads.
fn sweep(rng: &mut ChaCha8Rng, shape: &[i64], fields: usize) -> Node {
    let is_periodic = rng.random_bool(0.4);
    let radius: i64 = rng.random_range(0..=3);
    let here: Vec<Expr> = (1..=shape.len()).map(Expr::Loop).collect();
    let mut accesses = Vec::new();
    for _ in 0..rng.random_range(1..=3) {
        let offset = |(expr, size): (&Expr, &i64), by: i64| match is_periodic {
            true => (expr.clone() + by).rem_euclid(*size),
            false => expr.clone() + by,
        };
        let subscripts: Vec<Expr> = here
            .iter()
            .zip(shape)
            .map(|at| offset(at, rng.random_range(-radius..=radius)))
            .collect();
        accesses.push(Access::read(rng.random_range(0..fields), subscripts));
    }
    accesses.push(Access::write(rng.random_range(0..fields), here.clone()));
    let mut nodes = vec![Node::Body(Body {
        accesses,
        site: Site::default(),
    })];
    if rng.random_bool(0.3) {
        let sum = here.iter().cloned().reduce(|sum, next| sum + next).unwrap();
        let condition = Cond::Compare(
            sum.rem_euclid(2),
            Comparison::Eq,
            Expr::Number(rng.random_range(0..2)),
        );
        nodes = vec![Node::If(condition, nodes, Vec::new())];
    }
    for size in shape.iter().rev() {
        let (from, to) = if is_periodic {
            (0, *size)
        } else {
            (radius, size - radius)
        };
        let step = if rng.random_bool(0.2) { 2 } else { 1 };
        let bounds = Bounds {
            step,
            reversed: rng.random_bool(0.2),
            ..Bounds::new(from, to)
        };
        nodes = vec![Node::Loop(bounds, nodes)];
    }
    nodes.remove(0)
}

fn value(expr: &Expr, loops: &[i64]) -> i64 {
    match expr {
        Expr::Number(number) => *number,
        Expr::Loop(at) => loops[*at],
        Expr::Add(a, b) => value(a, loops) + value(b, loops),
        Expr::Sub(a, b) => value(a, loops) - value(b, loops),
        Expr::Rem(a, b) => value(a, loops).rem_euclid(value(b, loops)),
        other => unreachable!("{other:?} is not in these cases"),
    }
}

/// Visits all instances of a program in the order of a serial run.
fn serial(
    nodes: &[Node],
    loops: &mut Vec<i64>,
    body: &mut usize,
    visit: &mut impl FnMut(usize, &Body, &[i64]),
) {
    for node in nodes {
        match node {
            Node::Loop(bounds, inner) => {
                let (from, to) = (value(&bounds.from, loops), value(&bounds.to, loops));
                let mut values: Vec<i64> = (from..to).step_by(bounds.step as usize).collect();
                if bounds.reversed {
                    values.reverse();
                }
                let first = *body;
                for value in values {
                    *body = first;
                    loops.push(value);
                    serial(inner, loops, body, visit);
                    loops.pop();
                }
                *body = first + bodies(inner);
            }
            Node::If(condition, then, _) => {
                let Cond::Compare(a, Comparison::Eq, b) = condition else {
                    unreachable!()
                };
                let first = *body;
                if value(a, loops) == value(b, loops) {
                    serial(then, loops, body, visit);
                }
                *body = first + bodies(then);
            }
            Node::Body(inner) => {
                visit(*body, inner, loops);
                *body += 1;
            }
        }
    }
}

fn bodies(nodes: &[Node]) -> usize {
    let count = |node: &Node| match node {
        Node::Loop(_, inner) => bodies(inner),
        Node::If(_, then, otherwise) => bodies(then) + bodies(otherwise),
        Node::Body(_) => 1,
    };
    nodes.iter().map(count).sum()
}

fn owner(grid: &Geometry, shape: &[i64], element: &[i64]) -> usize {
    let owns = |rank: &usize| {
        let (from, len) = grid.block(shape, *rank);
        (0..shape.len()).all(|dim| (from[dim]..from[dim] + len[dim]).contains(&element[dim]))
    };
    (0..grid.ranks()).find(owns).unwrap()
}

/// What each message of a rank's plan carries, and the order of its instances, replayed with numbers that name their writer:
/// whoever reads anything but the last writer's number fails.
fn replay(seed: u64) {
    let Case { program, sizes, grid } = case(seed);
    let plan = Plan::new(&program, &sizes, &grid, Limits::default())
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    plan.check_progress(None)
        .unwrap_or_else(|stuck| panic!("seed {seed}: {stuck}"));

    // The serial run: each write has a number, each read knows whose number it has to see.
    type Instance = (usize, Vec<i64>);
    let mut expected: HashMap<Instance, (u64, Vec<u64>)> = HashMap::new();
    let mut order: BTreeMap<usize, Vec<Instance>> = BTreeMap::new();
    let mut memory: HashMap<(usize, Vec<i64>), u64> = HashMap::new();
    let mut remote: BTreeSet<(u64, usize, usize, Vec<i64>)> = BTreeSet::new();
    let mut writers: HashMap<u64, usize> = HashMap::new();
    let mut number = 0;
    serial(
        &program.nodes,
        &mut Vec::new(),
        &mut 0,
        &mut |body, inner, loops| {
            number += 1;
            let element = |access: &Access| {
                access
                    .subscripts
                    .iter()
                    .map(|at| value(at, loops))
                    .collect::<Vec<i64>>()
            };
            let write = inner.accesses.iter().find(|access| access.is_write).unwrap();
            let rank = owner(&grid, &sizes.shapes[write.field], &element(write));
            let mut seen = Vec::new();
            for access in inner.accesses.iter().filter(|access| !access.is_write) {
                let at = element(access);
                let wrote = memory.get(&(access.field, at.clone())).copied().unwrap_or(0);
                let from = writers
                    .get(&wrote)
                    .copied()
                    .unwrap_or_else(|| owner(&grid, &sizes.shapes[access.field], &at));
                if from != rank {
                    remote.insert((wrote, rank, access.field, at));
                }
                seen.push(wrote);
            }
            memory.insert((write.field, element(write)), number);
            writers.insert(number, rank);
            expected.insert((body, loops.to_vec()), (number, seen));
            order.entry(rank).or_default().push((body, loops.to_vec()));
        },
    );

    // The ranks: each in its own order, messages by name.
    let results = molly::threads(
        &grid,
        &Network {
            delays: Some(seed),
            ..Network::default()
        },
        |rank| {
            let plan = rank.plan(&program, &sizes)?;
            let me = rank.rank();
            let mut fields: Vec<Field<u64, 2>> = sizes
                .shapes
                .iter()
                .map(|shape| rank.field([shape[0], shape[1]], |_| 0))
                .collect();
            for (number, field) in fields.iter_mut().enumerate() {
                rank.prepare(&program, &plan, number, field)?;
            }
            let views: Vec<_> = fields.iter_mut().map(Field::view).collect();
            let storages: Vec<&dyn Storage> = views.iter().map(|view| view as &dyn Storage).collect();
            let bodies = leaves(&program.nodes);
            let mut done: Vec<Instance> = Vec::new();
            let traffic = rank.execute(&program, &plan, &storages, |body, at, step, count| {
                for turn in 0..count {
                    let mut loops = at.to_vec();
                    *loops.last_mut().unwrap() += turn * step;
                    let (number, seen) = &expected[&(body, loops.clone())];
                    let mut seen = seen.iter();
                    for access in &bodies[body].accesses {
                        let index = [
                            value(&access.subscripts[0], &loops),
                            value(&access.subscripts[1], &loops),
                        ];
                        let view = &views[access.field];
                        let run = Run {
                            first: index.to_vec(),
                            step: 0,
                            count: 1,
                        };
                        if access.is_write {
                            view.unpack(&run, &number.to_ne_bytes());
                            continue;
                        }
                        let mut bytes = vec![0; 8];
                        view.pack(&run, &mut bytes);
                        let found = u64::from_ne_bytes(bytes.try_into().unwrap());
                        let wrote = *seen.next().unwrap();
                        assert_eq!(
                            found, wrote,
                            "seed {seed}: rank {me}, body {body} at {loops:?} reads {index:?}"
                        );
                    }
                    done.push((body, loops));
                }
            })?;
            Ok((done, traffic.elements))
        },
    );
    let results = results.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    for (rank, (done, _)) in results.iter().enumerate() {
        let serial = order.remove(&rank).unwrap_or_default();
        assert_eq!(*done, serial, "seed {seed}: the order of rank {rank} of {grid}");
    }
    // Each value that a rank reads of another one is in some message; and no message has a value that nobody reads.
    let sent: u64 = results.iter().map(|(_, elements)| elements).sum();
    assert!(
        sent >= remote.len() as u64,
        "seed {seed}: {sent} elements were sent, {} are needed",
        remote.len()
    );
    let carried = carried(&plan);
    let needed_elements: BTreeSet<_> = remote
        .into_iter()
        .map(|(_, rank, field, element)| (rank, field, element))
        .collect();
    assert_eq!(carried, needed_elements, "seed {seed}");
}

/// Receiver, field and element of all that is sent.
fn carried(plan: &Plan) -> BTreeSet<(usize, usize, Vec<i64>)> {
    let mut carried = BTreeSet::new();
    for rank in 0..plan.geometry.ranks() {
        let Ok(()) = plan.messages(rank, |message| {
            if message.is_send {
                for run in plan.elements(rank, &message) {
                    let field = plan.channels[message.channel].field;
                    run.each(|at| {
                        carried.insert((message.peer, field, at.to_vec()));
                        Ok::<(), Infallible>(())
                    })?;
                }
            }
            Ok::<(), Infallible>(())
        });
    }
    carried
}

/// The bodies of a program, in their order.
fn leaves(nodes: &[Node]) -> Vec<&Body> {
    fn of(node: &Node) -> Vec<&Body> {
        match node {
            Node::Loop(_, inner) => leaves(inner),
            Node::If(_, then, otherwise) => [leaves(then), leaves(otherwise)].concat(),
            Node::Body(body) => vec![body],
        }
    }
    nodes.iter().flat_map(of).collect()
}

#[test]
fn random_stencils_read_what_the_serial_run_reads() {
    for seed in 0..cases() {
        replay(seed);
    }
}
