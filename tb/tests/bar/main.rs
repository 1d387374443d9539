//! The BAR against its reference model, and each line of its contract.

mod timing;

use spinneret_models::{SpinneretBar, SpinneretBarLarge, SpinneretBarSmall};
use spinneret_regmap::bar::{self, Destination, WINDOWS};
use spinneret_sim::prelude::*;
use spinneret_tb::bar::{BarBench, ClusterConfig, Counters, Stimulus, WRITABLE};
use spinneret_tb::bench::{Finish, case};

spinneret_tb::each_model! {
    [SpinneretBar, SpinneretBarSmall, SpinneretBarLarge]:
        1 every_edge_of_the_map_is_where_the_register_map_says;
}

/// The first control register.
const REGISTERS: u64 = 0x80_0000;
/// A control register that can be written.
const WRITABLE_AT: u64 = 0x80_8000;

/// A cluster that takes everything and answers after that many clocks.
fn slow(cycles: u64) -> ClusterConfig {
    ClusterConfig {
        least_latency: cycles,
        most_latency: cycles,
        ..ClusterConfig::FAST
    }
}

/// A cluster that never answers what it takes, as far as a test goes.
const DEAD: ClusterConfig = ClusterConfig {
    least_latency: 1_000_000,
    most_latency: 1_000_000,
    ..ClusterConfig::FAST
};

/// A bench without pauses.
fn calm<M: Model>(run: &mut TestRun) -> BarBench<M> {
    BarBench::new(run.simulation::<M>(), Stimulus::default())
}

/// Words at both ends of each window and in it, as far as the BAR reaches.
fn addresses<M: Model>(bench: &BarBench<M>) -> Vec<u64> {
    let setup = bench.setup;
    let ends = WINDOWS.iter().flat_map(|window| {
        let (start, last) = (u64::from(window.start), u64::from(window.last()));
        [
            start,
            start + 4,
            start + 0x1238,
            start + 0x3ffc,
            last - 3,
            last - 7,
        ]
    });
    // Every single bit of an address, and addresses beyond 16 MiB.
    let bits = (2..setup.address_bits).map(|bit| 1 << bit);
    let beyond = [0x100_0000, 0x180_2000, 0x1c0_0000, 0x3ff_fffc];
    let mut all: Vec<u64> = ends.chain(bits).chain(beyond).collect();
    all.retain(|address| setup.reaches(*address));
    all
}

/// The bench compares the way of each access with `spinneret_regmap::bar`; this test sees to it that every
/// edge is tried.
fn every_edge_of_the_map_is_where_the_register_map_says<M: Model>(run: &mut TestRun) {
    let mut bench = calm::<M>(run);
    let mut reached = [0; 3];
    for address in addresses(&bench) {
        for offset in 0..4 {
            let address = address + offset;
            let destination = bar::decode(address as u32);
            let is_register = matches!(destination, Destination::ControlRegister(_));
            let read = bench.read_now(address);
            let strobes = 1 << offset;
            // The lower half of the registers holds the pattern that reads are compared with.
            let is_pattern =
                matches!(destination, Destination::ControlRegister(at) if u64::from(at) < WRITABLE);
            let written = if is_pattern {
                Response::Okay
            } else {
                bench.write_now(address, 0x1234_5678, strobes).response
            };
            let expected = match destination {
                Destination::Nothing => Response::DecodeError,
                _ => Response::Okay,
            };
            assert_eq!(read.response, expected, "{address:#x}");
            if !is_pattern {
                assert_eq!(written, expected, "{address:#x}");
            }
            reached[usize::from(is_register) + 2 * usize::from(destination == Destination::Nothing)] += 1;
        }
    }
    let large = bench.setup.address_bits >= 24;
    assert_eq!(
        reached.map(|count| count > 0),
        [true, large, large],
        "{reached:?}"
    );
    bench.finish();
}

#[test]
fn every_strobe_and_protection_type_is_passed_on() {
    case(1, calm::<SpinneretBar>, |bench| {
        for lane in 0..16 {
            for strobes in 0..16 {
                let protection = (lane as u8 ^ strobes) & 7;
                bench.write(0x10_0000 + 4 * lane, 0x89ab_cdef, strobes, protection);
                bench.write(0x80_8000 + 4 * lane, 0x0123_4567, strobes, protection);
                bench.read(0x10_0000 + 4 * lane, protection);
                bench.read(0x80_0000 + 4 * lane, protection);
            }
        }
        bench.settle();
        // No strobe at all is a write of nothing, which is answered like any other.
        assert_eq!(bench.write_now(0, 1, 0).response, Response::Okay);
        assert_eq!(bench.write_now(0x80_8000, 1, 0).response, Response::Okay);
        let memory = bench.registers.memory().read(0x8000, 4);
        assert_eq!(memory, [Some(0x67), Some(0x45), Some(0x23), Some(1)]);
    });
}

