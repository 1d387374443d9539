//! Clocks of accesses, and random ones.

use crate::{DEAD, REGISTERS, WRITABLE_AT, calm, slow};
use spinneret_models::{SpinneretBar, SpinneretBarLarge, SpinneretBarSmall};
use spinneret_sim::prelude::*;
use spinneret_tb::bar::{BarBench, ClusterConfig, Counters, Stimulus, WRITABLE};
use spinneret_tb::bench::{Finish, case};

const OUTSIDE: u64 = 0x90_0000;

#[test]
fn adds_one_clock_in_each_direction() {
    case(1, calm::<SpinneretBar>, |bench| {
        // The registers and the cluster answer in the clock after the transfer, so one of three clocks is theirs.
        assert_eq!(bench.write_now(WRITABLE_AT, 1, 15).latency_cycles(), 3);
        assert_eq!(bench.read_now(REGISTERS).latency_cycles(), 3);
        assert_eq!(bench.write_now(0x1000, 1, 15).latency_cycles(), 3);
        assert_eq!(bench.read_now(0x1000).latency_cycles(), 3);
        assert_eq!(bench.write_now(OUTSIDE, 1, 15).latency_cycles(), 1);
        assert_eq!(bench.read_now(OUTSIDE).latency_cycles(), 1);
        bench.registers.set_latency(Latency::exactly(4));
        assert_eq!(bench.write_now(WRITABLE_AT, 1, 15).latency_cycles(), 6);
        assert_eq!(bench.read_now(REGISTERS).latency_cycles(), 6);
    });
}

#[test]
fn the_next_access_is_taken_in_the_clock_after_the_response() {
    case(1, calm::<SpinneretBar>, |bench| {
        for _ in 0..10 {
            bench.write(WRITABLE_AT, 1, 15, 0);
            bench.read(REGISTERS, 0);
        }
        let mut last = [None; 2];
        while !bench.host.is_idle() {
            bench.cycle();
            let seen = [
                bench
                    .last_write
                    .map(|done| (done.address_cycle, done.response_cycle)),
                bench
                    .last_read
                    .map(|done| (done.address_cycle, done.response_cycle)),
            ];
            for (last, seen) in last.iter_mut().zip(seen) {
                if let (Some((_, before)), Some((taken, after))) = (*last, seen)
                    && after != before
                {
                    assert_eq!(taken, before + 1);
                }
                *last = seen;
            }
        }
    });
}

#[test]
fn address_and_data_come_in_any_order() {
    run_test(1, |run| {
        let host = MasterConfig {
            skew: Skew::Random { most: 12 },
            ..MasterConfig::default()
        };
        let stimulus = Stimulus {
            host,
            ..Stimulus::default()
        };
        let mut bench = BarBench::new(run.simulation::<SpinneretBar>(), stimulus);
        let mut early = [0; 2];
        for index in 0..200 {
            let address = [0x1000, WRITABLE_AT, OUTSIDE][index % 3];
            let done = bench.write_now(address, index as u32, 15);
            early[0] += u32::from(done.address_cycle < done.data_cycle);
            early[1] += u32::from(done.address_cycle > done.data_cycle);
        }
        assert!(early.iter().all(|count| *count > 50), "{early:?}");
        bench.finish();
    });
}

#[test]
fn registers_do_not_wait_for_a_stuck_cluster() {
    case(1, calm::<SpinneretBar>, |bench| {
        bench
            .cluster
            .configure(ClusterConfig::STUCK, ClusterConfig::STUCK);
        bench.write(0x1000, 1, 15, 0);
        bench.run(3);
        for _ in 0..10 {
            bench.read(REGISTERS, 0);
            bench.run(5);
            assert_eq!(bench.host.reads_left(), 0, "reads pass a write that is stuck");
        }
        bench.settle();
        bench.read(0x1000, 0);
        bench.run(3);
        for _ in 0..10 {
            bench.write(WRITABLE_AT, 1, 15, 0);
            bench.run(5);
            assert_eq!(bench.host.writes_left(), 0, "writes pass a read that is stuck");
        }
        bench.settle();
        assert_eq!(bench.counters().timeouts, 2);
        bench.cluster.configure(ClusterConfig::FAST, ClusterConfig::FAST);
    });
}

#[test]
fn cluster_timeout_is_exact() {
    case(1, calm::<SpinneretBar>, |bench| {
        let most = bench.setup.timeout_cycles;
        // The access is offered one clock after it was taken, and taken at once.
        for (latency, response) in [
            (most - 2, Response::Okay),
            (most - 1, Response::Okay),
            (most, Response::SlaveError),
            (most + 1, Response::SlaveError),
        ] {
            bench.cluster.configure(slow(latency), slow(latency));
            let written = bench.write_now(0x1000, 1, 15);
            let read = bench.read_now(0x1000);
            assert_eq!(
                (written.response, read.response),
                (response, response),
                "{latency}"
            );
            let expected = (latency + 2).min(most + 1);
            assert_eq!(
                (written.latency_cycles(), read.latency_cycles()),
                (expected, expected)
            );
            // The late answer arrives and is dropped.
            bench.run(10);
        }
        assert_eq!(bench.counters().timeouts, 4);
    });
}

