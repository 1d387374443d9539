//! Random accesses, with a cluster that is now quick, now slow, now dead, and reset at random.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use spinneret_models::{SpinneretBar, SpinneretBarLarge, SpinneretBarSmall};
use spinneret_sim::axil::{
    Faults, Latency, LiteSlaveConfig, LiteSlavePauses, MasterConfig, MasterPauses, Pause, Skew,
};
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::bar::{BarBench, Behaviour, Counters, Temper, WRITABLE};

/// Accesses of each direction in a run.
const ACCESSES: u64 = 6000;

fn pause(rng: &mut ChaCha8Rng) -> Pause {
    Pause::Random {
        percent: [0, 20, 60][rng.random_range(0..3)],
    }
}

fn behaviour(rng: &mut ChaCha8Rng) -> Behaviour {
    let pauses = MasterPauses {
        write_address: pause(rng),
        write_data: pause(rng),
        response: pause(rng),
        read_address: pause(rng),
        read_data: pause(rng),
    };
    Behaviour {
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
        cluster: Temper::CALM,
    }
}

/// A temper, whose answers come at every distance from the end of patience.
fn temper(rng: &mut ChaCha8Rng, timeout: u64) -> Temper {
    let (least, most) = match rng.random_range(0..10) {
        0..5 => (1, 6),
        5..7 => (timeout.saturating_sub(4).max(1), timeout + 4),
        7..9 => (1, 3 * timeout),
        _ => (1_000_000, 1_000_000),
    };
    Temper {
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
    let behaviour = behaviour(&mut rng);
    let mut bench = BarBench::new(run.simulation::<M>(), behaviour);
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
            let (writes, reads) = (temper(&mut rng, timeout), temper(&mut rng, timeout));
            bench.cluster.set_temper(writes, reads);
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
            add(&mut total, bench.expected_counters());
            bench.reset();
        }
        bench.cycle();
    }
    add(&mut total, bench.expected_counters());
    let happened = [total.held, total.timeouts, total.errors];
    assert!(happened.iter().all(|count| *count > 20), "{total:?}");
    // What was taken and never answered goes with a reset of the cluster.
    bench.hold(true);
    bench.run(2);
    bench.cluster.set_temper(Temper::CALM, Temper::CALM);
    bench.finish();
}

fn add(total: &mut Counters, counters: Counters) {
    total.outside += counters.outside;
    total.held += counters.held;
    total.timeouts += counters.timeouts;
    total.errors += counters.errors;
}

fn seeds<M: Model>(name: &str) {
    for seed in 1..=4 {
        run_test(&format!("{name}_{seed}"), seed, traffic::<M>);
    }
}

#[test]
fn every_access_is_answered_as_the_model_says() {
    seeds::<SpinneretBar>("bar_random");
}

#[test]
fn every_access_is_answered_as_the_model_says_in_a_large_bar() {
    seeds::<SpinneretBarLarge>("bar_random_large");
}

#[test]
fn every_access_is_answered_as_the_model_says_without_patience() {
    seeds::<SpinneretBarSmall>("bar_random_small");
}
