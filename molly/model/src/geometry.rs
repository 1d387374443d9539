//! Ranks as points of a grid, and the blocks of fields that they own.

use crate::{Error, Result};
use std::fmt;

/// Ranks that a grid can have.
const MOST_RANKS: i64 = 1 << 31;

/// A grid of ranks. The last coordinate goes first from one rank to the next.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Geometry(Vec<i64>);

impl Geometry {
    /// A grid with this many ranks in each direction.
    ///
    /// # Errors
    /// If there is no direction, or one without a rank, or more than 2^31 ranks.
    pub fn new(extents: impl Into<Vec<i64>>) -> Result<Self> {
        let extents = extents.into();
        let grid = Self(extents);
        if grid.0.is_empty() || grid.0.iter().any(|&extent| extent < 1) {
            return Err(Error::Geometry(format!(
                "invalid grid `{grid}`: each dimension needs at least 1 rank, as in 2x2"
            )));
        }
        let mut extents = grid.0.iter();
        match extents.try_fold(1i64, |ranks, &extent| ranks.checked_mul(extent)) {
            Some(ranks) if ranks <= MOST_RANKS => Ok(grid),
            _ => Err(Error::Geometry(format!(
                "invalid grid `{grid}`: it has more than {MOST_RANKS} ranks"
            ))),
        }
    }

    /// Parses a text such as `2x4`.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn parse(text: &str) -> Result<Self> {
        let extents: std::result::Result<Vec<i64>, _> = text.split('x').map(str::parse).collect();
        match extents {
            Ok(extents) => Self::new(extents),
            Err(_) => Err(Error::Geometry(format!(
                "invalid grid `{text}`: write it as 4, 2x2 or 2x2x2"
            ))),
        }
    }

    /// The grid of `ranks` in `dims` directions that is as square as possible.
    ///
    /// # Errors
    /// If one of them is 0.
    pub fn square(ranks: usize, dims: usize) -> Result<Self> {
        let mut extents = vec![1i64; dims];
        let mut rest = ranks as i64;
        let mut factors = Vec::new();
        let mut factor = 2;
        while rest > 1 {
            while rest % factor == 0 {
                factors.push(factor);
                rest /= factor;
            }
            factor = if factor * factor > rest {
                rest.max(factor + 1)
            } else {
                factor + 1
            };
        }
        for factor in factors.into_iter().rev() {
            if let Some(least) = extents.iter_mut().rev().min_by_key(|extent| **extent) {
                *least *= factor;
            }
        }
        extents.sort_unstable_by(|a, b| b.cmp(a));
        if ranks == 0 {
            extents.fill(0);
        }
        Self::new(extents)
    }

    /// Ranks in each direction.
    pub fn extents(&self) -> &[i64] {
        &self.0
    }

    /// All ranks.
    pub fn ranks(&self) -> usize {
        self.0.iter().product::<i64>() as usize
    }

    /// Where a rank is.
    pub fn coordinates(&self, rank: usize) -> Vec<i64> {
        let mut rest = rank as i64;
        let mut coordinates: Vec<i64> = self
            .0
            .iter()
            .rev()
            .map(|&extent| {
                let coordinate = rest % extent;
                rest /= extent;
                coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// Which rank is there.
    pub fn rank(&self, coordinates: &[i64]) -> usize {
        let rank = self
            .0
            .iter()
            .zip(coordinates)
            .fold(0, |rank, (&extent, &at)| rank * extent + at);
        rank as usize
    }

    /// The block of a field of this shape that a rank owns: the first element and the size in each dimension.
    ///
    /// Dimension d of a field lies along direction d of the grid, cut into blocks whose sizes differ by one at most:
    /// `[p N div P, (p + 1) N div P)`. Dimensions without a direction are not cut; in directions without a dimension
    /// everything is at coordinate 0.
    pub fn block(&self, shape: &[i64], rank: usize) -> (Vec<i64>, Vec<i64>) {
        let coordinates = self.coordinates(rank);
        let is_home = coordinates.iter().skip(shape.len()).all(|&at| at == 0);
        let cut = |(dim, &size): (usize, &i64)| match (self.0.get(dim), is_home) {
            (_, false) => (0, 0),
            (None, true) => (0, size),
            (Some(&ranks), true) => {
                let start = |at: i64| (i128::from(at) * i128::from(size) / i128::from(ranks)) as i64;
                let from = start(coordinates[dim]);
                (from, start(coordinates[dim] + 1) - from)
            }
        };
        shape.iter().enumerate().map(cut).unzip()
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.0.iter().map(i64::to_string).collect();
        f.write_str(&extents.join("x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_as_square_as_possible() {
        let square = |ranks, dims| Geometry::square(ranks, dims).map(|grid| grid.to_string());
        assert_eq!(square(12, 2).unwrap(), "4x3");
        assert_eq!(square(64, 2).unwrap(), "8x8");
        assert_eq!(square(64, 3).unwrap(), "4x4x4");
        assert_eq!(square(7, 2).unwrap(), "7x1");
        assert_eq!(square(30, 3).unwrap(), "5x3x2");
        assert_eq!(square(1, 2).unwrap(), "1x1");
        assert!(square(0, 2).is_err());
        assert!(square(4, 0).is_err());
    }

    #[test]
    fn geometry_parser_accepts_or_reports_an_error() {
        assert_eq!(Geometry::parse("2x3").unwrap().extents(), [2, 3]);
        for (text, said) in [
            ("", "write it as"),
            ("2x", "write it as"),
            ("2 x 2", "write it as"),
            ("0x2", "each dimension needs"),
            ("-1", "each dimension needs"),
            ("65536x32769", "more than 2147483648 ranks"),
            ("99999999x99999999x99999999", "more than 2147483648 ranks"),
        ] {
            let error = Geometry::parse(text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("invalid grid `{text}`: ")) && error.contains(said),
                "{error}"
            );
        }
        assert_eq!(Geometry::parse("65536x32768").unwrap().ranks(), 1 << 31);
    }

    #[test]
    fn blocks_cover_each_element_once() {
        let grid = Geometry::new([1 << 31]).unwrap();
        let last = grid.block(&[1 << 40], grid.ranks() - 1);
        assert_eq!(last, (vec![(1 << 40) - 512], vec![512]));
        for (size, ranks) in [(16, 5), (3, 7), (1, 1), (40, 12)] {
            let grid = Geometry::new([ranks]).unwrap();
            let mut next = 0;
            for rank in 0..grid.ranks() {
                let (from, len) = grid.block(&[size], rank);
                assert_eq!((from[0], grid.rank(&grid.coordinates(rank))), (next, rank));
                next += len[0];
            }
            assert_eq!(next, size);
        }
    }
}
