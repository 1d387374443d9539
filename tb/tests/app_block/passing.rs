//! What the application does not take passes: how long that takes, how fast it goes, and that nothing disturbs it.

use crate::support::{bench, bench_with, send_matched, send_unmatched, started};
use rand::RngExt;
use spinneret_sim::stream::Pause;
use spinneret_sim::test_run::run_test;
use spinneret_tb::app::{
    Actions, Behaviour, Clocks, Crossing, Flow, from_host, measure_latency, measure_rate, random_size,
};

#[test]
fn each_way_adds_its_clocks_and_no_more() {
    run_test("app_latency", 1, |run| {
        let mut bench = started(run, Clocks::BOARD, Actions::SEND);
        for size in [1, 60, 64, 65, 128, 129, 300, 1500] {
            let found = Crossing::ALL.map(|crossing| measure_latency(&mut bench, crossing, size));
            let wanted = Crossing::ALL.map(|crossing| crossing.clocks(size));
            assert_eq!(found, wanted, "{size} bytes: {:?}", Crossing::ALL);
        }
        bench.finish();
    });
}

#[test]
fn passing_frames_take_one_beat_a_clock() {
    run_test("app_rate", 1, |run| {
        let mut bench = started(run, Clocks::BOARD, Actions::NONE);
        for flow in Flow::ALL {
            for (size, beats) in [(64, 1.0), (65, 2.0), (128, 2.0), (1500, 24.0)] {
                let clocks = measure_rate(&mut bench, flow, size);
                assert!(
                    (clocks - beats).abs() < 1e-9,
                    "{flow:?}, {size} bytes: {clocks} clocks a frame"
                );
            }
        }
        bench.finish();
    });
}

#[test]
fn interface_1_is_untouched_while_interface_0_is_overloaded() {
    run_test("app_interface_1", 1, |run| {
        let mut rng = run.rng("packets");
        let behaviour = Behaviour {
            to_host: [Pause::Random { percent: 90 }, Pause::Never],
            wire: [Pause::Random { percent: 90 }, Pause::Random { percent: 20 }],
            ..Behaviour::default()
        };
        let mut bench = bench_with(run, Clocks::period(40_000), &behaviour);
        bench.bring_up(crate::support::all_contexts(Actions::SEND));
        bench.model.complete = false;
        for number in 0..600 {
            let size = random_size(&mut rng);
            send_matched(&mut bench, &mut rng, number % 4, size);
            let size = random_size(&mut rng);
            send_unmatched(&mut bench, &mut rng, 0, size);
        }
        for _ in 0..400 {
            // Also packets that would match at interface 0.
            let size = random_size(&mut rng);
            let mut frame = spinneret_tb::app::from_wire(&mut rng, vec![0xa0; size]);
            frame.user |= u128::from(rng.random_bool(0.5));
            bench.receive(1, frame);
            let size = random_size(&mut rng);
            let frame = from_host(&mut rng, vec![0x5a; size]);
            bench.transmit(1, frame);
        }
        let start = bench.now();
        bench.run_until(400_000, "packets of interface 1", |bench| bench.rx[1].is_idle());
        let (spent, counts) = (bench.now() - start, bench.rx[1].monitor().counts());
        assert_eq!(counts.stalls, 0, "interface 1 never waits for interface 0");
        assert!(
            spent <= counts.beats + 1,
            "{spent} clocks for {} beats",
            counts.beats
        );
        assert!(!bench.is_passed(), "interface 0 is overloaded still");
        let account = bench.wait_for_rest();
        assert!(account.dropped_for("overload") + account.dropped_for("no_slot") > 0);
        bench.finish();
    });
}

#[test]
fn side_band_of_passing_packets_is_untouched() {
    run_test("app_side_band", 1, |run| {
        let mut rng = run.rng("packets");
        let mut bench = bench(run);
        for interface in [0, 1] {
            for size in [1, 63, 64, 65, 200, 1514, 9000] {
                send_unmatched(&mut bench, &mut rng, interface, size);
                let bad = spinneret_tb::app::from_wire(&mut rng, vec![1; size]);
                bench.receive(interface, spinneret_tb::app::marked_bad(bad));
            }
        }
        bench.finish();
    });
}
