//! Random programs: for tests, and for `molly check` on your own machine and MPI.
//!
//! A seed determines a program: stencils in one to four dimensions, periodic or not, in place or not, with steps,
//! conditions and loops backwards, some of them followed by a copy. Instead of computing, each instance writes its own
//! number, and each reader checks that it reads the number of the last writer before it in a serial run. The serial run
//! is a plain walk over all instances with a table of last writers, and uses no sets.

use crate::{Error, Field, Rank, Result, Storage, Traffic, Work};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use spinneret_molly_model::{
    Access, Body, Bounds, Comparison, Cond, Expr, Geometry, Node, Plan, Program, Row, Site, Sizes,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;

/// Most points of a field.
const POINTS: i64 = 400;

/// A random program with its sizes and a grid.
#[derive(Debug, Clone)]
pub struct Case {
    /// The program.
    pub program: Program,
    /// Its sizes.
    pub sizes: Sizes,
    /// The grid.
    pub grid: Geometry,
    seed: u64,
}

impl Case {
    /// The program of a seed, on `ranks` ranks, or on any number of them up to 12.
    pub fn new(seed: u64, ranks: Option<usize>) -> Self {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let dims = [1, 2, 2, 2, 3, 3, 4][rng.random_range(0..7)];
        let mut shape: Vec<i64> = Vec::new();
        for dim in 0..dims {
            let room = POINTS / shape.iter().product::<i64>();
            // Room for one more of a few elements in each dimension to come.
            let most = (room / 4i64.pow(dims - dim - 1)).clamp(1, 40);
            shape.push(rng.random_range(1..=most));
        }
        let fields = rng.random_range(1..=3usize);
        let grid = match ranks {
            Some(ranks) => Geometry::square(ranks, rng.random_range(1..=2)),
            None => Geometry::new(
                (0..rng.random_range(1..=2))
                    .map(|_| [1, 2, 3, 4][rng.random_range(0..4)].min(if dims > 2 { 3 } else { 4 }))
                    .collect::<Vec<i64>>(),
            ),
        };
        let mut sweeps = Vec::new();
        for _ in 0..rng.random_range(1..=2) {
            sweeps.push(sweep(rng, &shape, fields));
        }
        if fields > 1 && rng.random_bool(0.4) {
            sweeps.push(copy(&sweeps, &shape, rng.random_range(0..fields)));
        }
        let steps = rng.random_range(1..=if dims > 2 { 3 } else { 5 });
        let names = (0..fields).map(|field| format!("f{field}")).collect();
        let program = Program {
            name: format!("case {seed}"),
            params: Vec::new(),
            fields: names,
            element_bytes: vec![size_of::<u64>(); fields],
            nodes: vec![Node::Loop(Bounds::new(0, steps), sweeps)],
        };
        Self {
            program,
            sizes: Sizes {
                params: Vec::new(),
                shapes: vec![shape; fields],
            },
            grid: grid.unwrap_or_else(|error| unreachable!("{error}")),
            seed,
        }
    }

    /// A program of a seed whose sweeps read what they write themselves: one to three nests, each in its own direction, inside of
    /// a loop over times or not, with any order of loops, steps, and conditions.
    pub fn in_place(seed: u64) -> Self {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let dims = [1, 2, 2, 2, 2, 3][rng.random_range(0..6)];
        let most = [24, 12, 6][dims - 1];
        let shape: Vec<i64> = (0..dims).map(|_| rng.random_range(4..=most)).collect();
        let extents: Vec<i64> = (0..dims).map(|_| [1, 2, 2, 3][rng.random_range(0..4)]).collect();
        let fields = rng.random_range(1..=2usize);
        let is_repeated = rng.random_bool(0.7);
        let around = usize::from(is_repeated);
        let nests = rng.random_range(1..=3);
        let mut nodes: Vec<Node> = (0..nests)
            .map(|_| directed(rng, &shape, fields, around))
            .collect();
        if is_repeated {
            nodes = vec![Node::Loop(Bounds::new(0, rng.random_range(1..=3)), nodes)];
        }
        Self {
            program: Program {
                name: format!("sweeps {seed}"),
                params: Vec::new(),
                fields: (0..fields).map(|field| format!("f{field}")).collect(),
                element_bytes: vec![size_of::<u64>(); fields],
                nodes,
            },
            sizes: Sizes {
                params: Vec::new(),
                shapes: vec![shape; fields],
            },
            grid: Geometry::new(extents).unwrap_or_else(|error| unreachable!("{error}")),
            seed,
        }
    }

    /// Runs a rank's part, and checks all reads, the values at the end, the executed instances, and that the messages
    /// are those of the plan.
    ///
    /// # Errors
    /// If the rank differs from the serial run, there is no plan, or another rank does not do its part.
    pub fn check(&self, rank: &mut Rank) -> Result<Traffic> {
        match self.sizes.shapes[0].len() {
            1 => self.check_in::<1>(rank),
            2 => self.check_in::<2>(rank),
            3 => self.check_in::<3>(rank),
            _ => self.check_in::<4>(rank),
        }
    }

    fn check_in<const D: usize>(&self, rank: &mut Rank) -> Result<Traffic> {
        let (number, expected) = (rank.rank(), self.serial());
        let wrong = |what: String| Error::Wrong {
            rank: number,
            what: format!("{} on {}: {what}", self.program.name, self.grid),
        };
        let plan = rank.plan(&self.program, &self.sizes)?;
        let mut fields: Vec<Field<u64, D>> = Vec::new();
        for (field, shape) in self.sizes.shapes.iter().enumerate() {
            let mut made = rank.field(std::array::from_fn(|dim| shape[dim]), |at| initial(field, &at));
            rank.prepare(&self.program, &plan, field, &mut made)?;
            fields.push(made);
        }
        let mut replay = Replay {
            bodies: self.program.bodies(),
            expected: &expected,
            fields,
            done: BTreeSet::new(),
            error: None,
        };
        let traffic = rank.execute(&self.program, &plan, &mut replay)?;
        if let Some(error) = replay.error {
            return Err(wrong(error));
        }
        let is_made = |body: usize| plan.exchanges.iter().all(|exchange| exchange.body != body);
        let mine: BTreeSet<&Instance> = expected
            .owners
            .iter()
            .filter(|((body, _), owner)| **owner == number && is_made(*body))
            .map(|(instance, _)| instance)
            .collect();
        let done: BTreeSet<&Instance> = replay.done.iter().collect();
        if let Some(other) = mine.symmetric_difference(&done).next() {
            return Err(wrong(format!("{other:?} is executed by the wrong rank, or not")));
        }
        for (field, made) in replay.fields.iter().enumerate() {
            for at in points(&self.sizes.shapes[field]) {
                let (owner, last) = (
                    owner(&self.grid, &self.sizes.shapes[field], &at),
                    expected.value(field, &at),
                );
                if owner == number && made[std::array::from_fn(|dim| at[dim])] != last {
                    return Err(wrong(format!("field {field} ends with another {at:?}")));
                }
            }
        }
        let planned = planned(&plan, number);
        if (traffic.messages, traffic.elements) != planned {
            return Err(wrong(format!("sent {traffic:?}, and the plan says {planned:?}")));
        }
        Ok(traffic)
    }

    /// Whether all ranks come to their end with any transport, and messages carry what is read, and nothing else.
    ///
    /// # Errors
    /// A description of the first fault.
    pub fn check_plan(&self, plan: &Plan) -> std::result::Result<(), String> {
        let wrong = |what: String| format!("{} on {}: {what}", self.program.name, self.grid);
        plan.check_progress(None)
            .map_err(|stuck| wrong(stuck.to_string()))?;
        let mut carried = BTreeSet::new();
        let mut sent = 0;
        for rank in 0..plan.geometry.ranks() {
            let Ok(()) = plan.messages(rank, |message| {
                if message.is_send {
                    for run in plan.elements(rank, &message) {
                        sent += run.count as usize;
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
        let remote = self.serial().remote;
        // One message may serve several reads of a value, and needs as many as there are values.
        if sent < remote.len() {
            return Err(wrong(format!(
                "{sent} elements are sent, and {} are needed",
                remote.len()
            )));
        }
        let needed: BTreeSet<_> = remote
            .into_iter()
            .map(|(_, rank, field, element)| (rank, field, element))
            .collect();
        match carried.symmetric_difference(&needed).next() {
            Some(other) => Err(wrong(format!(
                "{other:?} (rank, field, element) is sent and not needed, or not sent"
            ))),
            None => Ok(()),
        }
    }

    /// The seed that it was made of.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The serial run.
    fn serial(&self) -> Serial {
        let mut serial = Serial::default();
        let mut number = 0;
        walk(
            &self.program.nodes,
            &mut Vec::new(),
            &mut 0,
            &mut |body, inner, loops| {
                number += 1;
                let at = |access: &Access| -> Vec<i64> {
                    access.subscripts.iter().map(|at| value(at, loops)).collect()
                };
                let owner_of = |field: usize, at: &[i64]| owner(&self.grid, &self.sizes.shapes[field], at);
                let Some(write) = inner.accesses.iter().find(|access| access.is_write) else {
                    return;
                };
                let rank = owner_of(write.field, &at(write));
                let mut seen = Vec::new();
                for access in inner.accesses.iter().filter(|access| !access.is_write) {
                    let at = at(access);
                    let (from, version) = match serial.memory.get(&(access.field, at.clone())) {
                        Some(&(_, from, version)) => (from, version),
                        None => (owner_of(access.field, &at), 0),
                    };
                    if from != rank {
                        serial.remote.insert((version, rank, access.field, at.clone()));
                    }
                    seen.push(serial.value(access.field, &at));
                }
                // A copy hands on what it reads.
                let written = if inner.is_copy { seen[0] } else { number };
                serial
                    .memory
                    .insert((write.field, at(write)), (written, rank, number));
                serial.owners.insert((body, loops.to_vec()), rank);
                serial.instances.insert((body, loops.to_vec()), (written, seen));
            },
        );
        serial
    }
}

/// A body and the values of its loops' variables.
type Instance = (usize, Vec<i64>);

/// The reads and writes of a serial run.
#[derive(Debug, Default)]
struct Serial {
    /// The number that each instance writes, and those that it must read.
    instances: HashMap<Instance, (u64, Vec<u64>)>,
    owners: BTreeMap<Instance, usize>,
    /// The value of each element that was written, who wrote it, and in which instance.
    memory: HashMap<(usize, Vec<i64>), (u64, usize, u64)>,
    /// Values that go to another rank: the instance that wrote, the rank, field and element.
    remote: BTreeSet<(u64, usize, usize, Vec<i64>)>,
}

impl Serial {
    fn value(&self, field: usize, at: &[i64]) -> u64 {
        match self.memory.get(&(field, at.to_vec())) {
            Some(&(value, ..)) => value,
            None => initial(field, at),
        }
    }
}

/// The initial value of an element: not the number of any instance.
fn initial(field: usize, at: &[i64]) -> u64 {
    let place = at
        .iter()
        .fold(field as u64 + 1, |place, &at| place * 64 + at as u64);
    place | 1 << 63
}

/// Executes by looking at numbers.
#[derive(Debug)]
struct Replay<'a, const D: usize> {
    bodies: Vec<&'a Body>,
    expected: &'a Serial,
    fields: Vec<Field<u64, D>>,
    done: BTreeSet<Instance>,
    error: Option<String>,
}

impl<const D: usize> Work for Replay<'_, D> {
    fn storage(&mut self, field: usize) -> &mut dyn Storage {
        &mut self.fields[field]
    }

    fn body(&mut self, body: usize, row: &Row<'_>) {
        let Ok(()) = row.each(|loops| {
            self.instance(body, loops);
            Ok::<(), Infallible>(())
        });
    }

    fn exchange(&mut self, body: usize) {
        if let [from, to] = &self.bodies[body].accesses[..] {
            let [from, to] = [from.field, to.field];
            let (low, high) = self.fields.split_at_mut(from.max(to));
            low[from.min(to)].exchange(&mut high[0]);
        }
    }
}

impl<const D: usize> Replay<'_, D> {
    fn instance(&mut self, body: usize, loops: &[i64]) {
        let Some((number, seen)) = self.expected.instances.get(&(body, loops.to_vec())) else {
            self.error
                .get_or_insert(format!("there is no instance {loops:?} of body {body}"));
            return;
        };
        let mut seen = seen.iter();
        for access in &self.bodies[body].accesses {
            let index: [i64; D] = std::array::from_fn(|dim| value(&access.subscripts[dim], loops));
            let element = &mut self.fields[access.field][index];
            if access.is_write {
                *element = *number;
            } else if Some(&*element) != seen.next() {
                self.error.get_or_insert(format!(
                    "body {body} at {loops:?} reads {index:?} of field {}, and it is {element:#x}",
                    access.field
                ));
            }
        }
        self.done.insert((body, loops.to_vec()));
    }
}

/// Messages and elements that a rank is to send.
fn planned(plan: &Plan, rank: usize) -> (u64, u64) {
    let (mut messages, mut elements) = (0, 0);
    let Ok(()) = plan.messages(rank, |message| {
        if message.is_send {
            messages += 1;
            elements += plan.count(rank, &message);
        }
        Ok::<(), Infallible>(())
    });
    (messages, elements)
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
    let mut nodes = vec![body(accesses, false)];
    if rng.random_bool(0.3) {
        let sum = here.iter().cloned().reduce(|sum, next| sum + next);
        let condition = Cond::Compare(
            sum.unwrap_or(Expr::Number(0)).rem_euclid(2),
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

/// Loops over a field, each in some direction, whose body mostly reads what lies behind it in that direction.
fn directed(rng: &mut ChaCha8Rng, shape: &[i64], fields: usize, around: usize) -> Node {
    let dims = shape.len();
    let mut order: Vec<usize> = (0..dims).collect();
    for at in (1..dims).rev() {
        order.swap(at, rng.random_range(0..=at));
    }
    let mut here = vec![Expr::Number(0); dims];
    for (depth, &dim) in order.iter().enumerate() {
        here[dim] = Expr::Loop(around + depth);
    }
    let reversed: Vec<bool> = (0..dims).map(|_| rng.random_bool(0.5)).collect();
    let field = rng.random_range(0..fields);
    let mut accesses = Vec::new();
    for _ in 0..rng.random_range(1..=3) {
        let mut subscripts = Vec::new();
        for dim in 0..dims {
            let behind = if reversed[dim] { 1 } else { -1 };
            let by = match rng.random_range(0..40) {
                0..20 => 0,
                20..39 => behind,
                _ => -behind,
            };
            // Some read over the border what is far ahead.
            subscripts.push(match rng.random_bool(0.03) {
                true => (here[dim].clone() + 2 * by).rem_euclid(shape[dim]),
                false => here[dim].clone() + by,
            });
        }
        let from = if rng.random_bool(0.8) {
            field
        } else {
            rng.random_range(0..fields)
        };
        accesses.push(Access::read(from, subscripts));
    }
    accesses.push(Access::write(field, here.clone()));
    let mut nodes = vec![body(accesses, false)];
    if rng.random_bool(0.2) {
        let sum = here.iter().cloned().reduce(|sum, next| sum + next);
        let rest = sum.unwrap_or(Expr::Number(0)).rem_euclid(2);
        nodes = vec![Node::If(
            Cond::Compare(rest, Comparison::Eq, Expr::Number(0)),
            nodes,
            Vec::new(),
        )];
    }
    for &dim in order.iter().rev() {
        let bounds = Bounds {
            step: if rng.random_bool(0.15) { 2 } else { 1 },
            from_end: rng.random_bool(0.5),
            reversed: reversed[dim],
            ..Bounds::new(1, shape[dim] - 1)
        };
        nodes = vec![Node::Loop(bounds, nodes)];
    }
    nodes.remove(0)
}

/// A copy of what the last sweep writes, from there to another field, in the same loops or all over.
fn copy(sweeps: &[Node], shape: &[i64], to: usize) -> Node {
    let here: Vec<Expr> = (1..=shape.len()).map(Expr::Loop).collect();
    let mut loops = Vec::new();
    let mut inner = sweeps.last();
    let mut from = 0;
    while let Some(node) = inner {
        inner = match node {
            Node::Loop(bounds, nodes) => {
                loops.push(bounds.clone());
                nodes.first()
            }
            Node::If(_, nodes, _) => nodes.first(),
            Node::Body(body) => {
                from = body.accesses.last().map_or(0, |access| access.field);
                None
            }
        };
    }
    let accesses = vec![Access::read(from, here.clone()), Access::write(to, here)];
    let mut node = body(accesses, from != to);
    for bounds in loops.into_iter().rev() {
        node = Node::Loop(bounds, vec![node]);
    }
    node
}

fn body(accesses: Vec<Access>, is_copy: bool) -> Node {
    Node::Body(Body {
        accesses,
        is_copy,
        site: Site::default(),
    })
}

/// The value of an expression, of which these cases have none that depends on sizes.
fn value(expr: &Expr, loops: &[i64]) -> i64 {
    let value = expr.value(loops, &Sizes::default());
    value.expect("these cases have no sizes, and small numbers")
}

/// Visits all instances of a program in the order of a serial run.
fn walk(
    nodes: &[Node],
    loops: &mut Vec<i64>,
    body: &mut usize,
    visit: &mut impl FnMut(usize, &Body, &[i64]),
) {
    for node in nodes {
        let first = *body;
        match node {
            Node::Loop(bounds, inner) => {
                let (from, to) = (value(&bounds.from, loops), value(&bounds.to, loops));
                let mut values: Vec<i64> = (from..to).collect();
                let origin = if bounds.from_end { to - 1 } else { from };
                values.retain(|value| (value - origin) % bounds.step == 0);
                if bounds.reversed {
                    values.reverse();
                }
                for value in values {
                    *body = first;
                    loops.push(value);
                    walk(inner, loops, body, visit);
                    loops.pop();
                }
                *body = first + bodies_in(inner);
            }
            Node::If(condition, then, otherwise) => {
                if let Cond::Compare(a, Comparison::Eq, b) = condition
                    && value(a, loops) == value(b, loops)
                {
                    walk(then, loops, body, visit);
                }
                *body = first + bodies_in(then) + bodies_in(otherwise);
            }
            Node::Body(inner) => {
                visit(*body, inner, loops);
                *body += 1;
            }
        }
    }
}

/// How many bodies there are in parts of a program.
fn bodies_in(nodes: &[Node]) -> usize {
    let of = |node: &Node| match node {
        Node::Loop(_, inner) => bodies_in(inner),
        Node::If(_, then, otherwise) => bodies_in(then) + bodies_in(otherwise),
        Node::Body(_) => 1,
    };
    nodes.iter().map(of).sum()
}

/// All indices of a field.
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

fn owner(grid: &Geometry, shape: &[i64], element: &[i64]) -> usize {
    let owns = |rank: &usize| {
        let (from, len) = grid.block(shape, *rank);
        (0..shape.len()).all(|dim| (from[dim]..from[dim] + len[dim]).contains(&element[dim]))
    };
    (0..grid.ranks()).find(owns).unwrap_or(0)
}
