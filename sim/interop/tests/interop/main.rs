//! The model against recordings of FPsPIN's PULP cluster; messages about invalid checkouts and options.

mod conformance;
mod own;

use std::path::Path;
use std::process::Command;

/// Returns the message and exit code of a program that prints nothing else.
fn refused(command: &mut Command) -> (String, Option<i32>) {
    let output = command.output().unwrap_or_else(|error| panic!("{error}"));
    assert!(output.stdout.is_empty(), "nothing has begun");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (text, output.status.code())
}

fn interop(arguments: &[&str]) -> (String, Option<i32>) {
    refused(Command::new(env!("CARGO_BIN_EXE_interop")).args(arguments))
}

fn datatypes(arguments: &[&str]) -> (String, Option<i32>) {
    refused(Command::new(env!("CARGO_BIN_EXE_datatypes")).args(arguments))
}

fn cards(arguments: &[&str]) -> (String, Option<i32>) {
    refused(Command::new(script()).args(arguments))
}

fn script() -> &'static Path {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tools/interop/cards.py"
    ))
}

#[test]
fn rejects_invalid_checkouts() {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let (empty, missing) = (folder.path(), folder.path().join("missing"));
    let [empty, missing] = [empty, &missing].map(|path| path.to_str().expect("a path in plain text"));
    for ((told, code), said) in [
        (
            interop(&["--fpspin-dir", missing]),
            format!("interop: `--fpspin-dir {missing}`: no such directory"),
        ),
        (
            interop(&["--fpspin-dir", empty]),
            format!("interop: {empty} is not an FPsPIN checkout: it has no fpga/app/pspin/rtl/pspin_wrap.sv"),
        ),
        (
            cards(&["--fpspin-dir", empty, "--corundum-dir", missing]),
            format!("interop: `--corundum-dir {missing}`: there is no such directory"),
        ),
        (
            cards(&["--fpspin-dir", empty, "--corundum-dir", empty, "--gen", missing]),
            format!("interop: cannot run {missing}: `./dev setup` installs it"),
        ),
        (
            interop(&["--own", "--step", "contexts"]),
            "interop: `--own` has no step `contexts`: choose costs, locks or examples".to_owned(),
        ),
    ] {
        assert!(told.starts_with(&said), "{told}");
        assert_eq!((told.lines().count(), code), (1, Some(1)), "{told}");
    }
}

#[test]
fn wrong_options_exit_with_usage() {
    for ((told, code), said) in [
        (interop(&[]), "--fpspin-dir"),
        (
            interop(&["--fpspin-dir", ".", "--step", "x"]),
            "possible values: costs",
        ),
        (
            interop(&["--fpspin-dir", ".", "--example", "x"]),
            "possible values: icmp_ping",
        ),
        (
            interop(&["--fpspin-dir", ".", "--packets", "0"]),
            "0 is not in 40..=100000",
        ),
        (cards(&["--fpspin-dir", "."]), "--corundum-dir"),
        (datatypes(&[]), "--fpspin-dir"),
        (
            datatypes(&["--fpspin-dir", "."]),
            "there is no fpga/app/pspin/deps/pspin/examples/datatypes in .: name a checkout of FPsPIN",
        ),
    ] {
        assert!(told.contains(said), "{told}");
        assert_eq!(code, Some(2), "{told}");
    }
}

#[test]
fn doctests_of_the_script_pass() {
    let output = Command::new("python3")
        .args(["-B", "-m", "doctest"])
        .arg(script())
        .output();
    let output = output.unwrap_or_else(|error| panic!("python3: {error}"));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}
