//! A cable between two TAP interfaces, with this test in the place of the NIC.

use super::*;
use spinneret_nic::net::{Interrupt, NetError, Next, Sink, Source, Tap, TapConfig, wait};
use spinneret_packets::checked_protocol;
use spinneret_skip::skip;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::panic::catch_unwind;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

/// The cable as it runs, without a NIC.
struct Cable {
    tap: Tap,
    ends: [(Box<dyn Source>, Box<dyn Sink>); 2],
    /// Frames from the host and from the wire.
    seen: [Vec<Vec<u8>>; 2],
}

impl Cable {
    fn new(tap: Tap) -> Self {
        let from_host: (Box<dyn Source>, Box<dyn Sink>) =
            (Box::new(tap.host.clone()), Box::new(tap.wire.clone()));
        let from_wire: (Box<dyn Source>, Box<dyn Sink>) =
            (Box::new(tap.wire.clone()), Box::new(tap.host.clone()));
        Self {
            tap,
            ends: [from_host, from_wire],
            seen: [Vec::new(), Vec::new()],
        }
    }

    /// Waits a little for frames, and moves those that are there.
    fn carry(&mut self) {
        let fds = [self.tap.host.as_fd(), self.tap.wire.as_fd()];
        wait(&fds, Some(Duration::from_millis(5))).unwrap();
        for ((source, sink), seen) in self.ends.iter_mut().zip(&mut self.seen) {
            seen.extend(pump(&mut **source, &mut **sink));
        }
    }

    /// How many frames of a protocol have come from each end.
    fn count(&self, protocol: &str) -> [usize; 2] {
        let is_protocol = |frame: &&Vec<u8>| checked_protocol(frame).unwrap() == Some(protocol);
        [0, 1].map(|end| self.seen[end].iter().filter(is_protocol).count())
    }

    /// Runs a command, and carries its frames; its exit status has to be 0.
    fn carry_for(&mut self, words: &str) -> String {
        let mut child = start(words);
        until(words, || {
            self.carry();
            child.try_wait().unwrap().is_some()
        });
        let output = child.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(output.status.success(), "{words}: {said}");
        said
    }
}

/// Whether something was not possible because this machine does not allow it, and not because it is wrong.
fn is_forbidden(error: &NetError) -> bool {
    match error {
        NetError::Privileges { .. } => true,
        NetError::System { what, .. } => what.contains("/dev/net/tun"),
        NetError::Command { problem, .. } => problem.contains("Operation not permitted"),
        _ => false,
    }
}

/// Starts a command and collects what it prints.
fn start(words: &str) -> Child {
    let mut command = command(words);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap_or_else(|error| panic!("{words}: {error}"))
}

/// Moves all packets that are there, and gives them.
fn pump(from: &mut dyn Source, to: &mut dyn Sink) -> Vec<Vec<u8>> {
    let mut moved = Vec::new();
    while let Next::Packet { bytes, .. } = from.next(0).unwrap() {
        to.put(0, &bytes).unwrap();
        moved.push(bytes);
    }
    moved
}

