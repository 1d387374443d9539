//! The files of a fabric: handlers are built, and nothing that is written destroys any other file.

use super::args::FabricArguments;
use super::member::Handlers;
use crate::run::{build, setup};
use crate::terminal::{Failure, Files};
use spinneret_cluster::Program;
use spinneret_fabric::topology::{NicConfig, Topology};
use spinneret_rules::{MatcherParams, RuleFile};
use std::collections::HashMap;
use std::path::PathBuf;

/// Handlers by their paths and those of their rules; those of several NICs are built and read once.
#[derive(Debug, Default)]
pub(super) struct Programs(HashMap<(PathBuf, PathBuf), Handlers>);

impl Programs {
    /// The handlers of a NIC.
    pub(super) fn of(&self, nic: &NicConfig) -> Option<Handlers> {
        self.0.get(&paths(nic)?).cloned()
    }
}

/// Builds and reads the handlers of these NICs after a look at all files that are read or written.
///
/// # Errors
/// If a file would be destroyed, or handlers or rules cannot be used. Nothing but what make builds was written then.
pub(super) fn checked<'n>(
    arguments: &FabricArguments,
    topology: &Topology,
    nics: impl Iterator<Item = (usize, &'n str, &'n NicConfig)>,
    clusters: usize,
) -> Result<Programs, Failure> {
    let mut files = named(arguments, topology);
    files.check().map_err(Failure::Usage)?;
    let mut programs = Programs::default();
    for (_, name, nic) in nics {
        let Some(paths) = paths(nic).filter(|paths| !programs.0.contains_key(paths)) else {
            continue;
        };
        let (target, rules) = &paths;
        let elf = build::program(target, clusters).map_err(Failure::usage)?;
        let handlers = format!("the handlers of `{name}`");
        files = setup::files_of_handlers(files, &handlers, (target, &elf), clusters)?;
        files.check().map_err(Failure::Usage)?;
        let rules = RuleFile::read(rules, &MatcherParams::BOARD).map_err(Failure::usage)?;
        let handlers = Handlers {
            program: Program::open(&elf).map_err(Failure::usage)?,
            rulesets: rules.rulesets,
        };
        programs.0.insert(paths, handlers);
    }
    Ok(programs)
}

/// All files that arguments and topology name.
fn named(arguments: &FabricArguments, topology: &Topology) -> Files {
    let mut files = Files::of_command().reads("TOPOLOGY", arguments.topology.as_deref());
    for (_, name, nic) in topology.nics() {
        if let Some((target, rules)) = paths(nic) {
            let target = Some(&*target).filter(|target| target.is_file());
            files = files
                .reads(format!("the handlers of `{name}`"), target)
                .reads(format!("the rules of `{name}`"), Some(&rules));
        }
        if let (true, Some(folder)) = (nic.application, &arguments.sockets) {
            files = files.reads(format!("the socket of `{name}`"), Some(&folder.join(name)));
        }
    }
    for capture in &topology.captures {
        let topology_file = arguments.topology.as_deref().unwrap_or("".as_ref()).display();
        let place = format!("{topology_file}:{}", capture.line);
        let at = &topology.nodes[capture.node].name;
        files = files.writes_by(place, format!("the capture at `{at}`"), &capture.file);
    }
    files
        .writes("--trace", arguments.trace.as_deref())
        .writes("--plot", arguments.plot.as_deref())
}

/// Where the handlers of a NIC and their rules are.
fn paths(nic: &NicConfig) -> Option<(PathBuf, PathBuf)> {
    let target = nic.handlers.as_ref()?;
    Some((target.clone(), setup::rules_of(target, nic.rules.as_deref())))
}
