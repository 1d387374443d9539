//! What goes wrong in the middle: both sides end soon and say why, and nothing incomplete has the name of a file.

use crate::support::{Files, limited, pause, read, succeeds};
use spinneret_skip::skip;

/// Slow enough that there is a middle: 400 kB take 800 ms.
const SLOWLY: [&str; 4] = ["--rate", "4", "--give-up", "1"];
const BYTES: usize = 400_000;
/// Until the middle, in milliseconds.
const HALF: u64 = 400;
const SOON: [&str; 2] = ["--idle", "0.5"];

#[test]
fn a_sender_that_is_killed() {
    let files = Files::new();
    files.make("sent", BYTES);
    let mut receiver = files.receive(&SOON);
    let sender = files.send("sent", &receiver.address(), &SLOWLY);
    pause(HALF);
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
    let files = Files::new();
    files.make("sent", BYTES);
    let mut receiver = files.receive(&SOON);
    let sender = files.send("sent", &receiver.address(), &SLOWLY);
    pause(HALF);
    sender.interrupt().assert_failed("stopped as asked");
    receiver.end().assert_failed("the sender or the network stopped");
    assert!(files.received().is_empty());
}

#[test]
fn a_receiver_that_is_killed() {
    let files = Files::new();
    files.make("sent", BYTES);
    let mut receiver = files.receive(&[]);
    let sender = files.send("sent", &receiver.address(), &SLOWLY);
    pause(HALF);
    receiver.kill();
    sender
        .end()
        .assert_failed("the receiver or the network stopped in the middle");
    assert!(files.received().is_empty());
}

#[test]
fn a_receiver_that_is_started_anew() {
    let files = Files::new();
    files.make("sent", BYTES);
    let mut receiver = files.receive(&[]);
    let address = receiver.address();
    let sender = files.send("sent", &address, &SLOWLY);
    pause(HALF);
    receiver.kill();
    let receiver = files.receive_at(&address, &SOON);
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
    let mut receiver = files.start(command.arg(files.path("inbox/got")));
    let sender = files.send("sent", &receiver.address(), &["--give-up", "1"]);
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
    if !succeeds("mount", &["-t", "tmpfs", "-o", "size=128k", "tmpfs", &inbox]) {
        skip(
            "a_disk_that_is_full",
            &"this process may not mount file systems (run it as root)",
        );
        return;
    }
    let mut receiver = files.receive(&[]);
    let sender = files.send("sent", &receiver.address(), &["--give-up", "1"]);
    let (receiver, sender) = (receiver.end(), sender.end());
    let received = files.received();
    assert!(succeeds("umount", &[&inbox]));
    receiver.assert_failed("inbox/got cannot be stored: No space left on device");
    sender.assert_failed("could not store it");
    assert!(received.is_empty(), "{received:?}");
}

#[test]
fn a_folder_that_vanishes() {
    let files = Files::new();
    files.make("sent", BYTES);
    let mut receiver = files.receive(&[]);
    let sender = files.send("sent", &receiver.address(), &SLOWLY);
    pause(HALF);
    std::fs::remove_dir(files.path("inbox")).expect("nothing is in it");
    receiver.end().assert_failed("inbox/got cannot be stored: ");
    sender.end().assert_failed("could not store it");
}

#[test]
fn a_file_that_vanishes_while_it_is_sent_arrives() {
    let files = Files::new();
    let sent = files.make("sent", BYTES);
    let mut receiver = files.receive(&[]);
    let sender = files.send("sent", &receiver.address(), &SLOWLY);
    pause(HALF);
    std::fs::remove_file(files.path("sent")).expect("it is ours");
    sender.end().assert_success();
    receiver.end().assert_success();
    assert!(read(files.path("inbox/got")) == sent);
}

#[test]
fn a_message_that_is_too_long_for_its_receiver() {
    let files = Files::new();
    files.make("sent", BYTES);
    let mut receiver = files.receive(&[&SOON[..], &["--max-size", "100000"]].concat());
    let sender = files.send("sent", &receiver.address(), &["--give-up", "1"]);
    receiver.end().assert_failed("is longer than --max-size");
    sender.end().assert_failed("has memory for the whole message");
    assert!(files.received().is_empty());
}