#[test]
fn responses_of_the_registers_are_passed_on() {
    case(1, calm::<SpinneretBar>, |bench| {
        for response in [Response::SlaveError, Response::DecodeError] {
            let faults = Faults::At(vec![(0..=0xffff, response)]);
            bench.registers.set_faults(faults.clone(), faults);
            assert_eq!(bench.write_now(WRITABLE_AT, 1, 15).response, response);
            assert_eq!(bench.read_now(REGISTERS).response, response);
        }
        assert_eq!(
            bench.counters(),
            Counters::default(),
            "the cluster has no part in it"
        );
    });
}

#[test]
fn errors_of_the_cluster_are_passed_on_and_counted() {
    case(1, calm::<SpinneretBar>, |bench| {
        let faulty = ClusterConfig {
            fault_percent: 100,
            ..ClusterConfig::FAST
        };
        bench.cluster.configure(faulty, faulty);
        let mut seen = [0; 2];
        for _ in 0..60 {
            // SLVERR stands for EXOKAY too: the bench knows what the cluster said.
            for response in [
                bench.write_now(0x1000, 1, 15).response,
                bench.read_now(0x1000).response,
            ] {
                seen[usize::from(response == Response::DecodeError)] += 1;
            }
            assert_eq!(bench.last_read.map(|read| read.data), Some(0));
        }
        assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
        bench.run(5);
        assert_eq!(bench.counters().errors, 120);
    });
}

#[test]
fn both_halves_count_in_one_clock() {
    case(1, calm::<SpinneretBar>, |bench| {
        for _ in 0..10 {
            bench.write(0xff_0000, 1, 15, 0);
            bench.read(0xff_0000, 0);
        }
        bench.settle();
        bench.hold(true);
        for _ in 0..10 {
            bench.write(0, 1, 15, 0);
            bench.read(0, 0);
        }
        bench.settle();
        bench.run(5);
        let expected = Counters {
            outside: 20,
            held: 20,
            ..Counters::default()
        };
        assert_eq!(bench.counters(), expected);
    });
}

#[test]
fn access_to_a_cluster_in_reset_fails_at_once() {
    case(1, calm::<SpinneretBar>, |bench| {
        bench.hold(true);
        let (written, read) = (bench.write_now(0x1000, 1, 15), bench.read_now(0x40_0000));
        assert_eq!(
            (written.response, read.response),
            (Response::SlaveError, Response::SlaveError)
        );
        assert_eq!((written.latency_cycles(), read.latency_cycles()), (1, 1));
        assert_eq!(bench.write_now(WRITABLE_AT, 1, 15).response, Response::Okay);
        assert_eq!(bench.read_now(REGISTERS).response, Response::Okay);
        assert_eq!(bench.read_now(0xff_0000).response, Response::DecodeError);
        bench.hold(false);
        assert_eq!(bench.write_now(0x1000, 1, 15).response, Response::Okay);
        bench.run(5);
        assert_eq!(bench.counters().held, 2);
    });
}

#[test]
fn reset_of_the_cluster_ends_an_access_in_flight() {
    case(1, calm::<SpinneretBarLarge>, |bench| {
        for cycles in 0..12 {
            for config in [ClusterConfig::STUCK, DEAD] {
                bench.cluster.configure(config, config);
                bench.write(0x1000, 1, 15, 0);
                bench.read(0x1000, 0);
                bench.run(1 + cycles);
                bench.hold(true);
                bench.run(3);
                assert!(bench.host.is_idle(), "answered at once");
                assert!(
                    bench.sim.get("m_axi_awvalid") == 0
                        && bench.sim.get("m_axi_wvalid") == 0
                        && bench.sim.get("m_axi_arvalid") == 0
                );
                bench.hold(false);
                // Nothing is remembered: the next ones are sent at once.
                bench.cluster.configure(ClusterConfig::FAST, ClusterConfig::FAST);
                assert_eq!(bench.write_now(0x2000, 1, 15).latency_cycles(), 3);
                assert_eq!(bench.read_now(0x2000).latency_cycles(), 3);
            }
        }
    });
}

#[test]
fn a_late_answer_is_forgotten_when_the_cluster_is_reset() {
    case(1, calm::<SpinneretBarLarge>, |bench| {
        bench.cluster.configure(DEAD, DEAD);
        bench.write_now(0x1000, 1, 15);
        bench.read_now(0x1000);
        assert_eq!(bench.write_now(0x1000, 1, 15).latency_cycles(), 1);
        bench.hold(true);
        bench.run(1);
        bench.hold(false);
        bench.cluster.configure(ClusterConfig::FAST, ClusterConfig::FAST);
        bench.run(1);
        assert_eq!(bench.write_now(0x1000, 1, 15).response, Response::Okay);
        assert_eq!(bench.read_now(0x1000).response, Response::Okay);
    });
}
