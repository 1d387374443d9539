//! `SpinneretRateLimiter`: each line of its contract, and random traffic against its reference model.

use spinneret_models::{SpinneretRateLimiter, SpinneretRateLimiterSmall};
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{STALLED, case, each, patterns, with};
use spinneret_tb::rate_limiter::{LATENCY, LimiterBench, LimiterParams, Settings};

const NEVER: (Pause, Pause) = (Pause::Never, Pause::Never);
const OPEN: Settings = Settings {
    enforce: false,
    rate: 0,
    burst: 0,
};

/// A rate that is kept.
fn limit(rate: u64, burst: u64) -> Settings {
    let enforce = true;
    Settings { enforce, rate, burst }
}

fn bench<M: Model>(run: &mut TestRun, settings: Settings) -> LimiterBench<M> {
    LimiterBench::new(run.simulation::<M>(), NEVER, settings)
}

fn small(run: &mut TestRun, settings: Settings) -> LimiterBench<SpinneretRateLimiterSmall> {
    bench(run, settings)
}

/// A frame of random bytes, sometimes with a last beat without any.
fn random_frame(rng: &mut ChaCha8Rng, longest: usize) -> Frame {
    let count = rng.random_range(1..=longest);
    let frame = Frame::new((0..count).map(|_| rng.random()).collect::<Vec<u8>>());
    let frame = frame
        .with_id(rng.random_range(0..2))
        .with_dest(rng.random_range(0..2))
        .with_user(rng.random_range(0..2));
    if rng.random_range(0..8) == 0 {
        frame.with_null_last()
    } else {
        frame
    }
}

/// Often what matters at the ends, else anything up to two beats a clock.
fn random_settings(rng: &mut ChaCha8Rng, params: LimiterParams) -> Settings {
    let fastest = params.bytes as u64 * params.period;
    let rates = [
        0,
        1,
        fastest / 10,
        fastest / 2,
        fastest,
        rng.random_range(0..fastest),
    ];
    let most = (1 << params.credit) - 1;
    let bursts = [0, 1, params.bytes as u64, most, rng.random_range(0..=most)];
    Settings {
        enforce: rng.random_range(0..5) > 0,
        rate: rates[rng.random_range(0..rates.len())],
        burst: bursts[rng.random_range(0..bursts.len())],
    }
}

fn random_traffic<M: Model>() {
    let params = LimiterParams::of::<M>();
    each(0x0001_1191, patterns(), |run, pauses| {
        let mut rng = run.rng("frames");
        let mut tb = LimiterBench::new(run.simulation::<M>(), pauses, OPEN);
        tb.source.monitor().allow_null_last();
        tb.sink.monitor().allow_null_last();
        let sent: Vec<_> = (0..500)
            .map(|_| random_frame(&mut rng, 8 * params.bytes))
            .collect();
        sent.iter().for_each(|frame| tb.source.send(frame.clone()));
        for _ in 0..60 {
            let settings = random_settings(&mut rng, params);
            tb.set(settings);
            tb.sim.run(rng.random_range(1..100));
        }
        tb.set(OPEN);
        tb.drain();
        let received = tb.sink.receive_all().into_iter().map(|received| received.frame);
        assert_eq!(received.collect::<Vec<_>>(), sent);
        let bytes: usize = sent.iter().map(|frame| frame.bytes.len()).sum();
        assert_eq!(tb.sim.get("frames_passed"), sent.len() as u64);
        assert_eq!(tb.sim.get("bytes_passed"), bytes as u64);
    });
}

#[test]
fn every_frame_passes_unchanged_whatever_the_settings() {
    random_traffic::<SpinneretRateLimiter>();
    random_traffic::<SpinneretRateLimiterSmall>();
}

