//! Runs an example on the PULP cluster or the model: packet times alone and in a crowd, and correct results.

use crate::bench::{self, Bench, Handlers, root};
use crate::model::{WATCHDOG, modelled};
use crate::traces::{self, Line};
use crate::workloads::{Host, Load, Outcome};
use anyhow::{Context as _, Result, bail, ensure};
use pcap_file::pcap::PcapReader;
use spinneret_nic::Simulated;
use spinneret_nic::run::Hpus;
use spinneret_program::Program;
use spinneret_rules::{MatcherParams, RuleFile};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packets of all sizes that arrive one by one; the others arrive in bursts.
pub(crate) const MIXED_ALONE: usize = 20;

/// Results of an example.
#[derive(Clone, Debug)]
pub struct ExampleRun {
    /// By size.
    pub figures: Vec<Figures>,
    /// Of the first packets.
    pub trace: Vec<Line>,
    /// Of the packets of all sizes.
    pub outcome: Outcome,
}

/// Runs an example; `mixed` packets of all sizes follow those that are measured.
///
/// # Errors
/// If the handlers cannot be started, the hardware fails, or packets stay on their way.
pub fn run_example(
    nic: Simulated,
    handlers: &'static str,
    hpus: Hpus,
    mixed: [usize; 2],
    tell: &mut dyn FnMut(&str),
) -> Result<ExampleRun> {
    let built = Handlers::build(handlers, hpus)?;
    tell("the program is loaded");
    let (mut bench, mut host) = Host::start(handlers, nic, &built)?;
    let (mut figures, mut trace) = (Vec::new(), Vec::new());
    for size in SIZES {
        tell(&format!("packets of {size} bytes"));
        let (measured, lines) = measure(&mut bench, &mut host, handlers, size)?;
        figures.push(measured);
        if size == SIZES[0] {
            trace = lines;
        }
    }
    let [alone, in_bursts] = mixed;
    let load = Load::mixed(handlers, alone, in_bursts);
    let all = alone + in_bursts;
    let outcome = load.run(&mut bench, &mut host, &mut |done| {
        tell(&format!("{done} of {all} packets"))
    })?;
    Ok(ExampleRun {
        figures,
        trace,
        outcome,
    })
}

/// Sizes of frames in bytes.
pub const SIZES: [usize; 5] = [60, 98, 342, 722, 1442];
/// Packets that arrive one by one; the first is cold.
const ALONE: usize = 16;
/// Warm packets among them: the caches have settled, and the message does not end.
const WARM: Range<usize> = 7..15;
/// Packets of a crowd, and number of crowds. In the first crowd, packets on the other cluster find a cold cache;
/// later times vary if the program is larger than the cache.
const TOGETHER: usize = 48;
const CROWDS: usize = 5;

/// Clocks of the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// From a packet's HER to its feedback, the first time: its program is not in the cache.
    pub cold: u64,
    /// The same for later packets, on average.
    pub warm: u64,
    /// Clocks per packet of a warm crowd, in tenths: from the first HER to the last feedback, divided by the packets,
    /// averaged over the crowds.
    pub crowd_tenths: u64,
}

/// Packets whose trace is kept: the cold one and the next.
const TRACED: usize = 2;

/// Measures an example at one size; only the first size starts cold. Returns the trace of the first packets, too.
///
/// # Errors
/// If packets stay on their way.
fn measure(
    bench: &mut Bench,
    host: &mut Host,
    handlers: &'static str,
    size: usize,
) -> Result<(Figures, Vec<Line>)> {
    let (mut times, mut trace) = (Vec::new(), Vec::new());
    let mut frames = Load::frames(handlers, ALONE + CROWDS * TOGETHER, size).into_iter();
    for (number, frame) in frames.by_ref().take(ALONE).enumerate() {
        bench::begin(&mut bench.nic.borrow_mut());
        bench.send([frame]);
        host.settle(bench)?;
        let happened = bench::happened(&mut bench.nic.borrow_mut());
        let (came, freed) = (happened.came(), happened.freed().last().copied());
        if number < TRACED {
            trace.extend(traces::lines(number, &happened.0));
        }
        let (Some(came), Some(freed)) = (came, freed) else {
            anyhow::bail!("a packet of {size} bytes did not reach the handlers of {handlers}");
        };
        times.push(freed - came);
    }
    host.take(&mut Vec::new())?;
    let mut crowds = Vec::new();
    for _ in 0..CROWDS {
        crowds.push(crowd(bench, host, frames.by_ref().take(TOGETHER).collect())?);
    }
    let warm_crowds = &crowds[1..];
    let figures = Figures {
        cold: times[0],
        warm: times[WARM].iter().sum::<u64>() / WARM.len() as u64,
        crowd_tenths: warm_crowds.iter().sum::<u64>() * 10 / (warm_crowds.len() * TOGETHER) as u64,
    };
    Ok((figures, trace))
}

/// Measures a crowd of packets: clocks from the first HER to the last feedback.
fn crowd(bench: &mut Bench, host: &mut Host, frames: Vec<Vec<u8>>) -> Result<u64> {
    let count = frames.len();
    bench::begin(&mut bench.nic.borrow_mut());
    bench.send(frames);
    host.settle(bench)?;
    host.take(&mut Vec::new())?;
    bench.wire();
    let happened = bench::happened(&mut bench.nic.borrow_mut());
    let all = happened.freed();
    ensure!(
        all.len() == count,
        "{} of {count} packets came back from the cluster",
        all.len()
    );
    // It does not matter how header and completion handlers share the packets' time out.
    let all_of_it = happened.came().zip(all.last()).map(|(first, last)| last - first);
    Ok(all_of_it.unwrap_or_default())
}

/// The model's figures of an example, by size.
pub(crate) fn modelled_figures(name: &'static str) -> Result<Vec<Figures>> {
    Ok(run_example(modelled(WATCHDOG)?, name, Hpus::Pspin, [0, 0], &mut |_| ())?.figures)
}

/// Packets for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packets {
    /// A capture that `runtime/tests/public/packets` makes, of that kind.
    Capture(&'static str),
    /// Those of our own example of that name.
    Ours(&'static str),
}

/// The examples, by their folders.
pub(crate) const PUBLIC_EXAMPLES: &[(&str, Packets)] = &[
    ("icmp_ping", Packets::Ours("examples/icmp_ping")),
    ("udp_ping", Packets::Ours("examples/udp_ping")),
    ("copy_from_host", Packets::Capture("numbers")),
    ("copy_to_host", Packets::Capture("numbers")),
    // It prints every byte, which takes about 1000 clocks.
    ("empty", Packets::Capture("short")),
    ("filtering", Packets::Capture("numbers")),
    ("histogram", Packets::Capture("numbers")),
    ("ooorb", Packets::Capture("ranges")),
    ("reduce", Packets::Capture("numbers")),
    ("synthetic", Packets::Capture("numbers")),
];

/// Frames of our own examples, sent one by one, and their size.
const OURS: usize = 8;
const OURS_BYTES: usize = 98;

/// The examples, compiled.
#[derive(Debug)]
pub(crate) struct PublicExamples {
    folder: tempfile::TempDir,
}

impl PublicExamples {
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
    pub(crate) fn attempt(
        &self,
        nic: Simulated,
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
        let printed = bench.nic.borrow().cluster().printed();
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
