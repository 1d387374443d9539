//! `spinneret match` as its users see it: outputs, messages and exit codes of the real binary.

use serde_json::Value;
use spinneret_sim::capture::{CaptureReader, CaptureWriter, Packet, Resolution};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;

/// A scratch directory with a rule file, and the command run in it.
struct Bench {
    directory: TempDir,
}

const RULES: &str = "[[ruleset]]\nname = 'slmp'\nrules = ['slmp']\nend-of-message = 'slmp-eom'\n\
                     [[ruleset]]\nrules = ['ipv4', { ip-proto = 1 }]\n";

impl Bench {
    fn new() -> Self {
        let bench = Self {
            directory: tempfile::tempdir().expect("a scratch directory"),
        };
        bench.write("rules.toml", RULES);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).expect("the scratch directory is writable");
    }

    /// Writes a capture with packets of these bytes.
    fn capture(&self, name: &str, frames: &[&[u8]]) {
        let mut writer = CaptureWriter::create(&self.path(name), Resolution::Nano).expect("writable");
        for (number, frame) in frames.iter().enumerate() {
            let timestamp = Duration::new(1_700_000_000, number as u32);
            let packet = Packet {
                timestamp,
                data: frame.to_vec(),
                original_len: frame.len() as u32,
            };
            writer.write(&packet).expect("the packet is possible");
        }
        writer.finish().expect("the file can be completed");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinneret"));
        command
            .current_dir(self.directory.path())
            .arg("match")
            .args(arguments);
        command.output().expect("the command runs")
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).expect("the directory is there");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures").join(name)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The error message of a run that must end with this exit code and print nothing else.
fn error(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    text(&output.stderr)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn packets(path: &Path) -> Vec<Packet> {
    let capture = CaptureReader::open(path).expect("the capture is right");
    capture
        .map(|packet| packet.expect("the capture is whole"))
        .collect()
}

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
    assert_eq!(report["rulesets"][1]["end_of_message"], 0);
    assert_eq!(report["total"]["packets"], packets(&capture).len());
    assert_eq!(report["engine"], "hardware, run by Verilator");
}

#[test]
fn cycles_and_rate_are_measured_at_one_beat_per_clock() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[&[0; 1500]; 200]);
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
        lines[1],
        [
            "│", "ruleset", "name", "packets", "bytes", "end", "of", "message", "│"
        ]
    );
    assert_eq!(lines[3], ["│", "0", "slmp", "0", "0", "0", "│"]);
    assert_eq!(lines[5], ["│", "bypassed", "2", "164", "│"]);
    assert_eq!(lines[6], ["│", "total", "2", "164", "│"]);
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

/// Runs with outputs that must not appear.
fn refused(bench: &Bench, arguments: &[&str], code: i32) -> String {
    let before = bench.files();
    let outputs = ["--out-matched", "m.pcap", "--out-bypassed", "b.pcap"];
    let output = bench.run(&[arguments, &outputs[..]].concat());
    let message = error(&output, code);
    assert!(output.stdout.is_empty(), "{output:?}");
    assert_eq!(bench.files(), before, "nothing is left behind");
    message
}

#[test]
fn inputs_that_cannot_be_used_are_refused_before_the_work_begins() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[&[0; 64]]);
    bench.write("bad.toml", "[[ruleset]]\nrules = ['ipv5']\n");
    bench.write("binary.toml", [0xff, 0xfe]);
    bench.write("text.pcap", "this is no capture");
    let cases: [(&[&str], &str); 9] = [
        (
            &["--pcap", "missing.pcap", "--rules", "rules.toml"],
            "error: missing.pcap: cannot read the capture: ",
        ),
        (
            &["--pcap", "text.pcap", "--rules", "rules.toml"],
            "error: text.pcap: this is not a pcap or pcapng capture: ",
        ),
        (
            &["--pcap", "in.pcap", "--rules", "missing.toml"],
            "error: missing.toml: cannot read the rule file: ",
        ),
        (
            &["--pcap", "in.pcap", "--rules", "binary.toml"],
            "error: binary.toml:1: byte 0 is not UTF-8 text",
        ),
        (
            &["--pcap", "in.pcap", "--rules", "bad.toml"],
            "error: bad.toml:2: ruleset 0, rule 0: there is no rule \"ipv5\": did you mean \"ipv4\"?",
        ),
        (
            &["--pcap", "in.pcap", "--rules", "rules.toml", "--width", "100"],
            "error: data width 100 is not possible for the matcher: it must be a power of two from 64 to 1024",
        ),
        (
            &[
                "--pcap",
                "in.pcap",
                "--rules",
                "rules.toml",
                "--inspected-bytes",
                "0",
            ],
            "error: inspected bytes 0 is not possible for the matcher: it must be 1 to 256",
        ),
        (
            &["--pcap", "in.pcap", "--rules", "rules.toml", "--width", "256"],
            "error: the simulated hardware is built for streams of 512 and 64 bit",
        ),
        (
            &["--pcap", "in.pcap"],
            "error: the following required arguments were not provided:",
        ),
    ];
    for (arguments, start) in cases {
        let message = refused(&bench, arguments, 2);
        assert!(message.starts_with(start), "{message}");
    }
    let beyond = [
        "--pcap",
        "in.pcap",
        "--rules",
        "rules.toml",
        "--inspected-bytes",
        "16",
        "--width",
        "64",
    ];
    let message = refused(&bench, &beyond, 2);
    assert!(
        message.contains("the rule looks at word 5, but the matcher inspects words 0 to 3"),
        "{message}"
    );
}

