//! A NIC whose host is this machine.

use crate::support::{Folder, fabric};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A name that no other test has, and no other process of this test.
fn name() -> String {
    format!("spf{}", std::process::id() % 1_000_000)
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
fn linux_pings_a_nic_of_a_fabric() {
    let (folder, name) = (Folder::new(), name());
    let topology = folder.topology(&format!(
        "[[nic]]\nname = 'here'\ntap = '{name}'\n[[nic]]\nname = 'there'\nhandlers = 'EXAMPLES/icmp_ping'\n\
         [[cable]]\nbetween = ['here', 'there']\n"
    ));
    let said = folder.path("said");
    let file = std::fs::File::create(&said).expect("there is room");
    let mut child = fabric()
        .arg(topology)
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .expect("the command was built");
    let begun = Instant::now();
    let interface = format!("/sys/class/net/{name}");
    while !std::path::Path::new(&interface).exists() {
        if child.try_wait().expect("it is ours").is_some() {
            let said = std::fs::read_to_string(said).expect("it was written");
            assert!(said.contains("privilege") || said.contains("root"), "{said}");
            return spinneret_skip::skip("linux_pings_a_nic_of_a_fabric", &said);
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    // Nobody answers for the host of the other NIC, so its address is told.
    let address = "10.128.0.2";
    let neighbour = [
        "neigh",
        "replace",
        address,
        "lladdr",
        "02:00:5e:00:00:02",
        "dev",
        &*name,
    ];
    assert!(succeeds("ip", &neighbour));
    let is_answered = succeeds(
        "ping",
        &["-c", "3", "-i", "0.2", "-W", "10", "-I", &name, address],
    );
    let interrupted = succeeds("kill", &["-INT", &child.id().to_string()]);
    let ended = child.wait().expect("it is ours");
    let said = std::fs::read_to_string(said).expect("it was written");
    assert!(is_answered && interrupted, "{said}");
    assert!(ended.success(), "{ended}: {said}");
    assert!(
        !std::path::Path::new(&interface).exists(),
        "the interface is removed"
    );
}
