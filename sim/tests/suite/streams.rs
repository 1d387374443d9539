//! Sources, sinks and monitors on designs that obey the rules, and on designs that break each of them.

use crate::support::{assert_contains, limited, panic_message, panics_with, random_frames};
use spinneret_fixtures::{
    FixtureChangesPayload, FixtureDropsValid, FixtureFork, FixtureIgnoresReset, FixtureLosesBeat,
    FixtureReadyNever, FixtureReorders, FixtureSlice, FixtureWide,
};
use spinneret_sim::model::ModelError;
use spinneret_sim::prelude::*;
use spinneret_sim::stream::Counts;

const PAUSES: &[Pause] = &[
    Pause::Never,
    Pause::Random { percent: 50 },
    Pause::Random { percent: 90 },
    Pause::Bursty { busy: 8, idle: 8 },
];

/// Sends frames through a design that passes a stream on, and returns what comes out.
fn pass<M: Model>(frames: &[Frame], pauses: [Pause; 2]) -> Vec<Frame> {
    let mut sim = limited::<M>(100_000);
    let [source_pause, sink_pause] = pauses;
    let source = sim.source("s_axis", source_pause);
    let sink = sim.sink("m_axis", sink_pause);
    sim.reset();
    frames.iter().for_each(|frame| source.send(frame.clone()));
    sim.run_until(|_| sink.total() == frames.len() as u64);
    let received = sink
        .receive_all()
        .into_iter()
        .map(|received| received.frame)
        .collect();
    sim.finish();
    received
}

#[test]
fn a_good_slice_passes_everything_under_all_pauses() {
    run_test(1, |run| {
        let frames = random_frames(&mut run.rng("frames"), 100, 40);
        for source in PAUSES {
            for sink in PAUSES {
                assert_eq!(
                    pass::<FixtureSlice>(&frames, [source.clone(), sink.clone()]),
                    frames
                );
            }
        }
    });
}

#[test]
fn monitors_count_beats_frames_stalls_and_idle_cycles() {
    let mut sim = limited::<FixtureSlice>(1000);
    let source = sim.source("s_axis", Pause::Never);
    let sink = sim.sink("m_axis", Pause::Cycle(vec![false, true]));
    sim.reset();
    source.send(Frame::new([1; 10]));
    source.send(Frame::new([2; 4]));
    sim.run(12);
    let counts = sink.monitor().counts();
    assert_eq!((counts.beats, counts.frames), (4, 2));
    assert!(counts.stalls > 0 && counts.idles > 0, "{counts:?}");
    let counts = source.monitor().counts();
    assert_eq!((counts.beats, counts.frames), (4, 2));
    let span = source.monitor().last_frame().expect("frames were sent");
    assert_eq!(span.last_cycle, span.first_cycle);
    source.monitor().clear();
    assert_eq!(source.monitor().last_frame(), None);
    assert_eq!(source.monitor().counts(), Counts::default());
    let [first, second] = sink.receive_all().try_into().expect("two frames");
    assert_eq!(
        first.last_cycle - first.first_cycle,
        4,
        "a beat every other cycle"
    );
    assert_eq!(second.first_cycle, second.last_cycle);
    sim.finish();
}

#[test]
fn full_throughput_is_one_beat_per_cycle() {
    let mut sim = limited::<FixtureSlice>(2000);
    let source = sim.source("s_axis", Pause::Never);
    let sink = sim.sink("m_axis", Pause::Never);
    sim.reset();
    (0..100).for_each(|_| source.send(Frame::new([0; 40])));
    sim.run_until(|_| sink.total() == 100);
    let received = sink.receive_all();
    assert_eq!(received[99].last_cycle - received[0].first_cycle, 999);
    let sent = source.monitor().last_frame().expect("frames were sent");
    assert_eq!(
        received[99].first_cycle - sent.first_cycle,
        1,
        "the latency of a register"
    );
    assert_eq!(sent.last_cycle - sent.first_cycle, 9);
    sim.finish();
}

/// The result of random frames through a design, with pauses that show its fault.
fn fault<M: Model>() -> String {
    let frames = random_frames(&mut support_rng(), 50, 40);
    let pauses = [Pause::Never, Pause::Bursty { busy: 8, idle: 8 }];
    panic_message(|| assert!(pass::<M>(&frames, pauses) == frames, "the frames differ"))
}

