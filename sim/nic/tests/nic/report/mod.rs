//! Reports of a run: tables, JSON, traces, faults, profiles.

mod faults;
mod files;

use spinneret_cluster::rv::Trap;
use spinneret_cluster::task::{Code, Her, Meta, Stage};
use spinneret_cluster::{Cluster, Config, Ending, Event, Fault, HpuId, Program, Run, digest};
use spinneret_host::Lines;
use spinneret_nic::nic::NicConfig;
use spinneret_nic::report::{End, HandlerCounter, Occupancy, Options, Recorder, Summary};
use std::io;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where packets of made-up runs are handled.
const HANDLER: u32 = 0x1d00_0200;

/// Text that a recorder has written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown(Arc<Mutex<Vec<u8>>>);

impl Shown {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            messages: Box::new(self.clone()),
            ..Options::silent()
        }
    }
}

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of a made-up packet: 64 to 191 of them.
fn bytes(packet: u64) -> Vec<u8> {
    let mut bytes = vec![0x5a; 64 + (packet % 128) as usize];
    bytes[..8].copy_from_slice(&packet.to_le_bytes());
    bytes
}

/// Tells a recorder of packets that come every two microseconds. Every tenth matches nothing, and every seventh of the
/// others fails; the others are answered.
pub(crate) fn make_up(recorder: &mut Recorder, packets: u64) {
    make_up_with(recorder, packets, |_| {});
}

/// The same, and does something else after each packet.
pub(crate) fn make_up_with(recorder: &mut Recorder, packets: u64, mut and_then: impl FnMut(&mut Recorder)) {
    let cluster_ps = NicConfig::default().cluster_ps;
    let mut number = 0;
    for frame in 0..packets {
        let (at_ps, bytes) = (1_000_000 + frame * 2_000_000, bytes(frame));
        let handler = (frame % 10 != 9).then_some(HANDLER);
        recorder.received(at_ps, &bytes, handler);
        if frame % 10 == 9 {
            recorder.to_host(at_ps + 300_000, &bytes);
            continue;
        }
        let came = at_ps / cluster_ps + 20;
        let (begun, ended) = (came + 30, came + 630 + frame % 7 * 10);
        let ending = if frame % 7 == 6 {
            Ending::Failed(5)
        } else {
            Ending::Done
        };
        let size = bytes.len() as u32;
        let run = Run {
            packet: number,
            message: frame as u32 % 16,
            size,
            stage: Stage::Payload,
            handler: HANDLER,
            hpu: HpuId {
                cluster: frame as usize % 2,
                core: frame as usize / 2 % 8,
            },
            begun,
            ended,
            ending,
        };
        let fault = Event::Failed(Fault {
            packet: Some(number),
            message: run.message,
            stage: run.stage,
            handler: run.handler,
            hpu: run.hpu,
            trap: Trap::LoadFault,
            pc: HANDLER + 0x1c,
            value: 0,
            named: None,
        });
        if ending != Ending::Done {
            recorder.event(&fault, |clock| clock * cluster_ps);
        }
        let events = [
            Event::Arrived {
                clock: came,
                packet: number,
                message: run.message,
                size,
                digest: digest(&bytes),
                handler,
            },
            Event::Finished(run),
            Event::Freed {
                clock: ended + 2,
                packet: number,
            },
        ];
        events
            .iter()
            .for_each(|event| recorder.event(event, |clock| clock * cluster_ps));
        if ending == Ending::Done {
            recorder.sent((ended + 10) * cluster_ps, bytes.len(), false);
        }
        recorder.occupancy(
            at_ps,
            &Occupancy {
                slots_small: frame % 9,
                slots_large: 0,
                busy_hpus: 8,
                queued: frame % 3,
            },
        );
        number += 1;
        and_then(recorder);
    }
}

