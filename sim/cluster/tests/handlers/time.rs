//! How long things take.

use crate::bench::Bench;
use object::{Object as _, ObjectSymbol as _};
use spinneret_cluster::{Config, Ending, Event};
use spinneret_packets::echo_request;

/// The public design starts the handler of a packet of 64 bytes 26 clocks after the packet is there.
#[test]
fn a_small_packets_handler_starts_in_26_clocks() {
    let mut bench = Bench::new("examples/udp_ping", Config::default());
    bench.push(1, true, &[0; 64]);
    let came = bench.cluster.now();
    bench.run();
    let begun = bench.runs().next().expect("it has ended").begun;
    assert_eq!(begun - came, 26);
}

#[test]
fn skipped_clocks_change_nothing() {
    let times = [false, true].map(|skips| {
        let mut bench = Bench::new("examples/icmp_ping", Config::default());
        let start = bench.cluster.now();
        for number in 0..40 {
            bench.push(number, true, &[number as u8; 300]);
            for _ in 0..number * 7 {
                match bench.cluster.next() {
                    None if skips => bench.cluster.skip_to(bench.cluster.now() + 1),
                    _ => bench.clock(),
                }
            }
        }
        bench.run();
        let times = bench.events.iter().filter_map(|event| match event {
            Event::Ran(run) => Some((run.packet, run.begun - start, run.ended - start)),
            _ => None,
        });
        times.collect::<Vec<_>>()
    });
    assert_eq!(times[0], times[1]);
}

#[test]
fn all_hpus_work_at_the_same_time() {
    let mut bench = Bench::new("examples/icmp_ping", Config::default());
    for number in 0..64 {
        bench.push(number, true, &echo_request(1, &[0; 1400]));
    }
    bench.run();
    let hpus: std::collections::BTreeSet<_> = bench.runs().map(|run| run.hpu).collect();
    assert_eq!(hpus.len(), 16);
}

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
