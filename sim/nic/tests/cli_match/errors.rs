//! What the command refuses, and how it says so.

use crate::bench::{Bench, error, shipped, text};
use std::fs;
use std::process::Command;

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
            "error: inspected bytes 0 is not possible for the matcher: it must be 4 to 256",
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
            "error: --out-bypassed .: it exists and is not a regular file",
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
}
