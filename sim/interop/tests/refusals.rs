//! Checkouts that are none, and options that do not go together, are refused in a sentence before anything long begins.

use std::path::Path;
use std::process::Command;

/// Runs it: what it says, and its exit code.
fn interop(arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_interop"))
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(output.stdout.is_empty(), "nothing has begun");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (text, output.status.code())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_else(|| panic!("{path:?} is text"))
}

#[test]
fn checkouts_that_are_none_are_refused() {
    let empty = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let (empty, missing) = (text(empty.path()), text(&empty.path().join("missing")).to_owned());
    for (arguments, said) in [
        (
            &["--fpspin-dir", &missing][..],
            format!("`--fpspin-dir {missing}`: there is no such directory"),
        ),
        (
            &["--fpspin-dir", empty],
            format!("{empty} is no FPsPIN checkout: it has no fpga/app/pspin/rtl/pspin_wrap.sv"),
        ),
        (
            &["--fpspin-dir", empty, "--corundum-dir", &missing],
            format!("`--corundum-dir {missing}`: there is no such directory"),
        ),
        (
            &["--fpspin-dir", empty, "--corundum-dir", empty, "--step", "costs"],
            format!("{empty} is no Corundum checkout: it has no fpga/common/rtl/mqnic_core.v"),
        ),
    ] {
        let (told, code) = interop(arguments);
        assert!(told.contains(&said), "{arguments:?}: {told}");
        assert_eq!(
            (told.lines().count(), code),
            (1, Some(1)),
            "{arguments:?}: {told}"
        );
    }
}

#[test]
fn options_that_do_not_go_together_are_a_matter_of_usage() {
    for (arguments, said) in [
        (&[][..], "--fpspin-dir"),
        (
            &["--fpspin-dir", ".", "--step", "cards"],
            "the step cards needs `--corundum-dir`",
        ),
        (
            &["--fpspin-dir", ".", "--step", "core"],
            "the step core needs `--corundum-dir`",
        ),
        (
            &["--fpspin-dir", ".", "--step", "nothing"],
            "possible values: cards",
        ),
        (
            &["--fpspin-dir", ".", "--example", "nothing"],
            "possible values: icmp_ping",
        ),
        (
            &["--fpspin-dir", ".", "--packets", "0"],
            "0 is not in 40..=100000",
        ),
    ] {
        let (told, code) = interop(arguments);
        assert!(told.contains(said), "{arguments:?}: {told}");
        assert_eq!(code, Some(2), "{arguments:?}: {told}");
    }
}
