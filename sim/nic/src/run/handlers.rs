//! From a folder with handlers to their ELF file.

use crate::device::Simulated;
use crate::installed;
use crate::installed::{DataError, RUNTIME_VARIABLE};
use crate::nic::{Nic, NicConfig, NicError};
use crate::terminal::tell;
use spinneret_cluster::{Program, ProgramError};
use spinneret_host::{Context, Error, Options};
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_BYTES, L1_BYTES, L1_SCRATCHPADS};
use spinneret_rules::NamedRuleset;
use std::env;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Default number of clusters of a program.
const DEFAULT_CLUSTERS: usize = 2;

/// Errors of builds of handlers.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The path does not exist.
    #[error("{path} does not exist: name an ELF file, or a folder with handlers and a Makefile")]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// It is neither a folder nor an ELF file.
    #[error(
        "{path} is neither a file nor a folder: name an ELF file, or a folder with handlers and a Makefile"
    )]
    Neither {
        /// The path.
        path: PathBuf,
    },
    /// The folder has no Makefile.
    #[error("{path} has no Makefile: name an ELF file, or a folder whose Makefile includes runtime/spin.mk")]
    NoMakefile {
        /// The folder.
        path: PathBuf,
    },
    /// The runtime was not found.
    #[error(transparent)]
    Data(#[from] DataError),
    /// No folder for results can be written.
    #[error(
        "cannot write to {path} or to the cache of this user: {source}; copy the folder to a place where you may write"
    )]
    NoFolder {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Make cannot be started.
    #[error(
        "make cannot be started: {source}; install the Debian packages make, gcc-riscv64-unknown-elf and \
         picolibc-riscv64-unknown-elf"
    )]
    NoMake {
        /// The reason.
        source: std::io::Error,
    },
    /// Make failed.
    #[error("make failed in {path}:\n{output}")]
    Failed {
        /// The folder.
        path: PathBuf,
        /// Its output.
        output: String,
    },
    /// Make built no program, or several.
    #[error("make left {count} ELF files in {path}: name the one to run")]
    Unclear {
        /// The folder with the results.
        path: PathBuf,
        /// Number of programs.
        count: usize,
    },
}

/// HPUs that a program is built for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hpus {
    /// All, unless the Makefile says otherwise.
    #[default]
    Any,
    /// Those of the PULP cluster alone, with sums as counters, which saves some instructions.
    Pspin,
}

/// The program of a path for that many clusters: an ELF file, or the result of make in a folder. Output of make goes to
/// standard error.
///
/// # Errors
/// If it does not exist, or cannot be built.
pub fn program(path: &Path, clusters: usize) -> Result<PathBuf, BuildError> {
    program_for(path, clusters, Hpus::Any)
}

/// [`program`] for some HPUs.
///
/// # Errors
/// As [`program`].
pub fn program_for(path: &Path, clusters: usize, hpus: Hpus) -> Result<PathBuf, BuildError> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if !path.is_dir() {
        let exists = path.exists();
        let path = path.to_owned();
        return Err(match exists {
            true => BuildError::Neither { path },
            false => BuildError::Missing { path },
        });
    }
    // Relative to the folder: make rebuilds objects only under the same name when headers change.
    let mut results = match clusters {
        DEFAULT_CLUSTERS => "build".to_owned(),
        _ => format!("build/clusters-{clusters}"),
    };
    if hpus == Hpus::Pspin {
        results += "/pspin";
    }
    let (results, _lock) = place(path, &results)?;
    make(path, clusters, &results, hpus)?;
    only_elf(&path.join(results))
}

/// A locked folder for results: in that of the handlers, or in the user's cache if that is not writable.
fn place(path: &Path, results: &str) -> Result<(PathBuf, File), BuildError> {
    let denied = match lock(&path.join(results)) {
        Ok(lock) => return Ok((results.into(), lock)),
        Err(error) => error,
    };
    let is_others = matches!(
        denied.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    );
    let cache = cache(path).filter(|_| is_others).map(|cache| cache.join(results));
    cache
        .and_then(|cache| lock(&cache).ok().map(|lock| (cache, lock)))
        .ok_or_else(|| BuildError::NoFolder {
            path: path.join(results),
            source: denied,
        })
}

