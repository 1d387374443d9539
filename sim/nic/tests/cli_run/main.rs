//! `spinneret run` as a user calls it.

mod gdb;
mod outputs;
mod terminal;
mod wave;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spinneret"))
        .arg("run")
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("the command was built")
}

/// What a run printed as JSON.
fn summary(arguments: &[&str]) -> Value {
    let output = run(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The message of a run that could not begin.
fn refusal(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    stderr(&output)
}

fn packets(summary: &Value, stage: &str) -> u64 {
    let stages = summary["stages"].as_array().expect("there are stages");
    let found = stages.iter().find(|found| found["stage"] == stage);
    found
        .and_then(|found| found["packets"].as_u64())
        .expect("the stage is counted")
}

const ICMP: &str = "runtime/examples/icmp_ping";

#[test]
fn a_captures_pings_are_answered_and_the_rest_goes_to_the_host() {
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
        let reader =
            spinneret_packets::capture::CaptureReader::open(Path::new(&file)).expect("it is a capture");
        let mut count = 0;
        for packet in reader {
            packet.expect("it is whole");
            count += 1;
        }
        assert_eq!(count, wanted, "{file}");
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
    let folder = tempfile::tempdir().expect("there is room");
    let source = folder.path().join("bad.c");
    std::fs::write(
        &source,
        "#include <handler.h>\n\
         __handler__ void bad_ph(handler_args_t *args) {\n\
         \x20   if (((volatile uint8_t *)args->task->pkt_mem)[41] & 1) {\n\
         \x20       *(volatile uint32_t *)0x40000000 = 1;\n\
         \x20   }\n\
         }\n",
    )
    .expect("there is room");
    let makefile = format!("include {}\n", root().join("runtime/spin.mk").display());
    std::fs::write(folder.path().join("Makefile"), makefile).expect("there is room");
    let rules = "[[ruleset]]\nrules = [\"always\"]\nend-of-message = \"never\"\n";
    std::fs::write(folder.path().join("rules.toml"), rules).expect("there is room");
    let handlers = folder.path().display().to_string();
    let run =
        |packets: &str, more: &[&str]| run(&[&[&handlers, "--generate", packets, "--json"], more].concat());
    for (more, code) in [(&[][..], 1), (&["--allow-faults"], 0)] {
        let output = run("icmp,size=64,pps=100000,count=10", more);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains("bad_ph") && said.contains("bad.c:4"), "{said}");
        let last = said.lines().last().unwrap_or_default();
        let is_told =
            last.starts_with("error: handlers failed 5 times: store that is not allowed in bad_ph, ");
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
fn what_cannot_be_run_is_refused_with_what_was_found() {
    let folder = tempfile::tempdir().expect("there is room");
    let empty = folder.path().display().to_string();
    let text = folder.path().join("text.elf");
    std::fs::write(&text, "no program").expect("there is room");
    let text = text.display().to_string();
    let large = folder.path().join("large.elf");
    let file = std::fs::File::create(&large).expect("there is room");
    file.set_len(1 << 40).expect("holes need no room");
    let large = large.display().to_string();
    let packets = ["--generate", "udp,count=1"];
    let rules = ["--rules", "runtime/examples/icmp_ping/rules.toml"];
    let refuse = |target: &str, more: &[&str]| refusal(&[&[target], &packets[..], more].concat());
    for (said, wanted) in [
        (refuse("no/such/folder", &[]), "does not exist"),
        (refuse("/dev/null", &[]), "is neither a file nor a folder"),
        (refuse(ICMP, &["--duration", "nan"]), "it is no number"),
        (refuse(ICMP, &["--duration", "-1"]), "'--duration <SECONDS>'"),
        (
            refuse(ICMP, &["--host-latency", "1000001"]),
            "1000001 is not in 0..=1000000",
        ),
        (refuse(&empty, &[]), "has no Makefile"),
        (refuse(&text, &rules), "no ELF file"),
        (refuse("/proc/self/exe", &rules), "64 bits"),
        (refuse(&large, &rules), "is larger than 64 MiB"),
        (refuse(ICMP, &["--handler", "other"]), "it has `icmp_ping_ph`"),
        (
            refuse("runtime/examples/icmp_ping/build/icmp_ping.elf", &[]),
            "name the rules with --rules",
        ),
        (refuse(ICMP, &["--rules", "no/such/rules"]), "no/such/rules"),
        (refuse(ICMP, &["--cluster-mhz", "0"]), "clocks are 1 to 1000 MHz"),
        (refuse(ICMP, &["--clusters", "9"]), "9"),
        (refusal(&[ICMP, "--generate", "udp,sise=64"]), "sise"),
        (refusal(&[ICMP, "--pcap", "no/such/capture"]), "no/such/capture"),
        (refusal(&[ICMP, "--attach", "nosuchinterface"]), "nosuchinterface"),
        (refusal(&[ICMP]), "--pcap"),
    ] {
        assert!(said.contains(wanted), "{wanted} is not in: {said}");
    }
}

#[test]
fn another_shape_is_compiled_for_and_simulated() {
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
fn pings_are_answered_by_a_program_on_the_host() {
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
    let reader = spinneret_packets::capture::CaptureReader::open(Path::new(&out)).expect("it is a capture");
    let recipe: spinneret_nic::net::Recipe = made_up.parse().expect("it is what was generated");
    for packet in reader {
        let packet = packet.expect("it is whole");
        recipe
            .check_reply(&packet.data)
            .unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn packets_that_a_capture_cut_short_are_told() {
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
