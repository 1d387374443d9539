//! Traces and plots.

use super::{Shown, make_up, make_up_with};
use crate::kit::{program, runtime};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use spinneret_nic::nic::{Nic, NicConfig};
use spinneret_nic::report::{End, Occupancy, Options, PageOptions, Recorder, ReportError};
use spinneret_packets::echo_request;
use spinneret_regmap::{egress, ingress};
use spinneret_rules::{MatcherParams, RuleFile};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn record(folder: &Path, packets: u64) -> Vec<ReportError> {
    let options = Options {
        trace: Some(folder.join("trace.json")),
        plot: Some(folder.join("plot.svg")),
        ..Options::silent()
    };
    let mut recorder = Recorder::new(options, None, &NicConfig::default()).unwrap();
    assert!(recorder.wants_occupancy());
    make_up(&mut recorder, packets);
    recorder.finish(&End::default(), None).failures
}

#[test]
fn a_trace_has_a_slice_for_each_packet_and_stage() {
    let folder = tempfile::tempdir().unwrap();
    assert!(record(folder.path(), 100).is_empty());
    let text = fs::read_to_string(folder.path().join("trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let tracks: BTreeMap<_, _> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| {
            (
                (event["pid"].as_u64(), event["tid"].as_u64()),
                event["args"]["name"].as_str().unwrap(),
            )
        })
        .collect();
    let mut slices: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ends: BTreeMap<_, f64> = BTreeMap::new();
    let mut open = BTreeMap::new();
    for event in events {
        let at = event["ts"].as_f64();
        let track = (event["pid"].as_u64(), event["tid"].as_u64());
        match event["ph"].as_str().unwrap() {
            "X" => {
                let (from, long) = (at.unwrap(), event["dur"].as_f64().unwrap());
                assert!(long > 0.0 && event["args"]["bytes"].is_u64(), "{event}");
                let end = ends.entry(track).or_default();
                assert!(from + 1e-6 >= *end, "slices of a track overlap: {event}");
                *end = from + long;
                *slices
                    .entry(tracks[&track].split(' ').next().unwrap())
                    .or_default() += 1;
            }
            "b" => {
                assert!(
                    event["args"]["packet"].is_u64() && event["args"]["frame"].is_u64(),
                    "{event}"
                );
                open.insert(event["id"].as_u64(), at.unwrap());
                *slices.entry(tracks[&track]).or_default() += 1;
            }
            "e" => assert!(
                open.remove(&event["id"].as_u64())
                    .is_some_and(|from| from <= at.unwrap()),
                "{event}"
            ),
            "C" => assert!(
                event["args"].as_object().unwrap().values().all(Value::is_u64),
                "{event}"
            ),
            "M" => {}
            phase => panic!("{phase}"),
        }
    }
    assert!(open.is_empty());
    let failed = (0..100).filter(|frame| frame % 10 != 9 && frame % 7 == 6).count() as u64;
    let wanted = [
        ("HPU", 90),
        ("egress", 90 - failed),
        ("ingress", 90),
        ("queue", 90),
        ("to", 10),
        ("wire", 100),
    ];
    assert_eq!(slices.into_iter().collect::<Vec<_>>(), wanted);
}

#[test]
fn the_size_of_a_plot_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    assert!(record(folder.path(), 1).is_empty());
    assert!(
        fs::read_to_string(folder.path().join("plot.svg"))
            .unwrap()
            .contains("Latency of packets")
    );
    assert!(record(folder.path(), 30_000).is_empty());
    let svg = fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    assert!(
        svg.len() < 600_000 && svg.contains("latency, µs"),
        "{} bytes",
        svg.len()
    );
}

