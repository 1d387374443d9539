//! `AdmissionGate` against a reference model in plain Rust that predicts every output in every cycle.

use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_tb::admission_gate::{Beat, FULL, GateParams, GateReference, marks};
use spinneret_tb::bench::{Finish, case, each};
use spinneret_tb::reference;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

const DROPPING: GateParams = GateParams {
    limit: 3,
    queue: 8,
    block: false,
    packets: 8,
    stall: false,
};
const STALLING: GateParams = GateParams {
    stall: true,
    ..DROPPING
};
const SHORT: GateParams = GateParams {
    limit: 1,
    queue: 16,
    packets: 4,
    ..DROPPING
};
const BLOCK: GateParams = GateParams {
    limit: 24,
    queue: 128,
    block: true,
    packets: 16,
    ..DROPPING
};

struct Tb<M> {
    sim: Simulation<M>,
    source: ChannelSource,
    meta_source: ChannelSource,
    sink: ChannelSink,
    meta_sink: ChannelSink,
    /// For each started frame, whether it was admitted.
    verdicts: Rc<RefCell<Vec<bool>>>,
}

/// Pauses of frames, metadata, the queue's output, and metadata's output.
type Pauses = [Pause; 4];

const NO_PAUSE: Pauses = [Pause::Never, Pause::Never, Pause::Never, Pause::Never];
const STALLED: Pause = Pause::AlwaysAfter(0);

impl<M: Model> Finish for Tb<M> {}

impl<M: Model> Tb<M> {
    fn new(run: &mut TestRun, (params, [frames, metas, out, metas_out]): (GateParams, Pauses)) -> Self {
        let mut sim = run.simulation::<M>();
        let source = sim.channel_source("s", &["data"], frames);
        let meta_source = sim.channel_source("meta_s", &["data"], metas);
        let sink = sim.channel_sink("m", &["data"], out);
        let meta_sink = sim.channel_sink("meta_m", &["data"], metas_out);
        let verdicts = Rc::new(RefCell::new(Vec::new()));
        reference::attach(&mut sim, GateReference::new(params, Rc::clone(&verdicts)));
        sim.reset();
        // Ready rises one cycle after reset.
        sim.cycle();
        Self {
            sim,
            source,
            meta_source,
            sink,
            meta_sink,
            verdicts,
        }
    }

    fn send_frame(&self, frame: &[Beat]) {
        for (index, beat) in frame.iter().enumerate() {
            self.source.send(&[beat.word(index + 1 == frame.len())]);
        }
    }

    fn send(&self, frame: &[Beat], meta: u64) {
        self.send_frame(frame);
        self.meta_source.send(&[meta]);
    }

    /// Runs until all is in, and all that was admitted is out.
    fn drain(&mut self) {
        let (source, metas) = (&self.source, &self.meta_source);
        self.sim.run_until(|_| source.is_idle() && metas.is_idle());
        self.sink.set_pause(Pause::Never);
        self.meta_sink.set_pause(Pause::Never);
        self.sim.run(300);
    }

    fn received(&self) -> (Vec<u64>, Vec<u64>) {
        let values = |sink: &ChannelSink| sink.receive_all().iter().map(|item| item.values[0]).collect();
        (values(&self.sink), values(&self.meta_sink))
    }

    /// Checks that the admitted frames left whole and in order; returns their number.
    fn check(&self, frames: &[Vec<Beat>], limit: usize) -> usize {
        let verdicts = self.verdicts.borrow();
        assert_eq!(verdicts.len(), frames.len());
        let admitted = || {
            (0..)
                .zip(frames)
                .zip(&*verdicts)
                .filter_map(|(frame, verdict)| verdict.then_some(frame))
        };
        let beats: Vec<u64> = admitted().flat_map(|(_, frame)| marks(frame, limit)).collect();
        let metas: Vec<u64> = admitted().map(|(meta, _): (u64, _)| meta).collect();
        assert_eq!(self.received(), (beats, metas));
        admitted().count()
    }
}

fn dropping(run: &mut TestRun) -> Tb<models::AdmissionGate> {
    Tb::new(run, (DROPPING, NO_PAUSE))
}

/// Frames of all lengths around that of the slot; some bad, some with gaps, some that end without a byte.
fn random_frame(rng: &mut ChaCha8Rng, limit: usize) -> Vec<Beat> {
    let longest = if rng.random_range(0..4) == 0 {
        2 * limit + 3
    } else {
        limit + 1
    };
    let count = if rng.random_range(0..3) == 0 {
        1
    } else {
        rng.random_range(1..=longest)
    };
    let odd = rng.random_range(0..10) == 0;
    (1..=count)
        .map(|number| Beat {
            data: u64::from(rng.random::<u32>()),
            keep: if odd {
                rng.random_range(0..=FULL)
            } else if number == count {
                FULL >> rng.random_range(0..=4)
            } else {
                FULL
            },
            bad: rng.random_range(0..20) == 0,
        })
        .collect()
}

