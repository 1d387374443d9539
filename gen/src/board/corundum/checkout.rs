//! The user's Corundum checkout: is it one, of which generation, and does it have the board?

use super::error::CheckoutError;
use super::template::{self, TEMPLATE};
use super::tree;
use spinneret_bsp::{Board, CorundumDesign};
use spinneret_hdl::app::corundum::Generation;
use std::path::{Path, PathBuf};

/// What every tree has.
const CORE: &str = "fpga/common/rtl/mqnic_core.v";
/// What the board's Makefile includes at its end, and where the overlay adds itself.
pub(super) const INCLUDE: &str = "include ../common/vivado.mk";
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

impl Checkout {
    /// Checks a directory.
    pub(super) fn open(path: &Path, asked: Generation, board: &Board) -> Result<Self, CheckoutError> {
        let root = tree::open("--corundum-dir", path)?;
        let shown = path.display().to_string();
        for file in [CORE, TEMPLATE] {
            if !root.join(file).is_file() {
                return Err(CheckoutError::NotACheckout {
                    path: shown,
                    what: "Corundum checkout",
                    file: file.to_owned(),
                    source_tree: "a checkout of https://github.com/corundum/corundum",
                });
            }
        }
        template::check(&root, &shown, asked)?;
        let board = find_board(&root, &shown, board)?;
        check_hooks(&root, &board)?;
        Ok(Self { root, board })
    }
}

/// The board's directory, which was moved in December 2023; both places are looked at.
fn find_board(root: &Path, shown: &str, board: &Board) -> Result<String, CheckoutError> {
    let directories = board.corundum.map(directories).unwrap_or_default();
    let has_makefile = |directory: &&String| root.join(directory).join("Makefile").is_file();
    let Some(directory) = directories.iter().find(has_makefile) else {
        return Err(CheckoutError::NoBoard {
            path: shown.to_owned(),
            board: board.name,
            looked_for: directories
                .iter()
                .map(|directory| format!("{directory}/Makefile"))
                .collect(),
        });
    };
    Ok(directory.trim_start_matches("fpga/").to_owned())
}

fn directories(design: CorundumDesign) -> Vec<String> {
    let older = design
        .older_directory
        .map(|directory| format!("{directory}/fpga"));
    [design.directory.to_owned()].into_iter().chain(older).collect()
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