/// The cable, or `None` after saying that this machine does not allow it.
fn create(test: &str, config: &TapConfig) -> Option<Tap> {
    match Tap::create(config) {
        Ok(tap) => Some(tap),
        Err(error) if is_forbidden(&error) => {
            skip(test, &error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn exists(config: &TapConfig) -> [bool; 3] {
    let is_link = |name: &str| {
        command("ip link show dev")
            .arg(name)
            .output()
            .unwrap()
            .status
            .success()
    };
    let spaces = String::from_utf8(run("ip netns list").stdout).unwrap();
    let is_space = spaces
        .lines()
        .any(|line| line.split(' ').next() == Some(&config.wire_name()));
    [is_link(&config.name), is_link(&config.wire_name()), is_space]
}

/// Waits until it is so. A process that another test starts has all files of this one for an instant, and an
/// interface lives as long as its file.
fn becomes(config: &TapConfig, expected: [bool; 3]) {
    until(&format!("{expected:?}"), || exists(config) == expected);
}

#[test]
fn a_cable_carries_pings_and_arp_both_ways() {
    let config = config(1);
    let Some(tap) = create("carries_pings", &config) else {
        return;
    };
    let mut cable = Cable::new(tap);
    let (host, wire) = (config.host.address, config.wire.address);
    let said = cable.carry_for(&format!(
        "ip netns exec {} ping -c 5 -i 0.05 -s 1400 {host}",
        config.wire_name()
    ));
    assert!(said.contains("5 received, 0% packet loss"), "{said}");
    assert_eq!(cable.count("icmp"), [5, 5]);
    let said = cable.carry_for(&format!("ping -c 5 -i 0.05 -s 0 {wire}"));
    assert!(said.contains("5 received, 0% packet loss"), "{said}");
    assert_eq!(cable.count("icmp"), [10, 10]);
    // Address resolution is shorter than Ethernet allows, and the wire pads it.
    let is_arp = |frame: &&Vec<u8>| frame[12..14] == [8, 6];
    let from_wire: Vec<usize> = cable.seen[1].iter().filter(is_arp).map(Vec::len).collect();
    assert!(
        !from_wire.is_empty() && from_wire.iter().all(|size| *size == 60),
        "{from_wire:?}"
    );
    assert!(
        cable.seen[0]
            .iter()
            .any(|frame| frame[12..14] == [8, 6] && frame.len() == 42)
    );
    assert_eq!((cable.tap.host.dropped(), cable.tap.wire.dropped()), (0, 0));
}

#[test]
fn linux_computes_checksums_and_segments() {
    let config = config(2);
    let Some(tap) = create("linux_computes_checksums", &config) else {
        return;
    };
    let mut cable = Cable::new(tap);
    let (host, wire) = (config.host.address, config.wire.address);
    let udp = UdpSocket::bind((host, 0)).unwrap();
    for size in [1, 2, 700, 1472] {
        udp.send_to(&vec![0xa5; size], (wire, 9)).unwrap();
    }
    until("UDP", || {
        cable.carry();
        cable.count("udp")[0] == 4
    });
    let bytes = 300_000;
    let server = format!("ip netns exec {} nc -l -N 7000", config.wire_name());
    let server = thread::spawn(move || run(&server).stdout.len());
    let client = thread::spawn(move || send_tcp(wire, &vec![0x5a; bytes]));
    until("TCP", || {
        cable.carry();
        client.is_finished() && server.is_finished()
    });
    client.join().unwrap();
    assert_eq!(server.join().unwrap(), bytes);
    assert!(cable.count("tcp")[0] >= bytes / 1460);
    let longest = cable.seen.iter().flatten().map(Vec::len).max();
    assert_eq!(longest, Some(1514));
}

/// Sends as soon as a server listens.
fn send_tcp(to: IpAddr, bytes: &[u8]) {
    let begun = Instant::now();
    let mut stream = loop {
        match TcpStream::connect_timeout(&(to, 7000).into(), Duration::from_secs(2)) {
            Ok(stream) => break stream,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    };
    stream.write_all(bytes).unwrap();
}

#[test]
fn everything_is_removed_at_the_end_and_after_a_panic() {
    let config = config(3);
    let Some(tap) = create("everything_is_removed", &config) else {
        return;
    };
    // The wire's interface is in its own namespace, so it is not seen here.
    assert_eq!(exists(&config), [true, false, true]);
    run(&format!("ip -n {0} link show dev {0}", config.wire_name()));
    // An end exists as long as it is used.
    let sink = tap.wire.clone();
    drop(tap);
    becomes(&config, [false, false, true]);
    Box::new(sink).finish().unwrap();
    becomes(&config, [false, false, false]);

    let panics = catch_unwind(|| {
        let _tap = Tap::create(&config).unwrap();
        assert_eq!(exists(&config), [false, false, false], "this panics");
    });
    assert!(panics.is_err());
    becomes(&config, [false, false, false]);
}

#[test]
fn existing_interfaces_are_not_touched() {
    let config = config(4);
    let Some(tap) = create("existing_interfaces_are_not_touched", &config) else {
        return;
    };
    let name = &config.name;
    let found = Tap::create(&config).unwrap_err().to_string();
    let expected = format!(
        "interface `{name}` exists already: choose another name, or remove it with `sudo ip link delete {name}`"
    );
    assert_eq!(found, expected);
    assert_eq!(exists(&config), [true, false, true]);
    drop(tap);
    becomes(&config, [false; 3]);
    let wire = config.wire_name();
    run(&format!("ip netns add {wire}"));
    let found = Tap::create(&config).unwrap_err().to_string();
    becomes(&config, [false, false, true]);
    run(&format!("ip netns delete {wire}"));
    assert!(
        found.starts_with(&format!("network namespace `{wire}` exists already")),
        "{found}"
    );
}

#[test]
fn frames_for_an_interface_that_is_down_are_lost_and_counted() {
    let config = config(5);
    let Some(tap) = create("frames_for_an_interface_that_is_down", &config) else {
        return;
    };
    let (mut source, mut sink) = (tap.host.clone(), tap.host.clone());
    sink.put(0, &[0xff; 60]).unwrap();
    assert_eq!(tap.host.dropped(), 0);
    sink.put(0, &[0xff; 13]).unwrap();
    assert_eq!(tap.host.dropped(), 1);
    run(&format!("ip link set {} down", config.name));
    sink.put(0, &[0xff; 60]).unwrap();
    assert_eq!(tap.host.dropped(), 2);
    run(&format!("ip link delete {}", config.name));
    for error in [sink.put(0, &[0xff; 60]).unwrap_err(), source.next(0).unwrap_err()] {
        assert!(
            matches!(&error, NetError::Gone { name } if *name == config.name),
            "{error}"
        );
    }
}

const CHILD: &str = "SPINNERET_TEST_CABLE";

/// This test again in a process of its own, as the part of it that makes the cable.
fn child(test: &str, prefix: &str, config: &TapConfig) -> Command {
    let mut words = prefix.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    words.push(env::current_exe().unwrap().display().to_string());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["--exact", test, "--nocapture"]);
    command
        .env(CHILD, &config.name)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn interrupted_and_killed_runs_clean_up() {
    let mut config = config(6);
    if let Ok(name) = env::var(CHILD) {
        config.name = name;
        let tap = Tap::create(&config).unwrap();
        let interrupt = Interrupt::catch().unwrap();
        println!("\nready");
        while !interrupt.is_set() {
            wait(&[interrupt.as_fd()], None).unwrap();
        }
        assert!(tap.host.dropped() == 0 && wait(&[interrupt.as_fd()], None).unwrap());
        return;
    }
    if create("an_interrupted_run", &config).is_none() {
        return;
    }
    becomes(&config, [false; 3]);
    let test = "net::tap::interrupted_and_killed_runs_clean_up";
    for (signal, survives) in [("INT", false), ("TERM", false), ("HUP", false), ("KILL", true)] {
        let mut child = child(test, "", &config).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"), "{signal}");
        assert_eq!(exists(&config), [true, false, true], "{signal}");
        run(&format!("kill -{signal} {}", child.id()));
        lines.for_each(drop);
        assert_eq!(child.wait().unwrap().success(), !survives, "{signal}");
        becomes(&config, [false, false, survives]);
    }
    let found = Tap::create(&config).unwrap_err().to_string();
    run(&format!("ip netns delete {}", config.wire_name()));
    let way_out = format!("remove it with `sudo ip netns delete {}`", config.wire_name());
    assert!(found.ends_with(&way_out), "{found}");
}

#[test]
fn missing_privileges_are_explained() {
    let mut config = config(7);
    if let Ok(name) = env::var(CHILD) {
        config.name = name;
        println!("\nsays {}", Tap::create(&config).unwrap_err());
        return;
    }
    let test = "net::tap::missing_privileges_are_explained";
    let without = "setpriv --bounding-set=-all --inh-caps=-all";
    // Only root can drop privileges like this; everybody else has none to drop.
    let is_root = String::from_utf8(run("id -u").stdout).unwrap().trim() == "0";
    let output = child(test, if is_root { without } else { "" }, &config)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let expected = format!(
        "says making the interface {} needs more privileges: run `sudo setcap \
         cap_net_admin,cap_sys_admin,cap_dac_override+ep {}` once, or run this with sudo",
        config.name,
        env::current_exe().unwrap().display()
    );
    if !said.lines().any(|line| line == expected) {
        assert!(!is_root && !said.contains("says"), "{said}");
        skip(test, &"this user has privileges that are not root's");
    }
    becomes(&config, [false, false, false]);
}
