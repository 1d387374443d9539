//! The `gen-verilog` command.

use crate::board::corundum::{Options, find_cluster, find_generation, find_rate};
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
/// Without arguments, updates two directories: gen/verilog/reference/ with every block in the configuration of FPsPIN, one
/// file for each module, and a file list; and gen/verilog/board-vcu1525/ with the output of `--board vcu1525`, which has
/// the whole application block.
#[derive(Clone, Debug, Parser)]
#[command(name = "gen-verilog", version, after_help = EXIT_CODES)]
pub struct Arguments {
    /// Configuration of the parameters [default: reference]
    #[arg(long, value_name = "NAME", conflicts_with = "board")]
    config: Option<String>,

    /// Board to write the whole design for
    #[arg(long, value_name = "NAME", conflicts_with_all = ["modules", "settings", "prefix"])]
    board: Option<String>,

    /// Corundum generation of the design: 2023-12 or fpspin-2023 [default: 2023-12]
    #[arg(long, value_name = "NAME", requires = "board")]
    corundum: Option<String>,

    /// Rate of the Ethernet ports in Gb/s: 100, 25 or 10, each a design of Corundum [default: 100]
    #[arg(long, value_name = "GBPS", requires = "board")]
    rate: Option<String>,

    /// Clusters of the application block: spinneret, pspin, or stub for a small stand-in [default: spinneret]
    #[arg(long, value_name = "NAME", requires = "board")]
    cluster: Option<String>,

    /// Frequency of the clusters in MHz [default: that of the NIC for spinneret, 40 for the others]
    #[arg(long, value_name = "MHZ", requires = "board")]
    cluster_mhz: Option<String>,

    /// Checkout of Corundum that the board is built in
    #[arg(long, value_name = "DIR", requires = "board")]
    corundum_dir: Option<PathBuf>,

    /// Checkout of FPsPIN with the cluster
    #[arg(long, value_name = "DIR", requires = "board")]
    pspin_dir: Option<PathBuf>,

    /// Block to generate, with its submodules; repeatable [default: all]
    #[arg(long = "module", value_name = "NAME")]
    modules: Vec<String>,

    /// Parameter value, as name=value or module.name=value; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,

    /// Prefix of all module names, so that two variants of a block fit into one design
    #[arg(long, value_name = "NAME")]
    prefix: Option<String>,

    /// Output directory [default: gen/verilog/CONFIG, gen/verilog/custom with --module, --set or --prefix,
    /// target/boards/BOARD with --board]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Show configurations, boards, and modules with their parameters; write nothing
    #[arg(long, conflicts_with_all = ["check", "out", "modules", "settings", "prefix", "config", "board"])]
    list: bool,

    /// Write nothing; list the files that differ, and exit with 1 if there are any
    #[arg(long)]
    check: bool,

    /// Write the manual page and completions for shells below a folder `share`
    #[arg(long, value_name = "DIR", hide = true, exclusive = true)]
    manual: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The board whose files are part of the project.
const PROJECT_BOARD: &str = "vcu1525";

const EXIT_CODES: &str = "\
The output directory holds exactly the files of the last run: stale files of earlier runs are removed, files that \
gen-verilog did not write are kept.

Exit codes: 0 success, 1 --check found a difference, or the result cannot be printed, 2 error (nothing has been written)";

/// Result of a run without errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The files are up to date.
    Done,
    /// `--check` found a difference.
    Differs,
}

/// Runs the command, and prints the result to standard output.
///
/// # Errors
/// One sentence with the reason; nothing has been written then.
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
    // Detect conflicts before the first file is written.
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

/// The outcome of a run.
fn outcome(is_check: bool, is_same: bool) -> Outcome {
    if is_check && !is_same {
        Outcome::Differs
    } else {
        Outcome::Done
    }
}

/// Writes files, or only compares them. Returns the differences before.
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

/// Runs the command for a board.
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

/// The board whose files are part of the project, without options.
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

/// The output directory: `--out`, or the default in the checkout.
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
    /// Whether no option selects anything: then all generated files of the project are updated.
    fn is_bare(&self) -> bool {
        let is_chosen = self.config.is_some() || self.prefix.is_some() || self.out.is_some();
        !is_chosen && self.modules.is_empty() && self.settings.is_empty()
    }

    /// The options of a board.
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
            rate: self.rate.as_deref().map_or(Ok(defaults.rate), find_rate)?,
            cluster_hz: self
                .cluster_mhz
                .as_deref()
                .map(board::parse_megahertz)
                .transpose()?,
            corundum: self.corundum_dir.clone(),
            pspin: self.pspin_dir.clone(),
        })
    }
}

impl Arguments {
    /// The command that writes the files that `--check` compares.
    fn repair_command(&self) -> String {
        let mut words = Vec::new();
        let mut add = |option: &str, value: &str| words.push(format!("{option} {}", quote(value)));
        if let Some(config) = &self.config {
            add("--config", config);
        }
        let board = [
            ("--board", &self.board),
            ("--corundum", &self.corundum),
            ("--rate", &self.rate),
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
