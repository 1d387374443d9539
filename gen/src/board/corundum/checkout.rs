//! The user's Corundum checkout: is it one, of which generation, and does it have the board?

use super::header::{Header, Name, header};
use super::pspin;
use super::tree::{self, missing_files};
use crate::report;
use anyhow::{anyhow, bail};
use spinneret_bsp::{Board, Rate};
use spinneret_hdl::app::TOP;
use spinneret_hdl::app::corundum::{Generation, parameters, ports};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file that every tree has.
const CORE: &str = "fpga/common/rtl/mqnic_core.v";
/// Last line of the board's Makefile, before which the overlay adds its own include.
pub(super) const INCLUDE: &str = "include ../common/vivado.mk";
/// The variables of the board's Makefile that list files.
const LISTS: [&str; 6] = [
    "SYN_FILES",
    "INC_FILES",
    "XDC_FILES",
    "XCI_FILES",
    "IP_TCL_FILES",
    "CONFIG_TCL_FILES",
];
/// URL of the public repository.
const REPOSITORY: &str = "https://github.com/corundum/corundum";
/// Parameters in the board's configuration that the overlay sets: name and value.
pub(super) const PARAMETERS: [(&str, &str); 9] = [
    ("APP_ID", "32'h12340100"),
    ("APP_ENABLE", "1"),
    ("APP_CTRL_ENABLE", "1"),
    ("APP_DMA_ENABLE", "1"),
    ("APP_AXIS_DIRECT_ENABLE", "0"),
    ("APP_AXIS_SYNC_ENABLE", "0"),
    ("APP_AXIS_IF_ENABLE", "1"),
    ("APP_STAT_ENABLE", "1"),
    ("AXIL_APP_CTRL_ADDR_WIDTH", "24"),
];

/// A checkout that has what the overlay needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checkout {
    /// Its root, absolute.
    pub(super) root: PathBuf,
    /// The board's directory, relative to `fpga/`: `mqnic/Alveo/fpga_100g/fpga_VCU1525`.
    pub(super) board: String,
}

/// Whether a directory is a checkout of Corundum at all, of whatever revision: its absolute path.
///
/// # Errors
/// The directory is not there, or has not the files that every revision has.
pub fn corundum_root(path: &Path) -> anyhow::Result<PathBuf> {
    let root = tree::open("--corundum-dir", path)?;
    match [CORE, TEMPLATE]
        .into_iter()
        .find(|file| !root.join(file).is_file())
    {
        Some(missing) => Err(tree::not_a_checkout(
            path,
            "a Corundum checkout",
            missing,
            REPOSITORY,
        )),
        None => Ok(root),
    }
}

impl Checkout {
    /// Checks a directory.
    pub(super) fn open(path: &Path, asked: Generation, board: &Board, rate: Rate) -> anyhow::Result<Self> {
        let root = corundum_root(path)?;
        let shown = path.display().to_string();
        check_template(&root, &shown, asked)?;
        let board = find_board(&root, &shown, board, rate)?;
        check_hooks(&root, &board)?;
        check_files(&root, &board)?;
        Ok(Self { root, board })
    }
}

/// The board's directory, which is in one of several places.
fn find_board(root: &Path, shown: &str, board: &Board, rate: Rate) -> anyhow::Result<String> {
    if let Some(directory) = place(root, board, rate) {
        return Ok(directory.trim_start_matches("fpga/").to_owned());
    }
    let there: Vec<_> = spinneret_bsp::boards()
        .iter()
        .filter(|board| place(root, board, rate).is_some())
        .map(|board| format!("`{}`", board.name))
        .collect();
    let looked_for: Vec<_> = places(board, rate).map(|place| makefile_in(&place)).collect();
    let others = match there.as_slice() {
        [] => String::new(),
        there => format!(
            ", or choose one of the boards that this one has: {}",
            there.join(", ")
        ),
    };
    bail!(
        "{shown} has no design for board `{}` and {} Gb/s: there is no {}; check out another revision of Corundum{others}",
        board.name,
        rate.name(),
        looked_for.join(" and no ")
    )
}

/// The first place of a board's design that is there.
fn place(root: &Path, board: &Board, rate: Rate) -> Option<String> {
    places(board, rate).find(|directory| root.join(makefile_in(directory)).is_file())
}

