//! What the tests with real interfaces share.

use spinneret_nic::net::{InterfaceAddress, TapConfig};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A cable with a name and a network that no other test has, in this process or another one.
pub(crate) fn config(test: u32) -> TapConfig {
    let process = std::process::id();
    // Networks of four addresses.
    let [third, fourth] = ((process * 16 + test) as u16 & 0x3fff)
        .wrapping_mul(4)
        .to_be_bytes();
    let address =
        |last: u8| -> InterfaceAddress { format!("198.18.{third}.{}/30", fourth + last).parse().unwrap() };
    TapConfig {
        name: format!("t{test:x}{process:x}"),
        host: address(1),
        wire: address(2),
    }
}

/// A command in words; the first one is the program.
pub(crate) fn command(words: &str) -> Command {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// Runs a command that has to succeed.
pub(crate) fn run(words: &str) -> Output {
    let output = command(words)
        .output()
        .unwrap_or_else(|error| panic!("{words}: {error}"));
    assert!(
        output.status.success(),
        "{words}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Does something until it says that it is enough.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what} takes too long");
    }
}
