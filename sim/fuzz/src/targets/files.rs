//! Targets that take whole files: captures, rule files, topologies, ELF files.

use crate::{Counts, Target, mutate};
use anyhow::Context as _;
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::{Cluster, Config, Program};
use spinneret_fabric::topology::Topology;
use spinneret_nic::report::Symbols;
use spinneret_packets::capture::CaptureReader;
use spinneret_regmap::CONTEXTS;
use spinneret_rules::{MatcherParams, RuleFile};
use std::path::{Path, PathBuf};

/// Name of the input file in messages.
pub(super) const NAME: &str = "fuzzed";

/// The project's root.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A reader of files: returns whether it accepts one, or which promise it breaks.
type Reader = Box<dyn FnMut(&[u8]) -> Result<bool, String>>;

/// Feeds mutated copies of valid files to a reader.
pub(super) struct Files {
    good: Vec<Vec<u8>>,
    read: Reader,
}

impl Files {
    pub(super) fn target(
        good: Vec<Vec<u8>>,
        read: impl FnMut(&[u8]) -> Result<bool, String> + 'static,
    ) -> Box<dyn Target> {
        Box::new(Self {
            good,
            read: Box::new(read),
        })
    }
}

impl Target for Files {
    fn unit(&self) -> &'static str {
        "files"
    }

    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        mutate(&self.good, rng)
    }

    fn run(&mut self, input: &[u8]) -> Result<Counts, String> {
        let understood = (self.read)(input)?;
        Ok(Counts {
            pieces: 1,
            understood: understood.into(),
        })
    }
}

/// Refuses an error that does not name the file in one sentence.
pub(super) fn said(error: &str) -> Result<(), String> {
    match error.contains(NAME) && !error.contains('\n') {
        true => Ok(()),
        false => Err(format!("this is no sentence about the file: {error:?}")),
    }
}

/// Returns the files in a folder of the project with one of these extensions, as seeds. Saved failures are not among
/// them, so that inputs depend on the seed and the examples only.
pub(super) fn seeds(folder: &str, endings: &[&str]) -> anyhow::Result<Vec<Vec<u8>>> {
    let there = root().join(folder);
    let entries = std::fs::read_dir(&there).with_context(|| format!("cannot read {}", there.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // A folder is listed in any order.
    paths.sort();
    let is_one = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| endings.contains(&ending))
    };
    let good: Vec<_> = paths
        .into_iter()
        .filter(is_one)
        .map(|path| seed(&path))
        .collect::<anyhow::Result<_>>()?;
    anyhow::ensure!(!good.is_empty(), "there are no inputs to begin with in {folder}");
    Ok(good)
}