/// The folder of the user's cache for the results of another one.
fn cache(path: &Path) -> Option<PathBuf> {
    let absolute = |variable| {
        env::var_os(variable)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let path = path.canonicalize().ok()?;
    // Paths of make must not contain spaces.
    Some(
        cache
            .join("spinneret/handlers")
            .join(path.strip_prefix("/").ok()?),
    )
}

fn make(path: &Path, clusters: usize, results: &Path, hpus: Hpus) -> Result<(), BuildError> {
    if !["Makefile", "makefile", "GNUmakefile"]
        .iter()
        .any(|name| path.join(name).is_file())
    {
        return Err(BuildError::NoMakefile {
            path: path.to_owned(),
        });
    }
    let done = command(path, clusters, results)?
        .args(
            (hpus == Hpus::Pspin)
                .then_some(["HPU=pspin", "COUNTERS=sums"])
                .into_iter()
                .flatten(),
        )
        .output()
        .map_err(|source| BuildError::NoMake { source })?;
    let output = [done.stdout, done.stderr].concat();
    let output = String::from_utf8_lossy(&output).trim_end().to_owned();
    if !done.status.success() {
        return Err(BuildError::Failed {
            path: path.to_owned(),
            output,
        });
    }
    if !output.is_empty() {
        tell(output);
    }
    Ok(())
}

/// Make in a folder of handlers, with the settings of a build.
fn command(path: &Path, clusters: usize, results: &Path) -> Result<Command, BuildError> {
    let mut command = Command::new("make");
    match installed::runtime() {
        Ok(runtime) => command.env(RUNTIME_VARIABLE, runtime),
        // Handlers may bring their own runtime.
        Err(DataError::Nowhere { .. }) => &mut command,
        Err(error) => return Err(error.into()),
    };
    command
        .args(["--silent", "--no-print-directory", "-C"])
        .arg(path)
        .arg(format!("CLUSTERS={clusters}"))
        .arg(format!("BUILD={}", results.display()));
    Ok(command)
}

/// The files that make reads and writes to build the program of a folder: Makefiles, sources, headers, objects. Those that
/// are in the folder and unrelated are excluded.
///
/// # Errors
/// If make cannot be started.
pub(super) fn files_of_make(path: &Path, clusters: usize, elf: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let results = elf.parent().unwrap_or(path);
    let results = results.strip_prefix(path).unwrap_or(results);
    let told = command(path, clusters, results)?
        .args(["--question", "--print-data-base"])
        .stderr(Stdio::null())
        .output()
        .map_err(|source| BuildError::NoMake { source })?;
    let told = String::from_utf8_lossy(&told.stdout);
    let files = files_in(&told).map(|name| path.join(name));
    Ok(files.filter(|file| file.is_file()).collect())
}

/// The files in make's database: targets and prerequisites.
fn files_in(database: &str) -> impl Iterator<Item = &str> {
    let files = database.lines().skip_while(|line| *line != "# Files");
    // Recipes begin with a tab.
    let rules = files.filter(|line| !line.starts_with(['#', '\t']));
    rules.flat_map(|rule| rule.split_whitespace().map(|name| name.trim_end_matches(':')))
}

/// Creates and locks a folder for results; concurrent builds wait.
fn lock(results: &Path) -> std::io::Result<File> {
    std::fs::create_dir_all(results)?;
    let file = File::create(results.join(".lock"))?;
    file.lock()?;
    Ok(file)
}

fn only_elf(folder: &Path) -> Result<PathBuf, BuildError> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let elf: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "elf"))
        .collect();
    match &elf[..] {
        [one] => Ok(one.clone()),
        _ => Err(BuildError::Unclear {
            path: folder.to_owned(),
            count: elf.len(),
        }),
    }
}

/// Host memory of a context.
pub(super) const HOST_BYTES: u32 = 16 << 20;
/// Memory is given out in units of a line.
const LINE: u32 = 64;

/// Errors of the start of handlers.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The handlers of a ruleset are ambiguous or missing.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The NIC cannot be created.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// An access to the NIC fails.
    #[error(transparent)]
    Host(#[from] Error),
}

