//! Reports of a run and lists of what can be generated, as tables and JSON, and printing them.

pub use spinneret_table::table;

use crate::render::{Module, Rendered};
use crate::request::Request;
use crate::store::{Difference, Store};
use serde_json::{Value, json};
use spinneret_bsp::Board;
use spinneret_hdl::entry::{Config, Entry, Parameter};
use spinneret_table::{Cell, CellAlignment, ColumnConstraint, Row, Table, Width, for_people};
use spinneret_verilog::{Port, PortDirection};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

/// The report of a run.
#[derive(Debug)]
pub struct Report<'a> {
    /// The request.
    pub request: &'a Request,
    /// Its files.
    pub rendered: &'a Rendered,
    /// The directory.
    pub store: &'a Store,
    /// Differences before the run, by file name.
    pub differences: BTreeMap<String, Difference>,
    /// Time from the command line to the last file.
    pub time: Duration,
}

impl Report<'_> {
    /// After writing: one row for each module and a line with totals.
    pub fn written(&self) -> String {
        let mut table = table(["module", "file", "lines", "ports", "parameters"]);
        for module in &self.rendered.modules {
            table.add_row(row(module));
        }
        limit_last_column(&mut table);
        let lines: usize = self.rendered.modules.iter().map(|module| module.lines).sum();
        let mut text = format!("{table}\n");
        let _ = writeln!(
            text,
            "{}, {} in {}: {} in {:.2} s",
            count(self.rendered.modules.len(), "module", "modules"),
            count(lines, "line", "lines"),
            self.store.shown(),
            changes(&self.differences, self.rendered.files.len()),
            self.time.as_secs_f64(),
        );
        text
    }

    /// After checking: each difference and the command that repairs them.
    pub fn checked(&self, repair: &str) -> String {
        differences_text(self.store, &self.differences, self.rendered.files.len(), repair)
    }

    /// The same for programs.
    pub fn json(&self, checked: bool) -> Value {
        let differences: BTreeMap<_, _> = self
            .differences
            .iter()
            .map(|(name, difference)| (name, difference.name()))
            .collect();
        json!({
            "config": self.request.config.name(),
            "directory": self.store.shown(),
            "checked_only": checked,
            "up_to_date_before": self.differences.is_empty(),
            "differences_before": differences,
            "modules": self.rendered.modules.iter().map(module_json).collect::<Vec<_>>(),
            "seconds": self.time.as_secs_f64(),
        })
    }
}

/// After checking: each difference and the command that repairs them.
pub(crate) fn differences_text(
    store: &Store,
    differences: &BTreeMap<String, Difference>,
    files: usize,
    repair: &str,
) -> String {
    let files = count(files, "file", "files");
    if differences.is_empty() {
        return format!("{} is up to date ({files})", store.shown());
    }
    let mut text = format!("{} is not what the Rust blocks say:\n", store.shown());
    for (name, difference) in differences {
        let _ = writeln!(text, "  {:8} {name}", difference.name());
    }
    let _ = writeln!(text, "run `{repair}` to repair it");
    text
}

/// Formats the number of written files and of deleted files.
pub(crate) fn changes(differences: &BTreeMap<String, Difference>, files: usize) -> String {
    let stale = differences.values().filter(|d| **d == Difference::Stale).count();
    let written = differences.len() - stale;
    let unchanged = files - written;
    let mut text = format!(
        "{} written, {unchanged} unchanged",
        count(written, "file", "files")
    );
    if stale > 0 {
        let _ = write!(text, ", {stale} stale removed");
    }
    text
}

fn row(module: &Module) -> Row {
    let ports = module.block.as_ref().map(|block| block.ports.len());
    let parameters = module
        .block
        .as_ref()
        .map(|block| values(&block.parameters))
        .unwrap_or_default();
    Row::from(vec![
        Cell::new(&module.name),
        Cell::new(&module.file),
        number(Some(module.lines)),
        number(ports),
        Cell::new(parameters),
    ])
}

fn values(parameters: &[Parameter]) -> String {
    let each: Vec<_> = parameters
        .iter()
        .map(|p| format!("{}={}", p.name, p.value))
        .collect();
    each.join(" ")
}

fn module_json(module: &Module) -> Value {
    let parameters = module.block.as_ref().map(|block| {
        block
            .parameters
            .iter()
            .map(|p| (p.name.to_owned(), json!(p.value)))
            .collect::<serde_json::Map<_, _>>()
    });
    let ports = module
        .block
        .as_ref()
        .map(|block| block.ports.iter().map(port_json).collect::<Vec<_>>());
    json!({
        "name": module.name,
        "doc": module.doc,
        "file": module.file,
        "lines": module.lines,
        "ports": ports,
        "parameters": parameters,
    })
}

fn port_json(port: &Port) -> Value {
    let direction = match port.direction {
        PortDirection::Input => "input",
        PortDirection::Output => "output",
        PortDirection::InOut => "inout",
    };
    json!({
        "name": port.name, "direction": direction, "width": port.width, "signed": port.signed, "doc": port.doc,
    })
}

/// Everything as tables for people.
pub fn listing_text(catalog: &[Entry], boards: &[Board]) -> String {
    let mut text = format!("Configurations (--config)\n{}\n\n", configs());
    let _ = writeln!(
        text,
        "Boards (--board); where the newest Corundum has the design, which older checkouts have elsewhere\n{}\n",
        board_table(boards)
    );
    let _ = writeln!(
        text,
        "Modules (--module) and their parameters (--set)\n{}",
        modules(catalog)
    );
    text
}

