//! `spinneret run` as a user calls it.

use crate::kit::{captured, handlers, json, ok, packets, root, spinneret, stderr};
use serde_json::Value;
use spinneret_nic::net::Recipe;
use spinneret_sim::waveform::{signals, times};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn run(arguments: &[&str]) -> Output {
    ok(spinneret().arg("run").args(arguments).output())
}

/// The summary of a run.
fn summary(arguments: &[&str]) -> Value {
    json(&run(&[arguments, &["--json"]].concat()))
}

/// The message of a run that could not begin.
pub(crate) fn refusal(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    stderr(&output)
}

pub(crate) const ICMP: &str = "runtime/examples/icmp_ping";

#[test]
fn pings_of_a_capture_are_answered_and_the_host_gets_the_rest() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (out, host) = (file("out.pcap"), file("host.pcap"));
    let summary = summary(&[
        ICMP,
        "--pcap",
        "sim/captures/lan.pcap",
        "--out",
        &out,
        "--out-host",
        &host,
    ]);
    let [came, sent, passed] =
        ["wire in", "sent by handlers", "to host"].map(|stage| packets(&summary, stage));
    assert!(sent > 0 && passed > 0);
    assert_eq!(came, sent + passed);
    for (file, wanted) in [(out, sent), (host, passed)] {
        assert_eq!(captured(&file).len() as u64, wanted, "{file}");
    }
}

#[test]
fn traces_plots_waveforms_and_profiles_are_written() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (trace, plot, wave) = (file("trace.json"), file("plot.svg"), file("wave.fst"));
    let summary = summary(&[
        ICMP,
        "--generate",
        "icmp,size=98,pps=100000,count=20",
        "--trace",
        &trace,
        "--plot",
        &plot,
        "--wave",
        &wave,
        "--profile",
    ]);
    let trace: Value =
        serde_json::from_slice(&std::fs::read(trace).expect("it was written")).expect("it is JSON");
    assert!(
        trace["traceEvents"]
            .as_array()
            .is_some_and(|events| events.len() > 100)
    );
    let plot = std::fs::read_to_string(plot).expect("it was written");
    assert!(plot.starts_with("<svg") && plot.trim_end().ends_with("</svg>"));
    assert!(std::fs::metadata(wave).expect("it was written").len() > 10_000);
    assert!(
        summary["profile"].to_string().contains("icmp_ping_ph"),
        "{}",
        summary["profile"]
    );
}

