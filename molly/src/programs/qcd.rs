//! Lattice QCD: Wilson's hopping operator on even and odd sites, and a solver.
//!
//! Quarks are [`Spinor`]s on the sites of a periodic lattice in four dimensions, gluons [`Su3`] matrices on its links. The operator is
//!
//! ```text
//! D psi(x) = sum over mu:  (1 - gamma_mu) U_mu(x) psi(x + mu)  +  (1 + gamma_mu) U_mu(x - mu)^+ psi(x - mu)
//! ```
//!
//! with Hermitian, chiral gamma matrices: `gamma_5 = diag(1, 1, -1, -1)`. A site takes [`FLOPS`] operations and 2,688 bytes: eight
//! links and eight spinors. Extents have to be even, as both parities meet at the border otherwise.
//!
//! Source: Wilson, "Confinement of quarks" (1974); the even-odd form is that of DeGrand, "A conditioning technique for matrix
//! inversion for Wilson fermions" (1988).

use super::algebra::{Links, Spinor, site};
use crate::{Field, Rank, Result, Sum};

/// Floating-point operations of a site: eight projections (12), sixteen products of a matrix and a vector (66), and seven
/// sums of spinors (24).
pub const FLOPS: u32 = 8 * (12 + 2 * 66) + 7 * 24;

/// The operator in place: in each step sites of one parity become `scale` times D of those of the other one. Sites whose
/// coordinates and step have an even sum are updated.
#[molly::scop]
pub fn dslash(links: &Field<Links, 4>, psi: &mut Field<Spinor, 4>, first: i64, last: i64, scale: f64) {
    for step in first..last {
        for x in 0..psi.len(0) {
            for y in 0..psi.len(1) {
                for z in 0..psi.len(2) {
                    for t in 0..psi.len(3) {
                        if (x + y + z + t + step).rem_euclid(2) == 0 {
                            let around = [
                                &psi[[(x + 1).rem_euclid(psi.len(0)), y, z, t]],
                                &psi[[x, (y + 1).rem_euclid(psi.len(1)), z, t]],
                                &psi[[x, y, (z + 1).rem_euclid(psi.len(2)), t]],
                                &psi[[x, y, z, (t + 1).rem_euclid(psi.len(3))]],
                                &psi[[(x - 1).rem_euclid(psi.len(0)), y, z, t]],
                                &psi[[x, (y - 1).rem_euclid(psi.len(1)), z, t]],
                                &psi[[x, y, (z - 1).rem_euclid(psi.len(2)), t]],
                                &psi[[x, y, z, (t - 1).rem_euclid(psi.len(3))]],
                            ];
                            psi[[x, y, z, t]] = site(&links[[x, y, z, t]], around) * scale;
                        }
                    }
                }
            }
        }
    }
}

/// `to = gamma_5 (psi + factor work)`, which `work` gets too, and its squared norm; on even sites.
#[molly::scop]
fn reflect(
    psi: &Field<Spinor, 4>,
    work: &mut Field<Spinor, 4>,
    to: &mut Field<Spinor, 4>,
    factor: f64,
    norm: &mut Sum<f64>,
) {
    for x in 0..psi.len(0) {
        for y in 0..psi.len(1) {
            for z in 0..psi.len(2) {
                for t in 0..psi.len(3) {
                    if (x + y + z + t).rem_euclid(2) == 0 {
                        let new = (psi[[x, y, z, t]] + work[[x, y, z, t]] * factor).gamma_5();
                        *norm += new.norm();
                        to[[x, y, z, t]] = new;
                        work[[x, y, z, t]] = new;
                    }
                }
            }
        }
    }
}

/// A step along the direction: `found += alpha direction`, `left -= alpha image`, and the squared norm of what is left.
#[molly::scop]
fn advance(
    found: &mut Field<Spinor, 4>,
    left: &mut Field<Spinor, 4>,
    direction: &Field<Spinor, 4>,
    image: &Field<Spinor, 4>,
    alpha: f64,
    norm: &mut Sum<f64>,
) {
    for x in 0..found.len(0) {
        for y in 0..found.len(1) {
            for z in 0..found.len(2) {
                for t in 0..found.len(3) {
                    if (x + y + z + t).rem_euclid(2) == 0 {
                        let rest = left[[x, y, z, t]] + image[[x, y, z, t]] * -alpha;
                        *norm += rest.norm();
                        left[[x, y, z, t]] = rest;
                        found[[x, y, z, t]] = found[[x, y, z, t]] + direction[[x, y, z, t]] * alpha;
                    }
                }
            }
        }
    }
}

