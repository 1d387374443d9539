//! Errors, and a cluster in reset.

use crate::support::{DEAD, with_calm};
use spinneret_models::{SpinneretBar, SpinneretBarLarge};
use spinneret_sim::axil::{Faults, Response};
use spinneret_tb::bar::{Counters, Temper};

const REGISTERS: u64 = 0x80_0000;
const WRITABLE: u64 = 0x80_8000;

#[test]
fn what_the_registers_answer_is_passed_on() {
    with_calm::<SpinneretBar>("bar_register_errors", |mut bench| {
        for response in [Response::SlaveError, Response::DecodeError] {
            let faults = Faults::At(vec![(0..=0xffff, response)]);
            bench.registers.set_faults(faults.clone(), faults);
            assert_eq!(bench.write_now(WRITABLE, 1, 15).response, response);
            assert_eq!(bench.read_now(REGISTERS).response, response);
        }
        assert_eq!(
            bench.counters(),
            Counters::default(),
            "the cluster has no part in it"
        );
        bench.finish();
    });
}

#[test]
fn errors_of_the_cluster_are_passed_on_and_counted() {
    with_calm::<SpinneretBar>("bar_cluster_errors", |mut bench| {
        let faulty = Temper {
            fault_percent: 100,
            ..Temper::CALM
        };
        bench.cluster.set_temper(faulty, faulty);
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
        bench.finish();
    });
}

#[test]
fn both_halves_count_in_one_clock() {
    with_calm::<SpinneretBar>("bar_counters", |mut bench| {
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
        bench.finish();
    });
}

#[test]
fn a_cluster_in_reset_is_answered_for_at_once() {
    with_calm::<SpinneretBar>("bar_held", |mut bench| {
        bench.hold(true);
        let (written, read) = (bench.write_now(0x1000, 1, 15), bench.read_now(0x40_0000));
        assert_eq!(
            (written.response, read.response),
            (Response::SlaveError, Response::SlaveError)
        );
        assert_eq!((written.latency_cycles(), read.latency_cycles()), (1, 1));
        assert_eq!(bench.write_now(WRITABLE, 1, 15).response, Response::Okay);
        assert_eq!(bench.read_now(REGISTERS).response, Response::Okay);
        assert_eq!(bench.read_now(0xff_0000).response, Response::DecodeError);
        bench.hold(false);
        assert_eq!(bench.write_now(0x1000, 1, 15).response, Response::Okay);
        bench.run(5);
        assert_eq!(bench.counters().held, 2);
        bench.finish();
    });
}

#[test]
fn an_access_under_way_ends_when_the_cluster_is_reset() {
    with_calm::<SpinneretBarLarge>("bar_held_during", |mut bench| {
        for cycles in 0..12 {
            for temper in [Temper::DEAF, DEAD] {
                bench.cluster.set_temper(temper, temper);
                bench.write(0x1000, 1, 15, 0);
                bench.read(0x1000, 0);
                bench.run(1 + cycles);
                bench.hold(true);
                bench.run(3);
                assert!(bench.host.is_idle(), "answered at once");
                assert!(
                    !bench.is_high("m_axi_awvalid")
                        && !bench.is_high("m_axi_wvalid")
                        && !bench.is_high("m_axi_arvalid")
                );
                bench.hold(false);
                // Nothing is remembered: the next ones are sent at once.
                bench.cluster.set_temper(Temper::CALM, Temper::CALM);
                assert_eq!(bench.write_now(0x2000, 1, 15).latency_cycles(), 3);
                assert_eq!(bench.read_now(0x2000).latency_cycles(), 3);
            }
        }
        bench.finish();
    });
}

#[test]
fn a_late_answer_is_forgotten_when_the_cluster_is_reset() {
    with_calm::<SpinneretBarLarge>("bar_held_late", |mut bench| {
        bench.cluster.set_temper(DEAD, DEAD);
        bench.write_now(0x1000, 1, 15);
        bench.read_now(0x1000);
        assert_eq!(bench.write_now(0x1000, 1, 15).latency_cycles(), 1);
        bench.hold(true);
        bench.run(1);
        bench.hold(false);
        bench.cluster.set_temper(Temper::CALM, Temper::CALM);
        bench.run(1);
        assert_eq!(bench.write_now(0x1000, 1, 15).response, Response::Okay);
        assert_eq!(bench.read_now(0x1000).response, Response::Okay);
        bench.finish();
    });
}