fn support_rng() -> impl Rng {
    Seed(1).rng("frames")
}

#[test]
fn a_valid_that_drops_early_is_reported() {
    let message = fault::<FixtureDropsValid>();
    assert_contains(&message, "m_axis: valid went low before ready was high");
    assert_contains(&message, "fixture_drops_valid, cycle ");
    assert!(
        message.ends_with("(reproduce with SPINNERET_SEED=0x0)"),
        "{message}"
    );
}

#[test]
fn a_changed_payload_is_reported() {
    let message = fault::<FixtureChangesPayload>();
    let expected = "m_axis: m_axis_tdata changed while valid was high and ready was low: from 0x";
    assert_contains(&message, expected);
}

#[test]
fn a_lost_beat_is_reported() {
    assert_eq!(fault::<FixtureLosesBeat>(), "the frames differ");
}

#[test]
fn reordered_beats_are_reported() {
    let frames = [Frame::new([1; 4]), Frame::new([2; 4])];
    let received = pass::<FixtureReorders>(&frames, [Pause::Never, Pause::Never]);
    assert_eq!(received, [frames[1].clone(), frames[0].clone()]);
}

#[test]
fn a_valid_in_reset_is_reported() {
    let message = fault::<FixtureIgnoresReset>();
    assert_contains(&message, "m_axis: valid is high in reset");
}

#[test]
fn a_deadlock_reaches_the_cycle_limit() {
    let mut sim = limited::<FixtureReadyNever>(50);
    let source = sim.source("s_axis", Pause::Never);
    let sink = sim.sink("m_axis", Pause::Never);
    sim.reset();
    source.send(Frame::new([1; 10]));
    let message = panic_message(|| sim.run_until(|_| sink.total() == 1));
    assert_eq!(
        message,
        "fixture_ready_never, cycle 50: the limit of 50 cycles is reached; is there a deadlock?
  s_axis: source has sent 0 frames, 1 are waiting, beat 0 is next, valid=1 ready=0
  s_axis: monitor has seen 0 frames, 0 beats, 46 stalls, valid=1 ready=0
  m_axis: sink has received 0 frames, 0 were not taken, 0 bytes of the next, valid=0 ready=1
  m_axis: monitor has seen 0 frames, 0 beats, 0 stalls, valid=0 ready=1 (reproduce with SPINNERET_SEED=0x0)"
    );
}

/// The message of the monitor of a correct slice when a source sends this.
fn broken_beats(allow: impl Fn(&StreamSource), frame: Frame) -> String {
    let mut sim = limited::<FixtureSlice>(100);
    let source = sim.source("s_axis", Pause::Never);
    allow(&source);
    sim.reset();
    source.send(frame);
    panic_message(|| sim.run(10))
}

#[test]
fn a_last_beat_without_bytes_must_be_allowed() {
    let frames = [
        Frame::new([1; 4]).with_null_last(),
        Frame::new([2; 3]).with_null_last(),
        Frame::new([]),
    ];
    for frame in &frames {
        let message = broken_beats(|_| (), frame.clone());
        assert!(
            message.contains("has no bytes: tkeep is 0x0") || message.contains("is not full: tkeep is 0x7"),
            "{message}"
        );
    }
    let mut sim = limited::<FixtureSlice>(100);
    let source = sim.source("s_axis", Pause::Never);
    let sink = sim.sink("m_axis", Pause::Never);
    source.monitor().allow_null_last();
    sink.monitor().allow_null_last();
    sim.reset();
    frames.iter().for_each(|frame| source.send(frame.clone()));
    sim.run(20);
    let received: Vec<Frame> = sink
        .receive_all()
        .into_iter()
        .map(|received| received.frame)
        .collect();
    assert_eq!(received, frames);
    sim.finish();
}

/// `tkeep`, `tlast` and `tid` of a beat.
type Beat = (u8, bool, u8);

/// A stream that is driven beat by beat.
fn by_hand(beats: &[Beat], allow_sparse: bool) -> Result<Counts, String> {
    let mut sim = limited::<FixtureSlice>(100);
    let monitor = sim.monitor("s_axis");
    if allow_sparse {
        monitor.allow_sparse();
    }
    sim.reset();
    sim.dut.set_s_axis_tvalid(true);
    sim.dut.set_m_axis_tready(true);
    for &(keep, last, id) in beats {
        sim.dut.set_s_axis_tkeep(keep);
        sim.dut.set_s_axis_tlast(last);
        sim.dut.set_s_axis_tid(id);
        sim.try_cycle().map_err(|failure| failure.cause.to_string())?;
    }
    Ok(monitor.counts())
}