/// The same for programs.
pub fn listing_json(catalog: &[Entry], boards: &[Board]) -> Value {
    json!({
        "configs": Config::ALL.map(|config| json!({ "name": config.name(), "doc": config_doc(config) })),
        "boards": boards.iter().map(board_json).collect::<Vec<_>>(),
        "modules": catalog.iter().map(entry_json).collect::<Vec<_>>(),
    })
}

fn config_doc(config: Config) -> &'static str {
    match config {
        Config::Reference => {
            "each block alone, with the parameter values of the public FPsPIN design (the default)"
        }
        Config::Board => "each block with the parameter values that the application block needs on a board",
    }
}

fn configs() -> String {
    let mut table = table(["name", "what it is"]);
    for config in Config::ALL {
        table.add_row([config.name(), config_doc(config)]);
    }
    table.to_string()
}

fn board_table(boards: &[Board]) -> String {
    let mut table = table(["name", "board", "part", "clock", "PCI Express", "Corundum design"]);
    for board in boards {
        table.add_row([
            board.name.to_owned(),
            board.title.to_owned(),
            board.part.to_owned(),
            format!("{} MHz", board.core_clock_hz / 1_000_000),
            board
                .pci_express
                .map(|p| format!("gen{} x{}", p.generation, p.lanes))
                .unwrap_or_default(),
            board
                .corundum
                .and_then(|design| design.directories.first())
                .map(|directory| (*directory).to_owned())
                .unwrap_or_default(),
        ]);
    }
    table.to_string()
}

fn board_json(board: &Board) -> Value {
    json!({
        "name": board.name,
        "title": board.title,
        "family": board.family.name(),
        "part": board.part,
        "core_clock_hz": board.core_clock_hz,
        "pci_express": board.pci_express.map(|p| json!({ "generation": p.generation, "lanes": p.lanes })),
        "corundum_directories": board.corundum.map(|design| design.directories),
        "pins": (board.pins)().iter()
            .map(|pin| json!({ "signal": pin.signal, "ball": pin.ball })).collect::<Vec<_>>(),
    })
}

fn modules(catalog: &[Entry]) -> String {
    let values = Config::ALL.map(Config::name);
    let header = ["module", "parameter"]
        .into_iter()
        .chain(values)
        .chain(["range", "Verilog", "what it is"]);
    let mut table = table(header);
    for entry in catalog {
        let doc = if entry.shipped {
            entry.doc.to_owned()
        } else {
            format!("{} (only written when it is named)", entry.doc)
        };
        let blanks = Config::ALL.len() + 3;
        let blank_cells = std::iter::repeat_n(String::new(), blanks);
        table.add_row(
            [entry.name.to_owned()]
                .into_iter()
                .chain(blank_cells)
                .chain([doc]),
        );
        let per_config = Config::ALL.map(entry.parameters);
        for (index, parameter) in per_config[0].iter().enumerate() {
            let mut row = vec![String::new(), parameter.name.to_owned()];
            row.extend(per_config.iter().map(|list| list[index].value.to_string()));
            row.push(format!("{}..{}", parameter.min, parameter.max));
            row.push(parameter.verilog.unwrap_or_default().to_owned());
            row.push(parameter.doc.to_owned());
            table.add_row(row);
        }
    }
    table.to_string()
}

fn entry_json(entry: &Entry) -> Value {
    let parameters = (entry.parameters)(Config::Reference);
    let describe = |index: usize| {
        let p = &parameters[index];
        let values: serde_json::Map<String, Value> = Config::ALL
            .into_iter()
            .map(|config| (config.name().to_owned(), json!(entry.values(config).get(p.name))))
            .collect();
        json!({
            "name": p.name, "min": p.min, "max": p.max, "values": values,
            "verilog": p.verilog, "doc": p.doc,
        })
    };
    json!({
        "name": entry.name,
        "doc": entry.doc,
        "shipped": entry.shipped,
        "parameters": (0..parameters.len()).map(describe).collect::<Vec<_>>(),
    })
}

/// Limits the width of the last column, which has running text, also if the width of the terminal is unknown.
pub fn limit_last_column(table: &mut Table) {
    const CHARACTERS: u16 = 60;
    let last = table.column_count().saturating_sub(1);
    if let Some(column) = table.column_mut(last) {
        column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(CHARACTERS)));
    }
}

/// Returns a right-aligned cell for a number, empty if there is none.
pub fn number(value: Option<impl ToString>) -> Cell {
    let text = value.map(|value| value.to_string()).unwrap_or_default();
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// The command has succeeded, but its result could not be printed.
#[derive(Debug, thiserror::Error)]
#[error("all is done, but the result cannot be printed: {0}")]
pub struct NotPrinted(io::Error);

/// Prints a text and a line end.
///
/// # Errors
/// Standard output cannot be written to; a closed pipe (`| head`) is not an error.
pub fn print(text: &str) -> Result<(), NotPrinted> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(NotPrinted(error)),
        _ => Ok(()),
    }
}

/// Prints progress to standard error, and ignores errors.
pub fn tell(text: fmt::Arguments<'_>) {
    let _ = write!(io::stderr(), "{}", for_people(&text.to_string(), &io::stderr()));
}

/// Prints an error, and returns the exit code: 1 if only the result could not be printed, else 2.
pub fn fail(error: &anyhow::Error, told: fmt::Arguments<'_>) -> ExitCode {
    tell(told);
    ExitCode::from(if error.is::<NotPrinted>() { 1 } else { 2 })
}

/// Returns a count with its noun, in the singular or plural.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
