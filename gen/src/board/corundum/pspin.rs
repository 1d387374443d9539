//! The user's FPsPIN checkout, which has the cluster and its wrapper.

use super::token::{Kind, Token, tokens};
use super::tree;
use crate::render::{HEADER, LICENCE};
use anyhow::bail;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// URL of the public repository.
const REPOSITORY: &str = "https://github.com/spcl/FPsPIN";
/// The wrapper that the application block instantiates.
pub(super) const WRAPPER: &str = "fpga/app/pspin/rtl/pspin_wrap.sv";
/// The cluster in it.
const CLUSTER: &str = "fpga/app/pspin/deps/pspin/hw/src/pspin.sv";
/// The Makefile that lists the cluster's sources.
const LIST: &str = "fpga/mqnic/VCU1525/fpga_100g/fpga_pspin/Makefile";
/// A file of a checkout of PsPIN without FPsPIN.
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
/// Macros for building the cluster for an FPGA.
pub(super) const DEFINES: [&str; 2] = ["TARGET_SYNTHESIS", "PULP_FPGA_EMUL"];

/// The user's checkout of FPsPIN, which has the cluster and its wrapper `pspin_wrap`.
///
/// ```no_run
/// use spinneret_gen::board::corundum::Pspin;
///
/// let list = Pspin::open("FPsPIN".as_ref())?.simulation()?;
/// let (packages, others) = list.files.split_at(list.packages);
/// // A simulator is given the packages, a file with the text `list.imports`, and then the others.
/// # Ok::<(), anyhow::Error>(())
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
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let root = tree::open("--pspin-dir", path)?;
        let shown = path.display();
        for file in [WRAPPER, CLUSTER, LIST] {
            if root.join(file).is_file() {
                continue;
            }
            if root.join(PLAIN).is_file() {
                bail!(
                    "{shown} is PsPIN alone (it has {PLAIN}): the module `pspin_wrap` and the changes for FPGAs are in \
                     FPsPIN, so give a checkout of {REPOSITORY}, which has {file}"
                );
            }
            return Err(tree::not_a_checkout(path, "an FPsPIN checkout", file, REPOSITORY));
        }
        let sources = listed(&tree::read(&root.join(LIST))?);
        let includes = INCLUDES.map(|folder| format!("{DEPENDENCIES}/{folder}"));
        let missing: Vec<&String> = sources
            .iter()
            .filter(|file| !root.join(file).is_file())
            .chain(includes.iter().filter(|folder| !root.join(folder).is_dir()))
            .collect();
        if let Some(first) = missing.first() {
            let (list, first) = (path.join(LIST), root.join(first));
            return Err(tree::missing_files(
                &list,
                &first,
                missing.len(),
                "fetch the tree's submodules",
            ));
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
    tree::values(makefile, "SYN_FILES")
        .into_iter()
        .filter(|file| TAKEN.iter().any(|start| file.starts_with(start)))
        .map(|file| format!("fpga/{file}"))
        .collect()
}

/// Inputs of a simulator or lint tool that reads the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulationList {
    /// The files, absolute; first those with packages, then the others. Files that are only included are not among them.
    pub files: Vec<PathBuf>,
    /// How many of the files have packages. The file with [`SimulationList::imports`] comes behind them.
    pub packages: usize,
    /// Text of a file with the imports that later files rely on.
    pub imports: String,
    /// Directories of included files, absolute.
    pub includes: Vec<PathBuf>,
    /// Macros that have to be defined, without values.
    pub defines: Vec<String>,
}

/// Names before `::` that are no packages.
const BUILT_IN: [&str; 4] = ["std", "local", "super", "unit"];

impl Pspin {
    /// The cluster's files in an order that a simulator takes, and what it has to be given with them.
    ///
    /// The cluster instantiates three macros of the FPGA's vendor, which are not among the files: `xpm_memory_spram`,
    /// `xpm_memory_tdpram` and `xpm_fifo_sync`.
    ///
    /// # Errors
    /// A file cannot be read, a package is missing, or packages need each other in a circle.
    pub fn simulation(&self) -> anyhow::Result<SimulationList> {
        SimulationList::new(self)
    }
}