fn full(count: usize) -> Vec<Beat> {
    let beat = |data| Beat {
        data,
        keep: FULL,
        bad: false,
    };
    (0..count as u64).map(beat).collect()
}

fn patterns() -> Vec<Pauses> {
    let random = |percent| Pause::Random { percent };
    let bursts = || Pause::Bursty { busy: 40, idle: 40 };
    vec![
        NO_PAUSE,
        [Pause::Never, Pause::Never, random(50), random(10)],
        [Pause::Never, random(30), random(30), random(80)],
        [random(60), Pause::Never, random(30), random(30)],
        [random(20), random(50), random(70), random(20)],
        [Pause::Never, Pause::Never, bursts(), bursts()],
        [bursts(), bursts(), bursts(), Pause::Never],
    ]
}

fn random_traffic<M: Model>(params: GateParams) {
    let dropped = Cell::new(0);
    each(0x0001_9a7e, patterns(), |run, pauses| {
        let mut rng = run.rng("frames");
        let frames: Vec<_> = (0..1500).map(|_| random_frame(&mut rng, params.limit)).collect();
        let mut tb = Tb::<M>::new(run, (params, pauses));
        (0..).zip(&frames).for_each(|(meta, frame)| tb.send(frame, meta));
        tb.drain();
        let admitted = tb.check(&frames, params.limit);
        dropped.set(dropped.get() + frames.len() - admitted);
    });
    let dropped = dropped.get();
    assert_eq!(dropped == 0, params.stall, "{dropped} frames were dropped");
}

#[test]
fn admits_frames_whole_or_not_at_all() {
    random_traffic::<models::AdmissionGate>(DROPPING);
    random_traffic::<models::AdmissionGate1>(SHORT);
    random_traffic::<models::AdmissionGateBlock>(BLOCK);
}

#[test]
fn drops_nothing_when_it_may_stall() {
    random_traffic::<models::AdmissionGateStall>(STALLING);
}

/// Metadata that comes two clocks behind its frame, whatever becomes of the frames.
fn input_is_never_stopped<M: Model>(params: GateParams) {
    each(0x0002_9a7e, patterns(), |run, [_, _, out, metas_out]| {
        let mut rng = run.rng("frames");
        let frames: Vec<_> = (0..500).map(|_| random_frame(&mut rng, params.limit)).collect();
        let mut tb = Tb::<M>::new(run, (params, [Pause::Never, Pause::Never, out, metas_out]));
        frames.iter().for_each(|frame| tb.send_frame(frame));
        let mut ends: VecDeque<u64> = frames
            .iter()
            .scan(0, |beats, frame| {
                *beats += frame.len() as u64;
                Some(*beats)
            })
            .collect();
        let (mut cycle, mut meta) = (0, 0);
        while !tb.source.is_idle() || !ends.is_empty() {
            // The frame's last beat was taken two clocks ago.
            if ends.front().is_some_and(|end| end + 1 == cycle) {
                tb.meta_source.send(&[meta]);
                ends.pop_front();
                meta += 1;
            }
            tb.sim.cycle();
            cycle += 1;
            let taken = tb.source.counts().beats;
            assert!(tb.source.is_idle() || taken == cycle, "stopped in cycle {cycle}");
        }
        tb.drain();
        tb.check(&frames, params.limit);
    });
}

#[test]
fn never_stops_a_frame() {
    input_is_never_stopped::<models::AdmissionGate>(DROPPING);
    input_is_never_stopped::<models::AdmissionGate1>(SHORT);
    input_is_never_stopped::<models::AdmissionGateBlock>(BLOCK);
}

#[test]
fn admission_needs_room_for_the_longest_frame_and_one_beat() {
    run_test(0x0003_9a7e, |run| {
        let [frames, metas, _, metas_out] = NO_PAUSE;
        let mut tb = Tb::<models::AdmissionGate>::new(run, (DROPPING, [frames, metas, STALLED, metas_out]));
        // Of eight places, four have to be free, and the first beat waits beside them: the sixth is the last that finds them.
        let frames: Vec<_> = [1, 1, 1, 1, 1, 1, 1].map(full).to_vec();
        (0..).zip(&frames).for_each(|(meta, frame)| tb.send(frame, meta));
        tb.sim.run(30);
        let expected = [true, true, true, true, true, true, false];
        assert_eq!(*tb.verdicts.borrow(), expected);
        tb.drain();
        assert_eq!(tb.check(&frames, DROPPING.limit), 6);
    });
}

