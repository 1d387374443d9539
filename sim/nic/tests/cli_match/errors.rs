//! What the command refuses, and how it says so.

use crate::bench::{Bench, error, text};
use std::fs;
use std::process::Command;

/// Exit code and arguments, after `--rules rules.toml` where they name no rules.
const REFUSED: &[(i32, &str)] = &[
    // Inputs
    (2, "--pcap missing.pcap"),
    (2, "--pcap text.pcap"),
    (2, "--pcap raw.pcap"),
    (2, "--pcap in.pcap --rules missing.toml"),
    (2, "--pcap in.pcap --rules binary.toml"),
    (2, "--pcap in.pcap --rules bad.toml"),
    // Parameters
    (2, "--pcap in.pcap --width 100"),
    (2, "--pcap in.pcap --width 256"),
    (2, "--pcap in.pcap --inspected-bytes 0"),
    (2, "--pcap in.pcap --inspected-bytes 16 --width 64"),
    (2, ""),
    // Packets
    (1, "--pcap large.pcap"),
    (1, "--pcap empty.pcap"),
    // Outputs
    (2, "--pcap in.pcap --out-matched missing/m.pcap"),
    (2, "--pcap in.pcap --out-bypassed in.pcap/b.pcap"),
    (2, "--pcap in.pcap --out-matched m.pcap --out-bypassed ."),
    (2, "--pcap in.pcap --out-matched ./in.pcap"),
    (2, "--pcap in.pcap --out-bypassed rules.toml"),
    (2, "--pcap in.pcap --out-matched x.pcap --out-bypassed ./x.pcap"),
];

/// Each refusal is an error alone, and leaves all files as they were. Where a case names no outputs, there are two that
/// must not appear.
#[test]
fn messages_say_what_is_refused_and_nothing_is_left_behind() {
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
        let mut arguments: Vec<&str> = shown.split_whitespace().collect();
        if !shown.contains("--rules") {
            arguments.extend(["--rules", "rules.toml"]);
        }
        if !shown.contains("--out") {
            arguments.extend(["--out-matched", "m.pcap", "--out-bypassed", "b.pcap"]);
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
