//! A topology in a file, TOML.

use super::{
    CableConfig, CaptureConfig, Kind, MAX_LATENCY_PS, MAX_NODES, MIN_BUFFER_BYTES, MIN_LATENCY_PS, Mode,
    NicConfig, Node, RATES_BPS, Seen, Simple, SwitchConfig, Table, Topology, WhenGone,
};
use crate::cable::Faults;
use crate::units::{self, UnitError};
use serde::Deserialize;
use std::collections::HashSet;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Largest accepted file.
const MAX_BYTES: u64 = 16 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default = "one")]
    seed: u64,
    #[serde(default)]
    nic: Vec<Spanned<NicTable>>,
    #[serde(default)]
    switch: Vec<Spanned<SwitchTable>>,
    #[serde(default)]
    cable: Vec<Spanned<CableTable>>,
    #[serde(default)]
    capture: Vec<Spanned<CaptureTable>>,
}

fn one() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct NicTable {
    name: String,
    application: Option<bool>,
    #[serde(default)]
    when_gone: WhenGone,
    handlers: Option<PathBuf>,
    rules: Option<PathBuf>,
    transmit: Option<String>,
    to: Option<Spanned<String>>,
    after: Option<Spanned<String>>,
    tap: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SwitchTable {
    name: String,
    #[serde(default)]
    mode: Mode,
    buffer: Option<Spanned<String>>,
    delay: Option<Spanned<String>>,
    #[serde(default)]
    table: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CableTable {
    between: [Spanned<String>; 2],
    rate: Option<Spanned<String>>,
    latency: Option<Spanned<String>>,
    flood: Option<bool>,
    /// Both directions.
    faults: Option<FaultTable>,
    /// From the first end.
    there: Option<FaultTable>,
    /// From the second end.
    back: Option<FaultTable>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FaultTable {
    loss: Option<Spanned<String>>,
    duplication: Option<Spanned<String>>,
    reordering: Option<Spanned<String>>,
    corruption: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CaptureTable {
    at: Spanned<String>,
    cable_to: Option<Spanned<String>>,
    #[serde(default)]
    frames: Seen,
    file: Spanned<PathBuf>,
}

/// Something is wrong at a place of the text.
struct Misfit(Range<usize>, String);

impl Topology {
    /// Reads a topology; paths in it are from the folder of the file.
    ///
    /// # Errors
    /// If the file cannot be read or is no topology.
    pub fn read(path: &Path) -> Result<Self, TopologyError> {
        let file = path.display().to_string();
        let unreadable = |why: String| TopologyError::Unreadable {
            file: file.clone(),
            why,
        };
        let mut bytes = Vec::new();
        let opened = std::fs::File::open(path);
        opened
            .and_then(|opened| opened.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(unreadable(format!("it is larger than {MAX_BYTES} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
        Self::parse(&file, &text, path.parent().unwrap_or(Path::new("")))
    }

    /// Parses and checks a topology. `file` is its name in errors, `folder` the base of relative paths.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, TopologyError> {
        let line = |place: Range<usize>| text[..place.start.min(text.len())].matches('\n').count() + 1;
        let in_file = |place: Range<usize>, what: String| TopologyError::InFile {
            file: file.to_owned(),
            line: line(place),
            what,
        };
        let document: Document = toml::from_str(text).map_err(|error| {
            let what = error.message().lines().collect::<Vec<_>>().join("; ");
            in_file(error.span().unwrap_or(0..0), what)
        })?;
        let built = build(&document, folder, &line).map_err(|Misfit(place, what)| in_file(place, what))?;
        built.find_fault().map_err(|Fault { at, what }| {
            let nodes = document.nic.iter().map(Spanned::span);
            let mut nodes = nodes.chain(document.switch.iter().map(Spanned::span));
            let place = match at {
                At::Node(place) => nodes.nth(place),
                At::Cable(place) => document.cable.get(place).map(Spanned::span),
                At::All => None,
            };
            in_file(place.unwrap_or(0..0), what)
        })?;
        Ok(built)
    }
}

fn build(
    document: &Document,
    folder: &Path,
    line: &dyn Fn(Range<usize>) -> usize,
) -> Result<Topology, Misfit> {
    let nics = document.nic.iter().enumerate();
    let nics = nics.map(|(number, nic)| nic_of(number, nic.get_ref(), folder, document));
    let switches = document.switch.iter().map(|switch| switch_of(switch.get_ref()));
    let nodes: Vec<Node> = nics.chain(switches).collect::<Result<_, _>>()?;
    let place = |name: &Spanned<String>| {
        let found = nodes.iter().position(|node| node.name == **name.get_ref());
        found.ok_or_else(|| {
            Misfit(
                name.span(),
                format!("no NIC or switch has the name `{}`", name.get_ref()),
            )
        })
    };
    let cables = document.cable.iter().map(|cable| {
        let cable = cable.get_ref();
        cable_of(cable, [place(&cable.between[0])?, place(&cable.between[1])?])
    });
    let cables: Vec<CableConfig> = cables.collect::<Result<_, _>>()?;
    let captures = document.capture.iter().map(|capture| {
        let capture = capture.get_ref();
        let node = place(&capture.at)?;
        let to = capture.cable_to.as_ref().map(&place).transpose()?;
        let cable = cable_at(&cables, node, to).map_err(|what| {
            let what = format!("{} {what}", capture.at.get_ref());
            Misfit(capture.at.span(), what)
        })?;
        Ok(CaptureConfig {
            node,
            cable,
            what: capture.frames,
            file: folder.join(capture.file.get_ref()),
            line: line(capture.file.span()),
        })
    });
    Ok(Topology {
        seed: document.seed,
        captures: captures.collect::<Result<_, _>>()?,
        nodes,
        cables,
    })
}

fn nic_of(number: usize, table: &NicTable, folder: &Path, document: &Document) -> Result<Node, Misfit> {
    let here = |path: &PathBuf| folder.join(path);
    let number_of = |name: &Spanned<String>| {
        let found = document
            .nic
            .iter()
            .position(|nic| nic.get_ref().name == *name.get_ref());
        found.ok_or_else(|| Misfit(name.span(), format!("there is no NIC `{}`", name.get_ref())))
    };
    let nic = NicConfig {
        number,
        application: table.application.unwrap_or(false),
        when_gone: table.when_gone,
        handlers: table.handlers.as_ref().map(here),
        rules: table.rules.as_ref().map(here),
        transmit: table.transmit.clone(),
        to: table.to.as_ref().map(number_of).transpose()?,
        after_ps: quantity(table.after.as_ref(), units::time, 0)?,
        tap: table.tap.clone(),
    };
    Ok(Node {
        name: table.name.clone(),
        kind: Kind::Nic(Box::new(nic)),
    })
}

fn switch_of(table: &SwitchTable) -> Result<Node, Misfit> {
    let default = SwitchConfig::default();
    Ok(Node {
        name: table.name.clone(),
        kind: Kind::Switch(SwitchConfig {
            mode: table.mode,
            buffer_bytes: quantity(table.buffer.as_ref(), units::size, default.buffer_bytes)?,
            delay_ps: quantity(table.delay.as_ref(), units::time, default.delay_ps)?,
            table: table.table,
        }),
    })
}

fn cable_of(table: &CableTable, ends: [usize; 2]) -> Result<CableConfig, Misfit> {
    let default = Simple::default();
    let faults = |direction: &Option<FaultTable>| {
        let table = direction
            .as_ref()
            .or(table.faults.as_ref())
            .cloned()
            .unwrap_or_default();
        let share = |text: &Option<Spanned<String>>| quantity(text.as_ref(), units::share, 0.0);
        Ok(Faults {
            loss: share(&table.loss)?,
            duplication: share(&table.duplication)?,
            reordering: share(&table.reordering)?,
            corruption: share(&table.corruption)?,
        })
    };
    Ok(CableConfig {
        ends,
        rate_bps: quantity(table.rate.as_ref(), units::rate, default.rate_bps)?,
        latency_ps: quantity(table.latency.as_ref(), units::time, default.latency_ps)?,
        faults: [faults(&table.there)?, faults(&table.back)?],
        floods: table.flood.unwrap_or(true),
    })
}

/// Finds the cable at a node; `to` selects one of several.
fn cable_at(cables: &[CableConfig], node: usize, to: Option<usize>) -> Result<usize, &'static str> {
    let mut at = cables.iter().enumerate().filter(|(_, cable)| {
        cable.ends.contains(&node) && to.is_none_or(|to| to != node && cable.ends.contains(&to))
    });
    match (at.next(), at.next()) {
        (Some((cable, _)), None) => Ok(cable),
        (None, _) => Err("has no such cable"),
        (Some(_), Some(_)) => Err("has several cables: select one with `cable-to`"),
    }
}

fn quantity<T>(
    text: Option<&Spanned<String>>,
    read: impl FnOnce(&str) -> Result<T, UnitError>,
    default: T,
) -> Result<T, Misfit> {
    let Some(text) = text else {
        return Ok(default);
    };
    read(text.get_ref()).map_err(|error| Misfit(text.span(), error.to_string()))
}

/// Why something is no topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// The file cannot be read.
    #[error("{file} cannot be read: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// Something in the file is wrong.
    #[error("{file}:{line}: {what}")]
    InFile {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The problem.
        what: String,
    },
    /// Something is wrong.
    #[error("{0}")]
    Wrong(String),
}

/// A problem and the node or cable it concerns, from which the caller finds the line.
pub(super) struct Fault {
    pub(super) at: At,
    pub(super) what: String,
}

/// A part of a topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Node(usize),
    Cable(usize),
    All,
}

impl Topology {
    /// Whether it can be simulated.
    ///
    /// # Errors
    /// If it cannot.
    pub(super) fn check(&self) -> Result<(), TopologyError> {
        self.find_fault()
            .map_err(|fault| TopologyError::Wrong(fault.what))
    }

    /// Returns the first problem.
    pub(super) fn find_fault(&self) -> Result<(), Fault> {
        let nics = self.nics().count();
        require(nics >= 1, At::All, || {
            "no NIC: a topology needs at least one".to_owned()
        })?;
        require(self.nodes.len() <= MAX_NODES, At::All, || {
            format!("{} NICs and switches: {MAX_NODES} are the most", self.nodes.len())
        })?;
        self.check_names()?;
        let cables = self.cables.iter().enumerate();
        cables
            .into_iter()
            .try_for_each(|(place, cable)| self.check_cable(place, cable))?;
        self.check_nodes()?;
        self.check_flooding()
    }

    fn check_names(&self) -> Result<(), Fault> {
        let mut names = HashSet::new();
        for (place, node) in self.nodes.iter().enumerate() {
            let name = &node.name;
            let is_good = |one: char| one.is_ascii_alphanumeric() || "-_".contains(one);
            require(
                (1..=32).contains(&name.len()) && name.chars().all(is_good),
                At::Node(place),
                || {
                    format!(
                        "`{name}` is not a valid name: it must have 1 to 32 letters, digits, - or _, because files are named after it"
                    )
                },
            )?;
            require(names.insert(name), At::Node(place), || {
                format!("two nodes have the name {name}")
            })?;
        }
        Ok(())
    }

    fn check_cable(&self, place: usize, cable: &CableConfig) -> Result<(), Fault> {
        let at = At::Cable(place);
        let [one, other] = cable.ends;
        let both = || format!("{} and {}", self.nodes[one].name, self.nodes[other].name);
        require(one != other, at, || {
            format!("a cable from {} to itself", self.nodes[one].name)
        })?;
        require(RATES_BPS.contains(&cable.rate_bps), at, || {
            let rate = cable.rate_bps;
            format!(
                "{rate} bits a second between {}: 1 Mbps to 1000 Gbps are possible",
                both()
            )
        })?;
        require(
            (MIN_LATENCY_PS..=MAX_LATENCY_PS).contains(&cable.latency_ps),
            at,
            || {
                let ns = cable.latency_ps as f64 / 1000.0;
                format!(
                    "a latency of {ns} ns between {}: 100 ns to 1 s are possible",
                    both()
                )
            },
        )
    }

    fn check_nodes(&self) -> Result<(), Fault> {
        for (place, node) in self.nodes.iter().enumerate() {
            let cables = self.cables_at(place).count();
            let name = &node.name;
            let (is_right, why) = match &node.kind {
                Kind::Nic(_) if self.nodes.len() == 1 => {
                    (cables == 0, "is the only node, so it cannot have a cable")
                }
                Kind::Nic(_) if cables == 0 => (false, "is a NIC without a cable"),
                Kind::Nic(_) => (cables == 1, "is a NIC with more than one cable: it has one port"),
                Kind::Switch(switch) => (
                    switch.buffer_bytes >= MIN_BUFFER_BYTES,
                    "has a buffer that is smaller than a frame of 9216 bytes",
                ),
            };
            require(is_right, At::Node(place), || format!("{name} {why}"))?;
        }
        Ok(())
    }

    /// Broadcast frames must reach each node exactly once.
    fn check_flooding(&self) -> Result<(), Fault> {
        let mut flooded = Groups::new(self.nodes.len());
        for (place, cable) in self.cables.iter().enumerate().filter(|(_, cable)| cable.floods) {
            let [one, other] = cable.ends;
            require(flooded.join(one, other), At::Cable(place), || {
                let name = |end: usize| &self.nodes[end].name;
                format!(
                    "the cable between {} and {} closes a cycle, in which broadcast frames would circulate forever: write \
                     `flood = false` for one cable of the cycle",
                    name(one),
                    name(other)
                )
            })?;
        }
        for (place, cable) in self.cables.iter().enumerate() {
            let [one, other] = cable.ends;
            require(flooded.find(one) == flooded.find(other), At::Cable(place), || {
                format!(
                    "broadcast frames do not pass between {} and {}: use `flood = false` only for cables that close a cycle",
                    self.nodes[one].name, self.nodes[other].name
                )
            })?;
        }
        Ok(())
    }
}

fn require(is_so: bool, at: At, what: impl FnOnce() -> String) -> Result<(), Fault> {
    match is_so {
        true => Ok(()),
        false => Err(Fault { at, what: what() }),
    }
}

/// Connected components (union-find).
struct Groups(Vec<usize>);

impl Groups {
    fn new(nodes: usize) -> Self {
        Self((0..nodes).collect())
    }

    /// Returns the representative of a node's component.
    fn find(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    /// Makes one group of two; false if they are one already.
    fn join(&mut self, one: usize, other: usize) -> bool {
        let [one, other] = [self.find(one), self.find(other)];
        self.0[one] = other;
        one != other
    }
}
