//! Typical programs as descriptions.

use spinneret_molly_model::{Access, Body, Bounds, Comparison, Cond, Expr, Node, Program, Site, Sizes};

/// A program with its sizes.
pub(crate) type Case = (Program, Sizes);

/// The variable of the loop at this depth.
pub(crate) fn at(depth: usize) -> Expr {
    Expr::Loop(depth)
}

pub(crate) fn body(accesses: Vec<Access>) -> Node {
    Node::Body(Body {
        is_copy: false,
        accesses,
        site: Site::default(),
    })
}

/// Loops around something, outermost first.
pub(crate) fn loops(bounds: Vec<Bounds>, inner: Vec<Node>) -> Node {
    let mut nodes = inner;
    for bounds in bounds.into_iter().rev() {
        nodes = vec![Node::Loop(bounds, nodes)];
    }
    nodes.remove(0)
}

pub(crate) fn program(name: &str, fields: &[&str], shapes: Vec<Vec<i64>>, nodes: Vec<Node>) -> Case {
    let fields: Vec<String> = fields.iter().map(|field| field.to_string()).collect();
    let program = Program {
        name: name.to_owned(),
        params: Vec::new(),
        element_bytes: vec![8; fields.len()],
        fields,
        nodes,
    };
    (
        program,
        Sizes {
            params: Vec::new(),
            shapes,
        },
    )
}

/// Reads of field 0 at each offset from the loops' variables from `first` on.
fn reads(first: usize, offsets: &[Vec<i64>]) -> Vec<Access> {
    let read = |offset: &Vec<i64>| {
        let subscripts: Vec<Expr> = offset
            .iter()
            .enumerate()
            .map(|(dim, by)| at(first + dim) + *by)
            .collect();
        Access::read(0, subscripts)
    };
    offsets.iter().map(read).collect()
}

/// `steps` times: field 1 from field 0 at all offsets, and back.
pub(crate) fn stencil(name: &str, shape: &[i64], radius: i64, steps: i64, offsets: &[Vec<i64>]) -> Case {
    let dims = shape.len();
    let here: Vec<Expr> = (1..=dims).map(at).collect();
    let inner: Vec<Bounds> = shape
        .iter()
        .map(|size| Bounds::new(radius, size - radius))
        .collect();
    let mut compute = reads(1, offsets);
    compute.push(Access::write(1, here.clone()));
    let copy = vec![Access::read(1, here.clone()), Access::write(0, here)];
    let sweep = |accesses| loops(inner.clone(), vec![body(accesses)]);
    let nodes = vec![Node::Loop(
        Bounds::new(0, steps),
        vec![sweep(compute), sweep(copy)],
    )];
    program(name, &["front", "back"], vec![shape.to_vec(); 2], nodes)
}

/// All offsets of at most 1 in each dimension; only along one dimension if `star`.
pub(crate) fn neighbours(dims: usize, star: bool) -> Vec<Vec<i64>> {
    let mut offsets = vec![Vec::new()];
    for _ in 0..dims {
        offsets = offsets
            .iter()
            .flat_map(|offset| (-1..=1).map(move |by| [&offset[..], &[by]].concat()))
            .collect();
    }
    offsets.retain(|offset: &Vec<i64>| !star || offset.iter().filter(|by| **by != 0).count() <= 1);
    offsets
}

pub(crate) fn gauss_seidel(size: i64, steps: i64) -> Case {
    let mut accesses = reads(1, &[vec![-1, 0], vec![1, 0], vec![0, -1], vec![0, 1]]);
    accesses.push(Access::write(0, vec![at(1), at(2)]));
    let bounds = vec![
        Bounds::new(0, steps),
        Bounds::new(1, size - 1),
        Bounds::new(1, size - 1),
    ];
    program(
        "gauss_seidel",
        &["u"],
        vec![vec![size, size]],
        vec![loops(bounds, vec![body(accesses)])],
    )
}