fn places(board: &Board, rate: Rate) -> impl Iterator<Item = String> {
    let design = board.corundum.map(|design| design.directories);
    let directories = design.unwrap_or_default().iter();
    directories.map(move |directory| rate.directory(directory))
}

fn makefile_in(directory: &str) -> String {
    format!("{directory}/Makefile")
}

/// Every file that the board's Makefile lists has to be there, but those that ours replace.
fn check_files(root: &Path, board: &str) -> anyhow::Result<()> {
    let directory = root.join("fpga").join(board);
    let makefile = directory.join("Makefile");
    let text = tree::read(&makefile)?;
    let listed = LISTS.into_iter().flat_map(|list| tree::values(&text, list));
    let kept = listed.filter(|file| !file.starts_with("app/") && !file.ends_with("/mqnic_app_block.v"));
    let paths = kept.map(|file| tree::joined(root, &format!("fpga/{board}"), &relative(&file)));
    let missing: Vec<_> = paths.filter(|path| !path.is_file()).collect();
    let Some(first) = missing.first() else {
        return Ok(());
    };
    // A tree that was changed for FPsPIN has only the files of the card that FPsPIN was made for, and not all of these.
    let advice = if root.join(pspin::WRAPPER).is_file() {
        format!(
            "FPsPIN's own copy of Corundum is not complete, so give a checkout of {REPOSITORY}, {}",
            supported_revisions()
        )
    } else {
        format!("give a complete checkout of {REPOSITORY}")
    };
    Err(missing_files(&makefile, first, missing.len(), &advice))
}

/// A file of a list, relative to the board's directory, as Corundum's common rules take it.
fn relative(file: &str) -> String {
    if file.starts_with('/') || file.starts_with("./") {
        file.to_owned()
    } else {
        format!("../{file}")
    }
}

/// The overlay adds itself before the common rules are included, and replaces parameters by name.
fn check_hooks(root: &Path, board: &str) -> anyhow::Result<()> {
    let directory = root.join("fpga").join(board);
    let makefile = directory.join("Makefile");
    let includes = tree::read(&makefile)?;
    let count = includes.lines().filter(|line| line.trim_end() == INCLUDE).count();
    check_one(&makefile, count, format!("lines `{INCLUDE}`"))?;
    let rules = directory.join("../common/vivado.mk");
    if !rules.is_file() {
        let advice = format!("give a complete checkout of {REPOSITORY}");
        return Err(missing_files(&makefile, &rules, 1, &advice));
    }
    let config = directory.join("config.tcl");
    let settings = tree::read(&config)?;
    for (name, _) in PARAMETERS {
        let start = format!("dict set params {name} ");
        let count = settings.lines().filter(|line| line.starts_with(&start)).count();
        check_one(&config, count, format!("lines `{start}...`"))?;
    }
    Ok(())
}

fn check_one(file: &Path, found: usize, what: String) -> anyhow::Result<()> {
    if found == 1 {
        return Ok(());
    }
    bail!(
        "{} has {found} {what} where the overlay needs one: is this revision of Corundum changed?",
        file.display()
    )
}

/// A commit of <https://github.com/corundum/corundum>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Its beginning, long enough to be the only one.
    pub commit: &'static str,
    /// Its date.
    pub date: &'static str,
}

/// The first and the last revision of a generation. All revisions between them fit; those after one generation and before
/// the next fit none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revisions {
    /// The generation.
    pub generation: Generation,
    /// The first revision that fits.
    pub first: Revision,
    /// The last revision that fits, or the newest that is known.
    pub last: Revision,
}

/// All generations, in the order of their revisions.
pub const REVISIONS: [Revisions; 2] = [
    Revisions {
        generation: Generation::Fpspin2023,
        first: Revision {
            commit: "941288e9",
            date: "2022-10-12",
        },
        last: Revision {
            commit: "66b1a281",
            date: "2023-09-24",
        },
    },
    Revisions {
        generation: Generation::Corundum202312,
        first: Revision {
            commit: "2a7d0e09",
            date: "2023-11-07",
        },
        last: Revision {
            commit: "1ca0151b",
            date: "2023-12-02",
        },
    },
];

