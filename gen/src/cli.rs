//! The `gen-verilog` command.

use crate::board::corundum::{Options, find_cluster, find_generation};
use crate::board::{self, BoardOutput, BoardReport};
use crate::render::{File, render};
use crate::report::{Report, listing_json, listing_text, print};
use crate::request::Request;
use crate::store::{Difference, Store};
use crate::workspace::Workspace;
use clap::{CommandFactory as _, Parser};
use spinneret_bsp as bsp;
use spinneret_hdl::catalog;
use spinneret_hdl::entry::Config;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Writes the SystemVerilog of spinneret.
///
/// Without arguments it brings two directories up to date: gen/verilog/reference/ with every block with the parameter
/// values of the public FPsPIN design, one file for each module, and a file list; and gen/verilog/board-vcu1525/ with what
/// `--board vcu1525` writes, which has the whole application block.
#[derive(Clone, Debug, Parser)]
#[command(name = "gen-verilog", version, after_help = EXIT_CODES)]
pub struct Arguments {
    /// Configuration that parameter values come from [default: reference]
    #[arg(long, value_name = "NAME", conflicts_with = "board")]
    config: Option<String>,

    /// Board to write the whole design for
    #[arg(long, value_name = "NAME", conflicts_with_all = ["modules", "settings", "prefix"])]
    board: Option<String>,

    /// Generation of Corundum that the board's design is for: 2023-12 or fpspin-2023 [default: 2023-12]
    #[arg(long, value_name = "NAME", requires = "board")]
    corundum: Option<String>,

    /// What is behind the application block: pspin, or stub for a small stand-in [default: pspin]
    #[arg(long, value_name = "NAME", requires = "board")]
    cluster: Option<String>,

    /// Frequency of the cluster in MHz [default: 40]
    #[arg(long, value_name = "MHZ", requires = "board")]
    cluster_mhz: Option<String>,

    /// Checkout of Corundum that the board is built in
    #[arg(long, value_name = "DIR", requires = "board")]
    corundum_dir: Option<PathBuf>,

    /// Checkout of FPsPIN with the cluster
    #[arg(long, value_name = "DIR", requires = "board")]
    pspin_dir: Option<PathBuf>,

    /// Only this block and what is in it; may be given several times
    #[arg(long = "module", value_name = "NAME")]
    modules: Vec<String>,

    /// Value of a parameter, as name=value or module.name=value; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,

    /// What the names of all modules begin with, so that two variants of a block fit into one design
    #[arg(long, value_name = "NAME")]
    prefix: Option<String>,

    /// Directory to write to [default: gen/verilog/CONFIG, gen/verilog/custom with --module, --set or --prefix,
    /// target/boards/BOARD with --board]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Show configurations, boards, and modules with their parameters; write nothing
    #[arg(long, conflicts_with_all = ["check", "out", "modules", "settings", "prefix", "config", "board"])]
    list: bool,

    /// Write nothing; exit with 1 and name the files if the directory differs from what would be written
    #[arg(long)]
    check: bool,

    /// Write the manual page and completions for shells below a folder `share`
    #[arg(long, value_name = "DIR", hide = true, exclusive = true)]
    manual: Option<PathBuf>,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// The board whose files are part of the project.
const PROJECT_BOARD: &str = "vcu1525";

const EXIT_CODES: &str = "\
A directory that is written to holds exactly the files of the last run: files of an earlier run that \
are generated no longer are removed, files that gen-verilog did not write are left alone.

Exit codes: 0 done, 1 --check found a difference, or the result cannot be printed, 2 refused (nothing has been written)";

/// How a run that was not refused ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is as it should be now.
    Done,
    /// `--check` found a difference.
    Differs,
}

