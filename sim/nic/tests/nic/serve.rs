//! A NIC in another process.

use crate::kit;
use crate::kit::{Served, contexts, ok, open, port, spinneret, stderr};
use spinneret_host::Nic;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time on the NIC that a test waits for something.
const PATIENCE: Duration = Duration::from_millis(10);

/// The probe for a listening server ends before the first client connects.
fn connect(server: &Served) -> Nic {
    let begun = Instant::now();
    loop {
        match Nic::open(&server.name()) {
            Err(error) if error.to_string().contains("in use") && begun.elapsed() < kit::PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            nic => return ok(nic),
        }
    }
}

#[test]
fn packets_wait_for_a_program() {
    let server = Served::start(
        &[],
        &[
            "--generate",
            "udp,dport=7000,size=100,rate=1Gbps,count=50",
            "--json",
        ],
    );
    let nic = connect(&server);
    let context = open(&nic, &contexts(), "count", &port(7000));
    let total = ok(context.variable("total"));
    ok(nic.wait_until("all packets", PATIENCE, || Ok(total.load::<u32>(0)? == 50)));
    assert_eq!(ok(nic.counters()).get("ingress.hers"), Some(50));
    ok(nic.wait(PATIENCE));
    assert_eq!(ok(nic.stdout().lines()).len(), 50, "each packet is told");
    assert!(nic.now() > Duration::ZERO);
    ok(context.host_memory().write(3, b"shared"));
    let mut read = [0; 6];
    ok(context.host_memory().read(3, &mut read));
    assert_eq!(&read, b"shared");
    // Work of HPUs is reported although the cluster is in reset again.
    drop((total, context, nic));
    let summary = server.process.interrupt().json();
    let hpus = summary["hpus"].as_array().expect("there are HPUs");
    let load = hpus.iter().filter_map(|hpu| hpu["load_percent"].as_f64());
    assert!(load.sum::<f64>() > 0.0, "{summary}");
}

#[test]
fn contexts_end_with_their_process() {
    let server = Served::start(&[], &[]);
    let nic = connect(&server);
    let other = connect(&server);
    let context = open(&nic, &contexts(), "count", &port(7000));
    assert_eq!(open(&other, &contexts(), "copy", &port(7001)).number(), 1);
    // A program that crashes does not close its contexts.
    context.leave();
    drop(nic);
    kit::until("its context is free", || {
        open(&other, &contexts(), "copy", &port(7000)).number() == 0
    });
}

#[test]
fn a_process_reaches_nothing_of_others() {
    let server = Served::start(&[], &[]);
    let nic = connect(&server);
    let context = open(&nic, &contexts(), "count", &port(7000));
    let place = u64::from(context.handler_memory().address());
    let mut raw = Raw::new(&server);
    let said = raw.refusal(&[CLOSE_CONTEXT, 0]);
    assert!(said.ends_with("context 0 belongs to another process"), "{said}");
    let said = raw.refusal(&[CLOSE_CONTEXT, 1]);
    assert!(said.ends_with("context 1 is not open"), "{said}");
    for numbers in [
        &[WRITE_REGISTER, 0x2000, 0][..],
        &[READ_CLUSTER, place, 4],
        &[WRITE_CLUSTER, place, 4, 1, 1, 1, 1],
        &[OPEN_AREA, 0, 4096],
    ] {
        let said = raw.refusal(numbers);
        assert!(said.contains("the NIC is shared"), "{said}");
    }
    assert_eq!(raw.ask(&[READ_REGISTER, 0]).expect("it is answered")[0], WORD);
    drop(raw);
    assert_eq!(ok(context.handler_memory().load::<u32>(0)), 0);
}

#[test]
fn once_ends_it_with_its_program() {
    let once = Served::start(
        &[],
        &["--once", "--generate", "udp,dport=7000,size=60..1500,count=100"],
    );
    drop(connect(&once));
    once.process.end().assert_success();
}

#[test]
fn a_path_without_a_nic_is_refused() {
    let error = Nic::open("unix:/nowhere/nic.sock").unwrap_err().to_string();
    assert!(
        error.contains("start one with `spinneret serve /nowhere/nic.sock`"),
        "{error}"
    );
    let error = Nic::open("eth0").unwrap_err().to_string();
    assert!(error.contains("`eth0` is no NIC: write card for"), "{error}");
}

#[test]
fn a_faulty_client_is_dropped_and_the_next_one_served() {
    let server = Served::start(&[], &[]);
    for nonsense in [
        &b"\xff\xff\xff\xff"[..],
        b"\x03\0\0\0\x09\x09\x09",
        b"\x02\0\0\0\x01",
    ] {
        let mut stream = UnixStream::connect(server.socket()).expect("it listens");
        stream.write_all(nonsense).expect("it takes bytes");
    }
    let nic = connect(&server);
    assert_eq!(open(&nic, &contexts(), "count", &port(1)).number(), 0);
}