/// All of them in one phrase.
pub(super) fn supported_revisions() -> String {
    REVISIONS.map(|revisions| revisions.to_string()).join(" or ")
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.commit, self.date)
    }
}

impl fmt::Display for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {} for {}", self.first, self.last, self.generation)
    }
}

/// The file of the application block that Corundum ships.
pub(super) const TEMPLATE: &str = "fpga/app/template/rtl/mqnic_app_block.v";

/// Maximum number of names in an error.
const MAX_NAMES: usize = 5;

/// Compares all names of the template with those of our application block.
///
/// Corundum's core sets every parameter of the template and connects every port, so Vivado would stop at one that ours
/// lacks, and leave without a value what only ours has.
pub(super) fn check_template(root: &Path, shown: &str, asked: Generation) -> anyhow::Result<()> {
    let text = tree::read_lossy(&root.join(TEMPLATE))?;
    let found = header(&text, TOP).map_err(|source| {
        anyhow!(
            "{shown} is of no known generation: its {TEMPLATE} should have the module `{TOP}`, but {source}; check out a \
             revision of Corundum that fits one: {}",
            supported_revisions()
        )
    })?;
    let differences = Differences::new(&found, asked);
    if differences.count() == 0 {
        return Ok(());
    }
    let [first, last] = found.lines;
    bail!(
        "{shown} does not fit generation {}: the module in its {TEMPLATE}, lines {first} to {last}, {}; {}",
        asked.name(),
        differences.describe(),
        advice(&found)
    )
}

/// Advice for a checkout of another generation.
fn advice(found: &Header) -> String {
    let counts = Generation::ALL.map(|generation| (Differences::new(found, generation).count(), generation));
    // There are generations.
    let (count, nearest) = counts.into_iter().min().unwrap_or_default();
    if count == 0 {
        return format!(
            "use `--corundum {nearest}`, which fits, or check out another revision of Corundum: {}",
            supported_revisions()
        );
    }
    format!(
        "the nearest of the known generations is {nearest}, which differs in {}: check out a revision of Corundum that fits \
         one: {}",
        report::count(count, "name", "names"),
        supported_revisions()
    )
}

/// Differences between a template and a generation: names with their kinds, and their lines in the template.
struct Differences<'a> {
    additional: Vec<(&'static str, &'a Name)>,
    missing: Vec<(&'static str, String)>,
}

impl<'a> Differences<'a> {
    fn new(found: &'a Header, generation: Generation) -> Self {
        let mut differences = Self {
            additional: Vec::new(),
            missing: Vec::new(),
        };
        let ours = parameters(generation).into_iter().map(|parameter| parameter.name);
        differences.compare("parameter", &found.parameters, ours.collect());
        let ours = ports(generation).into_iter().map(|port| port.name);
        differences.compare("port", &found.ports, ours.collect());
        differences
    }

    fn compare(&mut self, kind: &'static str, theirs: &'a [Name], ours: Vec<String>) {
        let known: BTreeSet<_> = ours.iter().map(String::as_str).collect();
        let there: BTreeSet<_> = theirs.iter().map(|name| name.name.as_str()).collect();
        let additional = theirs.iter().filter(|name| !known.contains(name.name.as_str()));
        self.additional.extend(additional.map(|name| (kind, name)));
        let missing = ours.iter().filter(|name| !there.contains(name.as_str()));
        self.missing.extend(missing.map(|name| (kind, name.clone())));
    }

    fn count(&self) -> usize {
        self.additional.len() + self.missing.len()
    }

    /// `has the parameter \`A\` (line 5) too many, and lacks the port \`b\``.
    fn describe(&self) -> String {
        let additional = self
            .additional
            .iter()
            .map(|(kind, name)| format!("{kind} `{}` (line {})", name.name, name.line));
        let missing = self.missing.iter().map(|(kind, name)| format!("{kind} `{name}`"));
        let mut parts = Vec::new();
        if !self.additional.is_empty() {
            parts.push(format!("has {} too many", first_of(additional)));
        }
        if !self.missing.is_empty() {
            parts.push(format!("lacks {}", first_of(missing)));
        }
        parts.join(" and ")
    }
}

/// The first few, and how many more there are.
fn first_of(mut names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let told: Vec<_> = names.by_ref().take(MAX_NAMES).collect();
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!("{}{more}", told.join(", "))
}