/// Counters that fit to what was made up.
pub(crate) fn counters(packets: u64) -> Vec<(String, u64)> {
    let bypassed = packets / 10;
    let sent = (0..packets)
        .filter(|frame| frame % 10 != 9 && frame % 7 != 6)
        .count() as u64;
    [
        ("ingress.matched", packets - bypassed),
        ("ingress.bypassed", bypassed),
        ("ingress.hers", packets - bypassed),
        ("ingress.dropped_overload", 0),
        ("ingress.dropped_no_slot", 0),
        ("egress.frames", sent),
    ]
    .map(|(name, count)| (name.to_owned(), count))
    .to_vec()
}

/// A NIC whose handlers may not take long.
pub(crate) fn config() -> NicConfig {
    let cluster = Config {
        watchdog: 20_000,
        ..Config::default()
    };
    NicConfig {
        cluster,
        ..NicConfig::default()
    }
}

/// Runs packets through a program on the model of the cluster, one after another, and tells a recorder of it.
pub(crate) fn run(program: &Program, packets: &[Vec<u8>], recorder: &mut Recorder) -> Cluster {
    let mut cluster = Cluster::new(config().cluster);
    cluster.load(program);
    cluster.set_fetch(3);
    pass(&mut cluster, recorder, 20_000);
    // Start-up is not part of the figures.
    cluster.enable_profile();
    let [header, payload, tail]: [Code; 3] = program.find(program.only_name().unwrap()).unwrap();
    let meta = Meta {
        handler_memory: [program.free_memory, 0x1000],
        header,
        payload,
        tail,
        scratchpads: [[0, 0x100], [0, 0x100], [0; 2], [0; 2]],
        ..Meta::default()
    };
    for (message, bytes) in (0..).zip(packets) {
        let (address, size) = (0x1c10_0000, bytes.len() as u32);
        assert!(cluster.write(address, bytes));
        recorder.received(cluster.now() * 25_000, bytes, Some(payload.address));
        cluster.push(Her {
            message,
            is_last: true,
            address,
            size,
            copied: size,
            meta,
            ..Her::default()
        });
        pass(&mut cluster, recorder, 40_000);
    }
    cluster
}

/// Lets clocks pass and passes on what happens.
fn pass(cluster: &mut Cluster, recorder: &mut Recorder, clocks: u64) {
    for _ in 0..clocks {
        cluster.tick();
        if let Some(send) = cluster.take_send() {
            recorder.sent(cluster.now() * 25_000, send.length as usize, false);
            cluster.complete(send.id);
        }
        while let Some(word) = cluster.take_stdout() {
            recorder.stdout(word);
        }
        for event in cluster.take_events() {
            recorder.event(&event, |clock| clock * 25_000);
        }
        cluster.take_feedback();
        if cluster.next().is_none() {
            return;
        }
    }
    panic!("the cluster does not come to rest");
}

fn end() -> End {
    End {
        wall: Duration::from_millis(1500),
        simulated_ps: 2_500_000_000,
        simulated_clocks: 300_000,
        cluster_clocks_alone: 40_000,
        instructions: 4_500_000,
        hpu_busy: (0..16).map(|hpu| 30_000 + hpu * 1000).collect(),
        cut_short: 0,
        refused_commands: 0,
        left: 0,
        resets: 0,
        has_restarted: false,
        is_idle: true,
        handler_counters: vec![HandlerCounter {
            index: 3,
            count: 6,
            sum: 61,
        }],
    }
}

fn summary(packets: u64) -> Summary {
    let mut recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
    make_up(&mut recorder, packets);
    recorder.counters(&counters(packets));
    recorder.finish(&end(), None).summary
}

#[test]
fn the_summary_as_tables() {
    insta::assert_snapshot!(summary(1000).to_string());
}

#[test]
fn the_summary_as_json() {
    let json = summary(1000).to_json().unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(parsed.is_object());
    insta::assert_snapshot!(json);
}

