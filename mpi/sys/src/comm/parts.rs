//! Areas that are made of a part for each rank.

use crate::Error;
use crate::error::int;

/// Lengths and starts of parts that follow one another, as MPI wants them.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) counts: Vec<i32>,
    pub(super) starts: Vec<i32>,
    pub(super) total: usize,
}

impl Parts {
    /// Lays out parts of these lengths, in bytes.
    pub(super) fn of(what: &'static str, lengths: impl Iterator<Item = usize>) -> Result<Self, Error> {
        let mut parts = Self {
            counts: Vec::new(),
            starts: Vec::new(),
            total: 0,
        };
        for length in lengths {
            parts.counts.push(int(what, length)?);
            parts.starts.push(int(what, parts.total)?);
            parts.total = parts.total.saturating_add(length);
        }
        int(what, parts.total)?;
        Ok(parts)
    }

    /// Cuts an area into its parts.
    pub(super) fn cut(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut rest = bytes;
        let lengths = self.counts.iter().map(|&count| count as usize);
        lengths
            .map(|length| {
                let (part, after) = rest.split_at(length);
                rest = after;
                part.to_vec()
            })
            .collect()
    }
}

/// A length that another rank has told.
pub(super) fn told(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn lays_parts_out_and_cuts_them() {
        let parts = Parts::of("bytes", [2, 0, 1].into_iter()).unwrap();
        assert_eq!((&parts.starts[..], parts.total), (&[0, 2, 2][..], 3));
        assert_eq!(parts.cut(b"abc"), [&b"ab"[..], b"", b"c"]);
    }

    #[test]
    fn refuses_what_an_int_cannot_say() {
        let most = i32::MAX as usize;
        assert!(Parts::of("bytes", [most].into_iter()).is_ok());
        let error = Parts::of("bytes", [most, 1].into_iter()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "bytes is 2147483648, and MPI takes 2147483647 at most: use several smaller calls"
        );
        assert!(Parts::of("bytes", [usize::MAX, 1].into_iter()).is_err());
    }
}
