//! Who goes, dies, or is no gdb: the run goes on.

use super::super::{packets, refusal, run};
use super::{ELF, GREETING, PACKETS, PING, assert_said, come, gdb, held, let_go, result};
use serde_json::Value;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

#[test]
fn gdb_that_dies_at_a_breakpoint_leaves_a_run_that_is_the_same() {
    let folder = tempfile::tempdir().expect("there is room");
    let [left, free] = ["left.pcap", "free.pcap"].map(|name| folder.path().join(name));
    let (child, address) = held(PING, PACKETS, &["--out", &left.display().to_string()]);
    let commands = [
        // Breakpoints stay where they are while gdb thinks.
        "set breakpoint always-inserted on",
        "break udp_ping_ph",
        "continue",
        "continue",
        "shell kill -9 $PPID",
    ];
    if gdb(ELF, &address, &commands).is_none() {
        return let_go(child, &address);
    }
    assert_eq!(packets(&result(child), "sent by handlers"), 20);
    assert!(
        run(&[PING, "--generate", PACKETS, "--out", &free.display().to_string()])
            .status
            .success()
    );
    let [left, free] = [left, free].map(|path| std::fs::read(path).expect("it was written"));
    assert_eq!(left, free, "the same replies at the same times");
}

/// What no handler can do: the runtime has lost its place.
#[test]
fn a_runtime_that_gdb_has_broken_does_not_hold_the_run() {
    let (child, address) = held(PING, "udp,size=100,pps=200000,count=4", &[]);
    let commands = ["break udp_ping_ph", "continue", "set $mscratch = 64", "detach"];
    if gdb(ELF, &address, &commands).is_none() {
        return let_go(child, &address);
    }
    // Its packet never leaves, which is the end of the run.
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result["broken"][0]["cause"], "the program terminated itself");
    assert_eq!(result["left"], 1);
}

#[test]
fn gdb_that_leaves_or_says_nonsense_holds_nobody() {
    let endless = [b"+$?#3f$", &vec![b'a'; 1 << 20][..]].concat();
    for said in [GREETING, b"$m10000000,ffffffff#4a+$vCont;c#a8"] {
        let (child, address) = held(PING, "udp,count=3", &[]);
        drop(come(&address, said));
        let said = String::from_utf8_lossy(said);
        assert_eq!(packets(&result(child), "sent by handlers"), 3, "{said}");
    }
    let (child, address) = held(PING, "udp,count=3", &[]);
    let mut gdb = TcpStream::connect(address).expect("it listens");
    // It is dropped in the middle, and does not have to leave by itself.
    let _ = gdb.write_all(&endless);
    assert_eq!(packets(&result(child), "sent by handlers"), 3);
}

#[test]
fn strangers_neither_start_a_run_nor_hold_up_gdb() {
    let (child, address) = held(PING, "udp,count=3", &[]);
    // More than are listened to at once, and one who stays.
    let idle: Vec<TcpStream> = (0..12).map(|_| come(&address, b"+")).collect();
    for said in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        b"$qSupported#38",
        &[b'$'; 8192],
    ] {
        let mut stranger = come(&address, said);
        let answer = stranger.read(&mut [0; 16]);
        let is_dropped = answer.as_ref().map_or_else(
            |error| error.kind() == io::ErrorKind::ConnectionReset,
            |count| *count == 0,
        );
        assert!(is_dropped, "{answer:?} to {}", String::from_utf8_lossy(said));
    }
    drop(TcpStream::connect(&address));
    let commands = ["break udp_ping_ph", "continue", "delete", "detach"];
    let Some(said) = gdb(ELF, &address, &commands) else {
        return let_go(child, &address);
    };
    // The first packet had not come before.
    assert_said(&said, &["hit Breakpoint 1, udp_ping_ph", "detached"]);
    assert_eq!(packets(&result(child), "sent by handlers"), 3);
    drop(idle);
}

#[test]
fn a_port_that_is_taken_is_refused() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
    let port = taken.local_addr().expect("it has one").port().to_string();
    let said = refusal(&[PING, "--generate", "udp,count=1", "--gdb", &port]);
    assert_said(&said, &[&port, "name another port"]);
}
