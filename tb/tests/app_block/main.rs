//! The application block at Corundum's ports, with software at the BAR and the stand-in cluster in a clock of its own.

mod faults;
mod host;
mod widths;

use spinneret_models::MqnicAppBlock;
use spinneret_sim::prelude::*;
use spinneret_tb::app::{
    Actions, AppBench, CONTEXTS, Clocks, Context, Crossing, Session, Stimulus, Work, from_host, from_wire,
    matched, measure_latency, measure_work, prepare_work, random_size, unmatched,
};
use spinneret_tb::bench::{Finish, case, with};

/// A block between models, not configured.
fn bench_with(run: &mut TestRun, clocks: Clocks, stimulus: &Stimulus) -> AppBench {
    let sim = run.simulation_with(&clocks.domains());
    AppBench::new(sim, clocks, stimulus)
}

/// The same without pauses, with a cluster of 40 MHz.
fn bench(run: &mut TestRun) -> AppBench {
    bench_with(run, Clocks::BOARD, &Stimulus::default())
}

/// Four contexts that do the same.
fn all_contexts(actions: Actions) -> [Option<Context>; CONTEXTS] {
    std::array::from_fn(|number| Some(Context::new(number, actions)))
}

/// A block whose contexts all do the same, ready for packets.
fn started(run: &mut TestRun, (clocks, actions): (Clocks, Actions)) -> AppBench {
    let mut bench = bench_with(run, clocks, &Stimulus::default());
    bench.bring_up(all_contexts(actions));
    bench
}

/// Sends a packet for a context.
fn send_matched(bench: &mut AppBench, rng: &mut ChaCha8Rng, context: usize, size: usize) {
    let bytes = matched(rng, context, size);
    let frame = from_wire(rng, bytes);
    bench.receive(0, frame);
}

/// Sends a packet that matches nothing.
fn send_unmatched(bench: &mut AppBench, rng: &mut ChaCha8Rng, interface: usize, size: usize) {
    let bytes = unmatched(rng, size);
    let frame = from_wire(rng, bytes);
    bench.receive(interface, frame);
}

#[test]
fn each_path_has_its_latency() {
    case(1, with(started, (Clocks::BOARD, Actions::SEND)), |bench| {
        for size in [1, 60, 64, 65, 128, 129, 300, 1500] {
            let found = Crossing::ALL.map(|crossing| measure_latency(bench, crossing, size));
            let wanted = Crossing::ALL.map(|crossing| crossing.clocks(size));
            assert_eq!(found, wanted, "{size} bytes: {:?}", Crossing::ALL);
        }
    });
}

