//! The public example handlers, built from their own Makefiles and unchanged sources, on our runtime: what they do on the
//! real cluster is what they do on the model.
//!
//! `runtime/public-examples` builds them in a copy. Left out are those that need a program on the host, or that end with
//! faults for reasons of their own; docs/cluster/public-handlers.md says which, and why.

use crate::bench::{Bench, Handlers, root};
use crate::loads::{Host, Load, Outcome};
use anyhow::{Context as _, Result, bail, ensure};
use pcap_file::pcap::PcapReader;
use spinneret_nic::Simulated;
use spinneret_nic::nic::ClusterBackend;
use spinneret_program::Program;
use spinneret_rules::{MatcherParams, RuleFile};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packets for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packets {
    /// A capture that `runtime/tests/public/packets` makes, of that kind.
    Capture(&'static str),
    /// Those of our own example of that name.
    Ours(&'static str),
}

/// The examples, by their folders.
pub(crate) const EXAMPLES: &[(&str, Packets)] = &[
    ("icmp_ping", Packets::Ours("examples/icmp_ping")),
    ("udp_ping", Packets::Ours("examples/udp_ping")),
    ("copy_from_host", Packets::Capture("numbers")),
    ("copy_to_host", Packets::Capture("numbers")),
    // It prints every byte, which takes some 1000 clocks.
    ("empty", Packets::Capture("short")),
    ("filtering", Packets::Capture("numbers")),
    ("histogram", Packets::Capture("numbers")),
    ("ooorb", Packets::Capture("ranges")),
    ("reduce", Packets::Capture("numbers")),
    ("synthetic", Packets::Capture("numbers")),
];

/// Frames of our own examples that come one by one, and bytes of each.
const OURS: usize = 8;
const OURS_BYTES: usize = 98;

/// The examples, compiled.
#[derive(Debug)]
pub(crate) struct Public {
    folder: tempfile::TempDir,
}

impl Public {
    /// Builds all of a checkout.
    ///
    /// # Errors
    /// If one of them does not build.
    pub(crate) fn build(fpspin: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a folder for the public examples")?;
        let script = root().join("runtime/public-examples");
        let output = Command::new(&script)
            .arg(fpspin)
            .arg(folder.path().join("examples"))
            .output()
            .with_context(|| format!("cannot run {}", script.display()))?;
        print!("{}", String::from_utf8_lossy(&output.stdout));
        ensure!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(Self { folder })
    }

    fn handlers(&self, name: &str, packets: Packets) -> Result<Handlers> {
        let build = self.folder.path().join("examples").join(name).join("build");
        let elf = elf_of(&build)?;
        let rules = match packets {
            Packets::Capture(_) => root().join("runtime/tests/public/rules.toml"),
            Packets::Ours(folder) => root().join("runtime").join(folder).join("rules.toml"),
        };
        Ok(Handlers {
            name: name.to_owned(),
            program: Program::open(&elf)?,
            rules: RuleFile::read(&rules, &MatcherParams::BOARD)?,
        })
    }

    fn frames(&self, packets: Packets) -> Result<Vec<Vec<u8>>> {
        let kind = match packets {
            Packets::Ours(folder) => return Ok(Load::frames(folder, OURS, OURS_BYTES)),
            Packets::Capture(kind) => kind,
        };
        let path = self.folder.path().join(kind).with_extension("pcap");
        let script = root().join("runtime/tests/public/packets");
        let output = Command::new(&script).arg(kind).arg(&path).output();
        let output = output.with_context(|| format!("cannot run {}", script.display()))?;
        ensure!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut reader = PcapReader::new(file)?;
        let mut frames = Vec::new();
        while let Some(packet) = reader.next_packet() {
            frames.push(packet?.data.into_owned());
        }
        Ok(frames)
    }

    /// Runs an example: its packets one by one, and then all of them at once.
    ///
    /// # Errors
    /// If it cannot be started, the hardware fails, or packets stay on their way.
    pub(crate) fn attempt<B: ClusterBackend + 'static>(
        &self,
        nic: Simulated<B>,
        name: &'static str,
        packets: Packets,
    ) -> Result<(Outcome, u64)> {
        let handlers = self.handlers(name, packets)?;
        let frames = self.frames(packets)?;
        let mut bench = Bench::start(nic, &handlers)?;
        let mut batches: Vec<_> = frames.iter().map(|frame| vec![frame.clone()]).collect();
        batches.push(frames);
        let load = Load {
            handlers: name,
            batches,
        };
        let outcome = load.run(&mut bench, &mut Host::Nobody, &mut |_| ())?;
        let printed = bench.nic.borrow().backend().printed();
        Ok((outcome, printed))
    }
}

/// The only program of a folder.
fn elf_of(build: &Path) -> Result<PathBuf> {
    let entries = build
        .read_dir()
        .with_context(|| format!("cannot read {}", build.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut elves: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "elf"))
        .collect();
    match (elves.pop(), elves.len()) {
        (Some(elf), 0) => Ok(elf),
        _ => bail!(
            "{} has not one program: run runtime/public-examples by hand to see why",
            build.display()
        ),
    }
}
