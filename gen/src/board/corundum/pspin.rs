//! The user's FPsPIN checkout, which has the cluster and its wrapper.

use super::error::CheckoutError;
use super::makefile;
use super::tree;
use std::path::{Path, PathBuf};

/// The wrapper that the application block instantiates.
pub(super) const WRAPPER: &str = "fpga/app/pspin/rtl/pspin_wrap.sv";
/// The cluster in it.
const CLUSTER: &str = "fpga/app/pspin/deps/pspin/hw/src/pspin.sv";
/// The Makefile that lists the cluster's sources.
const LIST: &str = "fpga/mqnic/VCU1525/fpga_100g/fpga_pspin/Makefile";
/// What a checkout of PsPIN alone has.
const PLAIN: &str = "hw/src/pspin.sv";
/// Sources in the list that are taken: the cluster's and the wrapper, not the blocks that ours replace.
const TAKEN: [&str; 2] = ["app/pspin/deps/", "app/pspin/rtl/pspin_wrap."];
/// Directories of the cluster's include files, below [`DEPENDENCIES`].
const INCLUDES: [&str; 4] = [
    "axi/include",
    "common_cells/include",
    "cluster_interconnect/rtl/low_latency_interco",
    "riscv/include",
];
const DEPENDENCIES: &str = "fpga/app/pspin/deps/pspin/hw/deps";
/// What is defined when the cluster is built for an FPGA.
pub(super) const DEFINES: [&str; 2] = ["TARGET_SYNTHESIS", "PULP_FPGA_EMUL"];

/// The user's checkout of FPsPIN, which has the cluster and its wrapper `pspin_wrap`.
///
/// ```no_run
/// use spinneret_gen::board::corundum::Pspin;
///
/// let list = Pspin::open("FPsPIN".as_ref())?.simulation()?;
/// let (packages, others) = list.files.split_at(list.packages);
/// // A simulator is given the packages, a file with the text `list.imports`, and then the others.
/// # Ok::<(), spinneret_gen::board::corundum::CheckoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pspin {
    /// Its root, absolute.
    pub(super) root: PathBuf,
    /// The cluster's sources, relative to the root, in the order of the tree's own list.
    pub(super) sources: Vec<String>,
    /// Directories of include files, relative to the root.
    pub(super) includes: Vec<String>,
}

impl Pspin {
    /// Checks a directory, and every file that its own list names.
    ///
    /// # Errors
    /// The directory is not there or no checkout of FPsPIN, or files of it are missing.
    pub fn open(path: &Path) -> Result<Self, CheckoutError> {
        let root = tree::open("--pspin-dir", path)?;
        let shown = path.display().to_string();
        for file in [WRAPPER, CLUSTER, LIST] {
            if root.join(file).is_file() {
                continue;
            }
            if root.join(PLAIN).is_file() {
                return Err(CheckoutError::PlainPspin {
                    path: shown,
                    found: PLAIN,
                    wanted: file,
                });
            }
            return Err(CheckoutError::NotACheckout {
                path: shown,
                what: "FPsPIN checkout",
                file: file.to_owned(),
                source_tree: "a checkout of https://github.com/spcl/FPsPIN",
            });
        }
        let sources = listed(&tree::read(&root.join(LIST))?);
        let includes = INCLUDES.map(|folder| format!("{DEPENDENCIES}/{folder}"));
        let missing: Vec<&String> = sources
            .iter()
            .filter(|file| !root.join(file).is_file())
            .chain(includes.iter().filter(|folder| !root.join(folder).is_dir()))
            .collect();
        if let Some(first) = missing.first() {
            return Err(CheckoutError::MissingFiles {
                list: format!("{shown}/{LIST}"),
                first: root.join(first).display().to_string(),
                missing: missing.len(),
                advice: "fetch the tree's submodules".to_owned(),
            });
        }
        Ok(Self {
            root,
            sources,
            includes: includes.into(),
        })
    }

    /// The root of the checkout, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// The cluster's sources among those that a Makefile lists as `SYN_FILES += app/...`.
fn listed(makefile: &str) -> Vec<String> {
    makefile::values(makefile, "SYN_FILES")
        .into_iter()
        .filter(|file| TAKEN.iter().any(|start| file.starts_with(start)))
        .map(|file| format!("fpga/{file}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn takes_the_cluster_and_its_wrapper_and_nothing_that_is_commented_out() {
        let makefile = "SYN_FILES = rtl/fpga.v\nSYN_FILES += app/pspin/rtl/mqnic_app_block.v\n\
                        SYN_FILES += app/pspin/rtl/pspin_wrap.sv # wrapper\n\
                        # SYN_FILES += app/pspin/deps/a.sv\nSYN_FILES+=app/pspin/deps/b.sv app/pspin/deps/c.sv\n\
                        XDC_FILES += app/pspin/deps/d.xdc\n";
        assert_eq!(
            listed(makefile),
            [
                "fpga/app/pspin/rtl/pspin_wrap.sv",
                "fpga/app/pspin/deps/b.sv",
                "fpga/app/pspin/deps/c.sv"
            ]
        );
    }
}