#[test]
fn interface_1_is_untouched_while_interface_0_is_overloaded() {
    run_test(1, |run| {
        let mut rng = run.rng("packets");
        let stimulus = Stimulus {
            to_host: [Pause::Random { percent: 90 }, Pause::Never],
            wire: [Pause::Random { percent: 90 }, Pause::Random { percent: 20 }],
            ..Stimulus::default()
        };
        let mut bench = bench_with(run, Clocks::period(40_000), &stimulus);
        bench.bring_up(all_contexts(Actions::SEND));
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
            let mut frame = from_wire(&mut rng, vec![0xa0; size]);
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
    case(1, bench, |bench| {
        let mut rng = bench.sim.rng("packets");
        for interface in [0, 1] {
            for size in [1, 63, 64, 65, 200, 1514, 9000] {
                send_unmatched(bench, &mut rng, interface, size);
                let bad = from_wire(&mut rng, vec![1; size]);
                bench.receive(interface, spinneret_tb::app::marked_bad(bad));
            }
        }
    });
}

#[test]
fn frames_of_host_and_cluster_leave_whole() {
    run_test(1, |run| {
        let mut rng = run.rng("packets");
        let tx = Pause::Bursty { busy: 200, idle: 300 };
        let stimulus = Stimulus {
            tx: [tx, Pause::Never],
            wire: [Pause::Random { percent: 20 }, Pause::Never],
            ..Stimulus::default()
        };
        let mut bench = bench_with(run, Clocks::EQUAL, &stimulus);
        bench.bring_up(all_contexts(Actions::SEND));
        for number in 0..40 {
            for _ in 0..5 {
                let size = random_size(&mut rng);
                let frame = from_host(&mut rng, vec![number as u8; size]);
                bench.transmit(0, frame);
            }
            let size = random_size(&mut rng);
            send_matched(&mut bench, &mut rng, number % 4, size.max(4));
            // No faster than the cluster takes them.
            bench.run_until(100_000, "the frame of a packet", |bench| {
                bench.model.under_way() < 2
            });
        }
        let account = bench.settle();
        assert_eq!((account.frames, account.completions), (40, 40));
        bench.finish();
    });
}

#[test]
fn completions_of_our_frames_stay_inside() {
    case(1, with(started, (Clocks::BOARD, Actions::SEND)), |bench| {
        let mut rng = bench.sim.rng("packets");
        send_matched(bench, &mut rng, 0, 64);
        let account = bench.settle();
        assert_eq!((account.frames, account.completions), (1, 1));
        assert_eq!(bench.completed[0].total(), 0, "the host sees nothing of it");
        let frame = from_host(&mut rng, vec![1; 64]);
        bench.transmit(0, frame);
        bench.settle();
        assert_eq!(bench.completed[0].total(), 1);
    });
}

#[test]
fn completions_wait_for_the_host_and_none_is_lost() {
    run_test(1, |run| {
        let mut rng = run.rng("packets");
        let stimulus = Stimulus {
            completions: Pause::Random { percent: 70 },
            ..Stimulus::default()
        };
        let mut bench = bench_with(run, Clocks::EQUAL, &stimulus);
        bench.bring_up(all_contexts(Actions::SEND));
        for number in 0..100 {
            let interface = rng.random_range(0..2);
            let frame = from_host(&mut rng, vec![number; 64]);
            bench.transmit(interface, frame);
            if number % 4 == 0 {
                send_matched(&mut bench, &mut rng, 0, 64);
            }
        }
        bench.finish();
    });
}

/// The count may be off by one HER, and phases differ.
const TOLERANCE: f64 = 1.005;

/// Work, bytes of a packet, and core clocks per packet with the cluster at 40 MHz and at 250 MHz.
const RATES: [(Work, usize, [f64; 2]); 7] = [
    (Work::Take, 64, [37.5, 6.0]),
    (Work::Take, 1500, [375.0, 60.0]),
    (Work::Send, 64, [125.0, 30.0]),
    (Work::Send, 1500, [375.0, 60.0]),
    (Work::Write, 64, [100.0, 27.0]),
    (Work::Write, 1500, [537.2, 106.5]),
    (Work::Read, 64, [87.6, 30.0]),
];

#[test]
fn hers_and_host_memory_keep_their_rates() {
    run_test(1, |run| {
        for (which, clocks) in [Clocks::BOARD, Clocks::EQUAL].into_iter().enumerate() {
            let sim: Simulation<MqnicAppBlock> = run.simulation_with(&clocks.domains());
            let mut bench = prepare_work(sim, clocks);
            for (work, size, most) in RATES {
                let found = measure_work(&mut bench, work, size, 0);
                assert!(
                    found <= most[which] * TOLERANCE,
                    "{work:?}, {size} bytes, cluster {clocks}: {found} clocks a packet"
                );
            }
            bench.finish();
        }
    });
}

/// Sessions, spread over benches with different clocks and pauses.
const BENCHES: usize = 10;
const SESSIONS: usize = 10;
/// Accesses of a session.
const ACCESSES: usize = 60;

#[test]
fn hardware_and_register_model_agree_on_every_read() {
    run_test(1, |run| {
        let mut rng = run.rng("sessions");
        for number in 0..BENCHES {
            let clocks = Clocks::random(&mut rng);
            let stimulus = Stimulus::random(&mut rng);
            let mut bench = bench_with(run, clocks, &stimulus);
            let contexts = std::array::from_fn(|number| {
                Some(Context::new(number, Actions::of(rng.random_range(0..16))))
            });
            bench.bring_up(contexts);
            // Registers that are in force keep their values, so every other bench has none in force.
            if number % 2 == 1 {
                bench.withdraw();
            }
            let mut session = Session::new(bench.sim.rng("session"));
            for _ in 0..SESSIONS {
                session.run(&mut bench, ACCESSES);
                session.compare(&mut bench);
            }
            bench.finish();
        }
    });
}