impl SimulationList {
    fn new(pspin: &Pspin) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        let mut seen = BTreeSet::new();
        for name in pspin.sources.iter().filter(|name| seen.insert(name.as_str())) {
            let text = tree::read_lossy(&pspin.root.join(name))?;
            let file = source(&text, &DEFINES);
            if file.declares {
                files.push((name.as_str(), file));
            }
        }
        let units = Units::new(&files)?;
        let (order, packages) = units.order()?;
        let absolute = |name: &str| pspin.root.join(name);
        Ok(Self {
            files: order.iter().map(|at| absolute(files[*at].0)).collect(),
            packages,
            imports: units.imports(&order),
            includes: pspin.includes.iter().map(|name| absolute(name)).collect(),
            defines: DEFINES.map(str::to_owned).into(),
        })
    }
}

/// Files with their names, and which of them has which package.
struct Units<'a> {
    files: &'a [(&'a str, Source)],
    packages: BTreeMap<&'a str, usize>,
}

impl<'a> Units<'a> {
    fn new(files: &'a [(&'a str, Source)]) -> anyhow::Result<Self> {
        let mut packages = BTreeMap::new();
        for (at, (_, file)) in files.iter().enumerate() {
            for package in &file.packages {
                packages.entry(package.as_str()).or_insert(at);
            }
        }
        let units = Self { files, packages };
        units.check_packages()?;
        Ok(units)
    }

    /// A name before `::` that is nowhere else is a package that is not there; others may be types.
    fn check_packages(&self) -> anyhow::Result<()> {
        let others: BTreeSet<&str> = self
            .files
            .iter()
            .flat_map(|(_, file)| file.others.iter().map(String::as_str))
            .collect();
        for (name, file) in self.files {
            let is_missing = |scope: &&String| {
                let scope = scope.as_str();
                !self.packages.contains_key(scope) && !BUILT_IN.contains(&scope) && !others.contains(scope)
            };
            if let Some((package, line)) = file.scopes.iter().find(|(scope, _)| is_missing(scope)) {
                bail!(
                    "{name} uses the package `{package}` in line {line}, which no file of the cluster declares: check out an \
                     unchanged revision of FPsPIN"
                );
            }
        }
        Ok(())
    }

    /// The numbers of the files in order, and how many have packages.
    fn order(&self) -> anyhow::Result<(Vec<usize>, usize)> {
        let mut order = Vec::new();
        for at in (0..self.files.len()).filter(|at| self.has_package(*at)) {
            self.visit(at, &mut Vec::new(), &mut order)?;
        }
        let packages = order.len();
        order.extend((0..self.files.len()).filter(|at| !self.has_package(*at)));
        Ok((order, packages))
    }

    fn has_package(&self, at: usize) -> bool {
        !self.files[at].1.packages.is_empty()
    }

    /// Appends a file behind all that it needs; `path` is what needs it.
    fn visit(&self, at: usize, path: &mut Vec<usize>, order: &mut Vec<usize>) -> anyhow::Result<()> {
        if order.contains(&at) {
            return Ok(());
        }
        if let Some(first) = path.iter().position(|other| *other == at) {
            let cycle: Vec<&str> = path[first..]
                .iter()
                .chain([&at])
                .map(|at| self.files[*at].0)
                .collect();
            bail!(
                "the cluster's packages need each other in a circle ({}), so no order of them can be compiled: check out an \
                 unchanged revision of FPsPIN",
                cycle.join(" needs ")
            );
        }
        path.push(at);
        let scopes = self.files[at].1.scopes.keys();
        let mut needed: Vec<_> = scopes
            .filter_map(|scope| self.packages.get(scope.as_str()).copied())
            .filter(|other| *other != at)
            .collect();
        needed.sort_unstable();
        for other in needed {
            self.visit(other, path, order)?;
        }
        path.pop();
        order.push(at);
        Ok(())
    }

    /// All packages that any file imports for those behind it, in the order in which they are compiled.
    fn imports(&self, order: &[usize]) -> String {
        let mut text = format!("{HEADER}\n{LICENCE}\n");
        text.push_str("// Packages whose names files of the cluster use without importing them.\n");
        for package in order.iter().flat_map(|at| &self.files[*at].1.packages) {
            if self.files.iter().any(|(_, file)| file.imports.contains(package)) {
                text.push_str(&format!("import {package}::*;\n"));
            }
        }
        text
    }
}

