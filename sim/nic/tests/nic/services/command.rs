//! `spinneret run --services` as a user calls it.

#[path = "../../../examples/tally.rs"]
mod example;

use super::Kind;
use crate::kit::{ok, root, spinneret, stderr};
use serde_json::Value;
use spinneret_packets::capture::{CaptureWriter, Packet, Resolution};
use spinneret_packets::udp;
use std::collections::BTreeMap;
use std::process::Output;
use std::time::Duration;

fn run(example: &str, services: &str) -> Output {
    run_with(example, &[services])
}

fn run_with(example: &str, arguments: &[&str]) -> Output {
    let mut command = spinneret();
    command.args(["run", &format!("runtime/examples/{example}"), "--generate"]);
    ok(command
        .args(["udp,size=100,count=5", "--json"])
        .args(arguments)
        .output())
}

#[test]
fn the_example_keeps_a_log_in_the_folder() {
    let folder = ok(tempfile::tempdir());
    let output = run("host_log", &format!("--services={}", folder.path().display()));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("context 0: 25 calls were answered\n"),
        "{}",
        stderr(&output)
    );
    let log = ok(std::fs::read_to_string(folder.path().join("packets.log")));
    assert_eq!(log, "100 bytes to port 9330\n".repeat(5));
}

/// Each packet of the example opens its log, writes to it, and closes it.
#[test]
fn calls_are_in_the_trace() {
    let folder = ok(tempfile::tempdir());
    let trace = folder.path().join("trace.json");
    let services = format!("--services={}", folder.path().display());
    let output = run_with("host_log", &[&services, "--trace", &trace.display().to_string()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let trace: Value = ok(serde_json::from_slice(&ok(std::fs::read(trace))));
    let events = trace["traceEvents"].as_array().map_or(&[][..], Vec::as_slice);
    let track = |event: &Value| (event["pid"].as_u64(), event["tid"].as_u64());
    let names = events.iter().filter(|event| event["name"] == "thread_name");
    let tracks: BTreeMap<_, _> = names
        .filter_map(|event| Some((track(event), event["args"]["name"].as_str()?)))
        .collect();
    let slices: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    let of_calls = |name: &str| slices.iter().filter(|slice| slice["name"] == name).count();
    assert_eq!(
        [of_calls("OPEN_FILE"), of_calls("PRINT"), of_calls("CLOSE_FILE")],
        [5; 3]
    );
    assert_eq!(of_calls("waits for the host"), 25);
    let is_in = |inner: &Value, outer: &Value| {
        let [inner, outer] = [inner, outer].map(|slice| {
            let [at, long] = [&slice["ts"], &slice["dur"]].map(|number| number.as_f64().unwrap_or(f64::NAN));
            [at, at + long]
        });
        outer[0] <= inner[0] && inner[1] <= outer[1]
    };
    for call in slices.iter().filter(|slice| slice["args"]["waited"].is_number()) {
        let name = tracks[&track(call)];
        assert!(name.starts_with("context 0, port "), "{name}");
        let hpu = name.rsplit(": ").next().unwrap_or_default();
        // It is inside the slice of a handler of its HPU, and its wait is inside it.
        let handlers = slices.iter().filter(|slice| slice["args"]["handler"].is_string());
        let own = handlers.filter(|handler| tracks[&track(handler)] == hpu);
        assert_eq!(
            own.filter(|handler| is_in(call, handler)).count(),
            1,
            "{call} of {name}"
        );
        let waits = slices
            .iter()
            .filter(|slice| slice["name"] == "waits for the host");
        let own = waits.filter(|wait| track(wait) == track(call));
        assert_eq!(own.filter(|wait| is_in(wait, call)).count(), 1, "{call}");
    }
}

#[test]
fn without_a_folder_no_files_are_opened() {
    let output = run("host_log", "--services");
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("5 calls were answered, 5 refused: not allowed"),
        "{said}"
    );
    assert!(said.contains("host_log: the host keeps no log"), "{said}");
}

/// Text of handlers by the host is shown like their output by the NIC: control characters are escaped, and no line looks
/// like one of the program.
#[test]
fn handlers_cannot_forge_lines_of_the_program() {
    let folder = ok(tempfile::tempdir());
    let [rules, packets] = ["rules.toml", "in.pcap"].map(|name| folder.path().join(name));
    let ruleset = "[[ruleset]]\nname = \"rpc\"\nrules = [\"ipv4\"]\nend-of-message = \"never\"\n";
    ok(std::fs::write(&rules, ruleset));
    let texts: [&[u8]; 3] = [
        b"A\x1b]0;pwn\x07\x1b[2JB\r\x9b31mC",
        b"x\n[0.0] forged\ncontext 0: 0 forged",
        b"spinneret: forged\nerror: forged",
    ];
    let mut writer = ok(CaptureWriter::create(&packets, Resolution::Nano));
    for (at, text) in (0..).zip(texts) {
        let mut payload = [[Kind::Puts as u8, 0, 0, 0], [0; 4], [0; 4]].concat();
        payload.extend(text);
        payload.resize(64, 0);
        let data = udp(9330, &payload);
        let packet = Packet {
            timestamp: Duration::from_micros(20 * at),
            original_len: data.len() as u32,
            data,
        };
        ok(writer.write(&packet));
    }
    ok(writer.finish());
    let mut command = spinneret();
    command.args(["run", "runtime/tests/rpc", "--services", "--json", "--rules"]);
    let output = ok(command.arg(rules).arg("--pcap").arg(packets).output());
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(
        said.chars()
            .all(|character| character == '\n' || !character.is_control()),
        "{said:?}"
    );
    let lines: Vec<&str> = said.lines().collect();
    let of_handlers = |line: &&&str| line.starts_with('[') && line.get(4..6) == Some("] ");
    assert_eq!(lines.iter().filter(of_handlers).count(), 6, "{said}");
    let mut forged = lines.iter().filter(|line| line.contains("forged"));
    assert!(forged.all(|line| of_handlers(&line)), "{said}");
    assert!(
        said.contains("] A\\u{1b}]0;pwn\\u{7}\\u{1b}[2JB\\r\u{fffd}31mC\n"),
        "{said}"
    );
    assert!(said.contains("\ncontext 0: 3 calls were answered\n"), "{said}");
}

fn read(path: &str) -> String {
    ok(std::fs::read_to_string(root().join(path)))
}

#[test]
fn the_host_sums_values_of_handlers() {
    let sums = example::count(&[7, 9, 7, 7, 9]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sums, BTreeMap::from([(7, 300), (9, 200)]));
}

#[test]
fn the_tally_header_is_up_to_date() {
    let path = root().join("runtime/examples/tally/tally.h");
    if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
        ok(std::fs::write(&path, example::tally::C_HEADER));
    }
    assert!(
        ok(std::fs::read_to_string(path)) == example::tally::C_HEADER,
        "runtime/examples/tally/tally.h differs from the trait: \
         run `SPINNERET_UPDATE_DOCS=1 cargo test --workspace --test nic services`"
    );
}

#[test]
fn the_documentation_shows_the_current_example() {
    let page = read("docs/host/services.md");
    // `c_functions` compiles the example in C.
    let (page, _) = page
        .split_once("\n## Functions in C")
        .expect("the chapter is there");
    let sources = read("sim/nic/examples/tally.rs") + &read("runtime/examples/tally/tally.c");
    let mut blocks = 0;
    for block in page.split("\n```").skip(1).step_by(2) {
        if let Some((language @ ("rust" | "c"), text)) = block.split_once('\n') {
            blocks += 1;
            assert!(
                sources.contains(text),
                "this {language} is not in the example:\n{text}"
            );
        }
    }
    assert_eq!(blocks, 4);
}