#[test]
fn other_links_than_ethernet_are_refused() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[&[0; 64]]);
    let mut bytes = fs::read(bench.path("in.pcap")).expect("it was written");
    bytes[20] = 101;
    bench.write("raw.pcap", bytes);
    let message = refused(&bench, &["--pcap", "raw.pcap", "--rules", "rules.toml"], 2);
    assert!(
        message.starts_with("error: raw.pcap: the capture has link type 101 (RAW), but"),
        "{message}"
    );
}

#[test]
fn impossible_packets_are_named() {
    let bench = Bench::new();
    bench.capture("large.pcap", &[&[0; 64], &[0; 16 * 1024], &[0; 16 * 1024 + 1]]);
    let message = refused(&bench, &["--pcap", "large.pcap", "--rules", "rules.toml"], 1);
    assert_eq!(
        message,
        "error: packet 3 has 16385 bytes, more than the 16384 that a frame may have\n"
    );
    bench.capture("empty.pcap", &[&[0; 64], &[]]);
    let message = refused(&bench, &["--pcap", "empty.pcap", "--rules", "rules.toml"], 1);
    assert_eq!(
        message,
        "error: packet 2 has no bytes, and a stream has no frame without\n"
    );
}

#[test]
fn outputs_that_cannot_be_written_are_refused() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[&[0; 64]]);
    let before = bench.files();
    let inputs = ["--pcap", "in.pcap", "--rules", "rules.toml"];
    let cases: [(&[&str], &str); 6] = [
        (
            &["--out-matched", "missing/m.pcap"],
            "error: missing/m.pcap: cannot write the capture: ",
        ),
        (
            &["--out-bypassed", "in.pcap/b.pcap"],
            "error: in.pcap/b.pcap: cannot write the capture: ",
        ),
        (
            &["--out-matched", "m.pcap", "--out-bypassed", "."],
            "error: .: cannot write the capture: it exists and ",
        ),
        (
            &["--out-matched", "./in.pcap"],
            "error: --pcap and --out-matched are the same file, ",
        ),
        (
            &["--out-bypassed", "rules.toml"],
            "error: --rules and --out-bypassed are the same file, ",
        ),
        (
            &["--out-matched", "x.pcap", "--out-bypassed", "./x.pcap"],
            "error: --out-matched and --out-bypassed are the ",
        ),
    ];
    for (outputs, start) in cases {
        let message = error(&bench.run(&[&inputs[..], outputs].concat()), 2);
        assert!(message.starts_with(start), "{message}");
        assert_eq!(bench.files(), before, "nothing is left behind");
    }
}

#[test]
fn help_documents_the_exit_codes() {
    let output = Command::new(env!("CARGO_BIN_EXE_spinneret"))
        .arg("--help")
        .output()
        .expect("the command runs");
    let shown = text(&output.stdout);
    assert!(
        output.status.success() && shown.contains("Exit codes:"),
        "{shown}"
    );
    assert!(
        !shown.contains("captures "),
        "the command that makes captures is for the project's own use: {shown}"
    );
}

#[test]
fn shipped_captures_can_be_written_anywhere_and_errors_are_clear() {
    let bench = Bench::new();
    let run = |directory: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinneret"));
        command
            .current_dir(bench.directory.path())
            .args(["captures", directory])
            .output()
            .expect("the command runs")
    };
    assert!(run(".").status.success());
    for name in ["lan.pcap", "mixed.pcapng"] {
        let written = fs::read(bench.path(name)).expect("it was written");
        assert!(
            written == fs::read(shipped(name)).expect("it is shipped"),
            "{name}"
        );
    }
    let message = error(&run("missing"), 1);
    assert!(
        message.starts_with("error: cannot write missing/lan.pcap: "),
        "{message}"
    );
}