#[test]
fn an_empty_run_has_a_summary() {
    let recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
    let finished = recorder.finish(&End::default(), None);
    assert!(finished.failures.is_empty());
    insta::assert_snapshot!(finished.summary.to_string());
    finished.summary.to_json().unwrap();
}

#[test]
fn inconsistent_sums_are_named() {
    let mut recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
    make_up(&mut recorder, 100);
    let mut counters = counters(100);
    counters[2].1 -= 3;
    counters[4].1 += 2;
    recorder.counters(&counters);
    let unbalanced = recorder.finish(&end(), None).summary.unbalanced;
    assert_eq!(
        unbalanced,
        [
            "to handlers is 90, ingress.hers is 87",
            "done with is 90, ingress.hers is 87",
            "ingress.hers and dropped frames is 89, ingress.matched is 90"
        ]
    );
}

/// A reset takes what is inside, so less comes out than went in; more never does.
#[test]
fn packets_lost_in_resets_are_counted() {
    let summary = |hers| {
        let mut recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
        make_up(&mut recorder, 100);
        let mut counters = counters(100);
        counters[2].1 = hers;
        recorder.counters(&counters);
        let end = End { resets: 2, ..end() };
        recorder.finish(&end, None).summary
    };
    let missing = summary(90);
    assert_eq!(missing.unbalanced, Vec::<String>::new());
    assert_eq!((missing.resets, missing.dropped_by_resets), (2, 0));
    let too_many = summary(88).unbalanced;
    assert_eq!(
        too_many,
        [
            "to handlers is 90, ingress.hers is 88",
            "done with is 90, ingress.hers is 88"
        ]
    );
}

#[test]
fn wrapped_counters_are_consistent() {
    let mut recorder = Recorder::new(Options::silent(), None, &NicConfig::default()).unwrap();
    make_up(&mut recorder, 10);
    recorder.counters(&[("ingress.hers".to_owned(), (1 << 32) + 9)]);
    assert!(recorder.finish(&end(), None).summary.unbalanced.is_empty());
}

#[test]
fn figures_since_a_time_exclude_earlier_counts() {
    let run = end().since(&End {
        wall: Duration::from_millis(500),
        simulated_ps: 500_000_000,
        hpu_busy: vec![30_000; 16],
        ..End::default()
    });
    assert_eq!(run.wall, Duration::from_secs(1));
    assert_eq!(run.simulated_ps, 2_000_000_000);
    assert_eq!(run.hpu_busy[..3], [0, 1000, 2000]);
}

/// The lines of standard output that are complete after an HPU of cluster 0 has printed these bytes.
fn printed(lines: &mut Lines, hpu: u32, bytes: &[u8]) -> Vec<String> {
    let words = bytes.iter().map(|&byte| hpu << 8 | u32::from(byte));
    words
        .filter_map(|word| lines.word(word))
        .map(|line| line.to_string())
        .collect()
}

#[test]
fn lines_of_hpus_are_separate_escaped_and_bounded() {
    let mut lines = Lines::default();
    assert!(printed(&mut lines, 0, b"a ").is_empty());
    assert_eq!(printed(&mut lines, 1, b"other\n"), ["[0.1] other"]);
    assert_eq!(printed(&mut lines, 0, b"line\n"), ["[0.0] a line"]);
    assert_eq!(
        printed(&mut lines, 0, b"\x1b[2J\tred\n"),
        ["[0.0] \\u{1b}[2J\tred"]
    );
    assert_eq!(
        printed(&mut lines, 0, b"\xff\xc3\xa4\n"),
        ["[0.0] \u{fffd}\u{e4}"]
    );
    let endless = vec![b'x'; 2 * Lines::LONGEST + 1];
    let split = printed(&mut lines, 2, &endless);
    assert_eq!(split.len(), 2);
    assert_eq!(split[0].len(), "[0.2] ".len() + Lines::LONGEST);
    assert_eq!(lines.rest().len(), 1);
}
