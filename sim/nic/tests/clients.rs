//! Linux's own clients talk to the NIC: ping, a UDP client, iperf3.
//!
//! Each test runs `spinneret run --tap`, which makes an interface for the host and one in a namespace of its own for the
//! other end of the cable. Where the process may not do that, the tests are skipped.

use spinneret_skip::skip;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// Longest that the NIC takes to start; the first one compiles its handlers.
const START: Duration = Duration::from_secs(60);
/// Both ends of the cable have fixed addresses, so there is one cable at a time.
static CABLE: Mutex<()> = Mutex::new(());

/// A NIC with a cable.
struct Cable {
    child: Child,
    name: String,
    _only: MutexGuard<'static, ()>,
}

impl Cable {
    /// Starts a NIC with an example, and with its rules or others; nothing where that is not allowed.
    fn start(name: &str, example: &str, rules: Option<&Path>) -> Option<Self> {
        let handlers = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../runtime/examples")
            .join(example);
        let mut arguments = vec![OsStr::new("run"), handlers.as_os_str(), OsStr::new("--json")];
        if let Some(rules) = rules {
            arguments.extend([OsStr::new("--rules"), rules.as_os_str()]);
        }
        Self::with(name, &arguments)
    }

    /// Starts the command with these arguments and the cable; nothing where that is not allowed.
    fn with(name: &str, arguments: &[&OsStr]) -> Option<Self> {
        let only = CABLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !may_make_interfaces() {
            skip(
                name,
                &"this process may not make interfaces and namespaces (run it as root)",
            );
            return None;
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinneret"));
        command.args(arguments).args(["--tap", name]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut cable = Self {
            child: child.expect("the command was built"),
            name: name.to_owned(),
            _only: only,
        };
        let begun = Instant::now();
        while !cable
            .at_wire(
                "ip",
                &["-4", "addr", "show", "dev", &format!("{name}-wire"), "up"],
            )
            .contains("10.9.0.2")
        {
            if let Ok(Some(status)) = cable.child.try_wait() {
                let mut text = String::new();
                let mut stderr = cable.child.stderr.take().expect("it is piped");
                std::io::Read::read_to_string(&mut stderr, &mut text).expect("it is text");
                panic!("the NIC ended with {status}: {text}");
            }
            assert!(begun.elapsed() < START, "the cable is not there after {START:?}");
            thread::sleep(Duration::from_millis(50));
        }
        Some(cable)
    }

    /// Runs a command at the other end of the cable: what it prints.
    fn at_wire(&self, program: &str, arguments: &[&str]) -> String {
        let output = self
            .wire_command(program, arguments)
            .output()
            .expect("ip is there");
        text(&output)
    }

    fn wire_command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("ip");
        let namespace = format!("{}-wire", self.name);
        command
            .args(["netns", "exec", &namespace, program])
            .args(arguments);
        command
    }

    /// Waits until the run has ended: how, and what it told.
    fn wait(mut self) -> (Option<i32>, String) {
        let mut told = String::new();
        let mut stderr = self.child.stderr.take().expect("it is piped");
        std::io::Read::read_to_string(&mut stderr, &mut told).expect("it is text");
        (self.child.wait().expect("it ends").code(), told)
    }

    /// Ends the run as Ctrl-C does: its summary.
    fn finish(mut self) -> serde_json::Value {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args(["-INT", &id])
            .status()
            .expect("kill is there");
        assert!(sent.success());
        let child = &mut self.child;
        let mut text = String::new();
        let mut stdout = child.stdout.take().expect("it is piped");
        std::io::Read::read_to_string(&mut stdout, &mut text).expect("it is text");
        assert!(child.wait().expect("it ends").success(), "{text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A NIC that was killed leaves its namespace behind.
        let namespace = format!("{}-wire", self.name);
        let _ = Command::new("ip").args(["netns", "delete", &namespace]).output();
    }
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

fn may_make_interfaces() -> bool {
    let name = "spinneret-probe";
    let run = |arguments: &[&str]| {
        Command::new("ip")
            .args(arguments)
            .output()
            .is_ok_and(|output| output.status.success())
    };
    run(&["netns", "add", name]) && run(&["netns", "delete", name]) && Path::new("/dev/net/tun").exists()
}

/// How many packets of a stage there were.
fn packets(summary: &serde_json::Value, stage: &str) -> u64 {
    let stages = summary["stages"].as_array().expect("there are stages");
    let found = stages.iter().find(|found| found["stage"] == stage);
    found
        .and_then(|found| found["packets"].as_u64())
        .expect("the stage is counted")
}

/// A file with rules, which goes away with the test.
fn rules(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("rules.toml");
    std::fs::write(&file, text).expect("there is room");
    (folder, file)
}

#[test]
fn ping_is_answered_by_the_handler() {
    for (name, size) in [("ping56", "56"), ("ping1400", "1400")] {
        let Some(cable) = Cable::start(name, "icmp_ping", None) else {
            return;
        };
        let said = cable.at_wire("ping", &["-c", "50", "-i", "0.05", "-s", size, "10.9.0.1"]);
        assert!(said.contains(" 0% packet loss"), "{said}");
        let summary = cable.finish();
        assert_eq!(packets(&summary, "sent by handlers"), 50);
    }
}

#[test]
fn ping_to_another_address_is_answered_by_linux() {
    let (_folder, file) = rules(
        "[[ruleset]]\nname = \"other\"\nend-of-message = \"always\"\n\
         rules = [\"ipv4\", \"icmp-echo-request\", { idx = 7, mask = 0xffff0000, start = 0x00630000, end = 0x00630000 }]\n",
    );
    let Some(cable) = Cable::start("pinglinux", "icmp_ping", Some(&file)) else {
        return;
    };
    let said = cable.at_wire("ping", &["-c", "20", "-i", "0.05", "10.9.0.1"]);
    assert!(said.contains(" 0% packet loss"), "{said}");
    let summary = cable.finish();
    assert_eq!(packets(&summary, "sent by handlers"), 0);
    assert!(packets(&summary, "sent by host") >= 20);
}

#[test]
fn datagrams_come_back() {
    let Some(cable) = Cable::start("udpecho", "udp_ping", None) else {
        return;
    };
    let script =
        "for n in 1 2 3 4 5; do echo datagram $n | socat -t1 - UDP:10.9.0.1:7777,sourceport=4000$n; done";
    let said = cable.at_wire("sh", &["-c", script]);
    let wanted: Vec<String> = (1..=5).map(|number| format!("datagram {number}")).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
    assert_eq!(packets(&cable.finish(), "sent by handlers"), 5);
}

#[test]
fn iperf_passes_through() {
    // Nothing matches: everything is the host's.
    let (_folder, file) = rules("[[ruleset]]\nrules = [\"never\"]\nend-of-message = \"never\"\n");
    let Some(cable) = Cable::start("iperf", "udp_ping", Some(&file)) else {
        return;
    };
    let mut server = Command::new("iperf3")
        .args(["-s", "-1", "-B", "10.9.0.1"])
        .stdout(Stdio::null())
        .spawn()
        .expect("iperf3 is installed by ./dev setup");
    thread::sleep(Duration::from_millis(500));
    let said = cable.at_wire(
        "iperf3",
        &[
            "-c", "10.9.0.1", "-u", "-b", "2M", "-l", "1000", "-t", "3", "--json",
        ],
    );
    let _ = server.wait();
    let result: serde_json::Value =
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    let lost = result["end"]["sum"]["lost_packets"].as_u64().unwrap_or(u64::MAX);
    let sent = result["end"]["sum"]["packets"].as_u64().unwrap_or(0);
    assert!(sent > 500 && lost * 100 <= sent, "{lost} of {sent} lost");
    let summary = cable.finish();
    assert_eq!(packets(&summary, "to handlers"), 0);
    assert!(packets(&summary, "to host") > 500);
}

/// Runs `ip`.
fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().expect("ip is there");
    assert!(output.status.success(), "{arguments:?}: {}", text(&output));
}

#[test]
fn interfaces_that_others_take_away_are_told() {
    let Some(mut cable) = Cable::start("downhost", "icmp_ping", None) else {
        return;
    };
    ip(&["link", "set", "dev", "downhost", "down"]);
    // A request of ARP, which no rule matches.
    cable.at_wire("ping", &["-c", "1", "-W", "1", "10.9.0.1"]);
    let mut stderr = cable.child.stderr.take().expect("it is piped");
    let summary = cable.finish();
    let mut told = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut told).expect("it is text");
    assert!(packets(&summary, "to host") > 0, "{summary}");
    assert!(told.contains("interface `downhost` did not take "), "{told}");

    for (away, gone) in [("link", "gonehost"), ("netns", "gonehost-wire")] {
        let Some(cable) = Cable::start("gonehost", "icmp_ping", None) else {
            return;
        };
        ip(&[away, "delete", gone]);
        let (code, told) = cable.wait();
        assert_eq!(code, Some(1), "{told}");
        assert!(
            told.contains(&format!("error: interface `{gone}` is gone")),
            "{told}"
        );
        assert!(!told.contains("left behind"), "{told}");
    }
}

/// Datagrams of any length and content to a receiver's port, and a file after them.
#[test]
fn a_file_comes_after_garbage() {
    let folder = tempfile::tempdir().expect("there is room");
    let [file, received] = ["file", "received"].map(|name| folder.path().join(name));
    std::fs::write(&file, [7; 5000]).expect("there is room");
    let arguments = [
        OsStr::new("receive"),
        received.as_os_str(),
        OsStr::new("--idle"),
        OsStr::new("1"),
    ];
    let Some(cable) = Cable::with("garbage", &arguments) else {
        return;
    };
    let garbage = "for bytes in 0 1 9 10 11 50 100 1000 1472; do for again in 1 2 3 4 5 6 7 8 9; do \
                   head -c $bytes /dev/urandom >/dev/udp/10.9.0.1/9330; done; done";
    cable.at_wire("bash", &["-c", garbage]);
    let file = file.display().to_string();
    let sent = cable.at_wire(
        env!("CARGO_BIN_EXE_spinneret"),
        &["send", &file, "--to", "10.9.0.1", "--give-up", "20"],
    );
    assert!(sent.contains("delivered: 5000 bytes"), "{sent}");
    let (code, told) = cable.wait();
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(std::fs::read(&received).expect("it was stored"), [7; 5000]);
}
