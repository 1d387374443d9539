//! From when on messages may come into their places.

use molly::model::{Call, Sizes};
use molly::programs::five;
use molly::{Geometry, Options, Plan};
use std::convert::Infallible;

/// Rows of a rank before each of its chunks is waited for.
fn waits(plan: &Plan, rank: usize) -> Vec<usize> {
    let (mut rows, mut waits) = (0, Vec::new());
    let Ok(()) = plan.tree.visit(&mut plan.slots(rank), &mut |row| {
        if let Call::Receive(_) = row.call {
            waits.push(rows);
        }
        rows += 1;
        Ok::<(), Infallible>(())
    });
    waits
}

#[test]
fn there_is_room_long_before_a_message_is_waited_for() {
    let program = five::program();
    let sizes = Sizes {
        params: vec![5],
        shapes: vec![vec![64, 64]; 2],
    };
    for exchange in [false, true] {
        let options = Options {
            exchange,
            ..Options::default()
        };
        let plan = Plan::new(&program, &sizes, &Geometry::parse("2x1").unwrap(), options).unwrap();
        assert_eq!(plan.exchanges.len(), usize::from(exchange));
        let rooms = plan.rooms(&program, 0);
        let waits = waits(&plan, 0);
        assert_eq!(rooms.len(), waits.len());
        // All have room before they are waited for, and in turn in both storages if there are two.
        let mut pairs = rooms.iter().zip(&waits);
        assert!(
            pairs.all(|(room, wait)| room.after < *wait),
            "{rooms:?}, {waits:?}"
        );
        let storages: Vec<usize> = rooms.iter().map(|room| room.storage).collect();
        let expected = if exchange { [0, 1, 0, 1, 0] } else { [0; 5] };
        assert_eq!(storages, expected);
    }
}
