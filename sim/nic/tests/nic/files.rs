//! `spinneret send` and `spinneret receive`: files over UDP, and everything that goes wrong on their way.

use crate::kit::{Process, can, ok, spinneret};
use spinneret_skip::skip;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// A folder with files to send, and a folder `inbox` for received files.
pub(crate) struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    pub(crate) fn new() -> Self {
        let files = Self {
            folder: ok(tempfile::tempdir()),
        };
        ok(std::fs::create_dir(files.path("inbox")));
        files
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file with bytes that do not repeat soon.
    pub(crate) fn make(&self, name: &str, bytes: usize) -> Vec<u8> {
        let mut state = 0x2545_f491_u32 ^ name.bytes().map(u32::from).sum::<u32>();
        let content: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(bytes)
        .collect();
        ok(std::fs::write(self.path(name), &content));
        content
    }

    /// The received files, temporary ones included.
    pub(crate) fn received(&self) -> Vec<PathBuf> {
        let found = ok(std::fs::read_dir(self.path("inbox")));
        found.map(|entry| ok(entry).path()).collect()
    }

    /// Starts `spinneret receive inbox/got` at a free port; [`address`] is where.
    fn receive(&self, more: &[&str]) -> Process {
        self.receive_at("127.0.0.1:0", more)
    }

    fn receive_at(&self, at: &str, more: &[&str]) -> Process {
        let mut command = spinneret();
        command.arg("receive").arg(self.path("inbox/got"));
        Process::start(command.args(["--udp", at]).args(more))
    }

    /// Starts `spinneret send FILE`.
    fn send(&self, file: &str, to: &str, more: &[&str]) -> Process {
        let mut command = spinneret();
        command.arg("send").arg(self.path(file));
        Process::start(command.args(["--to", to]).args(more))
    }
}

/// The address of a receiver.
fn address(receiver: &Process) -> String {
    let said = receiver.says("\n");
    let address = said.trim().strip_prefix("waiting at ");
    address.unwrap_or_else(|| panic!("{said}")).to_owned()
}

/// The command, which may write no file of more than some KiB.
fn limited(kibibytes: u32) -> Command {
    let mut command = Command::new("bash");
    let script = r#"trap "" XFSZ; ulimit -f "$0"; exec "$@""#;
    command.args([
        "-c",
        script,
        &kibibytes.to_string(),
        env!("CARGO_BIN_EXE_spinneret"),
    ]);
    command
}

pub(crate) fn pause(milliseconds: u64) {
    sleep(Duration::from_millis(milliseconds));
}

pub(crate) fn read(path: impl AsRef<Path>) -> Vec<u8> {
    ok(std::fs::read(path))
}

const MEGABYTE: usize = 1 << 20;

#[test]
fn a_file_arrives_identical_in_each_acknowledged_mode() {
    for (mode, bytes) in [
        ("window", MEGABYTE),
        ("message", 100_000),
        ("window", 0),
        ("message", 1),
    ] {
        let files = Files::new();
        let sent = files.make("sent", bytes);
        let receiver = files.receive(&[]);
        // A slow sender loses nothing on a busy machine.
        let rate = ["--mode", mode, "--rate", "200"];
        let sender = files.send("sent", &address(&receiver), &rate).end();
        sender.assert_success();
        assert!(
            sender.said.contains(&format!("delivered: {bytes} bytes")),
            "{}",
            sender.said
        );
        receiver.end().assert_success();
        assert_eq!(files.received(), [files.path("inbox/got")]);
        assert!(read(files.path("inbox/got")) == sent, "{mode}, {bytes} bytes");
    }
}

#[test]
fn a_received_file_has_the_permissions_of_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    let files = Files::new();
    files.make("sent", 10);
    let mode = |path| std::fs::metadata(path).expect("it is there").permissions().mode();
    let receiver = files.receive(&[]);
    files
        .send("sent", &address(&receiver), &[])
        .end()
        .assert_success();
    receiver.end().assert_success();
    assert_eq!(mode(files.path("inbox/got")), mode(files.path("sent")));
}

