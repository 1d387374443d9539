//! Typical programs as users write them: for the command `molly`, for tests and for measurements.

mod algebra;
mod qcd;

pub use algebra::{Complex, Links, Spinor, Su3, Vector};
pub use qcd::{FLOPS, Solved, Wilson, dslash};

use crate::{FastSum, Field, Sum};

/// Game of Life with the four nearest neighbours and the cell itself: a cell lives with two or three of them.
#[molly::scop]
pub fn life5(front: &mut Field<u8, 2>, back: &mut Field<u8, 2>, steps: i64) {
    for _ in 0..steps {
        for x in 1..front.len(0) - 1 {
            for y in 1..front.len(1) - 1 {
                let around = front[[x - 1, y]] + front[[x, y + 1]] + front[[x + 1, y]] + front[[x, y - 1]];
                back[[x, y]] = u8::from(around == 3 || (around == 2 && front[[x, y]] == 1));
            }
        }
        for x in 1..front.len(0) - 1 {
            for y in 1..front.len(1) - 1 {
                front[[x, y]] = back[[x, y]];
            }
        }
    }
}

/// Game of Life with all eight neighbours, on a torus.
#[molly::scop]
pub fn life9(front: &mut Field<u8, 2>, back: &mut Field<u8, 2>, steps: i64) {
    for _ in 0..steps {
        for x in 0..front.len(0) {
            for y in 0..front.len(1) {
                let above = (x - 1).rem_euclid(front.len(0));
                let below = (x + 1).rem_euclid(front.len(0));
                let left = (y - 1).rem_euclid(front.len(1));
                let right = (y + 1).rem_euclid(front.len(1));
                let mut around = front[[above, left]] + front[[above, y]] + front[[above, right]];
                around += front[[x, left]] + front[[x, right]];
                around += front[[below, left]] + front[[below, y]] + front[[below, right]];
                back[[x, y]] = u8::from(around == 3 || (around == 2 && front[[x, y]] == 1));
            }
        }
        for x in 0..front.len(0) {
            for y in 0..front.len(1) {
                front[[x, y]] = back[[x, y]];
            }
        }
    }
}

/// Heat in three dimensions, with seven points.
#[molly::scop]
pub fn heat(now: &mut Field<f64, 3>, next: &mut Field<f64, 3>, steps: i64, rate: f64) {
    for _ in 0..steps {
        for x in 1..now.len(0) - 1 {
            for y in 1..now.len(1) - 1 {
                for z in 1..now.len(2) - 1 {
                    let around = now[[x - 1, y, z]]
                        + now[[x + 1, y, z]]
                        + now[[x, y - 1, z]]
                        + now[[x, y + 1, z]]
                        + now[[x, y, z - 1]]
                        + now[[x, y, z + 1]];
                    next[[x, y, z]] = now[[x, y, z]] + rate * (around - 6.0 * now[[x, y, z]]);
                }
            }
        }
        for x in 1..now.len(0) - 1 {
            for y in 1..now.len(1) - 1 {
                for z in 1..now.len(2) - 1 {
                    now[[x, y, z]] = next[[x, y, z]];
                }
            }
        }
    }
}

/// Gauss and Seidel's iteration, in place.
#[molly::scop]
pub fn gauss_seidel(u: &mut Field<f64, 2>, steps: i64) {
    for _ in 0..steps {
        for x in 1..u.len(0) - 1 {
            for y in 1..u.len(1) - 1 {
                u[[x, y]] = 0.25 * (u[[x - 1, y]] + u[[x + 1, y]] + u[[x, y - 1]] + u[[x, y + 1]]);
            }
        }
    }
}

/// The same in two colours, like those of a chessboard: all of one, then all of the other.
#[molly::scop]
pub fn red_black(u: &mut Field<f64, 2>, steps: i64) {
    for _ in 0..steps {
        for x in 1..u.len(0) - 1 {
            for y in 1..u.len(1) - 1 {
                if (x + y).rem_euclid(2) == 0 {
                    u[[x, y]] = 0.25 * (u[[x - 1, y]] + u[[x + 1, y]] + u[[x, y - 1]] + u[[x, y + 1]]);
                }
            }
        }
        for x in 1..u.len(0) - 1 {
            for y in 1..u.len(1) - 1 {
                if (x + y).rem_euclid(2) == 1 {
                    u[[x, y]] = 0.25 * (u[[x - 1, y]] + u[[x + 1, y]] + u[[x, y - 1]] + u[[x, y + 1]]);
                }
            }
        }
    }
}

