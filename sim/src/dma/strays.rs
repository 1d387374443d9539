//! Statuses that nobody waits for.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Fewest tags with which some of them surely are not given again soon.
const MANY: u64 = 16;

/// A tag that is not in flight: half of them are none of the design's tags, the others were given lately.
///
/// Tags that the design may be about to give are left out, all of them if they are few: the model cannot see when
/// the design has decided on one.
pub(super) fn draw_tag(
    rng: &mut ChaCha8Rng,
    tags: u64,
    width: usize,
    last: Option<u64>,
    in_flight: impl Fn(u64) -> bool,
) -> Option<u64> {
    let all = 1u64.checked_shl(width as u32).unwrap_or(u64::MAX);
    let old = last.filter(|_| tags >= MANY);
    let old = old.map(|last| (last + tags - rng.random_range(0..tags / 4)) % tags);
    let old = old.filter(|tag| !in_flight(*tag));
    let foreign = (tags < all).then(|| rng.random_range(tags..all));
    if rng.random_bool(0.5) {
        old.or(foreign)
    } else {
        foreign.or(old)
    }
}

#[cfg(test)]
mod tests {
    use super::draw_tag;
    use crate::seed::Seed;

    #[test]
    fn tags_in_flight_are_never_drawn() {
        let mut rng = Seed(1).rng("test");
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            let tag = draw_tag(&mut rng, 16, 5, Some(2), |tag| tag == 1);
            seen.extend(tag);
        }
        assert!(!seen.contains(&1));
        // The last four that were given, and those that the design does not have.
        assert!(seen.into_iter().eq([0, 2, 15].into_iter().chain(16..32)));
    }

    #[test]
    fn there_may_be_none() {
        let mut rng = Seed(1).rng("test");
        assert_eq!(draw_tag(&mut rng, 16, 4, Some(0), |_| true), None);
        assert_eq!(draw_tag(&mut rng, 4, 2, Some(0), |_| false), None, "too few");
        assert_eq!(draw_tag(&mut rng, 16, 4, None, |_| false), None);
    }
}