#[test]
fn of_two_concurrent_senders_one_succeeds_and_one_is_refused() {
    let files = Files::new();
    let contents = ["one", "two"].map(|name| files.make(name, 300_000));
    let receiver = files.receive(&[]);
    let at = address(&receiver);
    let send = |name| files.send(name, &at, &["--rate", "20", "--give-up", "1"]);
    let ended = [send("one"), send("two")].map(|sender| sender.end());
    let receiver = receiver.end();
    receiver.assert_success();
    let refused = receiver
        .said
        .contains("was refused: one file holds one message (--many takes more)");
    assert!(refused, "{}", receiver.said);
    let winner = ended.iter().position(|sender| sender.code == Some(0));
    let winner = winner.unwrap_or_else(|| panic!("{ended:?}"));
    ended[1 - winner].assert_failed("could not store it");
    assert!(read(files.path("inbox/got")) == contents[winner]);
    assert_eq!(files.received().len(), 1);
}

#[test]
fn many_files_are_received_until_ctrl_c_despite_one_failure() {
    let files = Files::new();
    let contents = ["one", "two"].map(|name| files.make(name, 100_000));
    files.make("large", 400_000);
    let mut command = limited(200);
    command.args(["receive", "--many", "--udp", "127.0.0.1:0"]);
    let receiver = Process::start(command.arg(files.path("inbox")));
    let at = address(&receiver);
    let send = |name| files.send(name, &at, &["--rate", "50", "--give-up", "1"]);
    let large = send("large").end();
    large.assert_failed("could not store it");
    let senders = [send("one"), send("two")];
    for sender in senders {
        sender.end().assert_success();
    }
    let receiver = receiver.interrupt();
    receiver.assert_success();
    assert!(
        receiver.said.contains("cannot be stored: File too large"),
        "{}",
        receiver.said
    );
    let mut received: Vec<Vec<u8>> = files.received().into_iter().map(read).collect();
    assert_eq!(received.len(), 2, "{}", receiver.said);
    received.sort();
    let mut contents = contents.to_vec();
    contents.sort();
    assert!(received == contents);
}

/// Slow enough that there is a middle: 400 kB take 800 ms.
const SLOWLY: [&str; 4] = ["--rate", "4", "--give-up", "1"];
const BYTES: usize = 400_000;
/// Until the middle, in milliseconds.
const HALF: u64 = 400;
const SOON: [&str; 2] = ["--idle", "0.5"];

/// A transfer in its middle: a receiver with these arguments, and a sender.
fn half_way(arguments: &[&str]) -> (Files, Process, Process) {
    let files = Files::new();
    files.make("sent", BYTES);
    let receiver = files.receive(arguments);
    let sender = files.send("sent", &address(&receiver), &SLOWLY);
    pause(HALF);
    (files, receiver, sender)
}

#[test]
fn a_sender_that_is_killed() {
    let (files, receiver, sender) = half_way(&SOON);
    sender.kill();
    let receiver = receiver.end();
    receiver.assert_failed("the sender or the network stopped");
    assert!(
        receiver.said.contains("and its end never came"),
        "{}",
        receiver.said
    );
    assert!(files.received().is_empty());
}

#[test]
fn a_sender_that_is_interrupted() {
    let (files, receiver, sender) = half_way(&SOON);
    sender.interrupt().assert_failed("stopped as asked");
    receiver.end().assert_failed("the sender or the network stopped");
    assert!(files.received().is_empty());
}

#[test]
fn a_receiver_that_is_killed() {
    let (files, receiver, sender) = half_way(&[]);
    receiver.kill();
    sender
        .end()
        .assert_failed("the receiver or the network stopped in the middle");
    assert!(files.received().is_empty());
}

#[test]
fn a_receiver_that_is_restarted() {
    let files = Files::new();
    files.make("sent", BYTES);
    let receiver = files.receive(&[]);
    let at = address(&receiver);
    let sender = files.send("sent", &at, &SLOWLY);
    pause(HALF);
    receiver.kill();
    let receiver = files.receive_at(&at, &SOON);
    sender
        .end()
        .assert_failed("the receiver has lost a part of the message");
    let receiver = receiver.end();
    receiver.assert_failed("this receiver was restarted in its middle");
    assert!(receiver.said.contains("bytes of 400000"), "{}", receiver.said);
    assert!(files.received().is_empty());
}