#[test]
fn handlers_that_fail_are_reported_with_their_source_line() {
    let folder = handlers(
        "bad",
        "__handler__ void bad_ph(handler_args_t *args) {\n\
         \x20   if (((volatile uint8_t *)args->task->pkt_mem)[41] & 1) {\n\
         \x20       *(volatile uint32_t *)0x40000000 = 1;\n\
         \x20   }\n\
         }\n",
    );
    let handlers = folder.path().display().to_string();
    let run =
        |packets: &str, more: &[&str]| run(&[&[&handlers, "--generate", packets, "--json"], more].concat());
    for (more, code) in [(&[][..], 1), (&["--allow-faults"], 0)] {
        let output = run("icmp,size=64,pps=100000,count=10", more);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains("bad_ph") && said.contains("bad.c:4"), "{said}");
        let last = said.lines().last().unwrap_or_default();
        let is_told = last.starts_with("error: handlers failed 5 times: store not allowed in bad_ph, ");
        assert_eq!(is_told, code == 1, "{said}");
        let summary: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(summary["handlers"][0]["failures"], 5, "every second one");
        assert_eq!(packets(&summary, "done with"), 10, "all packets are freed");
    }
    // Handlers that could fail and do not are none that fail.
    let output = run("icmp,size=64,pps=100000,count=1", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn another_shape_is_built_and_simulated() {
    let made_up = "udp,size=100,pps=200000,count=20";
    let summary = summary(&[
        "runtime/examples/udp_ping",
        "--generate",
        made_up,
        "--clusters",
        "4",
        "--hpus",
        "2",
    ]);
    assert_eq!(packets(&summary, "sent by handlers"), 20);
    assert_eq!(summary["hpus"].as_array().map(Vec::len), Some(8));
}

#[test]
fn pings_are_answered_by_the_host_program() {
    let folder = tempfile::tempdir().expect("there is room");
    let out = folder.path().join("out.pcap").display().to_string();
    let made_up = "icmp,size=200,pps=20000,count=12";
    let summary = summary(&[
        "runtime/examples/host_ping",
        "--generate",
        made_up,
        "--host-ping",
        "--out",
        &out,
    ]);
    assert_eq!(packets(&summary, "sent by handlers"), 12);
    let recipe: Recipe = ok(made_up.parse());
    for packet in captured(&out) {
        ok(recipe.check_reply(&packet.data));
    }
}

#[test]
fn truncated_packets_of_a_capture_are_reported() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("cut.pcap").display().to_string();
    // A snap length of 60 bytes, and a packet of 1500.
    let header: [u32; 6] = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 60, 1];
    let record: [u32; 4] = [0, 0, 60, 1500];
    let words = header.into_iter().chain(record).flat_map(u32::to_le_bytes);
    let bytes: Vec<u8> = words.chain([0; 60]).collect();
    std::fs::write(&path, bytes).expect("there is room");
    let summary = summary(&[ICMP, "--pcap", &path]);
    assert_eq!(summary["cut_short"], 1);
    let shown = run(&[ICMP, "--pcap", &path]).stdout;
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("cut short: 1 packets"), "{shown}");
}

const COLUMNS: usize = 80;

/// Terminal output of a shell command: lines without colours, and all bytes.
fn in_terminal(command: &str, environment: &[(&str, &str)]) -> (Vec<String>, String) {
    let command = format!(
        "stty cols {COLUMNS} rows 24; {} {command}",
        env!("CARGO_BIN_EXE_spinneret")
    );
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(root())
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .envs(environment.iter().copied())
        .output()
        .expect("util-linux is there");
    let all = String::from_utf8_lossy(&output.stdout).into_owned();
    let plain = strip(&all);
    // A progress bar returns to the begin of its line.
    let lines = plain.split(['\n', '\r']).map(str::to_owned).collect();
    (lines, all)
}

/// Without what moves the cursor and colours: ESC, `[`, figures and a letter.
fn strip(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => {
                characters.by_ref().skip(1).find(char::is_ascii_alphabetic);
            }
            _ => plain.push(character),
        }
    }
    plain
}

fn assert_fits(lines: &[String]) {
    for line in lines {
        assert!(line.chars().count() <= COLUMNS, "{line}\nof {lines:#?}");
    }
}

#[test]
fn output_fits_the_terminal() {
    let (lines, _) = in_terminal(
        "run runtime/examples/histogram --generate udp,size=64..1500,rate=10Gbps,count=60 --profile",
        &[],
    );
    assert_fits(&lines);
    let text = lines.join("\n");
    // Words are whole, and a line of source is one line.
    for word in ["histogram_hh", "packets/s", "cluster to handler", "MIPS)"] {
        assert!(text.contains(word), "{word}\n{text}");
    }
    let mut rows = lines.iter().skip_while(|line| !line.ends_with("source"));
    assert!(rows.next().is_some(), "{text}");
    let goes_on = |line: &&String| line.starts_with("          ");
    assert_eq!(rows.find(goes_on), None, "{text}");
}

#[test]
fn untrusted_output_has_its_own_lines() {
    let (lines, _) = in_terminal(
        "run runtime/examples/host_log --generate udp,count=2 --services",
        &[],
    );
    assert_fits(&lines);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("context 0: 2 calls were")),
        "{lines:#?}"
    );
}

