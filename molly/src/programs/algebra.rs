//! Complex numbers, matrices and spinors of lattice QCD, and Wilson's hopping operator at one site.

use bytemuck::{Pod, Zeroable};
use std::ops::{Add, Mul};

/// A complex number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// `re + im i`.
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// The complex conjugate.
    #[inline]
    pub const fn conj(self) -> Self {
        Self::new(self.re, -self.im)
    }

    /// `i` to the power of `quarters`, times this.
    #[inline]
    const fn turned(self, quarters: u8) -> Self {
        match quarters % 4 {
            0 => self,
            1 => Self::new(-self.im, self.re),
            2 => Self::new(-self.re, -self.im),
            _ => Self::new(self.im, -self.re),
        }
    }
}

impl Add for Complex {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Mul for Complex {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}

impl Mul<f64> for Complex {
    type Output = Self;

    #[inline]
    fn mul(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }
}

/// A number for each colour.
pub type Vector = [Complex; 3];

/// A unitary matrix of 3 x 3 whose determinant is 1, by rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Su3(pub [Vector; 3]);

impl Su3 {
    /// The identity: a link of the free field.
    pub const ONE: Self = {
        let mut rows = [[Complex::new(0.0, 0.0); 3]; 3];
        rows[0][0].re = 1.0;
        rows[1][1].re = 1.0;
        rows[2][2].re = 1.0;
        Self(rows)
    };

    /// The matrix that two rows of any numbers determine: the first is normalised, the second made orthogonal to it, and the
    /// third is their cross product's conjugate. The rows must not be parallel.
    pub fn of_rows(first: Vector, second: Vector) -> Self {
        let product = |a: Vector, b: Vector| {
            let terms = std::array::from_fn::<_, 3, _>(|n| a[n].conj() * b[n]);
            terms.into_iter().fold(Complex::default(), Add::add)
        };
        let normal = |a: Vector| a.map(|number| number * (1.0 / product(a, a).re.sqrt()));
        let first = normal(first);
        let along = product(first, second);
        let second = normal(std::array::from_fn(|n| second[n] + (along * first[n]) * -1.0));
        let third = std::array::from_fn(|n| {
            let (a, b) = ((n + 1) % 3, (n + 2) % 3);
            (first[a] * second[b] + (first[b] * second[a]) * -1.0).conj()
        });
        Self([first, second, third])
    }

    /// The adjoint, which is the inverse.
    pub fn adjoint(self) -> Self {
        Self(std::array::from_fn(|row| {
            std::array::from_fn(|column| self.0[column][row].conj())
        }))
    }

    /// The matrix times a vector: 66 floating-point operations.
    #[inline]
    pub fn times(&self, vector: &Vector) -> Vector {
        std::array::from_fn(|row| {
            let [a, b, c] = &self.0[row];
            *a * vector[0] + *b * vector[1] + *c * vector[2]
        })
    }
}

impl Mul for Su3 {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let columns = other.adjoint().0.map(|row| self.times(&row.map(Complex::conj)));
        Self(std::array::from_fn(|row| {
            std::array::from_fn(|column| columns[column][row])
        }))
    }
}

/// The links of a site, as the operator uses them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Links {
    /// Those in each direction, `U_mu(x)`.
    pub ahead: [Su3; 4],
    /// The adjoints of those that come from behind, `U_mu(x - mu)^+`.
    pub behind: [Su3; 4],
}

impl Links {
    /// The links of a site, of a function that knows each link by its site and direction. The lattice is periodic.
    pub fn of(shape: [i64; 4], at: [i64; 4], link: impl Fn([i64; 4], usize) -> Su3) -> Self {
        let before = |direction: usize| {
            let mut before = at;
            before[direction] = (at[direction] - 1).rem_euclid(shape[direction]);
            before
        };
        Self {
            ahead: std::array::from_fn(|direction| link(at, direction)),
            behind: std::array::from_fn(|direction| link(before(direction), direction).adjoint()),
        }
    }
}

/// A quark on a site: a vector for each of four spins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Spinor(pub [Vector; 4]);

impl Spinor {
    /// The spinor times `gamma_5`.
    #[inline]
    pub fn gamma_5(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([a, b, c.map(|number| number * -1.0), d.map(|number| number * -1.0)])
    }

    /// The square of its norm.
    #[inline]
    pub fn norm(self) -> f64 {
        let numbers = self.0.iter().flatten();
        numbers.fold(0.0, |sum, number| {
            sum + number.re * number.re + number.im * number.im
        })
    }
}

impl Add for Spinor {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|spin| added(&self.0[spin], &other.0[spin])))
    }
}

impl Mul<f64> for Spinor {
    type Output = Self;

    #[inline]
    fn mul(self, factor: f64) -> Self {
        Self(self.0.map(|vector| vector.map(|number| number * factor)))
    }
}

#[inline]
fn added(one: &Vector, other: &Vector) -> Vector {
    std::array::from_fn(|colour| one[colour] + other[colour])
}

/// The upper right quarter of `gamma_mu`: for each of two rows the column that is not 0, and its power of `i`. The lower left
/// quarter is its adjoint.
const GAMMA: [[(usize, u8); 2]; 4] = [
    [(1, 3), (0, 3)],
    [(1, 2), (0, 0)],
    [(0, 3), (1, 1)],
    [(0, 0), (1, 0)],
];

/// Adds `(1 - sign gamma) link psi`, where the sign is that of `AHEAD`. The projection has two independent spins only.
#[inline(always)]
fn hop<const DIRECTION: usize, const AHEAD: bool>(sum: &mut Spinor, link: &Su3, psi: &Spinor) {
    let minus = if AHEAD { 2 } else { 0 };
    for (row, (column, power)) in GAMMA[DIRECTION].into_iter().enumerate() {
        let lower = &psi.0[2 + column];
        let projected =
            std::array::from_fn(|colour| psi.0[row][colour] + lower[colour].turned(power + minus));
        let moved = link.times(&projected);
        sum.0[row] = added(&sum.0[row], &moved);
        let back = moved.map(|number| number.turned(4 - power + minus));
        sum.0[2 + column] = added(&sum.0[2 + column], &back);
    }
}

/// The operator D at a site: its links, and the spinors after it in each direction and before it.
#[inline(always)]
pub(super) fn site(links: &Links, around: [&Spinor; 8]) -> Spinor {
    let mut sum = Spinor::default();
    hop::<0, true>(&mut sum, &links.ahead[0], around[0]);
    hop::<1, true>(&mut sum, &links.ahead[1], around[1]);
    hop::<2, true>(&mut sum, &links.ahead[2], around[2]);
    hop::<3, true>(&mut sum, &links.ahead[3], around[3]);
    hop::<0, false>(&mut sum, &links.behind[0], around[4]);
    hop::<1, false>(&mut sum, &links.behind[1], around[5]);
    hop::<2, false>(&mut sum, &links.behind[2], around[6]);
    hop::<3, false>(&mut sum, &links.behind[3], around[7]);
    sum
}