#[test]
fn the_rules_of_tkeep_and_tid_are_checked() {
    let cases: &[(&[Beat], &str)] = &[
        (
            &[(0b0110, true, 0)],
            "s_axis: the bytes of a beat are not in the lowest lanes: tkeep is 0x6",
        ),
        (
            &[(0b0111, false, 0)],
            "s_axis: a beat that is not the last of its frame is not full: tkeep is 0x7",
        ),
        (
            &[(0b0000, false, 0)],
            "s_axis: a beat that is not the last of its frame is not full: tkeep is 0x0",
        ),
        (
            &[(0b0000, true, 0)],
            "s_axis: the last beat of a frame has no bytes: tkeep is 0x0",
        ),
        (
            &[(0b1111, false, 1), (0b1111, true, 2)],
            "s_axis: tid and tdest changed within a frame: from (1, 0) to (2, 0)",
        ),
    ];
    for (beats, expected) in cases {
        assert_eq!(by_hand(beats, false), Err((*expected).to_owned()));
    }
    let good: &[Beat] = &[(0b1111, false, 1), (0b0011, true, 1), (0b0001, true, 2)];
    assert_eq!(
        by_hand(good, false).map(|counts| (counts.beats, counts.frames)),
        Ok((3, 2))
    );
    assert_eq!(
        by_hand(&[(0b0110, false, 0)], true).map(|counts| counts.beats),
        Ok(1)
    );
}

#[test]
fn unfinished_items_are_reported_at_the_end() {
    let mut sim = limited::<FixtureSlice>(100);
    let source = sim.source("s_axis", Pause::Never);
    let _sink = sim.sink("m_axis", Pause::AlwaysAfter(1));
    sim.reset();
    source.send(Frame::new([1; 4]));
    source.send(Frame::new([2; 40]));
    sim.run(20);
    let message = panic_message(|| sim.finish());
    assert_contains(
        &message,
        "the test ended too early:\n  s_axis: source has sent 1 frames, 1 are",
    );
    assert_contains(
        &message,
        "\n  m_axis: sink has received 1 frames, 1 were not taken",
    );
}

#[test]
fn a_reset_discards_what_is_in_flight() {
    let mut sim = limited::<FixtureSlice>(200);
    let source = sim.source("s_axis", Pause::Never);
    let sink = sim.sink("m_axis", Pause::Never);
    sim.reset();
    source.send(Frame::new([1; 40]));
    source.send(Frame::new([2; 40]));
    sim.run(5);
    assert!(!sink.is_between_frames());
    sim.reset();
    sim.run(20);
    let received = sink.receive_all();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].frame.bytes, [2; 40]);
    sim.finish();
}

#[test]
fn missing_streams_are_rejected() {
    let mut sim = limited::<FixtureSlice>(1);
    let error = |result: Result<StreamSource, ModelError>| result.expect_err("no such stream").to_string();
    let message = error(StreamSource::attach(&mut sim, "x_axis", Pause::Never));
    assert_contains(
        &message,
        "fixture_slice has no port `x_axis_tdata`; its ports are clk, ",
    );
    assert_eq!(
        error(StreamSource::attach(&mut sim, "m_axis", Pause::Never)),
        "port `m_axis_tdata` of fixture_slice is an output of the design; an input is needed"
    );
    let mut wide = Simulation::new(FixtureWide::new()).expect("it has a clock");
    wide.reset();
    assert_eq!(wide.cycle_count(), 4);
}

#[test]
fn frames_that_do_not_fit_the_ports_are_rejected() {
    let mut sim = limited::<FixtureSlice>(1);
    let source = sim.source("s_axis", Pause::Never);
    let refusal = |frame: Frame| panic_message(|| source.send(frame));
    assert_eq!(
        refusal(Frame::new([1]).with_id(4)),
        "s_axis: tid is 2 bits wide: 0x4 does not fit"
    );
    assert_eq!(
        refusal(Frame::new([1]).with_dest(1)),
        "s_axis: tdest is 0 bits wide: 0x1 does not fit"
    );
    assert_eq!(
        refusal(Frame::new([1]).with_user(1 << 97)),
        "s_axis: tuser is 97 bits wide: 0x2000000000000000000000000 does not fit"
    );
}

