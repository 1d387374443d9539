//! The reporter of statistics, `statistics_reporter`: increments add up to the counters, whatever happens to them.

use num_bigint::BigUint;
use spinneret_models::StatisticsReporter;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case};
use std::ops::Range;

/// The model's parameters.
const COUNTERS: usize = 19;
const LEVELS: Range<usize> = 13..17;
const FIRST: u64 = 2048;
/// Clocks of a look at one counter, if nothing is reported.
const LOOK: u64 = 8;
/// Largest increment.
const LARGEST: u64 = (1 << 24) - 1;

/// The reporter with counters that the test changes, and what it has reported of each.
struct Bench {
    sim: Simulation<StatisticsReporter>,
    counters: [u32; COUNTERS],
    reported: [u64; COUNTERS],
    /// An increment that was offered and not taken, which has to stay.
    waiting: Option<(u64, u64)>,
}

impl Finish for Bench {}

impl Bench {
    fn new(run: &mut TestRun) -> Self {
        let mut bench = Self {
            sim: run.simulation(),
            counters: [0; COUNTERS],
            reported: [0; COUNTERS],
            waiting: None,
        };
        bench.sim.reset();
        bench
    }

    fn get(&self, port: &str) -> u64 {
        let value = self.sim.dut.get(port).unwrap_or_else(|error| panic!("{error}"));
        value.try_into().unwrap_or_else(|_| panic!("{port} is wide"))
    }

    /// One clock.
    fn step(&mut self, ready: bool) {
        let bytes: Vec<u8> = self
            .counters
            .iter()
            .flat_map(|count| count.to_le_bytes())
            .collect();
        let inputs = [
            ("counters", BigUint::from_bytes_le(&bytes)),
            ("m_axis_stat_tready", u8::from(ready).into()),
        ];
        for (port, value) in inputs {
            self.sim
                .dut
                .set(port, value)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        if self.get("m_axis_stat_tvalid") == 1 {
            let offer = (self.get("m_axis_stat_tid"), self.get("m_axis_stat_tdata"));
            assert!(
                self.waiting.is_none_or(|waiting| waiting == offer),
                "it changed: {offer:?}"
            );
            assert!((1..=LARGEST).contains(&offer.1), "{offer:?}");
            self.waiting = (!ready).then_some(offer);
            if ready {
                self.reported[(offer.0 - FIRST) as usize] += offer.1;
            }
        } else {
            assert!(self.waiting.is_none(), "an increment was withdrawn");
        }
        self.sim.cycle();
    }

    /// Clocks in which all counters are looked at as often as the largest growth needs.
    fn settle(&mut self) {
        for _ in 0..2 * (COUNTERS as u64 * (LOOK + 1)) {
            self.step(true);
        }
    }

    fn expect(&self, expected: &[u64; COUNTERS]) {
        let mut expected = *expected;
        expected[LEVELS].fill(0);
        assert_eq!(self.reported, expected);
    }

    fn finish(self, expected: &[u64; COUNTERS]) {
        self.expect(expected);
    }
}

#[test]
fn every_growth_is_reported_once() {
    run_test(20, |run| {
        let mut rng = run.rng("growth");
        let mut bench = Bench::new(run);
        let stalls = rng.random_range(0..100);
        let mut total = [0; COUNTERS];
        for _ in 0..20_000 {
            for (count, total) in bench.counters.iter_mut().zip(&mut total) {
                if rng.random_ratio(1, 10) {
                    let growth = rng.random_range(1..5);
                    *count = count.wrapping_add(growth);
                    *total += u64::from(growth);
                }
            }
            bench.step(rng.random_range(0..100) >= stalls);
        }
        bench.settle();
        bench.finish(&total);
    });
}

#[test]
fn a_large_growth_takes_several_increments() {
    run_test(1, |run| {
        let mut bench = Bench::new(run);
        bench.counters[3] = 5 << 24;
        for _ in 0..6 {
            bench.settle();
        }
        let mut total = [0; COUNTERS];
        total[3] = 5 << 24;
        bench.expect(&total);
        // Up to the end of its range a counter goes on.
        bench.counters[3] = u32::MAX;
        for _ in 0..260 {
            bench.settle();
        }
        total[3] = u32::MAX.into();
        bench.expect(&total);
        // Behind it, it wraps.
        bench.counters[3] = 14;
        bench.settle();
        total[3] += 15;
        bench.finish(&total);
    });
}

#[test]
fn levels_are_not_reported() {
    run_test(1, |run| {
        let mut bench = Bench::new(run);
        for level in [100, 3, 50] {
            bench.counters[LEVELS].fill(level);
            bench.settle();
        }
        bench.finish(&[0; COUNTERS]);
    });
}

#[test]
fn a_look_takes_eight_clocks() {
    case(1, Bench::new, |bench| {
        bench.settle();
        let mut cycles = Vec::new();
        for _ in 0..3 {
            let before = bench.reported[0];
            bench.counters[0] += 1;
            let start = bench.sim.cycle_count();
            while bench.reported[0] == before {
                bench.step(true);
            }
            cycles.push(bench.sim.cycle_count() - start);
            // The next look at this counter begins exactly one round later.
            bench.counters[0] += 1;
            let start = bench.sim.cycle_count();
            while bench.reported[0] == before + 1 {
                bench.step(true);
            }
            assert_eq!(bench.sim.cycle_count() - start, COUNTERS as u64 * LOOK);
        }
        // A round, and the clock in which the test sees it.
        assert!(
            cycles.iter().all(|cycles| *cycles <= COUNTERS as u64 * LOOK + 1),
            "{cycles:?}"
        );
    });
}