#[test]
fn a_stale_socket_is_replaced() {
    let folder = tempfile::tempdir().expect("there is room");
    let serve = |path: &Path| {
        spinneret()
            .args(["serve", "--duration", "0.1"])
            .arg(path)
            .output()
            .expect("the command was built")
    };
    let left = folder.path().join("left.sock");
    drop(std::os::unix::net::UnixListener::bind(&left).expect("there is room"));
    assert!(left.exists());
    assert!(serve(&left).status.success());
    assert!(!left.exists(), "it is removed in the end");
}

#[test]
fn a_socket_of_another_nic_is_refused() {
    let server = Served::start(&[], &[]);
    let output = ok(spinneret().arg("serve").arg(server.socket()).output());
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("somebody listens there already"), "{said}");
}

/// Longest that a client is put up with, and a good deal more.
const LONG: Duration = Duration::from_secs(30);
/// Numbers of requests and replies (`host/src/device/socket/mod.rs`).
const HELLO: u64 = 0;
const READ_REGISTER: u64 = 1;
const WRITE_REGISTER: u64 = 2;
const READ_CLUSTER: u64 = 3;
const WRITE_CLUSTER: u64 = 4;
const OPEN_AREA: u64 = 6;
const WAIT: u64 = 8;
const CLOSE_CONTEXT: u64 = 13;
/// Version of the protocol.
const VERSION: u64 = 7;
/// `ingress.bypassed`.
const BYPASSED: u64 = 0x1104;
const GREETED: u8 = 0;
const BUSY: u8 = 1;
const WORD: u8 = 3;
const TIME: u8 = 7;
const FAILED: u8 = 8;

/// A number, seven bits a byte.
fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A message with its length before it.
fn message(numbers: &[u64]) -> Vec<u8> {
    framed(&numbers.iter().copied().flat_map(number).collect::<Vec<_>>())
}

fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes(), body].concat()
}

/// A client without the library.
struct Raw(UnixStream);

impl Raw {
    /// Connects: the first byte of the greeting says whether the NIC is free.
    fn connect(server: &Served) -> (Self, u8) {
        let stream = UnixStream::connect(server.socket()).expect("it listens");
        stream.set_read_timeout(Some(LONG)).expect("it is a socket");
        stream.set_write_timeout(Some(LONG)).expect("it is a socket");
        let mut raw = Self(stream);
        let greeting = raw.reply().expect("it says something");
        (raw, greeting[0])
    }

    /// Connects when the NIC is free, and says hello.
    fn new(server: &Served) -> Self {
        let begun = Instant::now();
        loop {
            let (mut raw, greeting) = Self::connect(server);
            if greeting == GREETED {
                raw.send(&message(&[HELLO, VERSION]));
                return raw;
            }
            assert_eq!(greeting, BUSY);
            assert!(begun.elapsed() < LONG, "the NIC does not become free");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("it takes bytes");
    }

    fn reply(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).ok()?;
        let mut body = vec![0; u32::from_le_bytes(length) as usize];
        self.0.read_exact(&mut body).ok()?;
        Some(body)
    }

    fn ask(&mut self, numbers: &[u64]) -> Option<Vec<u8>> {
        self.send(&message(numbers));
        self.reply()
    }

    /// Asks for something that is refused: with what words.
    fn refusal(&mut self, numbers: &[u64]) -> String {
        let reply = self.ask(numbers).expect("it is answered");
        assert_eq!(reply[0], FAILED, "{numbers:x?}");
        String::from_utf8_lossy(&reply[3..]).into_owned()
    }
}

#[test]
fn unknown_registers_are_refused() {
    let server = Served::start(&[], &[]);
    let mut raw = Raw::new(&server);
    for offset in [
        1,
        0x10000,
        0x7f_fffc,
        0x80_0000,
        0x80_0004,
        0xff_ffff,
        u64::from(u32::MAX),
    ] {
        for numbers in [&[READ_REGISTER, offset][..], &[WRITE_REGISTER, offset, 1]] {
            let said = raw.refusal(numbers);
            assert!(said.starts_with("there is no control register at "), "{said}");
        }
    }
    assert_eq!(raw.ask(&[READ_REGISTER, 0]).expect("it goes on")[0], WORD);
}

#[test]
fn clients_cannot_exhaust_the_time_of_others() {
    let server = Served::start(&[], &[]);
    let mut raw = Raw::new(&server);
    const HOUR: u64 = 3_600_000_000_000;
    for nanoseconds in [HOUR + 1, (1 << 63) / 1000, u64::MAX] {
        let said = raw.refusal(&[WAIT, nanoseconds]);
        assert!(said.ends_with("a program may let 3600 s pass in all"), "{said}");
    }
    // Nothing happens, so it passes at once.
    assert_eq!(
        raw.ask(&[WAIT, HOUR - 1_000_000]).expect("it is answered")[0],
        TIME
    );
    assert_eq!(raw.ask(&[READ_REGISTER, 0]).expect("it goes on")[0], WORD);
    let said = raw.refusal(&[WAIT, 2_000_000]);
    assert!(said.starts_with("a wait of 0.002 s: "), "{said}");
    drop(raw);
    let mut next = Raw::new(&server);
    assert_eq!(next.ask(&[WAIT, HOUR]).expect("it is answered")[0], TIME);
}

