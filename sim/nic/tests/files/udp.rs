//! Files that arrive at a UDP port.

use crate::support::{Files, limited, read};

const MEGABYTE: usize = 1 << 20;

#[test]
fn a_file_arrives_identical_in_every_mode_that_is_acknowledged() {
    for (mode, bytes) in [
        ("window", MEGABYTE),
        ("message", 100_000),
        ("window", 0),
        ("message", 1),
    ] {
        let files = Files::new();
        let sent = files.make("sent", bytes);
        let mut receiver = files.receive(&[]);
        // A sender that is told to be slow loses nothing on a busy machine.
        let rate = ["--mode", mode, "--rate", "200"];
        let sender = files.send("sent", &receiver.address(), &rate).end();
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
fn a_received_file_may_be_read_by_whom_the_umask_allows() {
    use std::os::unix::fs::PermissionsExt as _;
    let files = Files::new();
    files.make("sent", 10);
    let mode = |path| std::fs::metadata(path).expect("it is there").permissions().mode();
    let mut receiver = files.receive(&[]);
    files
        .send("sent", &receiver.address(), &[])
        .end()
        .assert_success();
    receiver.end().assert_success();
    assert_eq!(mode(files.path("inbox/got")), mode(files.path("sent")));
}

#[test]
fn of_two_senders_at_once_one_delivers_and_the_other_hears_that_it_did_not() {
    let files = Files::new();
    let contents = ["one", "two"].map(|name| files.make(name, 300_000));
    let mut receiver = files.receive(&[]);
    let address = receiver.address();
    let send = |name| files.send(name, &address, &["--rate", "20", "--give-up", "1"]);
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
fn many_files_are_taken_until_ctrl_c_and_one_that_cannot_be_stored_is_no_end() {
    let files = Files::new();
    let contents = ["one", "two"].map(|name| files.make(name, 100_000));
    files.make("large", 400_000);
    let mut command = limited(200);
    command.args(["receive", "--many", "--udp", "127.0.0.1:0"]);
    let mut receiver = files.start(command.arg(files.path("inbox")));
    let address = receiver.address();
    let send = |name| files.send(name, &address, &["--rate", "50", "--give-up", "1"]);
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
