//! Files that handlers on the NIC receive. Where the process may not make interfaces, these tests are skipped.

use crate::support::{Ended, Files, Process, pause, read, spinneret, succeeds};
use spinneret_skip::skip;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Both ends of the cable have fixed addresses, so there is one cable at a time.
static CABLE: Mutex<()> = Mutex::new(());
const NIC: &str = "files";
const WIRE: &str = "files-wire";

/// The right to make the cable.
struct Cable {
    _only: MutexGuard<'static, ()>,
}

impl Cable {
    fn take(test: &str) -> Option<Self> {
        let only = CABLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let probe = "spinneret-files";
        let is_allowed =
            succeeds("ip", &["netns", "add", probe]) && succeeds("ip", &["netns", "delete", probe]);
        if !is_allowed || !Path::new("/dev/net/tun").exists() {
            skip(
                test,
                &"this process may not make interfaces and namespaces (run it as root)",
            );
            return None;
        }
        Some(Self { _only: only })
    }

    fn receive(&self, files: &Files, more: &[&str]) -> Process {
        let mut command = spinneret();
        command.arg("receive").arg(files.path("inbox/got"));
        let mut receiver = files.start(command.args(["--tap", NIC]).args(more));
        receiver.says("waiting at the NIC");
        receiver
    }

    fn send(&self, files: &Files, more: &[&str]) -> Process {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", WIRE, env!("CARGO_BIN_EXE_spinneret"), "send"]);
        files.start(
            command
                .arg(files.path("sent"))
                .args(["--to", "10.9.0.1"])
                .args(more),
        )
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        // A NIC that was killed leaves its namespace behind.
        succeeds("ip", &["netns", "delete", WIRE]);
    }
}

#[test]
fn a_megabyte_arrives_identical_through_handlers() {
    let Some(cable) = Cable::take("a_megabyte_arrives_identical_through_handlers") else {
        return;
    };
    let files = Files::new();
    let sent = files.make("sent", 1 << 20);
    let receiver = cable.receive(&files, &[]);
    let sender = cable.send(&files, &[]).end();
    let receiver = both_succeed(&sender, receiver);
    assert!(read(files.path("inbox/got")) == sent);
    assert!(receiver.said.contains("slmp_ph"), "{}", receiver.said);
}

#[test]
fn a_cable_that_is_pulled_for_a_moment() {
    let Some(cable) = Cable::take("a_cable_that_is_pulled_for_a_moment") else {
        return;
    };
    let files = Files::new();
    let sent = files.make("sent", 400_000);
    let receiver = cable.receive(&files, &[]);
    let sender = cable.send(&files, &["--rate", "2", "--give-up", "20"]);
    pause(800);
    // Its route goes with it, so that the system refuses to send.
    assert!(succeeds("ip", &["-n", WIRE, "link", "set", WIRE, "down"]));
    pause(500);
    assert!(succeeds("ip", &["-n", WIRE, "link", "set", WIRE, "up"]));
    both_succeed(&sender.end(), receiver);
    assert!(read(files.path("inbox/got")) == sent);
}

/// What the receiver said at its end. If the sender has failed, the receiver may never end, and what it said so far is shown.
fn both_succeed(sender: &Ended, receiver: Process) -> Ended {
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
fn a_sender_that_is_killed_is_noticed_by_the_host() {
    let Some(cable) = Cable::take("a_sender_that_is_killed_is_noticed_by_the_host") else {
        return;
    };
    let files = Files::new();
    files.make("sent", 400_000);
    let receiver = cable.receive(&files, &["--idle", "0.5"]);
    let sender = cable.send(&files, &["--rate", "2"]);
    pause(800);
    sender.kill();
    receiver.end().assert_failed("the sender or the network stopped");
    assert!(files.received().is_empty());
}

#[test]
fn a_nic_that_is_killed_is_noticed_by_the_sender_and_told_when_it_comes_again() {
    let Some(cable) =
        Cable::take("a_nic_that_is_killed_is_noticed_by_the_sender_and_told_when_it_comes_again")
    else {
        return;
    };
    let files = Files::new();
    files.make("sent", 400_000);
    let receiver = cable.receive(&files, &[]);
    let sender = cable.send(&files, &["--rate", "2", "--give-up", "1"]);
    pause(800);
    receiver.kill();
    sender.end().assert_failed("was not delivered: ");
    assert!(files.received().is_empty());
    let mut command = spinneret();
    command.arg("receive").arg(files.path("inbox/got"));
    let again = files.start(command.args(["--tap", NIC])).end();
    again.assert_refused("sudo ip netns delete files-wire");
}

#[test]
fn a_message_that_cannot_be_stored_is_told_to_both_sides() {
    let Some(cable) = Cable::take("a_message_that_cannot_be_stored_is_told_to_both_sides") else {
        return;
    };
    let files = Files::new();
    files.make("sent", 100_000);
    let receiver = cable.receive(&files, &[]);
    std::fs::remove_dir(files.path("inbox")).expect("nothing is in it");
    let sender = cable.send(&files, &["--give-up", "2"]);
    let (receiver, sender) = (receiver.end(), sender.end());
    sender.assert_failed("was not delivered: ");
    receiver.assert_failed("inbox/got cannot be stored: ");
}
