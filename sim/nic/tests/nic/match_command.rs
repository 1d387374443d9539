//! `spinneret match` as its users see it: outputs, messages and exit codes of the real binary.

use crate::kit::{captured, ok, root, spinneret};
use serde_json::Value;
use spinneret_packets::capture::{CaptureWriter, Packet, Resolution};
use std::fs;
use std::path::PathBuf;
use std::process::Output;
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

    /// Runs it with these arguments, which have no spaces in them, and with `--pcap in.pcap --rules rules.toml` unless they
    /// name others.
    fn run(&self, arguments: &str) -> Output {
        let mut command = spinneret();
        command.current_dir(self.directory.path());
        command.arg("match").args(arguments.split_whitespace());
        for (option, default) in [("--pcap", "in.pcap"), ("--rules", "rules.toml")] {
            if !arguments.contains(option) {
                command.args([option, default]);
            }
        }
        ok(command.output())
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).expect("the directory is there");
        let mut names: Vec<_> = entries
            .map(|entry| ok(entry).file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// The JSON of a run, which may have failed.
fn json(output: &Output) -> Value {
    ok(serde_json::from_slice(&output.stdout))
}

fn shipped(name: &str) -> String {
    root().join("sim/captures").join(name).display().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The error message of a run that must end with this exit code and print nothing else.
fn error(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    text(&output.stderr)
}

#[test]
fn hardware_and_model_agree_on_every_shipped_capture() {
    for name in [
        "lan.pcap",
        "vlan.pcap",
        "slmp.pcap",
        "sizes.pcapng",
        "mixed.pcapng",
    ] {
        let bench = Bench::new();
        let capture = shipped(name);
        let mut reports = Vec::new();
        for engine in ["hardware", "model"] {
            let outputs =
                format!("--out-matched {engine}-matched.pcap --out-bypassed {engine}-bypassed.pcap");
            let output = bench.run(&format!("--pcap {capture} --engine {engine} --json {outputs}"));
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
        let mut sorted = captured(bench.path("hardware-matched.pcap"));
        assert!(sorted.is_sorted_by_key(|packet| packet.timestamp));
        sorted.extend(captured(bench.path("hardware-bypassed.pcap")));
        let mut all = captured(shipped(name));
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
    let output = bench.run(&format!("--pcap {capture} --json --out-matched m.pcap"));
    let report = json(&output);
    let matched = captured(bench.path("m.pcap"));
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
    assert_eq!(report["total"]["packets"], captured(&capture).len());
    assert_eq!(report["engine"], "hardware, run by Verilator");
}

#[test]
fn cycles_and_rate_are_measured_at_one_beat_per_clock() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[&[0; 1500][..]; 200]);
    for (width, beats) in [("512", 24), ("64", 188)] {
        let report = json(&bench.run(&format!("--json --width {width}")));
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
        let model = json(&bench.run(&format!("--json --engine model --width {width}")));
        assert_eq!(model["cycles"], beats * 200);
    }
}

#[test]
fn the_table_is_for_people() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[&[0; 64], &[0; 100]]);
    let output = bench.run("--engine model");
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
    let output = bench.run("--out-matched m.pcap");
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("nothing was read"));
    assert_eq!(captured(bench.path("m.pcap")), []);
}

#[test]
fn truncated_packets_are_reported() {
    let bench = Bench::new();
    let mut writer = CaptureWriter::create(&bench.path("in.pcap"), Resolution::Micro).expect("writable");
    let packet = Packet {
        timestamp: Duration::ZERO,
        data: vec![0; 60],
        original_len: 1500,
    };
    writer.write(&packet).expect("the packet is possible");
    writer.finish().expect("the file can be completed");
    let output = bench.run("--out-bypassed b.pcap");
    assert!(
        text(&output.stdout).contains("1 packets are truncated in the capture"),
        "{output:?}"
    );
    assert_eq!(captured(bench.path("b.pcap")), [packet]);
}