/// A NIC on which handlers wait for packets. A ruleset uses the handlers of its name, any other uses
/// `handler`, or the only handlers of the program. Memory is divided evenly.
///
/// # Errors
/// If handlers are ambiguous or missing, or the NIC fails.
pub fn start(
    config: NicConfig,
    program: &Program,
    rulesets: &[NamedRuleset],
    handler: Option<&str>,
) -> Result<Nic, StartError> {
    let simulated = Simulated::new(config)?;
    start_on(&simulated, program, rulesets, handler)?;
    Ok(simulated
        .into_nic()
        .unwrap_or_else(|| unreachable!("software has left the NIC")))
}

/// The same on an existing NIC.
///
/// # Errors
/// As [`start`].
pub fn start_on(
    simulated: &Simulated,
    program: &Program,
    rulesets: &[NamedRuleset],
    handler: Option<&str>,
) -> Result<(), StartError> {
    for context in contexts_on(simulated, program, rulesets, handler)? {
        context.leave();
    }
    Ok(())
}

/// The same, with the contexts.
///
/// # Errors
/// As [`start`].
pub(crate) fn contexts_on(
    simulated: &Simulated,
    program: &Program,
    rulesets: &[NamedRuleset],
    handler: Option<&str>,
) -> Result<Vec<Context<Simulated>>, StartError> {
    let count = rulesets.len().max(1) as u32;
    let share = |bytes: u32| bytes / count / LINE * LINE;
    let options = Options {
        host_bytes: HOST_BYTES,
        handler_bytes: Some(share(HANDLER_BASE + HANDLER_BYTES - program.free_memory)),
        scratchpad_bytes: Some(share(L1_BYTES - L1_SCRATCHPADS)),
    };
    let nic = spinneret_host::Nic::new(simulated.clone())?;
    contexts_of(&nic, program, rulesets, handler, &options)
}

/// Opens a context for each ruleset.
///
/// # Errors
/// As [`start`], or the NIC has no room.
pub(crate) fn contexts_of(
    nic: &spinneret_host::Nic<Simulated>,
    program: &Program,
    rulesets: &[NamedRuleset],
    handler: Option<&str>,
    options: &Options,
) -> Result<Vec<Context<Simulated>>, StartError> {
    let opened = names(program, rulesets, handler)?
        .into_iter()
        .zip(rulesets)
        .map(|(name, named)| nic.open_context(program, name, &named.ruleset, options));
    Ok(opened.collect::<Result<_, Error>>()?)
}

/// The handlers of each ruleset.
///
/// # Errors
/// If handlers are ambiguous or missing.
pub(crate) fn names<'n>(
    program: &'n Program,
    rulesets: &'n [NamedRuleset],
    handler: Option<&'n str>,
) -> Result<Vec<&'n str>, ProgramError> {
    let named = rulesets.iter().map(|ruleset| name(program, ruleset, handler));
    named.collect()
}

fn name<'n>(
    program: &'n Program,
    ruleset: &'n NamedRuleset,
    handler: Option<&'n str>,
) -> Result<&'n str, ProgramError> {
    let named = ruleset.name.as_deref().filter(|name| program.find(name).is_ok());
    match named.or(handler) {
        Some(name) => program.find(name).map(|_| name),
        None => program.only_name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_files_of_make_are_those_of_its_rules() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("build")).expect("there is room");
        let makefile = "include more.mk\nall: $(BUILD)/app.elf\n\
                        $(BUILD)/app.elf: app.c table.bin | order ; @cp replies.pcap $@\n-include app.d\n";
        let known = [
            "Makefile",
            "more.mk",
            "build/app.elf",
            "app.c",
            "table.bin",
            "order",
            "own.h",
        ];
        for name in known.into_iter().chain(["replies.pcap", "run.json", "unused.c"]) {
            fs::write(at(name), "").expect("there is room");
        }
        fs::write(at("Makefile"), makefile).expect("there is room");
        fs::write(at("app.d"), "build/app.elf: app.c \\\n own.h\nown.h:\n").expect("there is room");
        let found =
            files_of_make(folder.path(), DEFAULT_CLUSTERS, &at("build/app.elf")).expect("there is make");
        for name in known {
            assert!(found.contains(&at(name)), "{name} of {found:?}");
        }
        for name in ["replies.pcap", "run.json", "unused.c"] {
            assert!(!found.contains(&at(name)), "{name} of {found:?}");
        }
    }
}