/// Does what the arguments say and tells about it on standard output.
///
/// # Errors
/// What was refused, in one sentence; nothing has been written then.
pub fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    if let Some(share) = &arguments.manual {
        spinneret_manual::write(&Arguments::command(), "gen-verilog", share)?;
        return Ok(Outcome::Done);
    }
    if arguments.list {
        list(arguments.json)?;
        return Ok(Outcome::Done);
    }
    if let Some(name) = &arguments.board {
        return run_board(arguments, name);
    }
    let config = arguments.config.as_deref().unwrap_or(Config::Reference.name());
    let mut request = Request::new(
        catalog::entries(),
        config,
        &arguments.modules,
        &arguments.settings,
    )?;
    if let Some(prefix) = &arguments.prefix {
        request = request.with_prefix(prefix)?;
    }
    let store = open_store(arguments, &request)?;
    let rendered = render(&request)?;
    // What cannot be written is known before the first file is.
    let mut differences = store.compare(&rendered.files)?;
    let project = arguments.is_bare().then(project_board).transpose()?;
    let project = project
        .map(|board| {
            let differences = bring_up_to_date(&board.store, &board.output.files, arguments.check)?;
            Ok::<_, anyhow::Error>((board, differences))
        })
        .transpose()?;
    if !arguments.check {
        differences = store.write(&rendered.files)?;
    }
    let board = project.as_ref().map(|(board, differences)| BoardReport {
        output: &board.output,
        store: &board.store,
        differences: differences.clone(),
    });
    let is_same = differences.is_empty() && board.as_ref().is_none_or(|board| board.differences.is_empty());
    let report = Report {
        request: &request,
        rendered: &rendered,
        store: &store,
        differences,
        time: start.elapsed(),
    };
    let repair = arguments.repair_command();
    print(&match (arguments.json, arguments.check) {
        (true, checked) => {
            let mut json = report.json(checked);
            if let Some(board) = &board {
                json["board"] = board.json(checked);
            }
            format!("{json:#}")
        }
        (false, true) => {
            let board = board.map(|board| board.checked(&repair)).unwrap_or_default();
            format!("{}\n{board}", report.checked(&repair).trim_end())
        }
        (false, false) => {
            let board = board.map(|board| board.headline()).unwrap_or_default();
            format!("{}{board}", report.written())
        }
    })?;
    Ok(outcome(arguments.check, is_same))
}

/// How a run ends that found all as it should be, or not.
fn outcome(is_check: bool, is_same: bool) -> Outcome {
    if is_check && !is_same {
        Outcome::Differs
    } else {
        Outcome::Done
    }
}

/// Writes files unless they are only to be checked; answers what differed before.
fn bring_up_to_date(
    store: &Store,
    files: &[File],
    is_check: bool,
) -> anyhow::Result<BTreeMap<String, Difference>> {
    if is_check {
        store.compare(files)
    } else {
        store.write(files)
    }
}

fn list(json: bool) -> anyhow::Result<()> {
    let (entries, boards) = (catalog::entries(), bsp::boards());
    let text = if json {
        format!("{:#}", listing_json(entries, boards))
    } else {
        listing_text(entries, boards)
    };
    Ok(print(&text)?)
}

/// The same for a board.
fn run_board(arguments: &Arguments, name: &str) -> anyhow::Result<Outcome> {
    let board = board::find(name)?;
    let options = arguments.board_options()?;
    let (directory, shown) = match &arguments.out {
        Some(directory) => (directory.clone(), directory.display().to_string()),
        None => {
            let workspace = Workspace::find()?;
            let directory = workspace.root().join("target/boards").join(board.name);
            let shown = workspace.show(&directory);
            (directory, shown)
        }
    };
    let output = board::render(board, &options, &directory)?;
    let store = Store::new(directory, shown);
    let differences = bring_up_to_date(&store, &output.files, arguments.check)?;
    let outcome = outcome(arguments.check, differences.is_empty());
    let report = BoardReport {
        output: &output,
        store: &store,
        differences,
    };
    print(&match (arguments.json, arguments.check) {
        (true, checked) => format!("{:#}", report.json(checked)),
        (false, true) => report.checked(&arguments.repair_command()),
        (false, false) => report.written(),
    })?;
    Ok(outcome)
}

/// The board whose files the project keeps, as it is without options.
struct ProjectBoard {
    output: BoardOutput,
    store: Store,
}

