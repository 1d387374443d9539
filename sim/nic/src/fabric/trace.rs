//! One trace of all NICs: each writes its own, and they are joined at the end.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use spinneret_fabric::Report;
use spinneret_packets::capture::whole_file::WholeFile;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Processes of a NIC in a trace.
const PROCESSES: u64 = 2;

/// Traces of NICs, beside the file that they become.
#[derive(Debug)]
pub(super) struct Parts {
    file: PathBuf,
    folder: TempDir,
}

impl Parts {
    pub(super) fn beside(file: &Path) -> std::io::Result<Self> {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = tempfile::Builder::new()
            .prefix(".trace")
            .tempdir_in(parent.unwrap_or(Path::new(".")))?;
        Ok(Self {
            file: file.to_owned(),
            folder,
        })
    }

    /// Where a NIC writes.
    pub(super) fn part(&self, number: usize, name: &str) -> PathBuf {
        self.folder.path().join(format!("{number}-{name}"))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If a part cannot be read, or the file cannot be written.
    pub(super) fn join(self, report: &Report) -> Result<()> {
        let path = self.file.display();
        let unwritten = || format!("the trace {path} cannot be written");
        let mut whole = WholeFile::create(&self.file).with_context(unwritten)?;
        whole
            .write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")
            .with_context(unwritten)?;
        let mut separator = "\n";
        for (number, nic) in report.nics.iter().enumerate() {
            let part = File::open(self.part(number, &nic.name));
            let Ok(part) = part else { continue };
            // The first line opens the list, the last one closes it, and each between them is an event.
            for line in BufReader::new(part).lines() {
                let line = line.with_context(unwritten)?;
                let text = line.trim_end_matches(',');
                let Ok(mut event) = serde_json::from_str::<Value>(text) else {
                    continue;
                };
                of_nic(&mut event, number as u64, &nic.name);
                write!(whole, "{separator}{event}").with_context(unwritten)?;
                separator = ",\n";
            }
        }
        whole.write_all(b"\n]}\n").with_context(unwritten)?;
        whole.finish().with_context(unwritten)
    }
}

/// An event of one NIC among those of all.
fn of_nic(event: &mut Value, number: u64, name: &str) {
    if let Some(pid) = event["pid"].as_u64() {
        event["pid"] = json!(pid + PROCESSES * number);
    }
    if event["ph"] == "M" && event["name"] == "process_name" {
        let process = event["args"]["name"].as_str().unwrap_or_default();
        event["args"]["name"] = json!(format!("{name}: {process}"));
    }
    if let Some(id) = event["id"].as_u64() {
        event["id"] = json!(id << 20 | number);
    }
}