/// A matrix made into its triangular factors, in place, without pivots.
#[molly::scop]
pub fn factors(a: &mut Field<f64, 2>) {
    for k in 0..a.len(0) {
        for i in k + 1..a.len(0) {
            a[[i, k]] /= a[[k, k]];
        }
        for i in k + 1..a.len(0) {
            for j in k + 1..a.len(0) {
                a[[i, j]] -= a[[i, k]] * a[[k, j]];
            }
        }
    }
}

/// The product of two matrices.
#[molly::scop]
pub fn product(a: &Field<f64, 2>, b: &Field<f64, 2>, c: &mut Field<f64, 2>) {
    for i in 0..c.len(0) {
        for j in 0..c.len(1) {
            let mut sum = 0.0;
            for k in 0..a.len(1) {
                sum += a[[i, k]] * b[[k, j]];
            }
            c[[i, j]] = sum;
        }
    }
}

/// A matrix with rows and columns exchanged.
#[molly::scop]
pub fn transposition(a: &Field<f64, 2>, b: &mut Field<f64, 2>) {
    for i in 0..b.len(0) {
        for j in 0..b.len(1) {
            b[[i, j]] = a[[j, i]];
        }
    }
}

/// The wave equation, from the two times before.
#[molly::scop]
pub fn wave(
    past: &mut Field<f64, 2>,
    now: &mut Field<f64, 2>,
    next: &mut Field<f64, 2>,
    steps: i64,
    rate: f64,
) {
    for _ in 0..steps {
        for x in 1..now.len(0) - 1 {
            for y in 1..now.len(1) - 1 {
                let around = now[[x - 1, y]] + now[[x + 1, y]] + now[[x, y - 1]] + now[[x, y + 1]];
                next[[x, y]] = 2.0 * now[[x, y]] - past[[x, y]] + rate * (around - 4.0 * now[[x, y]]);
            }
        }
        for x in 1..now.len(0) - 1 {
            for y in 1..now.len(1) - 1 {
                past[[x, y]] = now[[x, y]];
            }
        }
        for x in 1..now.len(0) - 1 {
            for y in 1..now.len(1) - 1 {
                now[[x, y]] = next[[x, y]];
            }
        }
    }
}

/// One time of five points in single precision, as in measurements against C.
#[molly::scop]
pub fn five(now: &mut Field<f32, 2>, next: &mut Field<f32, 2>, steps: i64) {
    for _ in 0..steps {
        for x in 1..now.len(0) - 1 {
            for y in 1..now.len(1) - 1 {
                next[[x, y]] = 0.2
                    * (now[[x, y]] + now[[x - 1, y]] + now[[x + 1, y]] + now[[x, y - 1]] + now[[x, y + 1]]);
            }
        }
        for x in 1..now.len(0) - 1 {
            for y in 1..now.len(1) - 1 {
                now[[x, y]] = next[[x, y]];
            }
        }
    }
}

/// Means of the four nearest neighbours, and the squares of all changes, added exactly and fast.
#[molly::scop]
pub fn relax(
    now: &mut Field<f64, 2>,
    next: &mut Field<f64, 2>,
    steps: i64,
    exact: &mut Sum<f64>,
    fast: &mut FastSum,
) {
    for _ in 0..steps {
        for x in 1..now.len(0) - 1 {
            for y in 1..now.len(1) - 1 {
                next[[x, y]] = 0.25 * (now[[x - 1, y]] + now[[x + 1, y]] + now[[x, y - 1]] + now[[x, y + 1]]);
                let by = next[[x, y]] - now[[x, y]];
                *exact += by * by;
                *fast += by * by;
            }
        }
        for x in 1..now.len(0) - 1 {
            for y in 1..now.len(1) - 1 {
                now[[x, y]] = next[[x, y]];
            }
        }
    }
}
