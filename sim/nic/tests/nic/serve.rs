//! A NIC in another process.

use crate::kit::{self, Served, contexts, ok, open, port, spinneret, stderr};
use spinneret_host::Nic;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time on the NIC that a test waits for something.
const PATIENCE: Duration = Duration::from_millis(10);

/// The probe that looks whether somebody listens goes before the first client is there.
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
fn packets_wait_for_a_program_and_are_counted_by_its_handlers() {
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
    // What HPUs have done is told although the cluster is in reset again.
    drop((total, context, nic));
    let summary = server.process.interrupt().json();
    let hpus = summary["hpus"].as_array().expect("there are HPUs");
    let load = hpus.iter().filter_map(|hpu| hpu["load_percent"].as_f64());
    assert!(load.sum::<f64>() > 0.0, "{summary}");
}

#[test]
fn a_nic_has_one_owner_at_a_time_and_is_clean_for_the_next() {
    let server = Served::start(&[], &[]);
    let nic = connect(&server);
    let context = open(&nic, &contexts(), "count", &port(7000));
    let error = Nic::open(&server.name()).unwrap_err().to_string();
    assert!(
        error.starts_with("Nic::open: ") && error.ends_with("is in use by another process"),
        "{error}"
    );
    // A program that crashes does not close its contexts.
    context.leave();
    drop(nic);
    let nic = connect(&server);
    assert_eq!(open(&nic, &contexts(), "copy", &port(7000)).number(), 0);
}

#[test]
fn it_ends_with_its_program_if_it_is_told_to() {
    let once = Served::start(
        &[],
        &["--once", "--generate", "udp,dport=7000,size=60..1500,count=100"],
    );
    drop(connect(&once));
    once.process.end().assert_success();
}

#[test]
fn a_path_without_a_nic_is_refused_with_what_to_do() {
    let error = Nic::open("unix:/nowhere/nic.sock").unwrap_err().to_string();
    assert!(
        error.contains("start one with `spinneret serve /nowhere/nic.sock`"),
        "{error}"
    );
    let error = Nic::open("eth0").unwrap_err().to_string();
    assert!(error.contains("`eth0` is no NIC: write card for"), "{error}");
}

#[test]
fn a_client_that_talks_nonsense_is_dropped_and_the_next_one_served() {
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
fn a_socket_that_was_left_over_is_replaced() {
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