fn project_board() -> anyhow::Result<ProjectBoard> {
    let board = board::find(PROJECT_BOARD)?;
    let workspace = Workspace::find()?;
    let directory = workspace
        .root()
        .join("gen/verilog")
        .join(format!("board-{PROJECT_BOARD}"));
    let output = board::render(board, &Options::default(), &directory)?;
    let shown = workspace.show(&directory);
    let store = Store::new(directory, shown);
    store.compare(&output.files)?;
    Ok(ProjectBoard { output, store })
}

/// The directory that was asked for, else the one in the checkout that belongs to the request.
fn open_store(arguments: &Arguments, request: &Request) -> anyhow::Result<Store> {
    if let Some(directory) = &arguments.out {
        return Ok(Store::new(directory.clone(), directory.display().to_string()));
    }
    let workspace = Workspace::find()?;
    // A selection must not replace the complete set that the project keeps under the configuration's name.
    let folder = if request.whole {
        request.config.name()
    } else {
        "custom"
    };
    let directory = workspace.root().join("gen/verilog").join(folder);
    let shown = workspace.show(&directory);
    Ok(Store::new(directory, shown))
}

impl Arguments {
    /// Whether nothing in particular is asked for: then everything that the project keeps is brought up to date.
    fn is_bare(&self) -> bool {
        let is_chosen = self.config.is_some() || self.prefix.is_some() || self.out.is_some();
        !is_chosen && self.modules.is_empty() && self.settings.is_empty()
    }

    /// What a board is to be written with.
    fn board_options(&self) -> anyhow::Result<Options> {
        let defaults = Options::default();
        Ok(Options {
            generation: self
                .corundum
                .as_deref()
                .map_or(Ok(defaults.generation), find_generation)?,
            cluster: self
                .cluster
                .as_deref()
                .map_or(Ok(defaults.cluster), find_cluster)?,
            cluster_hz: self
                .cluster_mhz
                .as_deref()
                .map_or(Ok(defaults.cluster_hz), board::parse_megahertz)?,
            corundum: self.corundum_dir.clone(),
            pspin: self.pspin_dir.clone(),
        })
    }
}

impl Arguments {
    /// The command that writes what `--check` compared with.
    fn repair_command(&self) -> String {
        let mut words = Vec::new();
        let mut add = |option: &str, value: &str| words.push(format!("{option} {}", quote(value)));
        if let Some(config) = &self.config {
            add("--config", config);
        }
        let board = [
            ("--board", &self.board),
            ("--corundum", &self.corundum),
            ("--cluster", &self.cluster),
            ("--cluster-mhz", &self.cluster_mhz),
        ];
        for (option, value) in board {
            value.iter().for_each(|value| add(option, value));
        }
        for (option, path) in [
            ("--corundum-dir", &self.corundum_dir),
            ("--pspin-dir", &self.pspin_dir),
        ] {
            path.iter()
                .for_each(|path| add(option, &path.display().to_string()));
        }
        self.modules.iter().for_each(|module| add("--module", module));
        self.settings.iter().for_each(|setting| add("--set", setting));
        self.prefix.iter().for_each(|prefix| add("--prefix", prefix));
        if let Some(directory) = &self.out {
            add("--out", &directory.display().to_string());
        }
        let command = "cargo run --release --bin gen-verilog";
        if words.is_empty() {
            command.to_owned()
        } else {
            format!("{command} -- {}", words.join(" "))
        }
    }
}

/// Quotes a word for a shell if it needs that.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-=./".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::Parser as _;

    #[test]
    fn the_repair_command_repeats_what_was_asked() {
        let parse = |words: &[&str]| Arguments::try_parse_from(words).unwrap().repair_command();
        assert_eq!(
            parse(&["gen-verilog", "--check"]),
            "cargo run --release --bin gen-verilog"
        );
        assert_eq!(
            parse(&[
                "gen-verilog",
                "--check",
                "--config",
                "board",
                "--set",
                "a.b=1",
                "--prefix",
                "wide_",
                "--out",
                "it's here"
            ]),
            r"cargo run --release --bin gen-verilog -- --config board --set a.b=1 --prefix wide_ --out 'it'\''s here'"
        );
    }
}
