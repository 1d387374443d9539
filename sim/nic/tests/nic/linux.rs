//! Programs of Linux talk to the NIC: ping, a UDP client, iperf3, and `spinneret send`.
//!
//! Each test runs the command with `--tap`, which makes an interface for the host, and one in a namespace of its own for the
//! other end of the cable. Where the process may not do that, the tests are skipped.

use crate::files::{Files, pause, read};
use crate::kit::{Ended, Process, can, ok, packets, runtime, spinneret, until};
use serde_json::Value;
use spinneret_skip::skip;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// Both ends of the cable have fixed addresses, so there is one cable at a time.
static CABLE: Mutex<()> = Mutex::new(());

/// A NIC with a cable.
struct Cable {
    process: Process,
    name: String,
    _only: MutexGuard<'static, ()>,
}

impl Cable {
    /// Runs an example, with its rules or others. `None` where that is not allowed.
    fn start(name: &str, example: &str, rules: Option<&Path>) -> Option<Self> {
        Self::start_with(name, example, rules, &[])
    }

    /// The same with more arguments.
    fn start_with(name: &str, example: &str, rules: Option<&Path>, more: &[&str]) -> Option<Self> {
        let mut command = spinneret();
        command
            .arg("run")
            .arg(runtime("examples").join(example))
            .arg("--json")
            .args(more);
        if let Some(rules) = rules {
            command.arg("--rules").arg(rules);
        }
        let cable = Self::with(name, &mut command)?;
        cable.process.says("try in another terminal");
        Some(cable)
    }

    /// Runs `spinneret receive`. `None` where that is not allowed.
    fn receive(name: &str, files: &Files, more: &[&str]) -> Option<Self> {
        let mut command = spinneret();
        command.arg("receive").arg(files.path("inbox/got")).args(more);
        let cable = Self::with(name, &mut command)?;
        cable.process.says("waiting at the NIC");
        Some(cable)
    }

    /// Runs a command with a cable of that name. `None` where that is not allowed.
    fn with(name: &str, command: &mut Command) -> Option<Self> {
        let only = CABLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let probe = "spinneret-probe";
        let is_allowed = can("ip", &["netns", "add", probe]) && can("ip", &["netns", "delete", probe]);
        if !is_allowed || !Path::new("/dev/net/tun").exists() {
            let why = "this process may not make interfaces and namespaces (run it as root)";
            skip(name, &why);
            return None;
        }
        let cable = Self {
            process: Process::start(command.args(["--tap", name])),
            name: name.to_owned(),
            _only: only,
        };
        let wire = format!("{name}-wire");
        until("the cable", || {
            assert!(!cable.process.has_ended(), "{}", cable.process.said());
            let mut shown = cable.at_wire("ip", &["-4", "addr", "show", "dev", &wire, "up"]);
            text(&ok(shown.output())).contains("10.9.0.2")
        });
        Some(cable)
    }

    /// A command at the other end of the cable.
    fn at_wire(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("ip");
        let namespace = format!("{}-wire", self.name);
        command
            .args(["netns", "exec", &namespace, program])
            .args(arguments);
        command
    }

    /// Sends a file from the other end.
    fn send(&self, files: &Files, more: &[&str]) -> Process {
        let mut command = self.at_wire(env!("CARGO_BIN_EXE_spinneret"), &["send"]);
        command.arg(files.path("sent")).args(["--to", "10.9.0.1"]);
        Process::start(command.args(more))
    }