#[test]
fn errors_are_red_unless_no_color_is_set() {
    let command = "run nothing-of-this-name --generate icmp,count=20";
    let (lines, all) = in_terminal(command, &[]);
    assert!(
        all.contains("\x1b[31merror:\x1b[0m nothing-of-this-name"),
        "{all}"
    );
    assert_fits(&lines);
    let (_, all) = in_terminal(command, &[("NO_COLOR", "1")]);
    assert!(all.contains("error: nothing-of-this-name"), "{all}");
    assert!(!all.contains("\x1b[3"), "{all}");
    // An empty value is as none.
    let (_, all) = in_terminal(command, &[("NO_COLOR", "")]);
    assert!(all.contains("\x1b[31m"), "{all}");
}

#[test]
fn help_fits_the_terminal() {
    for command in [
        "run", "serve", "fabric", "send", "receive", "match", "new", "service", "where",
    ] {
        let (lines, _) = in_terminal(&format!("{command} --help"), &[]);
        assert!(lines.len() > 5, "{lines:#?}");
        assert_fits(&lines);
    }
}

/// Picoseconds of a microsecond.
const US: u64 = 1_000_000;
/// Picoseconds of a clock of the core, within which a window ends.
const CLOCK: u64 = 4000;

/// A run of some pings with that waveform: what it says about it.
fn traced(path: &Path, more: &[&str]) -> String {
    let wave = path.display().to_string();
    let packets = ["--generate", "icmp,count=20,rate=1Gbps", "--wave", &wave];
    let done = run(&[&[ICMP], &packets[..], more].concat());
    assert!(done.status.success(), "{}", stderr(&done));
    stderr(&done)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).expect("it is there").len()
}

#[test]
fn a_waveform_can_be_restricted_to_an_instance_and_a_time() {
    let folder = tempfile::tempdir().expect("there is room");
    let [all, part, window, wire] =
        ["all", "part", "window", "wire"].map(|name| -> PathBuf { folder.path().join(name) });
    let told = traced(&all, &[]);
    assert!(told.contains("MB for each simulated millisecond"), "{told}");
    assert!(
        told.contains("--wave-scope, --wave-from and --wave-until"),
        "{told}"
    );
    assert!(told.contains(&format!("{}: ", all.display())), "{told}");
    let of_all = signals(&all).expect("it is whole");
    let (first, end) = times(&all).expect("it is whole");

    let told = traced(&part, &["--wave-scope", "u_ingress"]);
    assert!(!told.contains("simulated millisecond"), "{told}");
    let of_part = signals(&part).expect("it is whole");
    assert!(0 < of_part && of_part < of_all / 2, "{of_part} of {of_all}");
    assert!(size(&part) < size(&all) / 2);

    // Packets come after the handlers are there.
    let (from, until) = ((first + end) / 2 / US, (first + end) / 2 / US + 10);
    let limits = [from, until].map(|time| format!("{time}us"));
    let told = traced(&window, &["--wave-from", &limits[0], "--wave-until", &limits[1]]);
    assert!(told.contains("so at most about 0.6 MB"), "{told}");
    assert_eq!(signals(&window).expect("it is whole"), of_all);
    let (start, last) = times(&window).expect("it is whole");
    assert!(
        from * US <= start && start < last && last < until * US + CLOCK,
        "{start} to {last}"
    );
    assert!(first < start && last < end, "{first} to {end}");

    traced(&wire, &["--wave-scope", "s_axis_if_rx_tvalid"]);
    assert_eq!(signals(&wire).expect("it is whole"), 1);
}

#[test]
fn a_waveform_after_the_end_of_the_run_is_an_error() {
    let folder = ok(tempfile::tempdir());
    let wave = folder.path().join("w");
    let name = wave.display().to_string();
    let packets = [ICMP, "--generate", "icmp,count=3"];
    let done = run(&[&packets[..], &["--wave", &name, "--wave-from", "1s"]].concat());
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let told = stderr(&done);
    assert!(told.contains("the run was over before 1000000 us"), "{told}");
    assert!(!wave.exists());
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0);
}
