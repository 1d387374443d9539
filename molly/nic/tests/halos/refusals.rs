//! What cannot be is an error in words.

use super::support::{FREE, try_on_nics};
use molly::programs::five;
use spinneret_fabric::Faults;

#[test]
fn a_field_does_not_outlive_its_rank() {
    let kept = |rank: &mut molly::Rank| {
        let (mut now, mut next) = (rank.field([8; 2], |_| 1.0), rank.field([8; 2], |_| 0.0));
        five::run(rank, &mut now, &mut next, 1)?;
        Ok(now)
    };
    let Err(error) = try_on_nics("1x2", Faults::default(), FREE, kept) else {
        panic!("a field has outlived its rank");
    };
    let text = error.to_string();
    assert!(
        text.contains("a field outlives its rank, whose NIC has the memory: return `Field::owned`"),
        "{text}"
    );
}
