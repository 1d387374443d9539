//! Lattice QCD: the operator against its definition, symmetries, the free field, and the solver.

use molly::programs::{Complex, Links, Spinor, Su3, Vector, Wilson, dslash};
use molly::{Field, Geometry, Network, Rank};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::TAU;

const SHAPE: [i64; 4] = [4, 2, 6, 4];

/// Numbers that a place and a seed determine.
fn numbers(seed: u64, at: [i64; 4]) -> impl FnMut() -> f64 {
    let place = at.iter().fold(seed, |sum, &index| sum * 64 + index as u64);
    let mut random = ChaCha8Rng::seed_from_u64(place);
    move || random.random_range(-1.0..1.0)
}

fn vector(next: &mut impl FnMut() -> f64) -> Vector {
    std::array::from_fn(|_| Complex::new(next(), next()))
}

fn quark(seed: u64) -> impl Fn([i64; 4]) -> Spinor + Copy {
    move |at| {
        let mut next = numbers(seed, at);
        Spinor(std::array::from_fn(|_| vector(&mut next)))
    }
}

fn matrix(seed: u64, at: [i64; 4]) -> Su3 {
    let mut next = numbers(seed, at);
    Su3::of_rows(vector(&mut next), vector(&mut next))
}

fn gauge(at: [i64; 4], direction: usize) -> Su3 {
    matrix(direction as u64, at)
}

fn links(link: impl Fn([i64; 4], usize) -> Su3 + Copy) -> impl Fn([i64; 4]) -> Links + Copy {
    move |at| Links::of(SHAPE, at, link)
}

fn moved(at: [i64; 4], direction: usize, by: i64) -> [i64; 4] {
    let mut at = at;
    at[direction] = (at[direction] + by).rem_euclid(SHAPE[direction]);
    at
}

fn sites() -> impl Iterator<Item = [i64; 4]> {
    let ends = SHAPE;
    (0..ends.iter().product()).map(move |number: i64| {
        let mut rest = number;
        ends.map(|end| {
            let index = rest % end;
            rest /= end;
            index
        })
    })
}

/// D of all sites: odd ones by a step of the program, even ones by another one.
fn operator(link: impl Fn([i64; 4], usize) -> Su3 + Copy, psi: &Field<Spinor, 4>) -> Field<Spinor, 4> {
    let all_links = Field::new(SHAPE, links(link));
    let [mut odd, mut even] = [psi.clone(), psi.clone()];
    dslash(&all_links, &mut odd, 1, 2, 1.0);
    dslash(&all_links, &mut even, 2, 3, 1.0);
    Field::new(SHAPE, |at| {
        if at.iter().sum::<i64>() % 2 == 0 {
            even[at]
        } else {
            odd[at]
        }
    })
}

fn product(a: &Field<Spinor, 4>, b: &Field<Spinor, 4>) -> Complex {
    let terms = sites().flat_map(|at| {
        let (a, b) = (a[at].0, b[at].0);
        (0..12).map(move |n| a[n / 3][n % 3].conj() * b[n / 3][n % 3])
    });
    terms.fold(Complex::default(), |sum, term| sum + term)
}

/// The largest difference of a component.
fn difference(a: &Field<Spinor, 4>, b: &Field<Spinor, 4>) -> f64 {
    let norms = sites().map(|at| (a[at] + b[at] * -1.0).norm().sqrt());
    norms.fold(0.0, f64::max)
}

/// The gamma matrices as they are printed: row by row, [re, im].
const GAMMA: [[[[f64; 2]; 4]; 4]; 4] = {
    const O: [f64; 2] = [0.0, 0.0];
    const P: [f64; 2] = [1.0, 0.0];
    const M: [f64; 2] = [-1.0, 0.0];
    const I: [f64; 2] = [0.0, 1.0];
    const J: [f64; 2] = [0.0, -1.0];
    [
        [[O, O, O, J], [O, O, J, O], [O, I, O, O], [I, O, O, O]],
        [[O, O, O, M], [O, O, P, O], [O, P, O, O], [M, O, O, O]],
        [[O, O, J, O], [O, O, O, I], [I, O, O, O], [O, J, O, O]],
        [[O, O, P, O], [O, O, O, P], [P, O, O, O], [O, P, O, O]],
    ]
};