/// Frames through an idle block, and when they left, counted from the first cycle in which they can be taken.
fn times<M: Model>(tb: &mut LimiterBench<M>, sizes: &[usize]) -> Vec<(u64, u64)> {
    let start = tb.sim.cycle_count();
    sizes
        .iter()
        .for_each(|size| tb.source.send(Frame::new(vec![7; *size])));
    tb.drain();
    let time = |Received {
                    first_cycle,
                    last_cycle,
                    ..
                }| (first_cycle - start, last_cycle - start);
    tb.sink.receive_all().into_iter().map(time).collect()
}

#[test]
fn a_beat_takes_three_clocks_and_none_is_lost() {
    for settings in [OPEN, limit(64 * 1024, 2 * 64)] {
        run_test(0x0002_1191, |run| {
            let mut tb = bench::<SpinneretRateLimiter>(run, settings);
            let expected = [(LATENCY, 3), (4, 5), (6, 6), (7, 30)];
            assert_eq!(times(&mut tb, &[64, 65, 1, 1500]), expected);
            assert_eq!(tb.sim.get("cycles_held"), 0);
        });
    }
}

#[test]
fn a_frame_waits_until_the_debt_of_the_one_before_is_paid() {
    run_test(0x0003_1191, |run| {
        // A byte in every clock, nothing is saved: 10 bytes from clock 3 on cost 10 clocks, 3 bytes cost 3.
        let mut tb = small(run, limit(8, 0));
        let expected = [(3, 5), (13, 13), (16, 16), (20, 20)];
        assert_eq!(times(&mut tb, &[10, 3, 4, 1]), expected);
        // The second is at the gate in clock 5, and passes in clock 12; the others wait 2 and 3 clocks.
        assert_eq!(tb.sim.get("cycles_held"), 7 + 2 + 3);
    });
}

#[test]
fn saved_credit_passes_at_once_up_to_the_burst() {
    case(0x0004_1191, with(small, limit(8, 20)), |tb| {
        tb.sim.run(1000);
        // 20 bytes of credit, and a byte in every clock: six frames of 4 bytes leave 2 bytes, the seventh a debt of 1.
        let first: Vec<u64> = times(tb, &[4; 9]).into_iter().map(|time| time.0).collect();
        assert_eq!(first, [3, 4, 5, 6, 7, 8, 9, 11, 15]);
    });
}

#[test]
fn started_frame_is_not_throttled() {
    case(0x0005_1191, with(small, limit(0, 0)), |tb| {
        // Without any rate the first frame passes at one beat a clock, and the second never begins.
        tb.source.send(Frame::new(vec![1; 400]));
        tb.source.send(Frame::new(vec![2; 4]));
        tb.sim.run(5000);
        let received = tb.sink.receive_all();
        assert_eq!(received.len(), 1);
        assert_eq!(received[0].last_cycle - received[0].first_cycle, 99);
        assert!(tb.sink.is_between_frames());
        // Settings are in force in their clock: the frame leaves in the next one.
        tb.set(OPEN);
        let cycle = tb.sim.cycle_count();
        tb.drain();
        assert_eq!(
            tb.sink.receive().map(|received| received.first_cycle),
            Some(cycle + 1)
        );
    });
}

#[test]
fn debt_ends_at_the_width_of_the_credit() {
    case(0x0006_1191, with(small, limit(1, 0)), |tb| {
        // 1000 bytes leave a debt of 2^8 bytes, which an eighth of a byte a clock pays in 2048 clocks.
        let next = 252 + 2048 + 1;
        assert_eq!(times(tb, &[1000, 4]), [(3, 252), (next, next)]);
    });
}

#[test]
fn a_beat_without_bytes_costs_nothing() {
    case(0x0007_1191, with(small, limit(0, 0)), |tb| {
        tb.source.monitor().allow_null_last();
        tb.sink.monitor().allow_null_last();
        for _ in 0..3 {
            tb.source.send(Frame::new(Vec::new()).with_null_last());
        }
        tb.drain();
        assert_eq!((tb.sink.receive_all().len(), tb.sim.get("bytes_passed")), (3, 0));
    });
}