#[test]
fn an_abandoned_run_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        trace: Some(folder.path().join("trace.json")),
        plot: Some(folder.path().join("plot.svg")),
        ..Options::silent()
    };
    let mut recorder = Recorder::new(options, None, &NicConfig::default()).unwrap();
    make_up(&mut recorder, 10);
    drop(recorder);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_file_that_cannot_be_created_is_named() {
    let options = Options {
        trace: Some("/nowhere/trace.json".into()),
        ..Options::silent()
    };
    let error = Recorder::new(options, None, &NicConfig::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the trace cannot be written to /nowhere/trace.json: there is no such folder"),
        "{error}"
    );
}

/// An echo request of 98 bytes with a right checksum, or a frame that is none.
fn frame(number: u16) -> Vec<u8> {
    let mut frame = echo_request(number, &[0; 56]);
    if number % 3 == 2 {
        frame[23] = 17;
    }
    frame
}

/// Takes what has come out of the NIC.
fn collect(nic: &mut Nic, recorder: &mut Recorder) {
    let time = nic.cluster_time();
    for event in nic.take_events() {
        recorder.event(&event, time);
    }
    while let Some(out) = nic.take_wire() {
        recorder.sent(out.at_ps, out.bytes.len(), out.is_host);
    }
    while let Some(out) = nic.take_host() {
        recorder.to_host(out.at_ps, &out.bytes);
    }
}

