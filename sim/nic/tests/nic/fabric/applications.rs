//! Applications in processes of their own.

use super::{Folder, TICK, fabric, frame, result, with_applications};
use crate::kit::{Process, can, spinneret, until};
use spinneret_host::Nic;
use std::time::{Duration, Instant};

/// Frames that one asks and the other answers.
const ASKED: u8 = 30;

/// Lets time pass until a frame comes.
fn wait_for_frame(nic: &Nic) -> Vec<u8> {
    loop {
        if let Some(frame) = nic.receive().expect("the NIC is there") {
            return frame;
        }
        nic.wait(TICK).expect("the NIC is there");
    }
}

fn send(nic: &Nic, frame: &[u8]) {
    while !nic.transmit(frame).expect("the NIC is there") {
        nic.wait(TICK).expect("the NIC is there");
    }
}

/// Sleeps on the wall's clock, of which the simulation must know nothing.
fn dawdle(number: u8, much: bool) {
    if much && number.is_multiple_of(7) {
        std::thread::sleep(Duration::from_millis(u64::from(number) * 3));
    }
}

fn ping_pong(threads: &str, slow: [bool; 2]) -> serde_json::Value {
    let folder = Folder::new();
    let mut command = fabric();
    command.args([
        "--nics",
        "2",
        "--threads",
        threads,
        "--reordering",
        "0.1",
        "--latency",
        "1 us",
    ]);
    let asks = move |nic: Nic| {
        assert_eq!(
            nic.address().map(|address| address.ip.to_string()),
            Some("10.128.0.1".to_owned())
        );
        for number in 0..ASKED {
            dawdle(number, slow[0]);
            send(&nic, &frame(1, 0, &[number; 100]));
            nic.compute(Duration::from_micros(3)).expect("the NIC is there");
            let answer = wait_for_frame(&nic);
            assert_eq!(answer[14..16], [number, 0xaa]);
        }
    };
    let answers = move |nic: Nic| {
        for number in 0..ASKED {
            dawdle(number, slow[1]);
            let asked = wait_for_frame(&nic);
            let answer = frame(0, 1, &[&asked[14..15], &[0xaa; 600]].concat());
            send(&nic, &answer);
        }
        // Frames are sent before the NIC is removed.
        nic.wait(Duration::from_micros(20)).expect("the NIC is there");
    };
    let output = with_applications(
        command,
        &folder,
        vec![("nic0", Box::new(asks)), ("nic1", Box::new(answers))],
    );
    result(&output)
}

#[test]
fn results_do_not_depend_on_real_time_or_threads() {
    let one = ping_pong("1", [false, false]);
    assert_eq!(one["report"]["nics"][1]["received"], ASKED);
    assert_eq!(one["nics"]["0"]["lost_by_host"], 0);
    assert!(ping_pong("2", [true, false]) == one);
    assert!(ping_pong("1", [false, true]) == one);
}

#[test]
fn other_nics_continue_after_an_application_ends() {
    let folder = Folder::new();
    let mut command = fabric();
    command.args(["--nics", "3"]);
    let leaves = |nic: Nic| drop(nic);
    let talks = |to: usize, from: usize| {
        move |nic: Nic| {
            for number in 0..20 {
                send(&nic, &frame(to, from, &[number; 64]));
                wait_for_frame(&nic);
            }
            nic.wait(Duration::from_micros(20)).expect("the NIC is there");
        }
    };
    let output = with_applications(
        command,
        &folder,
        vec![
            ("nic0", Box::new(leaves)),
            ("nic1", Box::new(talks(2, 1))),
            ("nic2", Box::new(talks(1, 2))),
        ],
    );
    let result = result(&output);
    assert_eq!(
        result["report"]["nics"][1]["received"]
            .as_u64()
            .map(|frames| frames >= 20),
        Some(true)
    );
}

/// Two NICs; the test selects what happens when the application of the first ends.
fn pair(when_gone: &str) -> String {
    format!(
        "[[nic]]\nname = 'a'\napplication = true\nwhen-gone = '{when_gone}'\n[[nic]]\nname = 'b'\napplication = true\n\
         [[cable]]\nbetween = ['a', 'b']\n"
    )
}

