//! A place to run the command in, and what comes of it.

use serde_json::Value;
use spinneret_packets::capture::{CaptureReader, CaptureWriter, Packet, Resolution};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;

/// A scratch directory with a rule file, and the command run in it.
pub(crate) struct Bench {
    pub(crate) directory: TempDir,
}

pub(crate) const RULES: &str = "[[ruleset]]\nname = 'slmp'\nrules = ['slmp']\nend-of-message = 'slmp-eom'\n\
                     [[ruleset]]\nrules = ['ipv4', { ip-proto = 1 }]\n";

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self {
            directory: tempfile::tempdir().expect("a scratch directory"),
        };
        bench.write("rules.toml", RULES);
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).expect("the scratch directory is writable");
    }

    /// Writes a capture with packets of these bytes.
    pub(crate) fn capture(&self, name: &str, frames: &[&[u8]]) {
        let mut writer = CaptureWriter::create(&self.path(name), Resolution::Nano).expect("writable");
        for (number, frame) in frames.iter().enumerate() {
            let timestamp = Duration::new(1_700_000_000, number as u32);
            let packet = Packet {
                timestamp,
                data: frame.to_vec(),
                original_len: frame.len() as u32,
            };
            writer.write(&packet).expect("the packet is possible");
        }
        writer.finish().expect("the file can be completed");
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinneret"));
        command
            .current_dir(self.directory.path())
            .arg("match")
            .args(arguments);
        command.output().expect("the command runs")
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).expect("the directory is there");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../captures")
        .join(name)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The error message of a run that must end with this exit code and print nothing else.
pub(crate) fn error(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    text(&output.stderr)
}

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

pub(crate) fn packets(path: &Path) -> Vec<Packet> {
    let capture = CaptureReader::open(path).expect("the capture is right");
    capture
        .map(|packet| packet.expect("the capture is whole"))
        .collect()
}