/// `gamma_mu psi` by the matrix.
fn gamma(direction: usize, psi: Spinor) -> Spinor {
    Spinor(std::array::from_fn(|row| {
        std::array::from_fn(|colour| {
            let terms = (0..4).map(|column| {
                let [re, im] = GAMMA[direction][row][column];
                Complex::new(re, im) * psi.0[column][colour]
            });
            terms.fold(Complex::default(), |sum, term| sum + term)
        })
    }))
}

#[test]
fn the_operator_is_its_definition() {
    let psi = Field::new(SHAPE, quark(11));
    let found = operator(gauge, &psi);
    let of = |matrix: Su3, psi: Spinor| Spinor(psi.0.map(|vector| matrix.times(&vector)));
    let defined = Field::new(SHAPE, |at| {
        (0..4).fold(Spinor::default(), |sum, direction| {
            let (after, before) = (moved(at, direction, 1), moved(at, direction, -1));
            let ahead = of(gauge(at, direction), psi[after]);
            let behind = of(gauge(before, direction).adjoint(), psi[before]);
            sum + ahead + gamma(direction, ahead) * -1.0 + behind + gamma(direction, behind)
        })
    });
    assert!(difference(&found, &defined) < 1e-13);
}

#[test]
fn free_quarks_have_the_known_spectrum() {
    // D of a plane wave is the wave times the sum of 2 cos p - 2 i gamma sin p.
    let momentum: [f64; 4] = std::array::from_fn(|d| TAU * [1.0, 1.0, 2.0, 3.0][d] / SHAPE[d] as f64);
    let spinor = quark(3)([0; 4]);
    let times = |number: Complex, spinor: Spinor| Spinor(spinor.0.map(|v| v.map(|one| number * one)));
    let wave = |at: [i64; 4]| {
        let phase: f64 = (0..4).map(|d| momentum[d] * at[d] as f64).sum();
        Complex::new(phase.cos(), phase.sin())
    };
    let found = operator(|_, _| Su3::ONE, &Field::new(SHAPE, |at| times(wave(at), spinor)));
    let value = (0..4).fold(Spinor::default(), |sum, d| {
        let sine = times(Complex::new(0.0, -2.0 * momentum[d].sin()), gamma(d, spinor));
        sum + spinor * (2.0 * momentum[d].cos()) + sine
    });
    assert!(difference(&found, &Field::new(SHAPE, |at| times(wave(at), value))) < 1e-13);
}

#[test]
fn the_operator_does_not_depend_on_the_gauge() {
    let turn = |at: [i64; 4]| matrix(77, at);
    let turned = |field: &Field<Spinor, 4>| {
        Field::new(SHAPE, |at| {
            Spinor(field[at].0.map(|vector| turn(at).times(&vector)))
        })
    };
    let psi = Field::new(SHAPE, quark(12));
    let other_gauge = |at: [i64; 4], d: usize| turn(at) * gauge(at, d) * turn(moved(at, d, 1)).adjoint();
    let found = operator(other_gauge, &turned(&psi));
    assert!(difference(&found, &turned(&operator(gauge, &psi))) < 1e-13);
    // That of another matrix on one site alone differs.
    let wrong = |at: [i64; 4], d: usize| {
        if at == [0; 4] {
            gauge(at, d)
        } else {
            other_gauge(at, d)
        }
    };
    assert!(difference(&operator(wrong, &turned(&psi)), &turned(&operator(gauge, &psi))) > 0.1);
}