#[test]
fn figures_of_a_run_of_pings_are_consistent() {
    let folder = tempfile::tempdir().unwrap();
    let program = program("examples/icmp_ping");
    let rules = runtime("examples/icmp_ping/rules.toml");
    let rules = RuleFile::read(&rules, &MatcherParams::BOARD).unwrap();
    let mut nic = spinneret_nic::start(NicConfig::default(), &program, &rules.rulesets, None).unwrap();
    nic.enable_profile();
    nic.take_events();
    let shown = Shown::default();
    let options = Options {
        trace: Some(folder.path().join("trace.json")),
        ..shown.options()
    };
    let mut recorder = Recorder::new(options, Some(&program), nic.config()).unwrap();
    let begun = Instant::now();
    let start = End::of(&nic, begun.elapsed());
    for number in 0..30 {
        let bytes = frame(number);
        recorder.received(nic.now_ps(), &bytes, nic.matching_handler(&bytes));
        nic.receive(bytes);
        // Longer than the handler takes, so that no packet waits for another one.
        let next_ps = nic.now_ps() + 20_000_000;
        while nic.now_ps() < next_ps {
            nic.step(next_ps).unwrap();
            collect(&mut nic, &mut recorder);
        }
        let cluster = nic.cluster();
        let occupancy = Occupancy {
            busy_hpus: cluster.busy_hpus() as u64,
            queued: cluster.queued() as u64,
            ..Occupancy::default()
        };
        recorder.occupancy(nic.now_ps(), &occupancy);
    }
    while !nic.is_idle() {
        nic.step(u64::MAX).unwrap();
        collect(&mut nic, &mut recorder);
    }
    let end = End::of(&nic, begun.elapsed()).since(&start);
    let mut counters = Vec::new();
    for (group, registers) in [("ingress", ingress::ALL), ("egress", egress::ALL)] {
        for register in registers {
            counters.push((
                format!("{group}.{}", register.name),
                nic.get(register.offset).unwrap().into(),
            ));
        }
    }
    recorder.counters(&counters);
    let finished = recorder.finish(&end, nic.cluster().profile().as_ref());
    assert!(finished.failures.is_empty() && end.is_idle);
    let summary = finished.summary;
    assert_eq!(summary.unbalanced, Vec::<String>::new());
    assert_eq!(
        (summary.handlers.len(), summary.handlers[0].handler.as_str()),
        (1, "icmp_ping_ph")
    );
    assert_eq!((summary.handlers[0].packets, summary.failures()), (20, 0));
    // One clock of the core is 4 ns, one of the cluster alone 25 ns.
    let clocks_ns = summary.time.core_clocks * 4 + summary.time.cluster_clocks_alone * 25;
    assert!(
        (summary.time.simulated_ns - clocks_ns as f64).abs() < 100.0,
        "{:?}",
        summary.time
    );
    // Every packet is found again, on either way.
    let latencies = summary.latencies;
    assert_eq!(latencies.ingress_ns.map(|latency| latency.count), Some(20));
    assert_eq!(latencies.total_ns.map(|latency| latency.count), Some(20));
    assert_eq!(latencies.bypass_ns.map(|latency| latency.count), Some(10));
    let (cycles, total) = (summary.handlers[0].cycles.unwrap(), latencies.total_ns.unwrap());
    assert!(
        total.min > cycles.min * 25 && total.max < 2 * cycles.max * 25,
        "{total:?} {cycles:?}"
    );
    // The profile agrees with the time of handlers, except for the instructions between two tasks.
    let profile = summary.profile.unwrap();
    let spent: u64 = profile
        .functions
        .iter()
        .map(|cost| cost.cycles + cost.waited)
        .sum();
    assert!(
        spent > cycles.min * 20
            && profile
                .functions
                .iter()
                .any(|cost| cost.function == "icmp_ping_ph")
    );
    let load: u64 = end.hpu_busy.iter().sum();
    assert!(
        load >= cycles.min * 20 && load <= cycles.max * 20,
        "{load} {cycles:?}"
    );
    let trace = fs::read_to_string(folder.path().join("trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&trace).unwrap();
    let slices = trace["traceEvents"].as_array().unwrap().iter();
    assert_eq!(
        slices
            .filter(|event| event["args"]["handler"] == "icmp_ping_ph")
            .count(),
        20
    );
    assert_eq!(shown.text(), "");
}

/// Packets per second of real time that the page must keep up with.
const PACKETS: u64 = 100_000;
/// Between two looks: more often than any browser, as the run is short.
const LOOK: Duration = Duration::from_millis(1);

/// Time that this thread has had, whatever else the machine does.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The state of the run.
fn state(address: &str) -> Value {
    let (host, path) = address
        .trim_start_matches("http://")
        .split_once('/')
        .expect("there is a path");
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    write!(
        stream,
        "GET /{path}state HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .expect("it is read");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it is text");
    let (_, text) = answer.split_once("\r\n\r\n").expect("there is a head");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Records the packets while a client polls the page, if there is one: the time of recording, and polls.
fn record_watched(watch: Option<u16>) -> (Duration, u64) {
    let mut options = Options::silent();
    options.page = PageOptions {
        watch,
        ..PageOptions::default()
    };
    let mut recorder = Recorder::new(options, None, &NicConfig::default()).expect("there is a port");
    let address = recorder.page_address().map(str::to_owned);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looks = address.as_ref().map(|address| {
            scope.spawn(|| {
                let mut looks = 0;
                while !is_over.load(Ordering::Relaxed) {
                    state(address);
                    looks += 1;
                    std::thread::sleep(LOOK);
                }
                looks
            })
        });
        let before = spent();
        make_up_with(&mut recorder, PACKETS, |recorder| recorder.watch(End::default));
        let took = spent() - before;
        is_over.store(true, Ordering::Relaxed);
        let looks = looks.map_or(0, |looks| looks.join().expect("it looks"));
        // The last state has them all.
        let finished = recorder.finish(&End::default(), None);
        if let Some(address) = &address {
            let state = state(address);
            let came = state["timeline"]["wire_in"].as_array().expect("there are spans");
            let came: u64 = came.iter().filter_map(Value::as_u64).sum();
            assert_eq!(came, PACKETS);
        }
        drop(finished);
        (took, looks)
    })
}

#[test]
fn the_page_keeps_up_with_100_000_packets_a_second() {
    let (alone, _) = record_watched(None);
    let (watched, looks) = record_watched(Some(0));
    println!(
        "{PACKETS} packets take {alone:?} to record, and {watched:?} with a page that was looked at {looks} times"
    );
    assert!(looks > 1, "{looks}");
    assert!(
        watched < Duration::from_secs(1),
        "{watched:?}, and {alone:?} without"
    );
}