#[test]
fn a_message_that_cannot_be_stored() {
    let files = Files::new();
    files.make("sent", BYTES);
    let mut command = limited(200);
    command.args(["receive", "--udp", "127.0.0.1:0"]);
    let receiver = Process::start(command.arg(files.path("inbox/got")));
    let sender = files.send("sent", &address(&receiver), &["--give-up", "1"]);
    receiver
        .end()
        .assert_failed("inbox/got cannot be stored: File too large");
    sender.end().assert_failed("could not store it");
    assert!(files.received().is_empty());
}

#[test]
fn a_disk_that_is_full() {
    let files = Files::new();
    files.make("sent", BYTES);
    let inbox = files.path("inbox").display().to_string();
    if !can("mount", &["-t", "tmpfs", "-o", "size=128k", "tmpfs", &inbox]) {
        skip(
            "a_disk_that_is_full",
            &"this process may not mount file systems (run it as root)",
        );
        return;
    }
    let receiver = files.receive(&[]);
    let sender = files.send("sent", &address(&receiver), &["--give-up", "1"]);
    let (receiver, sender) = (receiver.end(), sender.end());
    let received = files.received();
    assert!(can("umount", &[&inbox]));
    receiver.assert_failed("inbox/got cannot be stored: No space left on device");
    sender.assert_failed("could not store it");
    assert!(received.is_empty(), "{received:?}");
}

#[test]
fn a_folder_that_vanishes() {
    let (files, receiver, sender) = half_way(&[]);
    std::fs::remove_dir(files.path("inbox")).expect("nothing is in it");
    receiver.end().assert_failed("inbox/got cannot be stored: ");
    sender.end().assert_failed("could not store it");
}

#[test]
fn a_file_that_vanishes_while_it_is_sent_arrives() {
    let (files, receiver, sender) = half_way(&[]);
    let sent = read(files.path("sent"));
    std::fs::remove_file(files.path("sent")).expect("it is ours");
    sender.end().assert_success();
    receiver.end().assert_success();
    assert!(read(files.path("inbox/got")) == sent);
}

#[test]
fn a_message_that_is_too_long() {
    let files = Files::new();
    files.make("sent", BYTES);
    let receiver = files.receive(&[&SOON[..], &["--max-size", "100000"]].concat());
    let sender = files.send("sent", &address(&receiver), &["--give-up", "1"]);
    receiver.end().assert_failed("is longer than --max-size");
    sender.end().assert_failed("has memory for the whole message");
    assert!(files.received().is_empty());
}

#[test]
fn a_port_of_another_receiver_is_refused() {
    let files = Files::new();
    let first = files.receive(&[]);
    let second = files.receive_at(&address(&first), &[]).end();
    second.assert_refused("is another receiver running there?");
}

#[test]
fn sender_and_receiver_give_up_without_each_other() {
    let files = Files::new();
    files.make("sent", 10_000);
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("there are ports");
    let to = silent.local_addr().expect("it is bound").to_string();
    let sender = files.send("sent", &to, &["--give-up", "0.5"]).end();
    sender.assert_failed("nothing ever answered");
    assert!(
        sender.said.contains(&format!("was not delivered: {to}: gave up")),
        "{}",
        sender.said
    );
    let receiver = files.receive(&["--duration", "0.3"]).end();
    receiver.assert_failed("no message was received");
}

#[test]
fn without_acknowledgements_the_sender_always_succeeds() {
    let files = Files::new();
    files.make("sent", 10_000);
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("there are ports");
    let to = silent.local_addr().expect("it is bound").to_string();
    let sender = files.send("sent", &to, &["--mode", "none"]).end();
    sender.assert_success();
    assert!(
        sender.said.contains("sent without acknowledgements"),
        "{}",
        sender.said
    );
}