#[test]
fn a_damaged_capture_is_sorted_up_to_the_damage() {
    let bench = Bench::new();
    let whole = fs::read(shipped("slmp.pcap")).expect("the capture is shipped");
    bench.write("in.pcap", &whole[..whole.len() - 5]);
    let outputs = "--out-matched m.pcap --out-bypassed b.pcap";
    let output = bench.run(outputs);
    let all = captured(shipped("slmp.pcap")).len();
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
    let sorted = captured(bench.path("m.pcap")).len() + captured(bench.path("b.pcap")).len();
    assert_eq!(sorted, all - 1);
    let output = bench.run(&format!("--json {outputs}"));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        json(&output)["damage"]
            .as_str()
            .is_some_and(|damage| damage.contains("the file ends within the packet"))
    );
}

/// UDP ports of a packet behind any VLAN tags, with the number of tags, parsed manually.
fn udp_ports(packet: &Packet) -> Option<(usize, [u16; 2])> {
    let data = &packet.data;
    let word = |offset: usize| Some(u16::from_be_bytes([*data.get(offset)?, *data.get(offset + 1)?]));
    let tags = (0..4).find(|tags| !matches!(word(12 + 4 * tags), Some(0x8100 | 0x88a8)))?;
    let ip = 14 + 4 * tags;
    let (protocol, header) = match word(ip - 2)? {
        0x0800 => (data[ip + 9], 4 * usize::from(data[ip] & 0xf)),
        0x86dd => (data[ip + 6], 40),
        _ => return None,
    };
    (protocol == 17).then_some((tags, [word(ip + header)?, word(ip + header + 2)?]))
}

#[test]
fn udp_ports_are_found_behind_vlan_tags() {
    let capture = shipped("vlan.pcap");
    let rules = shipped("ip-payload.toml");
    for (engine, width) in [("hardware", "512"), ("hardware", "64"), ("model", "256")] {
        let bench = Bench::new();
        let settings = format!("--engine {engine} --width {width} --json --out-matched matched.pcap");
        let report = json(&bench.run(&format!("--pcap {capture} --rules {rules} {settings}")));
        let all = captured(&capture);
        // The capture has SLMP behind one and two tags, and UDP to port 5000 without.
        let port = |packet: &Packet| udp_ports(packet).map(|(_, ports)| ports[1]);
        let count = |wanted: u16, tags: usize| {
            let is_it = |packet: &&Packet| {
                udp_ports(packet).is_some_and(|(of, ports)| (ports[1], of) == (wanted, tags))
            };
            all.iter().filter(is_it).count()
        };
        let slmp = [count(9330, 1), count(9330, 2)];
        assert!(slmp[0] >= 3 && slmp[1] >= 3 && count(5000, 0) >= 3);
        assert_eq!(report["rulesets"][0]["name"], "slmp");
        assert_eq!(report["rulesets"][0]["packets"], slmp[0] + slmp[1]);
        assert_eq!(report["rulesets"][1]["packets"], 0);
        assert_eq!(report["rulesets"][2]["packets"], count(5000, 0));
        let is_found = |packet: &&Packet| matches!(port(packet), Some(9330 | 5000));
        let found: Vec<_> = all.iter().filter(is_found).cloned().collect();
        assert_eq!(
            captured(bench.path("matched.pcap")),
            found,
            "{engine}, {width} bit"
        );
    }
}