/// Returns a file as a seed.
pub(super) fn seed(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads all packets of a capture.
pub(super) fn captures() -> anyhow::Result<Box<dyn Target>> {
    Ok(Files::target(
        seeds("sim/captures", &["pcap", "pcapng"])?,
        read_captures,
    ))
}

fn read_captures(input: &[u8]) -> Result<bool, String> {
    let reader = match CaptureReader::new(Path::new(NAME), input) {
        Ok(reader) => reader,
        Err(error) => return said(&error.to_string()).map(|()| false),
    };
    let (mut bytes, mut packets) = (0, 0);
    for packet in reader {
        match packet {
            Ok(packet) => {
                bytes += packet.data.len();
                packets += 1;
            }
            Err(error) => said(&error.to_string())?,
        }
    }
    match bytes <= input.len() {
        true => Ok(packets > 0),
        false => Err(format!(
            "{packets} packets have {bytes} bytes, and the file {}",
            input.len()
        )),
    }
}

/// Reads a rule file for the matching engine of a board.
pub(super) fn rules() -> anyhow::Result<Box<dyn Target>> {
    let mut good = seeds("sim/captures", &["toml"])?;
    for example in ["aggregate", "filter", "icmp_ping", "slmp", "udp_ping"] {
        good.push(seed(
            &root().join("runtime/examples").join(example).join("rules.toml"),
        )?);
    }
    Ok(Files::target(good, read_rules))
}

fn read_rules(input: &[u8]) -> Result<bool, String> {
    match RuleFile::parse(NAME, input, &MatcherParams::BOARD) {
        Ok(rules) if rules.rulesets.len() > CONTEXTS as usize => {
            Err(format!("{} rulesets were taken", rules.rulesets.len()))
        }
        Ok(_) => Ok(true),
        Err(error) if error.to_string().contains(NAME) => Ok(false),
        Err(error) => Err(format!("the file is not named in: {error}")),
    }
}

/// Settings that the example does not use.
const OTHERS: &str = r#"
seed = 7

[[switch]]
name = "left"
mode = "cut-through"
delay = "200 ns"
buffer = "64 KiB"

[[switch]]
name = "right"
table = "static"

[[nic]]
name = "a"
handlers = "icmp_ping"
rules = "rules.toml"
transmit = "icmp,size=98,rate=1Gbps,count=5"
to = "b"
after = "5 us"

[[nic]]
name = "b"
application = true
when-gone = "stop"

[[cable]]
between = ["a", "left"]
rate = "25 Gbps"
latency = "100 ns"
flood = true

[[cable]]
between = ["left", "right"]
faults = { loss = "1 %", duplication = "0.1 %" }
there = { reordering = "0.1 %", corruption = "1 %" }

[[cable]]
between = ["b", "right"]

[[capture]]
at = "left"
cable-to = "right"
frames = "out"
file = "left.pcap"
"#;

/// Parses topologies and queries them as a fabric does.
pub(super) fn topology() -> anyhow::Result<Box<dyn Target>> {
    let example = seed(&root().join("docs/run/incast.toml"))?;
    Ok(Files::target(vec![example, OTHERS.into()], read_topology))
}

fn read_topology(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = str::from_utf8(input) else {
        return Ok(false);
    };
    match Topology::parse(NAME, text, Path::new("folder")) {
        Ok(topology) => {
            let nics = topology.nics().count();
            let ranks = topology.ranks(3);
            match ranks.iter().all(|rank| *rank < 3) && nics > 0 && topology.lookahead_ps() > 0 {
                true => Ok(true),
                false => Err(format!("{nics} NICs on ranks {ranks:?} can do nothing")),
            }
        }
        Err(error) => said(&error.to_string()).map(|()| false),
    }
}

/// Clocks to run a program.
const CLOCKS: u64 = 3_000;
/// Addresses whose source lines are queried.
const ASKED: u32 = 64;

/// Loads a program, queries its symbols and lines, and runs it.
pub(super) fn elf() -> anyhow::Result<Box<dyn Target>> {
    let mut good = Vec::new();
    for example in ["icmp_ping", "host_ping"] {
        let folder = root().join("runtime/examples").join(example);
        good.push(seed(&spinneret_nic::run::program(&folder, 2)?)?);
    }
    let mut cluster = Cluster::new(Config::default());
    Ok(Files::target(good, move |input| read_elf(&mut cluster, input)))
}

fn read_elf(cluster: &mut Cluster, input: &[u8]) -> Result<bool, String> {
    let program = match Program::parse(Path::new(NAME), input.to_vec()) {
        Ok(program) => program,
        Err(error) if error.to_string().contains(NAME) => return Ok(false),
        Err(error) => return Err(format!("the file is not named in: {error}")),
    };
    let symbols = Symbols::new(&program);
    for address in (program.entry..).step_by(62).take(ASKED as usize) {
        symbols.places(address);
        symbols.name(address);
        symbols.instruction(address);
    }
    // Programs without handlers, or with several, return an error.
    if let Err(error) = program.only_name() {
        drop(error.to_string());
    }
    cluster.load(&program);
    cluster.set_fetch(3);
    for _ in 0..CLOCKS {
        cluster.tick();
        cluster.take_stdout();
    }
    cluster.take_events();
    Ok(true)
}
