//! When accesses are answered, and what they wait for.

use crate::support::{DEAD, calm, slow, with_calm};
use spinneret_models::{SpinneretBar, SpinneretBarLarge, SpinneretBarSmall};
use spinneret_sim::axil::{Latency, MasterConfig, MasterPauses, Pause, Response, Skew};
use spinneret_sim::test_run::run_test;
use spinneret_tb::bar::{BarBench, Behaviour, Temper};

const REGISTERS: u64 = 0x80_0000;
const WRITABLE: u64 = 0x80_8000;
const OUTSIDE: u64 = 0x90_0000;

#[test]
fn one_clock_there_and_one_back() {
    with_calm::<SpinneretBar>("bar_latency", |mut bench| {
        // The registers and the cluster answer in the clock after the transfer, so one of three clocks is theirs.
        assert_eq!(bench.write_now(WRITABLE, 1, 15).latency_cycles(), 3);
        assert_eq!(bench.read_now(REGISTERS).latency_cycles(), 3);
        assert_eq!(bench.write_now(0x1000, 1, 15).latency_cycles(), 3);
        assert_eq!(bench.read_now(0x1000).latency_cycles(), 3);
        assert_eq!(bench.write_now(OUTSIDE, 1, 15).latency_cycles(), 1);
        assert_eq!(bench.read_now(OUTSIDE).latency_cycles(), 1);
        bench.registers.set_latency(Latency::exactly(4));
        assert_eq!(bench.write_now(WRITABLE, 1, 15).latency_cycles(), 6);
        assert_eq!(bench.read_now(REGISTERS).latency_cycles(), 6);
        bench.finish();
    });
}

