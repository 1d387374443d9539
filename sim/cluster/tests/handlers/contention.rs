//! Locks and atomics, with all HPUs at once.

use crate::bench::Bench;
use object::{Object as _, ObjectSymbol as _};
use spinneret_cluster::{Config, Ending};

const ROUNDS: u32 = 5;
const TASKS: u32 = 20;

#[test]
fn locks_and_atomics_hold_under_contention() {
    for clusters in [1, 2, 4] {
        let config = Config {
            clusters,
            ..Config::default()
        };
        let mut bench = Bench::new("tests/locks", config);
        for number in 0..TASKS {
            bench.push(number, true, &[0; 64]);
        }
        bench.run();
        assert!(
            bench.runs().all(|run| run.ending == Ending::Done),
            "with {clusters} clusters"
        );
        let address = |name: &str| {
            let file = object::File::parse(bench.program.file()).expect("it was read before");
            let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
            symbol.unwrap_or_else(|| panic!("there is no {name}")).address() as u32
        };
        let [locked, swapped, habit, left, right, torn] =
            ["locked", "swapped", "habit", "left", "right", "torn"].map(|name| bench.variable(address(name)));
        assert_eq!(
            [locked, swapped, habit],
            [ROUNDS * TASKS; 3],
            "with {clusters} clusters"
        );
        assert_eq!((left, torn), (right, 0), "with {clusters} clusters");
    }
}