#[test]
fn admission_needs_room_for_metadata() {
    run_test(0x0004_9a7e, |run| {
        let [frames, metas, out, _] = NO_PAUSE;
        let mut tb = Tb::<models::AdmissionGate1>::new(run, (SHORT, [frames, metas, out, STALLED]));
        let frames = vec![full(1); 7];
        (0..).zip(&frames).for_each(|(meta, frame)| tb.send(frame, meta));
        tb.sim.run(30);
        assert_eq!(tb.verdicts.borrow().iter().filter(|verdict| **verdict).count(), 4);
        tb.drain();
        assert_eq!(tb.check(&frames, SHORT.limit), 4);
    });
}

#[test]
fn one_extra_beat_of_an_oversize_frame_enters() {
    case(0x0005_9a7e, dropping, |tb| {
        let frames = [full(3), full(4), full(5), full(50)];
        (0..).zip(&frames).for_each(|(meta, frame)| tb.send(frame, meta));
        tb.drain();
        let counts: Vec<usize> = frames
            .iter()
            .map(|frame| marks(frame, DROPPING.limit).len())
            .collect();
        assert_eq!(counts, [3, 4, 4, 4]);
        tb.check(&frames, DROPPING.limit);
    });
}

/// Flags as they are written: c(ut), o(ver), b(ad), y (beyond), l(ast).
#[test]
fn marks_describe_the_frame() {
    let cases: [(&[u64], bool, &str); 9] = [
        (&[0xf], false, "c---l"),
        (&[0xf], true, "c-b-l"),
        (&[0x0], false, "c---l"),
        // A lane without a byte below one with a byte.
        (&[0x5], false, "c-b-l"),
        // A beat that is not full, and bytes behind it.
        (&[0x7, 0x1], false, "----- c-b-l"),
        (&[0x7, 0x0], false, "----- c---l"),
        // As long as the slot, and a last beat without bytes behind it.
        (&[0xf, 0xf, 0xf, 0x0], false, "----- ----- c---- c--yl"),
        (&[0xf, 0xf, 0xf, 0xf, 0x0], false, "----- ----- c---- co-yl"),
        (&[0xf, 0xf, 0xf, 0x5, 0xf], false, "----- ----- c---- cobyl"),
    ];
    run_test(0x0006_9a7e, |run| {
        let mut tb = Tb::<models::AdmissionGate>::new(run, (DROPPING, NO_PAUSE));
        for (keeps, bad, expected) in cases {
            let frame: Vec<_> = keeps.iter().map(|&keep| Beat { data: 1, keep, bad }).collect();
            tb.send(&frame, 0);
            tb.sim.run(10);
            let flags = |word: &u64| -> String {
                let letter = |(bit, letter): (u64, char)| if word >> bit & 1 == 1 { letter } else { '-' };
                [(40, 'c'), (39, 'o'), (38, 'b'), (37, 'y'), (36, 'l')]
                    .map(letter)
                    .iter()
                    .collect()
            };
            let found: Vec<String> = tb.received().0.iter().map(flags).collect();
            assert_eq!(found.join(" "), expected, "{keeps:x?}");
        }
    });
}

#[test]
fn costs_no_clock_while_the_queue_is_empty() {
    case(0x0007_9a7e, dropping, |tb| {
        let start = tb.sim.cycle_count();
        tb.send(&full(3), 0);
        tb.sim.run(10);
        let cycles: Vec<u64> = tb.sink.receive_all().iter().map(|item| item.cycle).collect();
        assert_eq!(cycles, [start, start + 1, start + 2]);
        tb.meta_sink.receive_all();
    });
}

fn forgets_everything<M: Model>(params: GateParams) {
    run_test(0x0008_9a7e, |run| {
        let mut rng = run.rng("frames");
        let half = || Pause::Random { percent: 50 };
        let mut tb = Tb::<M>::new(run, (params, [Pause::Never, Pause::Never, half(), half()]));
        for round in 0..200 {
            // Every frame is one beat, so that what is cut off leaves no rest behind.
            (0..20).for_each(|meta| tb.send(&random_frame(&mut rng, 0)[..1], meta));
            tb.sim.run(round % 23);
            tb.sim.reset();
            tb.received();
        }
        // Metadata whose frames were forgotten gets others.
        let orphans = tb.meta_source.waiting() - tb.source.waiting();
        assert!(orphans > 0, "no reset met a frame without its metadata");
        (0..orphans).for_each(|_| tb.send_frame(&full(1)));
        tb.drain();
        tb.received();
    });
}

#[test]
fn forgets_everything_at_reset() {
    forgets_everything::<models::AdmissionGate>(DROPPING);
    forgets_everything::<models::AdmissionGateBlock>(BLOCK);
}