#[test]
fn valid_stays_after_a_timeout() {
    case(1, calm::<SpinneretBarLarge>, |bench| {
        bench
            .cluster
            .configure(ClusterConfig::STUCK, ClusterConfig::STUCK);
        assert_eq!(bench.write_now(0x1000, 0x55, 15).response, Response::SlaveError);
        assert_eq!(bench.read_now(0x2000).response, Response::SlaveError);
        for _ in 0..100 {
            bench.cycle();
            assert!(
                bench.sim.get("m_axi_awvalid") == 1
                    && bench.sim.get("m_axi_wvalid") == 1
                    && bench.sim.get("m_axi_arvalid") == 1
            );
        }
        // Others of the same direction are refused at once, those to the registers are not.
        assert_eq!(bench.write_now(0x1004, 1, 15).latency_cycles(), 1);
        assert_eq!(bench.read_now(0x1004).latency_cycles(), 1);
        assert_eq!(bench.write_now(WRITABLE_AT, 1, 15).response, Response::Okay);
        bench.run(5);
        assert_eq!(bench.counters().timeouts, 4);
        bench.cluster.configure(ClusterConfig::FAST, ClusterConfig::FAST);
        bench.run(10);
        assert_eq!(bench.write_now(0x1004, 1, 15).response, Response::Okay);
        assert_eq!(bench.read_now(0x1004).response, Response::Okay);
    });
}

#[test]
fn late_answer_is_dropped() {
    case(1, calm::<SpinneretBarLarge>, |bench| {
        let most = bench.setup.timeout_cycles;
        for late in 1..20 {
            bench.cluster.configure(slow(most + late), slow(most + late));
            assert_eq!(bench.read_now(0x1000).response, Response::SlaveError);
            assert_eq!(bench.write_now(0x1000, 1, 15).response, Response::SlaveError);
            bench.cluster.configure(ClusterConfig::FAST, ClusterConfig::FAST);
            // The bench compares data and clock of each with the model.
            for _ in 0..4 {
                bench.read_now(0x2000);
                bench.write_now(0x2000, 2, 15);
            }
            bench.run(20);
        }
    });
}

#[test]
fn timeout_of_two_clocks_suffices_for_the_fastest_answer_only() {
    case(1, calm::<SpinneretBarSmall>, |bench| {
        for _ in 0..20 {
            assert_eq!(bench.read_now(0x1000).response, Response::Okay);
        }
        bench.cluster.configure(slow(2), slow(2));
        for _ in 0..20 {
            assert_eq!(bench.read_now(0x1000).response, Response::SlaveError);
            bench.run(3);
        }
        assert_eq!(bench.counters().timeouts, 20);
    });
}

#[test]
fn the_response_waits_for_the_host() {
    case(1, calm::<SpinneretBar>, |bench| {
        let late = Pause::Cycle([[true; 9].as_slice(), &[false]].concat());
        bench.host.set_pauses(&MasterPauses {
            response: late.clone(),
            read_data: late,
            ..MasterPauses::default()
        });
        for index in 0..30 {
            let address = [0x1000, WRITABLE_AT, OUTSIDE][index % 3];
            bench.write(address, 1, 15, 0);
            bench.read(
                if address == WRITABLE_AT {
                    REGISTERS
                } else {
                    address
                },
                0,
            );
        }
        bench.settle();
    });
}

#[test]
fn a_reset_forgets_everything() {
    case(1, calm::<SpinneretBarLarge>, |bench| {
        for cycles in 0..60 {
            bench.cluster.configure(DEAD, ClusterConfig::STUCK);
            bench.registers.set_latency(Latency::exactly(1 + cycles % 4));
            for index in 0..4 {
                let is_even = index % 2 == cycles % 2;
                bench.write(if is_even { 0x1000 } else { WRITABLE_AT }, 1, 15, 0);
                bench.read(if is_even { REGISTERS } else { 0x1000 }, 0);
            }
            bench.run(cycles);
            bench.reset();
            bench.cluster.configure(ClusterConfig::FAST, ClusterConfig::FAST);
            assert_eq!(bench.counters(), bench.expected_counters());
            assert_eq!(bench.write_now(0x1000, 1, 15).response, Response::Okay);
            assert_eq!(bench.read_now(0x1000).response, Response::Okay);
        }
    });
}

/// Accesses of each direction in a run.
const ACCESSES: u64 = 6000;

fn pause(rng: &mut ChaCha8Rng) -> Pause {
    Pause::Random {
        percent: [0, 20, 60][rng.random_range(0..3)],
    }
}

