//! Handlers of a source file, run as a user runs them.

mod endings;
mod refusals;
mod start;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with handlers of this source, with a Makefile, and rules that lead all packets to them.
fn handlers(source: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime");
    let makefile = format!("include {}\n", runtime.join("spin.mk").display());
    let source = format!("#include <handler.h>\n{source}");
    let rules = "[[ruleset]]\nrules = [\"always\"]\nend-of-message = \"never\"\n";
    for (name, text) in [
        ("app.c", source.as_str()),
        ("Makefile", makefile.as_str()),
        ("rules.toml", rules),
    ] {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    folder
}

fn run(folder: &TempDir, count: usize, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spinneret"))
        .arg("run")
        .arg(folder.path())
        .arg("--generate")
        .arg(format!("udp,size=98,rate=1Gbps,count={count}"))
        .args(arguments)
        .output()
        .expect("the command was built")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// Packets that handlers are done with.
fn done_with(summary: &Value) -> u64 {
    let stages = summary["stages"].as_array().expect("there are stages");
    let done = stages.iter().find(|stage| stage["stage"] == "done with");
    done.and_then(|stage| stage["packets"].as_u64())
        .expect("it is counted")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