#[test]
fn slmp_is_found_with_and_without_ip_options() {
    let bench = Bench::new();
    let plain = captured(shipped("slmp.pcap"));
    let is_slmp = |packet: &&Packet| udp_ports(packet).is_some_and(|(_, ports)| ports[1] == 9330);
    let slmp: Vec<_> = plain.iter().filter(is_slmp).collect();
    // The same packets with four words of options in their headers.
    let with_options = slmp.iter().map(|packet| {
        let mut data = packet.data.clone();
        data[14] = 0x49;
        data.splice(34..34, [1; 16]);
        data
    });
    let frames: Vec<Vec<u8>> = slmp
        .iter()
        .map(|packet| packet.data.clone())
        .chain(with_options)
        .collect();
    let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    bench.capture("in.pcap", &frames);
    let rules = shipped("ip-payload.toml");
    let report = json(&bench.run(&format!("--rules {rules} --json")));
    let ends = slmp.iter().filter(|packet| packet.data[42] & 0x80 != 0).count();
    assert!(slmp.len() > 20 && ends > 0);
    assert_eq!(report["rulesets"][0]["packets"], 2 * slmp.len());
    assert_eq!(report["rulesets"][0]["end_of_message"], 2 * ends);
    assert_eq!(report["engine"], "hardware, run by Verilator");
}

#[test]
fn a_wrong_relative_rule_is_reported_with_its_line() {
    let bench = Bench::new();
    bench.write(
        "rules.toml",
        "[[ruleset]]\nrules = [{ udp-dport = 1, relative = 'frame' }]\n",
    );
    bench.capture("in.pcap", &[&[0; 60]]);
    let message = error(&bench.run(""), 2);
    assert!(
        message.contains("rules.toml:2: ruleset 0, rule 0: relative must be \"ip-payload\", not \"frame\""),
        "{message}"
    );
}

/// Exit code and arguments.
const REFUSED: &[(i32, &str)] = &[
    // Inputs
    (2, "--pcap missing.pcap"),
    (2, "--pcap text.pcap"),
    (2, "--pcap raw.pcap"),
    (2, "--rules missing.toml"),
    (2, "--rules binary.toml"),
    (2, "--rules bad.toml"),
    // Parameters
    (2, "--width 100"),
    (2, "--width 256"),
    (2, "--inspected-bytes 0"),
    (2, "--inspected-bytes 16 --width 64"),
    // Packets
    (1, "--pcap large.pcap"),
    (1, "--pcap empty.pcap"),
    // Outputs
    (2, "--out-matched missing/m.pcap"),
    (2, "--out-bypassed in.pcap/b.pcap"),
    (2, "--out-matched m.pcap --out-bypassed ."),
    (2, "--out-matched ./in.pcap"),
    (2, "--out-bypassed rules.toml"),
    (2, "--out-matched x.pcap --out-bypassed ./x.pcap"),
];

/// Each refusal is an error alone, and leaves all files as they were. Where a case names no outputs, there are two that
/// must not appear.
#[test]
fn refused_commands_are_explained_and_leave_no_files() {
    let bench = Bench::new();
    bench.capture("in.pcap", &[&[0; 64]]);
    bench.capture("large.pcap", &[&[0; 64], &[0; 16 * 1024], &[0; 16 * 1024 + 1]]);
    bench.capture("empty.pcap", &[&[0; 64], &[]]);
    let mut raw = fs::read(bench.path("in.pcap")).expect("it was written");
    raw[20] = 101;
    bench.write("raw.pcap", raw);
    bench.write("text.pcap", "this is no capture");
    bench.write("bad.toml", "[[ruleset]]\nrules = ['ipv5']\n");
    bench.write("binary.toml", [0xff, 0xfe]);
    let before = bench.files();
    let said = REFUSED.iter().map(|(code, shown)| {
        let mut arguments = (*shown).to_owned();
        if !shown.contains("--out") {
            arguments += " --out-matched m.pcap --out-bypassed b.pcap";
        }
        let output = bench.run(&arguments);
        let message = error(&output, *code);
        assert!(
            output.stdout.is_empty() && message.starts_with("error: "),
            "{output:?}"
        );
        assert_eq!(bench.files(), before, "{shown}: nothing is left behind");
        format!("{shown}\n{message}")
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
}

#[test]
fn help_documents_the_exit_codes() {
    let output = ok(spinneret().arg("--help").output());
    let shown = text(&output.stdout);
    assert!(
        output.status.success() && shown.contains("Exit codes:"),
        "{shown}"
    );
}
