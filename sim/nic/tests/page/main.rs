//! The page of a run, as a browser and those who are none get it.

mod browser;
mod strangers;

use serde_json::Value;
use spinneret_packets::capture::{CaptureWriter, Packet, Resolution};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ICMP: &str = "runtime/examples/icmp_ping";
const UDP: &str = "runtime/examples/udp_ping";
const PINGS: &str = "icmp,size=98..1400,rate=2Gbps,count=60";

fn spinneret(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spinneret"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    command.arg("run").args(arguments).current_dir(root);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A run that is shown.
struct Watched {
    run: Child,
    port: u16,
    /// What stands before the names of everything.
    root: String,
}

impl Watched {
    fn start(arguments: &[&str]) -> Self {
        let mut run = spinneret(&[arguments, &["--watch"]].concat())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(run.stderr.take().expect("it is piped"));
        let address = loop {
            let mut line = String::new();
            assert_ne!(lines.read_line(&mut line).expect("it is text"), 0, "it ended");
            if let Some((_, address)) = line.trim().split_once("the run is shown at http://127.0.0.1:") {
                break address.to_owned();
            }
        };
        // Nobody reads the rest, and the run must not wait for it.
        std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        let (port, root) = address.split_once('/').expect("there is a path");
        Self {
            run,
            port: port.parse().expect("it is a number"),
            root: format!("/{root}"),
        }
    }

    /// Status and text of an answer.
    fn ask(&self, method: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("somebody listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .expect("it is read");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it is text");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        let (_, text) = answer.split_once("\r\n\r\n").expect("there is a head");
        (status.expect("it is a number"), text.to_owned())
    }

    fn state(&self) -> Value {
        let (status, text) = self.ask("GET", &format!("{}state", self.root));
        assert_eq!(status, 200);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn last_state(&self) -> Value {
        loop {
            let state = self.state();
            if state["is_over"] == true {
                return state;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends it as a user does.
    fn interrupt(mut self) {
        let run = rustix::process::Pid::from_child(&self.run);
        rustix::process::kill_process(run, rustix::process::Signal::INT).expect("it runs");
        assert!(self.run.wait().expect("it ends").success());
    }
}

/// A test that fails leaves no run behind.
impl Drop for Watched {
    fn drop(&mut self) {
        // It fails if the run has ended.
        let _ = self.run.kill();
        let _ = self.run.wait();
    }
}

fn number(values: &Value) -> u64 {
    values
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_u64)
        .sum()
}

#[test]
fn the_state_of_a_run_is_served_to_who_knows_the_address() {
    let watched = Watched::start(&[ICMP, "--generate", PINGS]);
    let (status, page) = watched.ask("GET", &watched.root);
    assert_eq!(status, 200);
    assert!(page.starts_with("<!doctype html>"));
    for stranger in ["/", "/state", "/0123456789abcdef0123456789abcdef/state"] {
        assert_eq!(watched.ask("GET", stranger).0, 404, "{stranger}");
    }
    let state = format!("{}state", watched.root);
    assert_eq!(watched.ask("POST", &state).0, 404);
    let state = watched.last_state();
    assert_eq!(state["title"], "icmp_ping");
    let timeline = &state["timeline"];
    for column in ["wire_in", "taken", "freed", "sent"] {
        assert_eq!(number(&timeline[column]), 60, "{column}: {state}");
    }
    assert_eq!(number(&timeline["to_host"]), 0);
    assert_eq!(timeline["busy_percent"].as_array().map(Vec::len), Some(16));
    assert!(
        timeline["busy_percent"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|hpu| number(hpu) > 0)
    );
    assert_eq!(state["summary"]["handlers"][0]["packets"], 60);
    watched.interrupt();
}

#[test]
fn what_handlers_count_and_lose_is_shown_while_the_run_goes() {
    // More than the handlers can take.
    let watched = Watched::start(&[UDP, "--generate", "udp,size=100,rate=20Gbps,count=1e9"]);
    let summary = loop {
        let state = watched.state();
        assert_eq!(state["is_over"], false);
        if state["summary"]["dropped_for"]["udp_ping"].as_u64() > Some(10) {
            break state["summary"].clone();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let counter = &summary["handler_counters"][0];
    assert_eq!(counter["index"], 0);
    // A handler counts before it ends, and those at work are few.
    let [counted, ran] = [&counter["count"], &summary["handlers"][0]["packets"]].map(Value::as_u64);
    let ahead = counted
        .zip(ran)
        .and_then(|(counted, ran)| counted.checked_sub(ran));
    assert!(ahead.is_some_and(|ahead| ahead <= 16), "{summary}");
    let packets = |name: &str| {
        let mut stages = summary["stages"].as_array().into_iter().flatten();
        let stage = stages.find(|stage| stage["stage"] == name);
        stage
            .and_then(|stage| stage["packets"].as_u64())
            .expect("it is counted")
    };
    let dropped = summary["dropped_for"]["udp_ping"].as_u64();
    assert!(
        dropped <= packets("wire in").checked_sub(packets("to handlers")),
        "{summary}"
    );
    watched.interrupt();
}

#[test]
fn a_browser_that_leaves_in_the_middle_does_not_end_the_run() {
    let watched = Watched::start(&[ICMP, "--generate", PINGS]);
    for _ in 0..8 {
        let mut stream = TcpStream::connect(("127.0.0.1", watched.port)).expect("somebody listens");
        write!(stream, "GET {}sta", watched.root).expect("it is read");
    }
    assert_eq!(watched.last_state()["summary"]["handlers"][0]["packets"], 60);
    watched.interrupt();
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = taken.local_addr().expect("it has an address").port();
    let watch = format!("--watch={port}");
    let output = spinneret(&[ICMP, "--generate", PINGS, &watch])
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains(&format!("the page cannot be served at port {port} of loopback")),
        "{told}"
    );
}

/// Frames that do everything that can go wrong in `runtime/tests/faults`, which looks at their first byte.
fn troubles(folder: &Path) -> [PathBuf; 2] {
    let (pcap, rules) = (folder.join("troubles.pcap"), folder.join("rules.toml"));
    let mut capture = CaptureWriter::create(&pcap, Resolution::Nano).expect("there is room");
    for kind in 0..22 {
        let mut data = vec![0; 64];
        data[0] = kind;
        let packet = Packet {
            timestamp: Duration::from_micros(kind.into()),
            original_len: data.len() as u32,
            data,
        };
        capture.write(&packet).expect("there is room");
    }
    capture.finish().expect("there is room");
    let all = "[[ruleset]]\nname = \"faults\"\nrules = [{ idx = 0, mask = 0, start = 0, end = 0 }]\n";
    std::fs::write(&rules, all).expect("there is room");
    [pcap, rules]
}

/// The report of a run with faults, in a folder.
fn report(folder: &Path) -> PathBuf {
    let [pcap, rules] = troubles(folder).map(|path| path.display().to_string());
    let report = folder.join("report.html");
    let name = report.display().to_string();
    let output = spinneret(&[
        "runtime/tests/faults",
        "--pcap",
        &pcap,
        "--rules",
        &rules,
        "--watchdog=20000",
        "--allow-faults",
        "--report",
        &name,
    ])
    .output()
    .expect("it starts");
    assert!(output.status.success(), "{output:?}");
    report
}
