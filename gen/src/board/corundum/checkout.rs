//! The user's Corundum checkout: is it one, of which generation, and does it have the board?

use super::error::CheckoutError;
use super::template::{self, TEMPLATE};
use super::{makefile, pspin, revisions, tree};
use spinneret_bsp::Board;
use spinneret_hdl::app::corundum::Generation;
use std::path::{Path, PathBuf};

/// What every tree has.
const CORE: &str = "fpga/common/rtl/mqnic_core.v";
/// What the board's Makefile includes at its end, and where the overlay adds itself.
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
/// Where the public tree is.
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
pub fn corundum_root(path: &Path) -> Result<PathBuf, CheckoutError> {
    let root = tree::open("--corundum-dir", path)?;
    match [CORE, TEMPLATE]
        .into_iter()
        .find(|file| !root.join(file).is_file())
    {
        Some(missing) => Err(CheckoutError::NotACheckout {
            path: path.display().to_string(),
            what: "Corundum checkout",
            file: missing.to_owned(),
            source_tree: "a checkout of https://github.com/corundum/corundum",
        }),
        None => Ok(root),
    }
}

impl Checkout {
    /// Checks a directory.
    pub(super) fn open(path: &Path, asked: Generation, board: &Board) -> Result<Self, CheckoutError> {
        let root = corundum_root(path)?;
        let shown = path.display().to_string();
        template::check(&root, &shown, asked)?;
        let board = find_board(&root, &shown, board)?;
        check_hooks(&root, &board)?;
        check_files(&root, &board)?;
        Ok(Self { root, board })
    }
}

/// The board's directory, which is in one of several places.
fn find_board(root: &Path, shown: &str, board: &Board) -> Result<String, CheckoutError> {
    if let Some(directory) = place(root, board) {
        return Ok(directory.trim_start_matches("fpga/").to_owned());
    }
    let there: Vec<_> = spinneret_bsp::boards()
        .iter()
        .filter(|board| place(root, board).is_some())
        .map(|board| format!("`{}`", board.name))
        .collect();
    Err(CheckoutError::NoBoard {
        path: shown.to_owned(),
        board: board.name,
        looked_for: places(board).map(makefile_in).collect(),
        advice: match there.as_slice() {
            [] => "check out another revision of Corundum".to_owned(),
            there => format!(
                "check out another revision of Corundum, or choose one of the boards that this one has: {}",
                there.join(", ")
            ),
        },
    })
}

/// The first place of a board's design that is there.
fn place(root: &Path, board: &Board) -> Option<&'static str> {
    places(board).find(|directory| root.join(makefile_in(directory)).is_file())
}

fn places(board: &Board) -> impl Iterator<Item = &'static str> {
    let design = board.corundum.map(|design| design.directories);
    design.unwrap_or_default().iter().copied()
}

fn makefile_in(directory: &str) -> String {
    format!("{directory}/Makefile")
}

/// Every file that the board's Makefile lists has to be there, but those that ours replace.
fn check_files(root: &Path, board: &str) -> Result<(), CheckoutError> {
    let directory = root.join("fpga").join(board);
    let makefile = directory.join("Makefile");
    let text = tree::read(&makefile)?;
    let listed = LISTS.into_iter().flat_map(|list| makefile::values(&text, list));
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
            revisions::told()
        )
    } else {
        format!("give a complete checkout of {REPOSITORY}")
    };
    Err(CheckoutError::MissingFiles {
        list: makefile.display().to_string(),
        first: first.display().to_string(),
        missing: missing.len(),
        advice,
    })
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
fn check_hooks(root: &Path, board: &str) -> Result<(), CheckoutError> {
    let directory = root.join("fpga").join(board);
    let makefile = directory.join("Makefile");
    let includes = tree::read(&makefile)?;
    let count = includes.lines().filter(|line| line.trim_end() == INCLUDE).count();
    check_one(&makefile, count, format!("lines `{INCLUDE}`"))?;
    let rules = directory.join("../common/vivado.mk");
    if !rules.is_file() {
        return Err(CheckoutError::MissingFiles {
            list: makefile.display().to_string(),
            first: rules.display().to_string(),
            missing: 1,
            advice: format!("give a complete checkout of {REPOSITORY}"),
        });
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

fn check_one(file: &Path, found: usize, what: String) -> Result<(), CheckoutError> {
    if found == 1 {
        return Ok(());
    }
    Err(CheckoutError::NoHook {
        file: file.display().to_string(),
        found,
        what,
    })
}