/// Rules and a wait that are sent in one go: packets come meanwhile.
#[test]
fn packets_start_during_a_wait_sent_with_the_rules() {
    let server = Served::start(&[], &["--generate", "udp,size=64..1500,rate=1Gbps,count=1e9"]);
    let mut raw = Raw::new(&server);
    let requests =
        [[WRITE_REGISTER, 0x3004, 1], [WRITE_REGISTER, 0x2000, 1]].map(|numbers| message(&numbers));
    raw.send(&[&requests.concat()[..], &message(&[WAIT, 1_000_000])].concat());
    for _ in 0..3 {
        raw.reply().expect("it is answered");
    }
    let bypassed = raw.ask(&[READ_REGISTER, BYPASSED]).expect("it is answered");
    assert!(bypassed.len() > 1 && bypassed[1..] != [0], "{bypassed:?}");
}

#[test]
fn a_client_of_another_version_gets_the_version() {
    let server = Served::start(&[], &[]);
    for version in [0, 1, 2, 3, 99, u64::from(u32::MAX)] {
        let (mut raw, _) = Raw::connect(&server);
        let said = raw.refusal(&[HELLO, version]);
        let wanted = format!("version {version} of the protocol, where this NIC speaks version {VERSION}");
        assert!(said.ends_with(&wanted), "{said}");
        assert_eq!(raw.reply(), None, "it is dropped");
    }
    Raw::new(&server);
}

/// Resident memory of a process.
fn memory_kib(server: &Served) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.id())).expect("it runs");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("it is told");
    line.split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse().ok())
        .expect("it is a number")
}

#[test]
fn input_after_a_wait_is_bounded() {
    let server = Served::start(&[], &["--generate", "udp,size=64..1500,rate=1Gbps,count=1e9"]);
    let before = memory_kib(&server);
    let mut raw = Raw::new(&server);
    // Packets come, so time passes slowly.
    for register in [0x2000, 0x3004] {
        raw.ask(&[WRITE_REGISTER, register, 1]);
    }
    raw.send(&message(&[WAIT, 1_000_000_000_000]));
    raw.0
        .set_write_timeout(Some(Duration::from_millis(200)))
        .expect("it is a socket");
    let request = message(&[READ_REGISTER, 0]).repeat(10_000);
    let taken = (0..1000)
        .take_while(|_| raw.0.write_all(&request).is_ok())
        .count();
    assert!(taken < 100, "it takes what it does not need");
    assert!(memory_kib(&server) < before + 16 * 1024);
    drop(raw);
    Raw::new(&server);
}

#[test]
fn a_client_that_reads_no_answers_holds_up_no_other() {
    let server = Served::start(&[], &[]);
    let mut greedy = Raw::new(&server);
    // As many short answers as no socket holds: each of them takes most of a KiB there.
    greedy.send(&message(&[READ_REGISTER, 0]).repeat(5000));
    let mut other = Raw::new(&server);
    let answered = other
        .ask(&[READ_REGISTER, 0])
        .expect("others are served meanwhile");
    assert_eq!(answered[0], WORD);
}

#[test]
fn a_client_without_a_hello_is_dropped() {
    let server = Served::start(&[], &[]);
    let (mut mute, _) = Raw::connect(&server);
    Raw::new(&server);
    assert_eq!(mute.reply(), None);
}

/// A client that has packets come, and goes; the next one finds time passing.
#[test]
fn packets_that_have_not_started_do_not_delay_time() {
    let server = Served::start(&[], &["--generate", "udp,size=64..1500,rate=10Gbps,count=1e9"]);
    for _ in 0..3 {
        let mut first = Raw::new(&server);
        first.ask(&[WRITE_REGISTER, 0x3004, 1]);
        drop(first);
        let mut next = Raw::new(&server);
        assert_eq!(
            next.ask(&[READ_REGISTER, 0x2000]).expect("it is answered")[0],
            WORD
        );
        assert_eq!(next.ask(&[WAIT, 100_000]).expect("it is answered")[0], TIME);
    }
}

#[test]
fn an_area_uses_no_memory_before_its_first_access() {
    const AREA: u64 = 256 << 20;
    let server = Served::start(&[], &[]);
    let mut raw = Raw::new(&server);
    raw.ask(&[READ_REGISTER, 0]);
    let before = memory_kib(&server);
    let opened = raw.ask(&[OPEN_AREA, 0, AREA]).expect("it is answered");
    assert_ne!(opened[0], FAILED);
    let after = memory_kib(&server);
    assert!(after < before + 1024, "{before} KiB, {after} KiB with the area");
    // It is freed with the client, and the next one gets as much.
    drop(raw);
    let mut raw = Raw::new(&server);
    assert_ne!(raw.ask(&[OPEN_AREA, 0, AREA]).expect("it is answered")[0], FAILED);
}
