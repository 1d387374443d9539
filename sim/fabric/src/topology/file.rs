//! A topology in a file, TOML.

use super::check::{At, Fault};
use super::{
    CableConfig, CaptureConfig, Kind, Mode, NicConfig, Node, Seen, Simple, SwitchConfig, Table, Topology,
    TopologyError, WhenGone,
};
use crate::cable::Faults;
use crate::units::{self, UnitError};
use serde::Deserialize;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Largest file that is read.
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
    /// Both ways.
    faults: Option<FaultTable>,
    /// What the first end sends.
    there: Option<FaultTable>,
    /// What the second end sends.
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
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is no UTF-8".to_owned()))?;
        Self::parse(&file, &text, path.parent().unwrap_or(Path::new("")))
    }

    /// Checks the text of a topology; `file` is what errors call it, `folder` where paths in it begin.
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
                format!("there is no NIC or switch `{}`", name.get_ref()),
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
    let faults = |way: &Option<FaultTable>| {
        let table = way
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

/// The cable at a node, to another one if there are several.
fn cable_at(cables: &[CableConfig], node: usize, to: Option<usize>) -> Result<usize, &'static str> {
    let mut at = cables.iter().enumerate().filter(|(_, cable)| {
        cable.ends.contains(&node) && to.is_none_or(|to| to != node && cable.ends.contains(&to))
    });
    match (at.next(), at.next()) {
        (Some((cable, _)), None) => Ok(cable),
        (None, _) => Err("has no such cable"),
        (Some(_), Some(_)) => Err("has several cables: say which with `cable-to`"),
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