#[test]
fn wide_streams_with_two_sinks_keep_frames_whole() {
    run_test(7, |run| {
        let mut sim = run.simulation::<FixtureFork>();
        let source = sim.source("s_axis", Pause::Random { percent: 30 });
        let sinks = ["a_axis", "b_axis"].map(|name| sim.sink(name, Pause::Random { percent: 30 }));
        sim.reset();
        let mut frames = random_frames(&mut run.rng("frames"), 200, 1000);
        for frame in &mut frames {
            *frame = Frame::new(frame.bytes.clone());
            source.send(frame.clone());
        }
        sim.run_until(|_| sinks.iter().map(|sink| sink.total()).sum::<u64>() == 200);
        for (first, sink) in sinks.iter().enumerate() {
            let expected: Vec<_> = frames.iter().skip(first).step_by(2).cloned().collect();
            let received: Vec<_> = sink
                .receive_all()
                .into_iter()
                .map(|received| received.frame)
                .collect();
            assert_eq!(received, expected);
        }
        sim.finish();
    });
}

const FIELDS: &[&str] = &["data", "id"];

fn channels<M: Model>() -> (Simulation<M>, ChannelSource, ChannelSink) {
    let mut sim = limited::<M>(10_000);
    let source = sim.channel_source("s_axis_t", FIELDS, Pause::Random { percent: 20 });
    let sink = sim.channel_sink("m_axis_t", FIELDS, Pause::Bursty { busy: 8, idle: 8 });
    sim.reset();
    (sim, source, sink)
}

#[test]
fn items_pass_in_order_with_their_cycle() {
    let (mut sim, source, sink) = channels::<FixtureSlice>();
    let items: Vec<[u64; 2]> = (0..500)
        .map(|number| [number * 0x0010_0001, number % 4])
        .collect();
    items.iter().for_each(|item| source.send(item));
    sim.run_until(|_| sink.total() == 500);
    let received = sink.receive_all();
    assert!(received.windows(2).all(|pair| pair[0].cycle < pair[1].cycle));
    assert!(
        received
            .iter()
            .map(|item| &item.values[..])
            .eq(items.iter().map(|item| &item[..]))
    );
    assert!(source.is_idle());
    assert!(sink.counts().stalls > 0 && source.counts().beats == 500);
    sim.finish();
}

#[test]
fn violations_are_reported() {
    let (mut sim, source, _sink) = channels::<FixtureDropsValid>();
    (0..100).for_each(|number| source.send(&[number, 0]));
    panics_with("m_axis_t: valid went low before ready was high", || sim.run(1000));

    let (mut sim, source, _sink) = channels::<FixtureChangesPayload>();
    (0..100).for_each(|number| source.send(&[number, 0]));
    panics_with("m_axis_t: m_axis_tdata changed while valid was high", || {
        sim.run(1000)
    });
}

#[test]
fn unfinished_items_are_reported() {
    let (mut sim, source, _sink) = channels::<FixtureSlice>();
    source.send(&[1, 1]);
    sim.run(20);
    panics_with("m_axis_t: sink has received 1 items, 1 were not taken", || {
        sim.finish()
    });
}

#[test]
fn values_that_do_not_fit_are_rejected() {
    let (mut sim, source, _) = channels::<FixtureSlice>();
    assert_eq!(
        panic_message(|| source.send(&[0, 4])),
        "s_axis_t: 0x4 does not fit a field of 2 bits"
    );
    assert!(panic_message(|| source.send(&[0])).contains("s_axis_t: an item has 1 values for 2 fields"));
    assert_eq!(
        ChannelSource::attach(&mut sim, "s_axis_t", &["user"], Pause::Never)
            .expect_err("97 bits")
            .to_string(),
        "port `s_axis_tuser` of fixture_slice is 97 bits wide; a field of a channel needs at most 64 bits"
    );
    let mut sim = limited::<FixtureFork>(1);
    let error =
        ChannelSink::attach(&mut sim, "a_axis_t", &["size"], Pause::Never).expect_err("no such field");
    assert_contains(&error, "fixture_fork has no port `a_axis_t_size`");
}
