//! Parts of a packed word.

/// The lowest bit of each part of a word whose parts have these widths, the first part in the lowest bits.
pub(super) fn places<const PARTS: usize>(widths: [usize; PARTS]) -> [usize; PARTS] {
    let mut next = 0;
    widths.map(|width| {
        let place = next;
        next += width;
        place
    })
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn parts_lie_one_behind_the_other() {
        assert_eq!(places([4, 32, 8, 0, 1]), [0, 4, 36, 44, 44]);
    }
}
