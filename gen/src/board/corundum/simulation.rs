//! The cluster's files in an order that a simulator takes.
//!
//! The list of the public tree is in no such order: its synthesis tool sorts the files itself. Packages go first, each
//! behind those that it uses. Some files use names of a package that only other files import, outside of any module: as all
//! files are one compilation unit, that works behind those other files. So all such imports go into a file of ours, which
//! comes behind the packages; what is behind it can be in any order.

use super::error::CheckoutError;
use super::pspin::{DEFINES, Pspin};
use super::source::{Source, source};
use super::tree;
use crate::render::{HEADER, LICENCE};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What a simulator or a lint tool has to be given to read the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulationList {
    /// The files, absolute; first those with packages, then the others. Files that are only included are not among them.
    pub files: Vec<PathBuf>,
    /// How many of the files have packages. The file with [`SimulationList::imports`] comes behind them.
    pub packages: usize,
    /// The text of a file of ours that imports what the files behind it take for imported.
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
    pub fn simulation(&self) -> Result<SimulationList, CheckoutError> {
        SimulationList::new(self)
    }
}

impl SimulationList {
    fn new(pspin: &Pspin) -> Result<Self, CheckoutError> {
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
    fn new(files: &'a [(&'a str, Source)]) -> Result<Self, CheckoutError> {
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
    fn check_packages(&self) -> Result<(), CheckoutError> {
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
                return Err(CheckoutError::NoPackage {
                    file: (*name).to_owned(),
                    line: *line,
                    package: package.clone(),
                });
            }
        }
        Ok(())
    }

    /// The numbers of the files in order, and how many have packages.
    fn order(&self) -> Result<(Vec<usize>, usize), CheckoutError> {
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
    fn visit(&self, at: usize, path: &mut Vec<usize>, order: &mut Vec<usize>) -> Result<(), CheckoutError> {
        if order.contains(&at) {
            return Ok(());
        }
        if let Some(first) = path.iter().position(|other| *other == at) {
            let cycle = path[first..].iter().chain([&at]);
            return Err(CheckoutError::PackageCycle {
                files: cycle.map(|at| self.files[*at].0.to_owned()).collect(),
            });
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
