//! `AdmissionGate` against a reference model in plain Rust that predicts every output in every cycle.

use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_tb::bench::{Finish, case, each};
use spinneret_tb::reference;
use spinneret_tb::reference::{OutputRegister, PassQueue, Pins, Reference};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// Lowest bit of keep.
const KEEP_AT: u64 = 32;
/// Bit of last.
const LAST_AT: u64 = 36;
/// Bit that says that the frame is bad, at the input.
const BAD_AT: u64 = 37;
/// All lanes of a beat.
const FULL: u64 = 0xf;
/// Places for verdicts, that in the output register included.
const VERDICTS: usize = 9;

/// Parameters of a gate.
#[derive(Clone, Copy, Debug)]
struct GateParams {
    /// Beats of a large slot.
    limit: usize,
    /// Beats that can wait.
    queue: u64,
    /// The queue is in block RAM.
    block: bool,
    /// Frames that can be in flight.
    packets: usize,
    /// A frame waits for room.
    stall: bool,
}

/// A beat of a frame; whether it is the last follows from its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Beat {
    /// Data.
    data: u64,
    /// Lanes that have a byte.
    keep: u64,
    /// The frame is bad, if this is its last beat.
    bad: bool,
}

impl Beat {
    /// The beat at the input.
    fn word(self, last: bool) -> u64 {
        u64::from(self.bad) << BAD_AT | u64::from(last) << LAST_AT | self.keep << KEEP_AT | self.data
    }
}

/// The mark of the last of these beats, the first ones of a frame: what enters the queue, if anything.
fn mark(beats: &[Beat], ends: bool, limit: usize) -> Option<u64> {
    let number = beats.len() - 1;
    let beyond = number >= limit;
    if beyond && !ends {
        return None;
    }
    let bad = |number: usize| {
        let Beat { keep, bad, .. } = beats[number];
        let lanes_filled = keep & (keep + 1) == 0;
        let gap_before = beats[..number].iter().any(|earlier| earlier.keep != FULL);
        !lanes_filled || (gap_before && keep != 0) || (bad && ends && number + 1 == beats.len())
    };
    // The last beat after the slot stands for all of them.
    let stands_for = if beyond { limit..=number } else { number..=number };
    let over = beyond && stands_for.clone().any(|number| beats[number].keep != 0);
    let flags = [
        ends,
        beyond,
        stands_for.clone().any(bad),
        over,
        ends || number + 1 == limit,
    ];
    let flags = (0..)
        .zip(flags)
        .map(|(bit, flag)| u64::from(flag) << (LAST_AT + bit));
    let Beat { data, keep, .. } = beats[number];
    Some(flags.sum::<u64>() | keep << KEEP_AT | data)
}

/// All that enters of a frame.
fn marks(frame: &[Beat], limit: usize) -> Vec<u64> {
    (1..=frame.len())
        .filter_map(|count| mark(&frame[..count], count == frame.len(), limit))
        .collect()
}

/// The contract of the gate.
#[derive(Debug)]
struct GateReference {
    params: GateParams,
    queue: PassQueue,
    /// The beat in the register after the queue.
    output: Option<u64>,
    /// Beats of the frame that has begun; empty between frames.
    frame: Vec<Beat>,
    admitted: bool,
    /// Frames that wait for their metadata, and metadata, with the cycle in which they came.
    verdicts: VecDeque<(bool, u64)>,
    metas: VecDeque<(u64, u64)>,
    /// Admitted frames whose metadata has not left.
    under_way: usize,
    cycle: u64,
    /// All verdicts, for the test.
    log: Rc<RefCell<Vec<bool>>>,
}

impl GateReference {
    /// A gate after reset, which writes down whether each frame that begins is admitted.
    fn new(params: GateParams, log: Rc<RefCell<Vec<bool>>>) -> Self {
        Self {
            params,
            queue: PassQueue::new(
                params.queue,
                if params.block {
                    OutputRegister::FirstWaiting
                } else {
                    OutputRegister::None
                },
            ),
            output: None,
            frame: Vec::new(),
            admitted: false,
            verdicts: VecDeque::new(),
            metas: VecDeque::new(),
            under_way: 0,
            cycle: 0,
            log,
        }
    }