#[test]
fn the_next_access_is_taken_in_the_clock_after_the_response() {
    with_calm::<SpinneretBar>("bar_throughput", |mut bench| {
        for _ in 0..10 {
            bench.write(WRITABLE, 1, 15, 0);
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
        bench.finish();
    });
}

#[test]
fn address_and_data_come_in_any_order() {
    run_test("bar_skew", 1, |run| {
        let host = MasterConfig {
            skew: Skew::Random { most: 12 },
            ..MasterConfig::default()
        };
        let behaviour = Behaviour {
            host,
            ..Behaviour::default()
        };
        let mut bench = BarBench::new(run.simulation::<SpinneretBar>(), behaviour);
        let mut early = [0; 2];
        for index in 0..200 {
            let address = [0x1000, WRITABLE, OUTSIDE][index % 3];
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
    with_calm::<SpinneretBar>("bar_independent", |mut bench| {
        bench.cluster.set_temper(Temper::DEAF, Temper::DEAF);
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
            bench.write(WRITABLE, 1, 15, 0);
            bench.run(5);
            assert_eq!(bench.host.writes_left(), 0, "writes pass a read that is stuck");
        }
        bench.settle();
        assert_eq!(bench.counters().timeouts, 2);
        bench.cluster.set_temper(Temper::CALM, Temper::CALM);
        bench.finish();
    });
}

#[test]
fn a_cluster_has_its_time_and_no_more() {
    with_calm::<SpinneretBar>("bar_timeout", |mut bench| {
        let most = bench.setup.timeout_cycles;
        // The access is offered one clock after it was taken, and taken at once.
        for (latency, response) in [
            (most - 2, Response::Okay),
            (most - 1, Response::Okay),
            (most, Response::SlaveError),
            (most + 1, Response::SlaveError),
        ] {
            bench.cluster.set_temper(slow(latency), slow(latency));
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
            // What is late comes, and is dropped.
            bench.run(10);
        }
        assert_eq!(bench.counters().timeouts, 4);
        bench.finish();
    });
}

#[test]
fn valid_stays_after_a_timeout() {
    with_calm::<SpinneretBarLarge>("bar_valid_stays", |mut bench| {
        bench.cluster.set_temper(Temper::DEAF, Temper::DEAF);
        assert_eq!(bench.write_now(0x1000, 0x55, 15).response, Response::SlaveError);
        assert_eq!(bench.read_now(0x2000).response, Response::SlaveError);
        for _ in 0..100 {
            bench.cycle();
            assert!(
                bench.is_high("m_axi_awvalid")
                    && bench.is_high("m_axi_wvalid")
                    && bench.is_high("m_axi_arvalid")
            );
        }
        // Others of the same direction are refused at once, those to the registers are not.
        assert_eq!(bench.write_now(0x1004, 1, 15).latency_cycles(), 1);
        assert_eq!(bench.read_now(0x1004).latency_cycles(), 1);
        assert_eq!(bench.write_now(WRITABLE, 1, 15).response, Response::Okay);
        bench.run(5);
        assert_eq!(bench.counters().timeouts, 4);
        bench.cluster.set_temper(Temper::CALM, Temper::CALM);
        bench.run(10);
        assert_eq!(bench.write_now(0x1004, 1, 15).response, Response::Okay);
        assert_eq!(bench.read_now(0x1004).response, Response::Okay);
        bench.finish();
    });
}

#[test]
fn a_late_answer_is_not_taken_for_another() {
    with_calm::<SpinneretBarLarge>("bar_late", |mut bench| {
        let most = bench.setup.timeout_cycles;
        for late in 1..20 {
            bench.cluster.set_temper(slow(most + late), slow(most + late));
            assert_eq!(bench.read_now(0x1000).response, Response::SlaveError);
            assert_eq!(bench.write_now(0x1000, 1, 15).response, Response::SlaveError);
            bench.cluster.set_temper(Temper::CALM, Temper::CALM);
            // The bench compares data and clock of each with the model.
            for _ in 0..4 {
                bench.read_now(0x2000);
                bench.write_now(0x2000, 2, 15);
            }
            bench.run(20);
        }
        bench.finish();
    });
}

#[test]
fn patience_of_two_clocks_is_enough_for_the_quickest_only() {
    with_calm::<SpinneretBarSmall>("bar_impatient", |mut bench| {
        for _ in 0..20 {
            assert_eq!(bench.read_now(0x1000).response, Response::Okay);
        }
        bench.cluster.set_temper(slow(2), slow(2));
        for _ in 0..20 {
            assert_eq!(bench.read_now(0x1000).response, Response::SlaveError);
            bench.run(3);
        }
        assert_eq!(bench.counters().timeouts, 20);
        bench.finish();
    });
}

#[test]
fn the_response_waits_for_the_host() {
    run_test("bar_host_waits", 1, |run| {
        let mut bench = calm::<SpinneretBar>(run);
        let late = Pause::Cycle([[true; 9].as_slice(), &[false]].concat());
        bench.host.set_pauses(&MasterPauses {
            response: late.clone(),
            read_data: late,
            ..MasterPauses::default()
        });
        for index in 0..30 {
            let address = [0x1000, WRITABLE, OUTSIDE][index % 3];
            bench.write(address, 1, 15, 0);
            bench.read(if address == WRITABLE { REGISTERS } else { address }, 0);
        }
        bench.settle();
        bench.finish();
    });
}

#[test]
fn a_reset_forgets_everything() {
    run_test("bar_resets", 1, |run| {
        let mut bench = calm::<SpinneretBarLarge>(run);
        for cycles in 0..60 {
            bench.cluster.set_temper(DEAD, Temper::DEAF);
            bench.registers.set_latency(Latency::exactly(1 + cycles % 4));
            for index in 0..4 {
                let is_even = index % 2 == cycles % 2;
                bench.write(if is_even { 0x1000 } else { WRITABLE }, 1, 15, 0);
                bench.read(if is_even { REGISTERS } else { 0x1000 }, 0);
            }
            bench.run(cycles);
            bench.reset();
            bench.cluster.set_temper(Temper::CALM, Temper::CALM);
            assert_eq!(bench.counters(), bench.expected_counters());
            assert_eq!(bench.write_now(0x1000, 1, 15).response, Response::Okay);
            assert_eq!(bench.read_now(0x1000).response, Response::Okay);
        }
        bench.finish();
    });
}
