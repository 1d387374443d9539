//! What the command finds and writes.

use crate::bench::{Bench, error, json, packets, shipped, text};
use serde_json::Value;
use spinneret_packets::capture::{CaptureWriter, Packet, Resolution};
use std::fs;
use std::time::Duration;

#[test]
fn hardware_and_model_sort_every_shipped_capture_alike_and_lose_nothing() {
    for name in [
        "lan.pcap",
        "vlan.pcap",
        "slmp.pcap",
        "sizes.pcapng",
        "mixed.pcapng",
    ] {
        let bench = Bench::new();
        let capture = shipped(name);
        let capture = capture.to_str().expect("a path in UTF-8");
        let mut reports = Vec::new();
        for engine in ["hardware", "model"] {
            let outputs = [
                format!("{engine}-matched.pcap"),
                format!("{engine}-bypassed.pcap"),
            ];
            let arguments = [
                "--pcap",
                capture,
                "--rules",
                "rules.toml",
                "--engine",
                engine,
                "--json",
            ];
            let files = ["--out-matched", &outputs[0], "--out-bypassed", &outputs[1]];
            let output = bench.run(&[&arguments[..], &files[..]].concat());
            assert!(output.status.success(), "{output:?}");
            assert!(output.stderr.is_empty(), "{output:?}");
            reports.push(json(&output));
        }
        for key in ["rulesets", "bypassed", "total", "cut_short", "damage"] {
            assert_eq!(reports[0][key], reports[1][key], "{name}: {key}");
        }
        for side in ["matched", "bypassed"] {
            let read =
                |engine| fs::read(bench.path(&format!("{engine}-{side}.pcap"))).expect("it was written");
            assert!(read("hardware") == read("model"), "{name}: {side}");
        }
        let mut sorted = packets(&bench.path("hardware-matched.pcap"));
        assert!(sorted.is_sorted_by_key(|packet| packet.timestamp));
        sorted.extend(packets(&bench.path("hardware-bypassed.pcap")));
        let mut all = packets(&shipped(name));
        let key = |packet: &Packet| (packet.timestamp, packet.data.clone());
        sorted.sort_by_key(key);
        all.sort_by_key(key);
        assert_eq!(sorted, all, "{name}");
    }
}

#[test]
fn matched_packets_are_those_of_the_rules() {
    let bench = Bench::new();
    let capture = shipped("slmp.pcap");
    let arguments = [
        "--pcap",
        capture.to_str().expect("UTF-8"),
        "--rules",
        "rules.toml",
        "--json",
    ];
    let output = bench.run(&[&arguments[..], &["--out-matched", "m.pcap"]].concat());
    let report = json(&output);
    let matched = packets(&bench.path("m.pcap"));
    let is_slmp = |packet: &&Packet| packet.data[36..38] == [0x24, 0x72] && packet.data[23] == 17;
    let ends = |packet: &&Packet| is_slmp(packet) && packet.data[42] & 0x80 != 0;
    let slmp = matched.iter().filter(is_slmp).count();
    assert!(slmp > 20);
    assert_eq!(report["rulesets"][0]["name"], "slmp");
    assert_eq!(report["rulesets"][0]["packets"], slmp);
    assert_eq!(
        report["rulesets"][0]["end_of_message"],
        matched.iter().filter(ends).count()
    );
    assert_eq!(report["rulesets"][1]["name"], Value::Null);
    assert_eq!(report["rulesets"][1]["packets"], matched.len() - slmp);
    assert_eq!(
        report["rulesets"][1]["end_of_message"], report["rulesets"][1]["packets"],
        "each is a message of its own"
    );
    assert_eq!(report["total"]["packets"], packets(&capture).len());
    assert_eq!(report["engine"], "hardware, run by Verilator");
}

