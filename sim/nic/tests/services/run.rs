//! `spinneret run --services` as a user calls it.

use crate::support::ok;
use std::path::Path;
use std::process::{Command, Output};

fn run(example: &str, services: &str) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let command = Command::new(env!("CARGO_BIN_EXE_spinneret"))
        .args(["run", &format!("runtime/examples/{example}"), "--generate"])
        .args(["udp,size=100,count=5", "--json", services])
        .current_dir(root)
        .output();
    ok(command)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_example_keeps_a_log_in_the_folder() {
    let folder = ok(tempfile::tempdir());
    let output = run("host_log", &format!("--services={}", folder.path().display()));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("context 0: 25 calls were answered\n"),
        "{}",
        stderr(&output)
    );
    let log = ok(std::fs::read_to_string(folder.path().join("packets.log")));
    assert_eq!(log, "100 bytes to port 9330\n".repeat(5));
}

#[test]
fn without_a_folder_no_file_is_opened() {
    let output = run("host_log", "--services");
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("5 calls were answered, 5 refused: not allowed"),
        "{said}"
    );
    assert!(said.contains("host_log: the host keeps no log"), "{said}");
}

#[test]
fn what_cannot_be_served_is_refused_in_words() {
    for (example, services, why) in [
        ("udp_ping", "--services", "has no variable `__spin_rpc` in L2"),
        (
            "host_log",
            "--services=/no/such/folder",
            "/no/such/folder cannot be opened as a folder",
        ),
    ] {
        let output = run(example, services);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}