/// `to = from + factor more`, which `copy` gets too, on sites whose coordinates and `parity` have an even sum.
#[molly::scop]
fn combine(
    from: &Field<Spinor, 4>,
    more: &Field<Spinor, 4>,
    to: &mut Field<Spinor, 4>,
    copy: &mut Field<Spinor, 4>,
    parity: i64,
    factor: f64,
) {
    for x in 0..from.len(0) {
        for y in 0..from.len(1) {
            for z in 0..from.len(2) {
                for t in 0..from.len(3) {
                    if (x + y + z + t + parity).rem_euclid(2) == 0 {
                        let new = from[[x, y, z, t]] + more[[x, y, z, t]] * factor;
                        to[[x, y, z, t]] = new;
                        copy[[x, y, z, t]] = new;
                    }
                }
            }
        }
    }
}

/// The end of [`solve`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    /// Steps of conjugate gradients.
    pub steps: u32,
    /// The norm of the rest of the even sites' normal equations, for a right side of norm 1.
    pub rest: f64,
}

/// Wilson's matrix `M = 1 - kappa D`.
#[derive(Debug, Clone, Copy)]
pub struct Wilson {
    /// The hopping parameter. A free quark has mass 0 at 1/8.
    pub kappa: f64,
    /// Solve until the rest is smaller.
    pub tolerance: f64,
    /// Steps at most.
    pub most: u32,
}

impl Wilson {
    /// Solves `M found = source` by conjugate gradients on the even sites: all ranks call it together, and all get the same bits
    /// on any grid, as sums are exact.
    ///
    /// # Errors
    /// Those of `run`: fields of other grids or sizes, a rank that does not answer.
    pub fn solve(
        self,
        rank: &mut Rank,
        links: &mut Field<Links, 4>,
        source: &mut Field<Spinor, 4>,
        found: &mut Field<Spinor, 4>,
    ) -> Result<Solved> {
        let shape = std::array::from_fn(|dim| source.len(dim));
        let zeros = || rank.field(shape, |_| Spinor::default());
        let (mut work, mut left, mut image) = (zeros(), zeros(), zeros());
        let (mut half, mut direction) = (zeros(), zeros());
        found.fill(|_| Spinor::default());
        let hopped = -self.kappa * self.kappa;
        // The right side: the source's even sites, with what its odd ones add, times the adjoint matrix.
        combine::run(rank, source, found, &mut direction, &mut work, 1, 0.0)?;
        dslash::run(rank, links, &mut work, 2, 3, 1.0)?;
        reflect::run(rank, source, &mut work, &mut half, self.kappa, &mut Sum::new())?;
        dslash::run(rank, links, &mut work, 1, 3, 1.0)?;
        let mut norm = Sum::new();
        reflect::run(rank, &mut half, &mut work, &mut left, hopped, &mut norm)?;
        let begun = norm.value();
        combine::run(rank, &mut left, found, &mut direction, &mut work, 0, 0.0)?;
        let (mut steps, mut rest) = (0, begun);
        while rest > self.tolerance * self.tolerance * begun && steps < self.most {
            // The matrix of the normal equations is the square of the Hermitian `gamma_5 (1 - kappa^2 D D)`.
            let mut norm = Sum::new();
            dslash::run(rank, links, &mut work, 1, 3, 1.0)?;
            reflect::run(rank, &mut direction, &mut work, &mut half, hopped, &mut norm)?;
            dslash::run(rank, links, &mut work, 1, 3, 1.0)?;
            reflect::run(rank, &mut half, &mut work, &mut image, hopped, &mut Sum::new())?;
            let alpha = rest / norm.value();
            let mut norm = Sum::new();
            advance::run(
                rank,
                found,
                &mut left,
                &mut direction,
                &mut image,
                alpha,
                &mut norm,
            )?;
            let beta = norm.value() / rest;
            rest = norm.value();
            std::mem::swap(&mut direction, &mut half);
            combine::run(rank, &mut left, &mut half, &mut direction, &mut work, 0, beta)?;
            steps += 1;
        }
        // Odd sites follow from even ones.
        combine::run(rank, found, source, &mut half, &mut work, 0, 0.0)?;
        dslash::run(rank, links, &mut work, 1, 2, 1.0)?;
        combine::run(rank, source, &mut work, found, &mut half, 1, self.kappa)?;
        Ok(Solved {
            steps,
            rest: if begun == 0.0 { 0.0 } else { (rest / begun).sqrt() },
        })
    }
}