#[test]
fn cycles_and_rate_are_measured_at_one_beat_per_clock() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[&[0; 1500][..]; 200]);
    for (width, beats) in [("512", 24), ("64", 188)] {
        let arguments = [
            "--pcap",
            "in.pcap",
            "--rules",
            "rules.toml",
            "--json",
            "--width",
            width,
        ];
        let report = json(&bench.run(&arguments));
        let cycles = report["cycles"].as_u64().expect("a number");
        assert!(
            (beats * 200..beats * 200 + 20).contains(&cycles),
            "{width} bit: {cycles} cycles"
        );
        let rate = report["gigabits_per_second"].as_f64().expect("a number");
        assert!(
            (rate - 300_000.0 * 8.0 * 0.25 / cycles as f64).abs() < 1e-9,
            "{rate}"
        );
        let model = json(&bench.run(&[&arguments[..], &["--engine", "model"]].concat()));
        assert_eq!(model["cycles"], beats * 200);
    }
}

#[test]
fn the_table_is_for_people() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[&[0; 64], &[0; 100]]);
    let output = bench.run(&["--pcap", "in.pcap", "--rules", "rules.toml", "--engine", "model"]);
    let shown = text(&output.stdout);
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        lines[0],
        ["ruleset", "name", "packets", "bytes", "end", "of", "message"]
    );
    assert_eq!(lines[2], ["0", "slmp", "0", "0", "0"]);
    assert_eq!(lines[4], ["bypassed", "2", "164"]);
    assert_eq!(lines[5], ["total", "2", "164"]);
    assert_eq!(
        shown.lines().last(),
        Some("3 cycles, 109.3 Gb/s at 250 MHz (reference model, 512 bit)")
    );
}

#[test]
fn an_empty_capture_gives_an_empty_result() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[]);
    let output = bench.run(&[
        "--pcap",
        "in.pcap",
        "--rules",
        "rules.toml",
        "--out-matched",
        "m.pcap",
    ]);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("nothing was read"));
    assert_eq!(packets(&bench.path("m.pcap")), []);
}

#[test]
fn packets_that_the_capture_cut_short_are_reported() {
    let bench = Bench::new();
    let mut writer = CaptureWriter::create(&bench.path("in.pcap"), Resolution::Micro).expect("writable");
    let packet = Packet {
        timestamp: Duration::ZERO,
        data: vec![0; 60],
        original_len: 1500,
    };
    writer.write(&packet).expect("the packet is possible");
    writer.finish().expect("the file can be completed");
    let output = bench.run(&[
        "--pcap",
        "in.pcap",
        "--rules",
        "rules.toml",
        "--out-bypassed",
        "b.pcap",
    ]);
    assert!(
        text(&output.stdout).contains("1 packets were cut short by the capture"),
        "{output:?}"
    );
    assert_eq!(packets(&bench.path("b.pcap")), [packet]);
}

#[test]
fn a_damaged_capture_is_sorted_as_far_as_it_can_be_read() {
    let bench = Bench::new();
    let whole = fs::read(shipped("slmp.pcap")).expect("the capture is shipped");
    bench.write("in.pcap", &whole[..whole.len() - 5]);
    let arguments = [
        "--pcap",
        "in.pcap",
        "--rules",
        "rules.toml",
        "--out-matched",
        "m.pcap",
        "--out-bypassed",
        "b.pcap",
    ];
    let output = bench.run(&arguments);
    let all = packets(&shipped("slmp.pcap")).len();
    let message = error(&output, 1);
    assert!(
        message.starts_with(&format!("error: in.pcap: packet {all} (at byte ")),
        "{message}"
    );
    assert!(
        message
            .trim_end()
            .ends_with("bytes are there; the packets before it were sorted"),
        "{message}"
    );
    assert!(text(&output.stdout).contains("total"), "the result is printed");
    let sorted = packets(&bench.path("m.pcap")).len() + packets(&bench.path("b.pcap")).len();
    assert_eq!(sorted, all - 1);
    let output = bench.run(&[&arguments[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        json(&output)["damage"]
            .as_str()
            .is_some_and(|damage| damage.contains("the file ends within the packet"))
    );
}