    /// Ends the run as Ctrl-C does, and returns its summary.
    fn finish(self) -> Value {
        self.process.interrupt().json()
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        if !self.process.has_ended() {
            self.process.kill();
        }
        // A NIC that was killed leaves its namespace behind.
        can("ip", &["netns", "delete", &format!("{}-wire", self.name)]);
    }
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// A file with rules, which is removed with the test.
fn rules(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = ok(tempfile::tempdir());
    let file = folder.path().join("rules.toml");
    ok(std::fs::write(&file, text));
    (folder, file)
}

#[test]
fn ping_is_answered_by_the_handler() {
    for (name, size) in [("ping56", "56"), ("ping1400", "1400")] {
        let Some(cable) = Cable::start(name, "icmp_ping", None) else {
            return;
        };
        let said = text(&ok(cable
            .at_wire("ping", &["-c", "50", "-i", "0.05", "-s", size, "10.9.0.1"])
            .output()));
        assert!(said.contains(" 0% packet loss"), "{said}");
        let summary = cable.finish();
        assert_eq!(packets(&summary, "sent by handlers"), 50);
    }
}

#[test]
fn ping_is_answered_by_listing_2_of_the_paper() {
    let folder = crate::fpspin::listing_2();
    let socket = folder.path().join("nic.sock");
    let mut serve = spinneret();
    serve.arg("serve").arg(&socket).arg("--json");
    let Some(cable) = Cable::with("listing2", &mut serve) else {
        return;
    };
    until("the socket", || socket.exists());
    let mut listing = Command::new("build/listing2");
    listing.current_dir(folder.path()).env("FPSPIN_DEVICE", &socket);
    let listing = Process::start(&mut listing);
    // Linux answers until there are rules.
    let nic = ok(spinneret_host::Nic::open(&format!("unix:{}", socket.display())));
    until("the rules", || {
        assert!(!listing.has_ended(), "{}", listing.said());
        ok(cable.at_wire("ping", &["-c", "1", "10.9.0.1"]).output());
        ok(nic.counters()).get("ingress.matched") != Some(0)
    });
    drop(nic);
    let ping = ["-c", "50", "-i", "0.05", "10.9.0.1"];
    let said = text(&ok(cable.at_wire("ping", &ping).output()));
    assert!(said.contains(" 0% packet loss"), "{said}");
    listing.kill();
    assert!(packets(&cable.finish(), "sent by handlers") >= 50);
}

/// Simulation of this hardware is thousands of times slower than real time, and a ping takes some milliseconds.
#[test]
fn ping_is_answered_by_the_handler_on_own_clusters() {
    let Some(cable) = Cable::start_with("pingrtl", "icmp_ping", None, &["--cluster", "rtl"]) else {
        return;
    };
    let ping = ["-c", "10", "-i", "0.2", "-s", "56", "10.9.0.1"];
    let said = text(&ok(cable.at_wire("ping", &ping).output()));
    assert!(said.contains(" 0% packet loss"), "{said}");
    assert_eq!(packets(&cable.finish(), "sent by handlers"), 10);
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
    let said = text(&ok(cable
        .at_wire("ping", &["-c", "20", "-i", "0.05", "10.9.0.1"])
        .output()));
    assert!(said.contains(" 0% packet loss"), "{said}");
    let summary = cable.finish();
    assert_eq!(packets(&summary, "sent by handlers"), 0);
    assert!(packets(&summary, "sent by host") >= 20);
}

#[test]
fn datagrams_are_echoed() {
    let Some(cable) = Cable::start("udpecho", "udp_ping", None) else {
        return;
    };
    let script =
        "for n in 1 2 3 4 5; do echo datagram $n | socat -t1 - UDP:10.9.0.1:7777,sourceport=4000$n; done";
    let said = text(&ok(cable.at_wire("sh", &["-c", script]).output()));
    let wanted: Vec<String> = (1..=5).map(|number| format!("datagram {number}")).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
    assert_eq!(packets(&cable.finish(), "sent by handlers"), 5);
}

#[test]
fn iperf_works_through_the_nic() {
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
    let said = text(&ok(cable
        .at_wire(
            "iperf3",
            &[
                "-c", "10.9.0.1", "-u", "-b", "2M", "-l", "1000", "-t", "3", "--json",
            ],
        )
        .output()));
    let _ = server.wait();
    let result: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    let lost = result["end"]["sum"]["lost_packets"].as_u64().unwrap_or(u64::MAX);
    let sent = result["end"]["sum"]["packets"].as_u64().unwrap_or(0);
    assert!(sent > 500 && lost * 100 <= sent, "{lost} of {sent} lost");
    let summary = cable.finish();
    assert_eq!(packets(&summary, "to handlers"), 0);
    assert!(packets(&summary, "to host") > 500);
}

/// Sends queries in turn for an allowed name and another one, and prints how many of each were answered how.
const DNS_CLIENT: &str = r#"
import socket, struct, sys
server, count = sys.argv[1], int(sys.argv[2])
query = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
query.settimeout(5)
answers = {}
for number in range(2 * count):
    name = "Host%d.%s" % (number, ("example.com", "example.net")[number % 2])
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    wanted = struct.pack(">HHHHHH", number, 0x0100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"
    query.sendto(wanted, (server, 53))
    answer = query.recv(512)
    assert answer[:2] == wanted[:2] and answer[2] & 0x80, answer
    key = (number % 2, answer[3] & 15)
    answers[key] = answers.get(key, 0) + 1
print(sorted(answers.items()))
"#;

/// A DNS server that has an answer to every query: names of the queries until one second passes without any.
fn dns_server() -> thread::JoinHandle<Vec<String>> {
    let socket = std::net::UdpSocket::bind("10.9.0.1:53").expect("port 53 is free at the NIC's address");
    ok(socket.set_read_timeout(Some(Duration::from_secs(10))));
    thread::spawn(move || {
        let mut names = Vec::new();
        let mut query = [0; 512];
        while let Ok((bytes, client)) = socket.recv_from(&mut query) {
            let mut labels = Vec::new();
            let mut at = 12;
            while query[at] != 0 {
                let end = at + 1 + usize::from(query[at]);
                labels.push(String::from_utf8_lossy(&query[at + 1..end]).into_owned());
                at = end;
            }
            names.push(labels.join("."));
            query[2..4].copy_from_slice(&[0x81, 0x80]);
            ok(socket.send_to(&query[..bytes], client));
            ok(socket.set_read_timeout(Some(Duration::from_secs(2))));
        }
        names
    })
}

#[test]
fn a_dns_server_gets_the_allowed_queries_only() {
    const QUERIES: usize = 1000;
    let Some(cable) = Cable::start("dnsfilter", "dns_filter", None) else {
        return;
    };
    let server = dns_server();
    let count = QUERIES.to_string();
    let said = text(&ok(cable
        .at_wire("python3", &["-c", DNS_CLIENT, "10.9.0.1", &count])
        .output()));
    let names = server.join().expect("the server answers");
    // No error for the allowed name, REFUSED for the other one.
    assert_eq!(said.trim(), format!("[((0, 0), {QUERIES}), ((1, 5), {QUERIES})]"));
    assert_eq!(names.len(), QUERIES);
    assert!(
        names.iter().all(|name| name.ends_with(".example.com")),
        "{names:?}"
    );
    let summary = cable.finish();
    assert_eq!(packets(&summary, "passed by handlers"), QUERIES as u64);
    assert_eq!(packets(&summary, "sent by handlers"), QUERIES as u64);
}

#[test]
fn a_flood_of_connection_requests_ends_in_the_nic() {
    /// Requests of the source that floods, and those that the filter lets through in a period.
    const FLOOD: usize = 100;
    const LIMIT: u64 = 16;
    let Some(cable) = Cable::start("synfilter", "syn_filter", None) else {
        return;
    };
    let wire = "synfilter-wire";
    ok(cable
        .at_wire("ip", &["addr", "add", "10.9.0.66/24", "dev", wire])
        .output());
    let server = std::net::TcpListener::bind("10.9.0.1:8080").expect("the port is free at the NIC's address");
    ok(server.set_nonblocking(true));
    let flood = format!(
        "for n in $(seq {FLOOD}); do timeout 2 socat -u /dev/null TCP:10.9.0.1:8080,bind=10.9.0.66 & done; wait"
    );
    ok(cable.at_wire("bash", &["-c", &flood]).output());
    let mut client = cable.at_wire("socat", &["-t5", "-", "TCP:10.9.0.1:8080,bind=10.9.0.2"]);
    let client = client.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let client = client.expect("socat is installed by ./dev setup");
    let (mut flooded, mut served) = (0, false);
    let since = Instant::now();
    while !served {
        assert!(
            since.elapsed() < Duration::from_secs(10),
            "the connection is not there"
        );
        match server.accept() {
            Ok((mut connection, from)) if from.ip().to_string() == "10.9.0.2" => {
                ok(std::io::Write::write_all(&mut connection, b"welcome"));
                served = true;
            }
            Ok(_) => flooded += 1,
            Err(_) => pause(10),
        }
    }
    assert_eq!(text(&ok(client.wait_with_output())), "welcome");
    let summary = cable.finish();
    // A request that is not answered comes again after a second, so that the flood is in few periods.
    let passed = packets(&summary, "passed by handlers");
    assert!((LIMIT..4 * LIMIT).contains(&passed), "{passed} were passed");
    assert!(
        packets(&summary, "done with") >= passed + FLOOD as u64 - LIMIT,
        "{summary}"
    );
    assert!(flooded <= passed, "{flooded} connections of {passed} requests");
}

#[test]
fn removed_interfaces_are_reported() {
    let Some(cable) = Cable::start("downhost", "icmp_ping", None) else {
        return;
    };
    assert!(can("ip", &["link", "set", "dev", "downhost", "down"]));
    // A request of ARP, which no rule matches: the address is unused, so no cached answer replaces it.
    ok(cable
        .at_wire("ping", &["-c", "1", "-W", "1", "10.9.0.77"])
        .output());
    let ended = cable.process.interrupt();
    assert!(packets(&ended.json(), "to host") > 0, "{ended:?}");
    assert!(ended.said.contains("interface `downhost` rejected "), "{ended:?}");
    drop(cable);

    for (away, gone) in [("link", "gonehost"), ("netns", "gonehost-wire")] {
        let Some(cable) = Cable::start("gonehost", "icmp_ping", None) else {
            return;
        };
        assert!(can("ip", &[away, "delete", gone]));
        let ended = cable.process.end();
        ended.assert_failed(&format!("interface `{gone}` is gone"));
        assert!(!ended.said.contains("left behind"), "{ended:?}");
    }
}

/// Datagrams of any length and content to a receiver's port, and a file after them.
#[test]
fn a_file_arrives_after_garbage() {
    let files = Files::new();
    let file = files.make("sent", 5000);
    let Some(cable) = Cable::receive("garbage", &files, &["--idle", "1"]) else {
        return;
    };
    let garbage = "for bytes in 0 1 9 10 11 50 100 1000 1472; do for again in 1 2 3 4 5 6 7 8 9; do \
                   head -c $bytes /dev/urandom >/dev/udp/10.9.0.1/9330; done; done";
    ok(cable.at_wire("bash", &["-c", garbage]).output());
    let sent = cable.send(&files, &["--give-up", "20"]).end();
    assert!(sent.said.contains("delivered: 5000 bytes"), "{sent:?}");
    cable.process.end().assert_success();
    assert!(read(files.path("inbox/got")) == file);
}

/// The other end of the cable `files`.
const WIRE: &str = "files-wire";

#[test]
fn a_megabyte_arrives_identical_through_handlers() {
    let files = Files::new();
    let sent = files.make("sent", 1 << 20);
    let Some(cable) = Cable::receive("files", &files, &[]) else {
        return;
    };
    let sender = cable.send(&files, &[]).end();
    let receiver = both_succeed(&sender, &cable.process);
    assert!(read(files.path("inbox/got")) == sent);
    assert!(receiver.said.contains("slmp_ph"), "{}", receiver.said);
}

#[test]
fn a_cable_that_is_unplugged_briefly() {
    let files = Files::new();
    let sent = files.make("sent", 400_000);
    let Some(cable) = Cable::receive("files", &files, &[]) else {
        return;
    };
    let sender = cable.send(&files, &["--rate", "2", "--give-up", "20"]);
    pause(800);
    // Its route goes with it, so that the system refuses to send.
    assert!(can("ip", &["-n", WIRE, "link", "set", WIRE, "down"]));
    pause(500);
    assert!(can("ip", &["-n", WIRE, "link", "set", WIRE, "up"]));
    both_succeed(&sender.end(), &cable.process);
    assert!(read(files.path("inbox/got")) == sent);
}

/// Output of the receiver at its end. If the sender has failed, the receiver may never end, and what it said so far is shown.
fn both_succeed(sender: &Ended, receiver: &Process) -> Ended {
    if sender.code != Some(0) {
        pause(1000);
        panic!("{}; the receiver: {}", sender.said, receiver.said());
    }
    let since = Instant::now();
    let receiver = receiver.end();
    receiver.assert_success();
    // However far simulated time is behind the wall, a sender whose last acknowledgement was lost may ask again.
    assert!(since.elapsed() > Duration::from_secs(1), "{}", receiver.said);
    receiver
}

#[test]
fn a_killed_sender_is_noticed_by_the_receiver() {
    let files = Files::new();
    files.make("sent", 400_000);
    let Some(cable) = Cable::receive("files", &files, &["--idle", "0.5"]) else {
        return;
    };
    let sender = cable.send(&files, &["--rate", "2"]);
    pause(800);
    sender.kill();
    cable
        .process
        .end()
        .assert_failed("the sender or the network stopped");
    assert!(files.received().is_empty());
}

#[test]
fn a_killed_nic_is_noticed_by_the_sender() {
    let files = Files::new();
    files.make("sent", 400_000);
    let Some(cable) = Cable::receive("files", &files, &[]) else {
        return;
    };
    let sender = cable.send(&files, &["--rate", "2", "--give-up", "1"]);
    pause(800);
    cable.process.kill();
    sender.end().assert_failed("was not delivered: ");
    assert!(files.received().is_empty());
    let mut command = spinneret();
    command.arg("receive").arg(files.path("inbox/got"));
    let again = Process::start(command.args(["--tap", "files"])).end();
    again.assert_refused("sudo ip netns delete files-wire");
}

#[test]
fn a_message_that_cannot_be_stored_is_reported_on_both_sides() {
    let files = Files::new();
    files.make("sent", 100_000);
    let Some(cable) = Cable::receive("files", &files, &[]) else {
        return;
    };
    std::fs::remove_dir(files.path("inbox")).expect("nothing is in it");
    let sender = cable.send(&files, &["--give-up", "2"]);
    let (receiver, sender) = (cable.process.end(), sender.end());
    sender.assert_failed("was not delivered: ");
    receiver.assert_failed("inbox/got cannot be stored: ");
}
