//! `pspin_rx_inject`: each line of its contract, and random traffic.

use spinneret_models::PspinRxInject;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, each, patterns, with};

/// Beats of the longest frame that handlers can pass.
const LONGEST: usize = 150;
/// Bytes of a beat.
const BEAT: usize = 64;

struct Tb {
    sim: Simulation<PspinRxInject>,
    unmatched: StreamSource,
    passed: StreamSource,
    host: StreamSink,
}

impl Finish for Tb {}

const NEVER: (Pause, Pause) = (Pause::Never, Pause::Never);

impl Tb {
    /// Pauses of the sources and of the sink.
    fn new(run: &mut TestRun, (sources, sink): (Pause, Pause)) -> Self {
        let mut sim = run.simulation::<PspinRxInject>();
        let unmatched = sim.source("s_axis_nic_rx", sources.clone());
        let passed = sim.source("s_axis_pspin_rx", sources);
        let host = sim.sink("m_axis_nic_rx", sink);
        sim.reset();
        // Ready is low in the first clock after reset.
        sim.run(1);
        Self {
            sim,
            unmatched,
            passed,
            host,
        }
    }

    /// Runs until that many frames have reached the host.
    fn receive(&mut self, frames: u64) -> Vec<Received> {
        let host = &self.host;
        self.sim.run_until(|_| host.total() >= frames);
        self.host.receive_all()
    }
}

/// A frame with a random side band.
fn frame(rng: &mut ChaCha8Rng, bytes: usize) -> Frame {
    let bytes: Vec<u8> = (0..bytes).map(|_| rng.random()).collect();
    Frame::new(bytes)
        .with_id(rng.random_range(0..1 << 8))
        .with_dest(rng.random_range(0..1 << 16))
        .with_user(rng.random::<u128>() >> (128 - 97))
}

#[test]
fn all_frames_reach_the_host_unchanged_in_the_order_of_their_stream() {
    each(0x0001_12c4, patterns(), |run, pauses| {
        let mut rng = run.rng("traffic");
        let mut tb = Tb::new(run, pauses);
        let mut sent = [Vec::new(), Vec::new()];
        for _ in 0..500 {
            let bytes = rng.random_range(1..=6 * BEAT);
            let frame = frame(&mut rng, bytes);
            let stream = usize::from(rng.random::<bool>());
            [&tb.unmatched, &tb.passed][stream].send(frame.clone());
            sent[stream].push(frame);
        }
        let mut left = sent.map(|frames| frames.into_iter().peekable());
        for received in tb.receive(500) {
            let found = left
                .iter_mut()
                .find_map(|frames| frames.next_if_eq(&received.frame));
            assert!(
                found.is_some(),
                "{:x?} is not the next of a stream",
                received.frame
            );
        }
        assert!(left.iter_mut().all(|frames| frames.next().is_none()));
    });
}

#[test]
fn small_frames_of_both_streams_take_one_clock_each() {
    case(0x0002_12c4, with(Tb::new, NEVER), |tb| {
        for _ in 0..500 {
            tb.unmatched.send(Frame::new([1; BEAT]));
            tb.passed.send(Frame::new([2; BEAT]));
        }
        let start = tb.sim.cycle_count();
        let received = tb.receive(1000);
        let sides: Vec<u8> = received.iter().map(|received| received.frame.bytes[0]).collect();
        assert_eq!(sides, [1, 2].repeat(500), "in turn");
        assert_eq!(
            received.last().map(|last| last.last_cycle - start),
            Some(1000),
            "the first after one clock, then one a clock"
        );
    });
}

/// The longest wait of small frames of one stream, while the other one never pauses and has longest frames, in clocks
/// beyond those of a frame that does not wait.
fn longest_wait(tb: &mut Tb, rng: &mut ChaCha8Rng, passed_waits: bool) -> u64 {
    let (patient, busy) = if passed_waits {
        (&tb.passed, &tb.unmatched)
    } else {
        (&tb.unmatched, &tb.passed)
    };
    (0..200).for_each(|_| busy.send(Frame::new(vec![7; BEAT * LONGEST])));
    let mut longest = 0;
    for _ in 0..60 {
        tb.sim.run(rng.random_range(LONGEST as u64..2 * LONGEST as u64));
        tb.host.receive_all();
        let offered = tb.sim.cycle_count();
        patient.send(Frame::new([9; BEAT]));
        let arrived = loop {
            tb.sim.cycle();
            let frames = tb.host.receive_all();
            if let Some(found) = frames.iter().find(|received| received.frame.bytes[0] == 9) {
                break found.first_cycle;
            }
        };
        longest = longest.max(arrived - offered - 1);
    }
    assert!(!busy.is_idle(), "the other stream never pauses");
    busy.clear();
    longest
}

#[test]
fn a_frame_waits_for_one_frame_of_the_other_stream_at_most() {
    each(
        0x0003_12c4,
        [("unmatched", false), ("passed", true)],
        |run, (name, passed_waits)| {
            let mut rng = run.rng("gaps");
            let mut tb = Tb::new(run, NEVER);
            let longest = longest_wait(&mut tb, &mut rng, passed_waits);
            println!("{name}: at most {longest} clocks");
            assert!(longest < LONGEST as u64, "{longest} clocks");
            assert!(longest > LONGEST as u64 / 2, "no frame has met the other stream");
            tb.sim.run(400);
            tb.host.receive_all();
        },
    );
}

#[test]
fn recovers_from_a_reset_at_any_time() {
    each(0x0004_12c4, patterns(), |run, pauses| {
        let mut rng = run.rng("traffic");
        let mut tb = Tb::new(run, pauses);
        for _ in 0..40 {
            for _ in 0..10 {
                tb.unmatched.send(frame(&mut rng, 200));
                tb.passed.send(frame(&mut rng, 100));
            }
            tb.sim.run(rng.random_range(1..30));
            tb.sim.reset();
            tb.unmatched.clear();
            tb.passed.clear();
            tb.host.receive_all();
            let before = tb.host.total();
            let last = frame(&mut rng, 100);
            tb.passed.send(last.clone());
            let received = tb.receive(before + 1);
            assert!(received.iter().map(|received| &received.frame).eq([&last]));
        }
    });
}