fn stimulus(rng: &mut ChaCha8Rng) -> Stimulus {
    let pauses = MasterPauses {
        write_address: pause(rng),
        write_data: pause(rng),
        response: pause(rng),
        read_address: pause(rng),
        read_data: pause(rng),
    };
    Stimulus {
        host: MasterConfig {
            pauses,
            skew: Skew::Random { most: 3 },
        },
        registers: LiteSlaveConfig {
            pauses: LiteSlavePauses {
                write_address: pause(rng),
                write_data: pause(rng),
                read_address: pause(rng),
            },
            latency: Latency { least: 1, most: 4 },
            write_faults: Faults::Random { percent: 10 },
            read_faults: Faults::Random { percent: 10 },
        },
        cluster: ClusterConfig::FAST,
    }
}

/// A config, whose answers come at every distance from the end of patience.
fn config(rng: &mut ChaCha8Rng, timeout: u64) -> ClusterConfig {
    let (least, most) = match rng.random_range(0..10) {
        0..5 => (1, 6),
        5..7 => (timeout.saturating_sub(4).max(1), timeout + 4),
        7..9 => (1, 3 * timeout),
        _ => (1_000_000, 1_000_000),
    };
    ClusterConfig {
        stall_percent: [0, 30, 90][rng.random_range(0..3)],
        least_latency: least,
        most_latency: most,
        fault_percent: [0, 20][rng.random_range(0..2)],
    }
}

/// An offset in the BAR: registers, the cluster's windows, or nothing, as far as it reaches.
fn address<M: Model>(rng: &mut ChaCha8Rng, bench: &BarBench<M>, is_write: bool) -> u64 {
    loop {
        let address = match rng.random_range(0..10) {
            0..3 => {
                let half = if is_write { WRITABLE } else { 0 };
                0x80_0000 + half + rng.random_range(0..WRITABLE)
            }
            3..6 => rng.random_range(0..0x40_0000),
            6..8 => rng.random_range(0x40_0000..0x80_0000),
            _ => rng.random_range(0..1 << bench.setup.address_bits),
        };
        let is_pattern = is_write && (0x80_0000..0x80_0000 + WRITABLE).contains(&address);
        let is_written = !is_write && (0x80_0000 + WRITABLE..0x81_0000).contains(&address);
        if bench.setup.reaches(address) && !is_pattern && !is_written {
            return address;
        }
    }
}

fn traffic<M: Model>(run: &mut TestRun) {
    let mut rng = run.rng("traffic");
    let stimulus = stimulus(&mut rng);
    let mut bench = BarBench::new(run.simulation::<M>(), stimulus);
    let timeout = bench.setup.timeout_cycles;
    let (mut sent, mut held_left, mut held) = ([0; 2], 0_u64, false);
    let mut total = Counters::default();
    while sent.iter().any(|count| *count < ACCESSES) || !bench.host.is_idle() {
        if bench.host.writes_left() < 3 && sent[0] < ACCESSES {
            let address = address(&mut rng, &bench, true);
            bench.write(
                address,
                rng.random(),
                rng.random_range(0..16),
                rng.random_range(0..8),
            );
            sent[0] += 1;
        }
        if bench.host.reads_left() < 3 && sent[1] < ACCESSES {
            let address = address(&mut rng, &bench, false);
            bench.read(address, rng.random_range(0..8));
            sent[1] += 1;
        }
        if rng.random_range(0..100) == 0 {
            let (writes, reads) = (config(&mut rng, timeout), config(&mut rng, timeout));
            bench.cluster.configure(writes, reads);
        }
        if held_left == 0 {
            held = !held;
            let most = if held { 12 } else { 60 + 6 * timeout };
            held_left = rng.random_range(1..=most);
        }
        held_left -= 1;
        bench.hold(held);
        if rng.random_range(0..4000) == 0 {
            bench.run(5);
            total += bench.expected_counters();
            bench.reset();
        }
        bench.cycle();
    }
    total += bench.expected_counters();
    let happened = [total.held, total.timeouts, total.errors];
    assert!(happened.iter().all(|count| *count > 20), "{total:?}");
    // A reset of the cluster discards accesses that were never answered.
    bench.hold(true);
    bench.run(2);
    bench.cluster.configure(ClusterConfig::FAST, ClusterConfig::FAST);
    bench.finish();
}

fn seeds<M: Model>() {
    (1..=4).for_each(|seed| run_test(seed, traffic::<M>));
}

#[test]
fn random_accesses_match_the_model() {
    seeds::<SpinneretBar>();
}

#[test]
fn random_accesses_to_a_large_bar_match_the_model() {
    seeds::<SpinneretBarLarge>();
}

#[test]
fn random_accesses_with_a_short_timeout_match_the_model() {
    seeds::<SpinneretBarSmall>();
}