    /// Takes a beat in; returns what enters the queue.
    fn accept(&mut self, word: u64, room: bool) -> Option<u64> {
        if self.frame.is_empty() {
            self.admitted = room;
            self.log.borrow_mut().push(room);
            self.verdicts.push_back((room, self.cycle));
            self.under_way += usize::from(room);
        }
        self.frame.push(Beat {
            data: word & 0xffff_ffff,
            keep: word >> KEEP_AT & FULL,
            bad: word >> BAD_AT & 1 == 1,
        });
        let ends = word >> LAST_AT & 1 == 1;
        let entered = mark(&self.frame, ends, self.params.limit).filter(|_| self.admitted);
        if ends {
            self.frame.clear();
        }
        entered
    }

    /// Metadata meets the verdict of its frame.
    fn step_metas(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let there = |came: u64| came < self.cycle;
        let verdict = self.verdicts.front().copied().filter(|(_, came)| there(*came));
        let room = self.cycle > 0 && self.metas.len() <= self.params.packets;
        pins.expect("meta_s_ready", verdict.is_some() && room)?;
        let output = self.metas.front().copied().filter(|(_, came)| there(*came));
        pins.expect("meta_m_valid", output.is_some())?;
        if let Some((meta, _)) = output {
            pins.expect("meta_m_data", meta)?;
        }
        if pins.fires("meta_m") {
            self.metas.pop_front();
            self.under_way -= 1;
        }
        if let Some((admitted, _)) = verdict.filter(|_| pins.fires("meta_s")) {
            self.verdicts.pop_front();
            if admitted {
                self.metas.push_back((pins.value("meta_s_data"), self.cycle));
            }
        }
        Ok(())
    }
}

impl Reference for GateReference {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        let limit = self.params.limit as u64;
        let places = self.cycle > 0 && self.under_way < self.params.packets;
        let room = places && !self.queue.almost_full(limit);
        let within = !self.frame.is_empty();
        let stalls = self.params.stall && !within && !room;
        let full = self.verdicts.len() == VERDICTS;
        pins.expect("s_ready", self.cycle > 0 && !full && !stalls)?;
        let takes = pins.fires("s");
        pins.expect("dropped", takes && !within && !room)?;
        self.step_metas(pins)?;
        let entered = takes.then(|| self.accept(pins.value("s_data"), room)).flatten();
        if entered.is_some() && !self.queue.ready() {
            return Err("a beat enters the queue, which is full".to_owned());
        }
        pins.expect("m_valid", self.output.is_some())?;
        if let Some(data) = self.output {
            pins.expect("m_data", data)?;
        }
        let free = self.output.is_none() || pins.high("m_ready");
        if free {
            self.output = self.queue.output(entered);
        }
        self.queue.step(entered, free);
        self.cycle += 1;
        Ok(())
    }

    fn reset(&mut self) {
        *self = Self::new(self.params, Rc::clone(&self.log));
    }

    fn inside(&self) -> usize {
        self.queue.inside() + usize::from(self.output.is_some()) + self.verdicts.len() + self.metas.len()
    }
}

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

/// Metadata that comes two clocks after its frame, whatever becomes of the frames.
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
        // Four of eight places must be free, and the first beat waits in the output register: the sixth frame is the last one admitted.
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
        // A beat that is not full, and bytes after it.
        (&[0x7, 0x1], false, "----- c-b-l"),
        (&[0x7, 0x0], false, "----- c---l"),
        // As long as the slot, and a last beat without bytes after it.
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
fn costs_one_clock_while_the_queue_is_empty() {
    case(0x0007_9a7e, dropping, |tb| {
        let start = tb.sim.cycle_count();
        tb.send(&full(3), 0);
        tb.sim.run(10);
        let cycles: Vec<u64> = tb.sink.receive_all().iter().map(|item| item.cycle).collect();
        assert_eq!(cycles, [start + 1, start + 2, start + 3]);
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