#[test]
fn with_gamma_5_the_operator_is_hermitian() {
    let [one, other] = [21, 22].map(|seed| Field::new(SHAPE, quark(seed)));
    let reflected = |psi: &Field<Spinor, 4>| {
        let image = operator(gauge, psi);
        Field::new(SHAPE, |at| image[at].gamma_5())
    };
    let [here, there] = [
        product(&one, &reflected(&other)),
        product(&reflected(&one), &other),
    ];
    assert!(
        (here.re - there.re).abs() < 1e-11 && (here.im - there.im).abs() < 1e-11,
        "{here:?} {there:?}"
    );
    let norm = product(&reflected(&one), &reflected(&one)).re;
    assert!(norm > 0.0);
}

/// Solves on a grid; rank 0 has the whole field.
fn solved(
    grid: &str,
    wilson: Wilson,
    link: impl Fn([i64; 4], usize) -> Su3 + Copy + Sync,
) -> (Field<Spinor, 4>, u32) {
    let one = |rank: &mut Rank| {
        let mut all_links = rank.field(SHAPE, links(link));
        let (mut source, mut found) = (rank.field(SHAPE, quark(5)), rank.field(SHAPE, quark(6)));
        let solved = wilson.solve(rank, &mut all_links, &mut source, &mut found)?;
        assert!(solved.rest <= wilson.tolerance, "{solved:?}");
        Ok(rank.gather(&found)?.map(|whole| (whole, solved.steps)))
    };
    let network = Network::default();
    let mut ranks = molly::threads(&Geometry::parse(grid).unwrap(), &network, one).unwrap();
    ranks.swap_remove(0).expect("rank 0 has the field")
}

#[test]
fn the_solver_finds_the_quark_on_every_grid() {
    let wilson = Wilson {
        kappa: 0.11,
        tolerance: 1e-12,
        most: 200,
    };
    let (found, steps) = solved("1x1x1x1", wilson, gauge);
    let image = operator(gauge, &found);
    let left = Field::new(SHAPE, |at| found[at] + image[at] * -wilson.kappa);
    assert!(
        difference(&left, &Field::new(SHAPE, quark(5))) < 1e-10,
        "{steps} steps"
    );
    for grid in ["2x1x1x1", "1x2x3x1", "3x1x1x2"] {
        let (other, others) = solved(grid, wilson, gauge);
        assert_eq!((others, other.owned()), (steps, found.owned()), "{grid}");
    }
}

#[test]
fn a_free_quark_from_a_constant_source() {
    // The operator has the value 8 there.
    let wilson = Wilson {
        kappa: 0.1,
        tolerance: 1e-14,
        most: 10,
    };
    let constant = |rank: &mut Rank| {
        let mut all_links = rank.field(SHAPE, |_| Links {
            ahead: [Su3::ONE; 4],
            behind: [Su3::ONE; 4],
        });
        let spinor = quark(9)([0; 4]);
        let (mut source, mut found) = (rank.field(SHAPE, |_| spinor), rank.field(SHAPE, |_| spinor));
        let solved = wilson.solve(rank, &mut all_links, &mut source, &mut found)?;
        // One step, as the source is a vector of the matrix's own.
        assert_eq!(solved.steps, 1);
        let expected = spinor * (1.0 / (1.0 - 8.0 * wilson.kappa));
        Ok(rank
            .gather(&found)?
            .map(|whole| difference(&whole, &Field::new(SHAPE, |_| expected))))
    };
    let found = molly::threads(
        &Geometry::parse("1x2x1x1").unwrap(),
        &Network::default(),
        constant,
    )
    .unwrap();
    assert!(found[0].expect("rank 0 has the field") < 1e-12);
}

#[test]
fn a_solver_that_may_not_go_on_says_what_is_left() {
    let short = Wilson {
        kappa: 0.11,
        tolerance: 1e-12,
        most: 2,
    };
    let left = |rank: &mut Rank| {
        let mut all_links = rank.field(SHAPE, links(gauge));
        let (mut source, mut found) = (rank.field(SHAPE, quark(5)), rank.field(SHAPE, quark(6)));
        short.solve(rank, &mut all_links, &mut source, &mut found)
    };
    let ended = molly::threads(&Geometry::parse("1").unwrap(), &Network::default(), left).unwrap()[0];
    assert!(ended.steps == 2 && ended.rest > short.tolerance, "{ended:?}");
}