/// Red points, then black ones, in place.
pub(crate) fn red_black(size: i64, steps: i64) -> Case {
    let colour = |colour: i64| {
        let mut accesses = reads(1, &[vec![-1, 0], vec![1, 0], vec![0, -1], vec![0, 1]]);
        accesses.push(Access::write(0, vec![at(1), at(2)]));
        let is_colour = Cond::Compare((at(1) + at(2)).rem_euclid(2), Comparison::Eq, colour.into());
        let bounds = vec![Bounds::new(1, size - 1), Bounds::new(1, size - 1)];
        loops(
            bounds,
            vec![Node::If(is_colour, vec![body(accesses)], Vec::new())],
        )
    };
    let nodes = vec![Node::Loop(Bounds::new(0, steps), vec![colour(0), colour(1)])];
    program("red_black", &["u"], vec![vec![size, size]], nodes)
}

/// Even sites from odd ones, then odd from even ones, over periodic borders in all dimensions.
pub(crate) fn hop(size: i64, dims: usize, steps: i64) -> Case {
    let half = |parity: i64| {
        let mut accesses = Vec::new();
        for dim in 0..dims {
            for by in [-1, 1] {
                let mut subscripts: Vec<Expr> = (1..=dims).map(at).collect();
                subscripts[dim] = (at(1 + dim) + by).rem_euclid(size);
                accesses.push(Access::read(0, subscripts));
            }
        }
        accesses.push(Access::write(0, (1..=dims).map(at).collect::<Vec<_>>()));
        let sum = (2..=dims).fold(at(1), |sum, dim| sum + at(dim));
        let is_half = Cond::Compare(sum.rem_euclid(2), Comparison::Eq, parity.into());
        loops(
            vec![Bounds::new(0, size); dims],
            vec![Node::If(is_half, vec![body(accesses)], Vec::new())],
        )
    };
    let nodes = vec![Node::Loop(Bounds::new(0, steps), vec![half(0), half(1)])];
    program("hop", &["psi"], vec![vec![size; dims]], nodes)
}

/// `for k { for i > k { for j > k { a[i][j] -= a[i][k] * a[k][j] } } }`; if `divide`, with `a[i][k] /= a[k][k]` before it.
pub(crate) fn elimination(size: i64, divide: bool) -> Case {
    let after = || Bounds::new(at(0) + 1, size);
    let (k, i, j) = (at(0), at(1), at(2));
    let element = |x: &Expr, y: &Expr| vec![x.clone(), y.clone()];
    let divided = vec![
        Access::read(0, element(&i, &k)),
        Access::read(0, element(&k, &k)),
        Access::write(0, element(&i, &k)),
    ];
    let updated = vec![
        Access::read(0, element(&i, &j)),
        Access::read(0, element(&i, &k)),
        Access::read(0, element(&k, &j)),
        Access::write(0, element(&i, &j)),
    ];
    let mut nodes = vec![loops(vec![after(), after()], vec![body(updated)])];
    if divide {
        nodes.insert(0, loops(vec![after()], vec![body(divided)]));
    }
    program(
        "elimination",
        &["a"],
        vec![vec![size, size]],
        vec![Node::Loop(Bounds::new(0, size), nodes)],
    )
}

/// `c[i][j] = sum over k of a[i][k] * b[k][j]`.
pub(crate) fn product(size: i64) -> Case {
    let over_k = |subscripts: Vec<Expr>, field| Access {
        inner: vec![Bounds::new(0, size)],
        ..Access::read(field, subscripts)
    };
    let accesses = vec![
        over_k(vec![at(0), at(2)], 0),
        over_k(vec![at(2), at(1)], 1),
        Access::write(2, vec![at(0), at(1)]),
    ];
    let nodes = vec![loops(vec![Bounds::new(0, size); 2], vec![body(accesses)])];
    program("product", &["a", "b", "c"], vec![vec![size, size]; 3], nodes)
}

pub(crate) fn transposition(size: i64) -> Case {
    let accesses = vec![
        Access::read(0, vec![at(1), at(0)]),
        Access::write(1, vec![at(0), at(1)]),
    ];
    let nodes = vec![loops(vec![Bounds::new(0, size); 2], vec![body(accesses)])];
    program("transposition", &["a", "b"], vec![vec![size, size]; 2], nodes)
}
