//! What a run did or found, as a table for people or JSON for programs.

use crate::render::{Module, Rendered};
use crate::request::Request;
use crate::store::{Difference, Store};
use crate::terminal::{count, limit_last_column, number, table};
use serde_json::{Value, json};
use spinneret_hdl::entry::Parameter;
use spinneret_table::{Cell, Row};
use spinneret_verilog::{Port, PortDirection};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// The outcome of a run, ready to be told.
#[derive(Debug)]
pub struct Report<'a> {
    /// What was asked for.
    pub request: &'a Request,
    /// What it turned into.
    pub rendered: &'a Rendered,
    /// The directory.
    pub store: &'a Store,
    /// What differed before the run, by file name.
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

/// How many of the wanted files were written, and how many are gone.
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
