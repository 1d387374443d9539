//! The page of a run, as a browser and those who are none get it.

mod strangers;

use crate::kit::{ALL_PACKETS, Process, ok, packets, spinneret};
use crate::run::{ICMP, refusal, run};
use serde_json::Value;
use spinneret_packets::capture::{CaptureWriter, Packet, Resolution};
use spinneret_skip::skip;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const UDP: &str = "runtime/examples/udp_ping";
const PINGS: &str = "icmp,size=98..1400,rate=2Gbps,count=60";

/// A run that is shown.
struct Watched {
    run: Process,
    port: u16,
    /// The prefix of all names that are served.
    root: String,
}

impl Watched {
    fn start(arguments: &[&str]) -> Self {
        let run = Process::start(spinneret().arg("run").args(arguments).arg("--watch"));
        let place = "the run is shown at http://127.0.0.1:";
        let said = run.says(place);
        let address = said.split(place).nth(1).and_then(|rest| rest.lines().next());
        let (port, root) = address
            .and_then(|address| address.split_once('/'))
            .expect("there is a path");
        Self {
            run,
            port: ok(port.parse()),
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

    /// Interrupts it.
    fn interrupt(self) {
        self.run.interrupt().assert_success();
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
fn the_state_is_served_only_at_its_secret_address() {
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
fn counters_and_drops_are_shown_during_the_run() {
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
    let dropped = summary["dropped_for"]["udp_ping"].as_u64();
    assert!(
        dropped <= packets(&summary, "wire in").checked_sub(packets(&summary, "to handlers")),
        "{summary}"
    );
    watched.interrupt();
}

#[test]
fn a_run_survives_a_disconnecting_browser() {
    let watched = Watched::start(&[ICMP, "--generate", PINGS]);
    for _ in 0..8 {
        let mut stream = TcpStream::connect(("127.0.0.1", watched.port)).expect("somebody listens");
        write!(stream, "GET {}sta", watched.root).expect("it is read");
    }
    assert_eq!(watched.last_state()["summary"]["handlers"][0]["packets"], 60);
    watched.interrupt();
}

#[test]
fn a_port_in_use_is_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = taken.local_addr().expect("it has an address").port();
    let watch = format!("--watch={port}");
    let told = refusal(&[ICMP, "--generate", PINGS, &watch]);
    assert!(
        told.contains(&format!("cannot serve the page at port {port} of localhost")),
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
    std::fs::write(&rules, ALL_PACKETS).expect("there is room");
    [pcap, rules]
}

/// The report of a run with faults, in a folder.
fn report(folder: &Path) -> PathBuf {
    let [pcap, rules] = troubles(folder).map(|path| path.display().to_string());
    let report = folder.join("report.html");
    let name = report.display().to_string();
    let output = run(&[
        "runtime/tests/faults",
        "--pcap",
        &pcap,
        "--rules",
        &rules,
        "--watchdog=20000",
        "--allow-faults",
        "--report",
        &name,
    ]);
    assert!(output.status.success(), "{output:?}");
    report
}

/// Chromium's result for an address: the document after its scripts have run, and their errors.
fn browse(address: &str, width: u32) -> Option<(String, String)> {
    let profile = tempfile::tempdir().expect("there is room");
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={width},900"))
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            "--dump-dom",
        ])
        .arg(address)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let complaints = text(&output.stderr);
    let complaints = complaints.lines().filter(|line| line.contains("CONSOLE"));
    Some((text(&output.stdout), complaints.collect::<Vec<_>>().join("\n")))
}

/// The text of a cell or another element, wherever it is.
fn shows(document: &str, text: &str) -> bool {
    document.contains(&format!(">{text}<"))
}

#[test]
fn a_saved_page_is_complete_and_fits_the_screen() {
    let folder = tempfile::tempdir().expect("there is room");
    let report = report(folder.path());
    for width in [1280, 400] {
        let framed = framed(&report, width);
        let address = format!("file://{}", framed.display());
        let Some((document, complaints)) = browse(&address, width) else {
            return skip(
                "a_saved_page_is_complete_and_fits_the_screen",
                &"there is no chromium",
            );
        };
        assert_eq!(complaints, "");
        assert!(
            document.contains(&format!("data-fits=\"{width} {width}\"")),
            "{width}: {document:.400}"
        );
        for text in [
            "finished",
            "cycles p50",
            "22",
            "faults_ph",
            "illegal instruction",
            "ingress.matched",
            "1.7",
        ] {
            assert!(shows(&document, text), "{text}: {document}");
        }
        // Lines of source come with faults, and what handlers print.
        assert!(document.contains("faults/faults.c:"), "{document}");
        assert!(document.contains("no fault 1"), "{document}");
    }
}

/// The report with a script that says how wide it is and how wide it may be; Chromium has no windows as narrow as a
/// telephone, so the document is made narrow.
fn framed(report: &Path, width: u32) -> PathBuf {
    let page = std::fs::read_to_string(report).expect("it was written");
    let narrow = format!("<style>html {{ width: {width}px; }} main {{ container-type: normal; }}</style>");
    let probe = "<script>document.documentElement.dataset.fits = \
         `${document.documentElement.scrollWidth > innerWidth ? document.documentElement.scrollWidth : \
         document.documentElement.offsetWidth} ${Math.max(...[...document.querySelectorAll('section, header')]\
         .map(part => Math.ceil(part.getBoundingClientRect().right)), document.documentElement.offsetWidth)}`</script>";
    let framed = report.with_file_name(format!("framed-{width}.html"));
    let page = page.replace("</head>", &format!("{narrow}</head>"));
    std::fs::write(&framed, page.replace("</body>", &format!("{probe}</body>"))).expect("there is room");
    framed
}

#[test]
fn the_page_updates_during_a_run() {
    let watched = Watched::start(&[ICMP, "--generate", "icmp,size=98,rate=1Gbps,count=1e6"]);
    let address = format!("http://127.0.0.1:{}{}", watched.port, watched.root);
    let Some((document, complaints)) = browse(&address, 1280) else {
        watched.interrupt();
        return skip("the_page_updates_during_a_run", &"there is no chromium");
    };
    assert_eq!(complaints, "");
    for text in ["icmp_ping", "running", "wire in", "to handlers"] {
        assert!(shows(&document, text), "{text}: {document}");
    }
    watched.interrupt();
}
