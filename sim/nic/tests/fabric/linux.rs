//! NICs whose hosts are Linux.

use crate::support::{Folder, fabric};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A name that no other test has, and no other process of this test.
fn name(end: &str) -> String {
    format!("sf{end}{}", std::process::id() % 1_000_000)
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let status = command
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn linux_pings_linux_through_two_nics_and_a_handler_answers() {
    let (folder, [here, there]) = (Folder::new(), ["a", "b"].map(name));
    let topology = folder.topology(&format!(
        "[[nic]]\nname = 'here'\ntap = '{here}'\n[[nic]]\nname = 'there'\ntap = '{there}'\nhandlers = 'EXAMPLES/icmp_ping'\n\
         [[cable]]\nbetween = ['here', 'there']\n"
    ));
    let said = folder.path("said");
    let file = std::fs::File::create(&said).expect("there is room");
    let output = folder.path("result");
    let result = std::fs::File::create(&output).expect("there is room");
    let mut child = fabric()
        .arg(topology)
        .arg("--json")
        .stdout(result)
        .stderr(file)
        .spawn()
        .expect("the command was built");
    let begun = Instant::now();
    // The interface is there, and what it sends is not refused.
    while !succeeds(
        "ip",
        &["netns", "exec", &here, "ip", "route", "get", "10.128.0.2"],
    ) {
        if child.try_wait().expect("it is ours").is_some() {
            let said = std::fs::read_to_string(said).expect("it was written");
            assert!(said.contains("privilege") || said.contains("root"), "{said}");
            return spinneret_skip::skip("linux_pings_linux_through_two_nics_and_a_handler_answers", &said);
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    // Linux there answers who has the address, and the handler answers the pings.
    let ping = [
        "netns",
        "exec",
        &here,
        "ping",
        "-c",
        "3",
        "-i",
        "0.3",
        "-W",
        "10",
        "10.128.0.2",
    ];
    let is_answered = (0..5).any(|_| succeeds("ip", &ping));
    let interrupted = succeeds(
        "pkill",
        &[
            "-INT",
            "-f",
            &format!("^[^ ]*spinneret fabric {}", folder.path("").display()),
        ],
    );
    let ended = child.wait().expect("it is ours");
    let said = std::fs::read_to_string(said).expect("it was written");
    assert!(is_answered && interrupted && ended.success(), "{ended}: {said}");
    let result: serde_json::Value =
        serde_json::from_slice(&std::fs::read(output).expect("it was written")).expect("it is JSON");
    let handled = result["nics"]["1"]["summary"]["handlers"][0]["packets"].as_u64();
    assert!(handled >= Some(3), "{result:#}");
    assert!(
        !succeeds("ip", &["netns", "exec", &here, "true"]),
        "the namespace is removed"
    );
}