/// Declarations and references of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// Packages that it declares, in their order.
    pub(super) packages: Vec<String>,
    /// Whether it declares anything; a file that does not has only macros, and is there to be included.
    pub(super) declares: bool,
    /// Names before `::`, with the line of the first of each.
    pub(super) scopes: BTreeMap<String, usize>,
    /// Packages that it imports outside of any module or package, which everything behind it sees as well.
    pub(super) imports: BTreeSet<String>,
    /// All names in other places than before `::`.
    pub(super) others: BTreeSet<String>,
}

/// Keywords that begin something with an end of its own outside of everything else, and that end.
const UNITS: [(&str, &str); 8] = [
    ("module", "endmodule"),
    ("macromodule", "endmodule"),
    ("package", "endpackage"),
    ("interface", "endinterface"),
    ("program", "endprogram"),
    ("class", "endclass"),
    ("function", "endfunction"),
    ("task", "endtask"),
];

/// Reads a file as a compiler reads it that has these macros defined.
///
/// Ignores the contents of macros, and does not read included files.
pub(super) fn source(text: &str, defined: &[&str]) -> Source {
    let tokens = tokens(text, defined);
    let mut source = Source::default();
    let mut inside: Option<Inside> = None;
    for at in 0..tokens.len() {
        source.name(&tokens, at);
        let token = tokens[at];
        if token.kind != Kind::Word {
            continue;
        }
        match &mut inside {
            Some(unit) => {
                unit.depth += usize::from(unit.begins_again(&tokens, at));
                unit.depth -= usize::from(token.is(unit.end));
                if unit.depth == 0 {
                    inside = None;
                }
            }
            None => {
                inside = Inside::begun(&tokens, at);
                source.outside(&tokens, at, inside.is_some());
            }
        }
    }
    source
}