#[test]
fn stop_ends_the_fabric_with_an_application() {
    let folder = Folder::new();
    let mut command = fabric();
    command.arg(folder.topology(&pair("stop")));
    let leaves = |nic: Nic| nic.wait(Duration::from_micros(50)).expect("the NIC is there");
    let waits = |nic: Nic| {
        let begun = Instant::now();
        while nic.wait(Duration::from_millis(1)).is_ok() {
            assert!(begun.elapsed() < Duration::from_secs(60));
        }
    };
    let output = with_applications(
        command,
        &folder,
        vec![("a", Box::new(leaves)), ("b", Box::new(waits))],
    );
    assert!(result(&output)["report"]["time_ps"].as_u64() < Some(1_000_000_000));
}

#[test]
fn time_stops_for_the_next_application_if_requested() {
    let folder = Folder::new();
    let mut command = fabric();
    command
        .arg(folder.topology(&pair("hold")))
        .args(["--until", "1 ms"]);
    let socket = folder.path("nics/a");
    let first = move |nic: Nic| {
        nic.wait(Duration::from_micros(50)).expect("the NIC is there");
        drop(nic);
        std::thread::sleep(Duration::from_millis(200));
        let name = format!("unix:{}", socket.display());
        let nic = Nic::open(&name).expect("it is free again");
        // Its own time begins here, and is that of the NIC after a wait.
        nic.wait(Duration::from_micros(1)).expect("the NIC is there");
        assert!((50..500).contains(&nic.now().as_micros()), "{:?}", nic.now());
        while nic.wait(Duration::from_micros(100)).is_ok() {}
    };
    let other = |nic: Nic| while nic.wait(Duration::from_micros(100)).is_ok() {};
    let output = with_applications(
        command,
        &folder,
        vec![("a", Box::new(first)), ("b", Box::new(other))],
    );
    result(&output);
}

#[test]
fn the_nic_that_blocks_others_is_named() {
    let folder = Folder::new();
    let mut command = spinneret();
    command.args(["fabric", "--nics", "2", "--sockets"]);
    let process = Process::start(command.arg(folder.path("nics")));
    process.says("no application has opened nic0, nic1");
    assert!(process.interrupt().code.is_some(), "it ends by itself");
}

/// A name that no other test has, and no other process of this test.
fn name(end: &str) -> String {
    format!("sf{end}{}", std::process::id() % 1_000_000)
}

#[test]
fn linux_pings_linux_through_two_nics_and_a_handler_answers() {
    let (folder, [here, there]) = (Folder::new(), ["a", "b"].map(name));
    let topology = folder.topology(&format!(
        "[[nic]]\nname = 'here'\ntap = '{here}'\n[[nic]]\nname = 'there'\ntap = '{there}'\nhandlers = 'EXAMPLES/icmp_ping'\n\
         [[cable]]\nbetween = ['here', 'there']\n"
    ));
    let process = Process::start(spinneret().arg("fabric").arg(topology).arg("--json"));
    // The interface is there, and accepts what is sent.
    let route = ["netns", "exec", &here, "ip", "route", "get", "10.128.0.2"];
    until("the interface", || process.has_ended() || can("ip", &route));
    if process.has_ended() {
        let said = process.said();
        assert!(said.contains("privilege") || said.contains("root"), "{said}");
        return spinneret_skip::skip("linux_pings_linux_through_two_nics_and_a_handler_answers", &said);
    }
    // Linux on the other side answers ARP, and the handler answers the pings.
    let ping = "-c 3 -i 0.3 -W 10 10.128.0.2".split(' ');
    let ping: Vec<&str> = ["netns", "exec", &here, "ping"].into_iter().chain(ping).collect();
    assert!((0..5).any(|_| can("ip", &ping)), "{}", process.said());
    let result = process.interrupt().json();
    let handled = result["nics"]["1"]["summary"]["handlers"][0]["packets"].as_u64();
    assert!(handled >= Some(3), "{result:#}");
    assert!(
        !can("ip", &["netns", "exec", &here, "true"]),
        "the namespace is removed"
    );
}
