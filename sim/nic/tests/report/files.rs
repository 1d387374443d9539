//! Traces and plots.

use crate::support::make_up;
use serde_json::Value;
use spinneret_nic::nic::NicConfig;
use spinneret_nic::report::{End, Options, Recorder, ReportError};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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
fn many_packets_make_no_larger_plot() {
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
fn a_run_that_is_given_up_leaves_no_files() {
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
fn a_file_that_cannot_be_made_is_named() {
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