impl Source {
    /// Notes a name by what follows it.
    fn name(&mut self, tokens: &[Token<'_>], at: usize) {
        let token = tokens[at];
        if token.kind != Kind::Word {
            return;
        }
        if !is_scope(tokens, at + 1) {
            self.others.insert(token.text.to_owned());
        } else if at < 2 || !is_scope(tokens, at - 2) {
            // A name behind another `::` is one of that package.
            self.scopes.entry(token.text.to_owned()).or_insert(token.line);
        }
    }

    /// Notes a word that is outside of everything.
    fn outside(&mut self, tokens: &[Token<'_>], at: usize, begins: bool) {
        let word = tokens[at];
        let before = at.checked_sub(1).map(|before| tokens[before]);
        if word.is("package") {
            let name = tokens[at + 1..]
                .iter()
                .find(|token| !["automatic", "static"].contains(&token.text));
            self.packages.extend(name.map(|name| name.text.to_owned()));
        }
        self.declares |= begins || ["typedef", "parameter", "localparam", "bind"].contains(&word.text);
        let is_of_import = before.is_some_and(|token| token.is("import") || token.is(","));
        if is_of_import && is_scope(tokens, at + 1) {
            self.imports.insert(word.text.to_owned());
        }
    }
}

/// Something that has begun and not yet ended.
struct Inside {
    begin: &'static str,
    end: &'static str,
    depth: usize,
}

impl Inside {
    /// The unit that a word begins, if any.
    fn begun(tokens: &[Token<'_>], at: usize) -> Option<Self> {
        let (begin, end) = UNITS
            .into_iter()
            .find(|(begin, _)| tokens[at].is(begin))
            .filter(|_| is_definition(tokens, at))?;
        Some(Self { begin, end, depth: 1 })
    }

    /// Whether a word begins the same inside. Interfaces are ports of interfaces more often than they are in them.
    fn begins_again(&self, tokens: &[Token<'_>], at: usize) -> bool {
        ["module", "class"].contains(&self.begin) && tokens[at].is(self.begin) && is_definition(tokens, at)
    }
}

/// Whether what a word begins has an end, and is not only announced, a type, or written in C.
fn is_definition(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
    let is_behind = |text: &str| tokens.get(at + 1).is_some_and(|token| token.is(text));
    let is_type = tokens[at].is("interface") && (before == "virtual" || is_behind("class"));
    let is_in_c = before.starts_with('"') || ["context", "pure"].contains(&before);
    !is_type && !is_in_c && !["typedef", "extern"].contains(&before)
}

/// Whether there is `::`.
fn is_scope(tokens: &[Token<'_>], at: usize) -> bool {
    let colons = tokens.get(at..at + 2);
    colons.is_some_and(|pair| pair.iter().all(|token| token.is(":")))
}

#[cfg(test)]
mod tests {
    use super::{listed, source};

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

    fn names<'a>(all: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
        all.into_iter().map(String::as_str).collect()
    }

    #[test]
    fn finds_packages_and_their_uses() {
        let text = "// package no; import no::*;\n/* no::a */\n`define NO import no::*;\n`include \"no::no\"\n\
                    `timescale 1ns/1ps\n`ifdef NEVER\nimport no::*;\n`endif\n`ifdef GIVEN\nimport a::*, b::x;\n`endif\n\
                    package automatic p;\n  import c::*;\n  localparam x = \"no::a\" + d :: y + e::F::z;\n  \
                    localparam q = c ? f : g;\nendpackage : p\n\
                    module m import h::*; #(parameter type T = i::t) (interface.in port);\n  T::x y;\n  import j::*;\n\
                    endmodule\n";
        let found = source(text, &["GIVEN"]);
        assert_eq!(found.packages, ["p"]);
        assert!(found.declares);
        assert_eq!(names(&found.imports), ["a", "b"]);
        assert_eq!(
            names(found.scopes.keys()),
            ["T", "a", "b", "c", "d", "e", "h", "i", "j"]
        );
        assert_eq!(found.scopes["d"], 14);
        assert!(found.others.contains("T") && !found.others.contains("d") && !found.others.contains("no"));
    }

    #[test]
    fn an_import_counts_behind_the_end_of_what_was_before_it() {
        for before in [
            "module m; module n; endmodule endmodule",
            "interface i (interface j); endinterface",
            "class c; class d; endclass typedef class e; endclass",
            "virtual class c; virtual interface i v; endclass",
            "typedef class c;",
            "extern module m (input a);",
            "interface class c; endclass",
            "program p; endprogram",
            "function automatic int f(); import no::*; endfunction",
            "typedef virtual interface i t;",
            "import \"DPI-C\" function int f(); import \"DPI-C\" context task g();",
        ] {
            let found = source(
                &format!("{before}\nimport a::*;\nmodule z; import no::*; endmodule"),
                &[],
            );
            assert_eq!(names(&found.imports), ["a"], "{before}");
        }
    }

    #[test]
    fn a_file_of_macros_declares_nothing() {
        assert!(!source("`ifndef A\n`define A module m;\nimport a::*;\n`endif", &[]).declares);
        assert!(!source("", &[]).declares);
        assert!(source("typedef int t;", &[]).declares);
        // Accepts units without an end, and text that is not Verilog.
        assert!(source("module", &[]).declares);
        assert_eq!(source("package", &[]).packages, [""; 0]);
        source("endmodule :: :: ) \u{0} \" '", &[]);
    }
}