#[test]
fn four_beats_are_inside_while_the_output_stalls() {
    run_test(0x0008_1191, |run| {
        let settings = limit(8, 100);
        let mut tb = small(run, settings);
        tb.sink.set_pause(STALLED);
        tb.source.send(Frame::new(vec![1; 40]));
        tb.sim.run(50);
        assert_eq!(tb.source.monitor().counts().beats, 4);
        // A frame that waits for the output is not throttled by the credit.
        assert_eq!(tb.sim.get("cycles_held"), 0);
        tb.sink.set_pause(Pause::Never);
        tb.drain();
        assert_eq!(tb.sink.receive_all().len(), 1);
    });
}

/// Frames of whole beats that wait pass exactly at the rate, if a beat can be saved.
#[test]
fn the_rate_is_kept_to_the_step() {
    let rates = [1, 100, 1999, 16 * 1024, 40_000, 65_535];
    each(0x0009_1191, rates, |run, rate| {
        let mut rng = run.rng("frames");
        let mut tb = bench::<SpinneretRateLimiter>(run, limit(rate, 64));
        let frames = if rate == 1 { 3 } else { 100 };
        let sizes: Vec<_> = (0..frames).map(|_| 64 * rng.random_range(1..=24_usize)).collect();
        tb.sim.set_cycle_limit(10_000_000);
        let times = times(&mut tb, &sizes);
        // Credit comes in from before the first beat on, and no more than a beat of it is saved.
        let before: usize = sizes[..frames - 1].iter().sum();
        let (bytes, clocks) = (before as u64 * 1024, times[frames - 1].0 - times[0].0);
        assert!(
            clocks * rate <= bytes + rate,
            "{clocks} clocks for {before} bytes"
        );
        assert!(
            (clocks + 1) * rate + 64 * 1024 >= bytes,
            "{clocks} clocks for {before} bytes"
        );
    });
}

/// In no window of any length more passes than the contract says.
#[test]
fn no_window_has_more_than_burst_rate_and_one_frame() {
    let settings = [(3, 0), (9, 20), (20, 127), (31, 5)];
    each(0x000a_1191, settings, |run, (rate, burst)| {
        let mut rng = run.rng("frames");
        let longest = 60;
        let mut tb = small(run, limit(rate, burst));
        for _ in 0..40 {
            for _ in 0..rng.random_range(0..8) {
                tb.source.send(Frame::new(vec![3; rng.random_range(1..=longest)]));
            }
            tb.sim.run(rng.random_range(1..200));
        }
        tb.drain();
        tb.sink.receive_all();
        let passed = tb.passed();
        let most = (burst + longest as u64) as i64 * 8 + 2 * rate as i64;
        // The most that any window has had above its rate ends here.
        let mut above = 0_i64;
        for (cycle, bytes) in passed.iter().enumerate() {
            above = (above + *bytes as i64 * 8 - rate as i64).max(0);
            assert!(above <= most, "a window that ends in cycle {cycle}");
        }
    });
}

#[test]
fn recovers_from_a_reset_at_any_time() {
    each(0x000b_1191, patterns(), |run, pauses| {
        let mut rng = run.rng("frames");
        let settings = limit(12, 50);
        let sim = run.simulation::<SpinneretRateLimiterSmall>();
        let mut tb = LimiterBench::new(sim, pauses, settings);
        for _ in 0..40 {
            for _ in 0..10 {
                tb.source.send(Frame::new(vec![5; rng.random_range(1..40)]));
            }
            tb.sim.run(rng.random_range(1..40));
            tb.sim.reset();
            for name in ["frames_passed", "bytes_passed", "cycles_held"] {
                assert_eq!(tb.sim.get(name), 0, "{name}");
            }
        }
        tb.drain();
        tb.sink.receive_all();
    });
}
