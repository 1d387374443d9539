//! What cannot be begun, or finds nobody.

use crate::support::{Files, spinneret};

#[test]
fn what_cannot_be_sent_is_refused() {
    let files = Files::new();
    let refused = |file: &str| {
        let ended = files.send(file, "127.0.0.1", &[]).end();
        ended.assert_refused("cannot be sent: ");
        ended.said
    };
    assert!(refused("nowhere").contains("No such file"));
    assert!(refused("inbox").contains("it is no file"));
    assert!(refused("/dev/zero").contains("it is no file"));
    let huge = std::fs::File::create(files.path("huge")).expect("there is room");
    huge.set_len(1 << 40).expect("nothing of it is on the disk");
    refused("huge");
    files.make("sent", 10);
    for (option, value) in [
        ("--rate", "0"),
        ("--give-up", "-1"),
        ("--segment", "0"),
        ("--segment", "5000"),
    ] {
        let ended = files
            .send("sent", "127.0.0.1", &[&format!("{option}={value}")])
            .end();
        ended.assert_refused("");
    }
    files
        .send("sent", "localhost", &[])
        .end()
        .assert_refused("write an IPv4 address");
}

#[test]
fn what_cannot_be_received_is_refused() {
    let files = Files::new();
    let refused = |more: &[&str], why: &str| files.receive(more).end().assert_refused(why);
    refused(&["--duration", "-1"], "value is negative");
    refused(&["--idle", "nan"], "it is no number");
    refused(&["--many"], "is no folder");
    refused(&["--trace", "trace.json"], "cannot be used with");
    let mut first = files.receive(&[]);
    let taken = files.receive_at(&first.address(), &[]).end();
    taken.assert_refused("is another receiver running there?");
    let mut command = spinneret();
    command.arg("receive").arg(files.path("nowhere/got"));
    let nowhere = files.start(command.args(["--udp", "127.0.0.1:0"])).end();
    nowhere.assert_refused("there is no folder");
}

#[test]
fn a_sender_without_a_receiver_and_a_receiver_without_a_sender_give_up() {
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
    receiver.assert_failed("no message came");
}

#[test]
fn without_acknowledgements_nobody_knows() {
    let files = Files::new();
    files.make("sent", 10_000);
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("there are ports");
    let to = silent.local_addr().expect("it is bound").to_string();
    let sender = files.send("sent", &to, &["--mode", "none"]).end();
    sender.assert_success();
    assert!(
        sender.said.contains("nobody knows whether it arrived"),
        "{}",
        sender.said
    );
}
