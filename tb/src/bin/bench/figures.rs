//! What a bench has measured: a table for people and JSON for programs.

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use spinneret_table::Table;
use std::fs;
use std::path::Path;

/// What a bench has measured.
pub(crate) struct Figures {
    /// Name of the bench.
    pub(crate) name: &'static str,
    /// The rows for people.
    pub(crate) table: Table,
    /// How the figures were counted, behind the table.
    pub(crate) explanation: String,
    /// The rows for programs.
    pub(crate) rows: Vec<Value>,
    /// Cycles that were simulated.
    pub(crate) cycles: u64,
}

impl Figures {
    /// Writes the rows for programs.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let document = json!({ "bench": self.name, "data_width_bits": 512, "rows": self.rows });
        let text = serde_json::to_string_pretty(&document)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
        println!("figures: {}", path.display());
        Ok(())
    }
}

/// A column of one row: its heading and text for people, its key and value for programs.
pub(crate) struct Cell {
    heading: &'static str,
    text: String,
    figure: Option<(&'static str, Value)>,
}

impl Cell {
    /// A column for both.
    pub(crate) fn new(
        heading: &'static str,
        text: impl ToString,
        key: &'static str,
        value: impl Into<Value>,
    ) -> Self {
        Self {
            heading,
            text: text.to_string(),
            figure: Some((key, value.into())),
        }
    }

    /// A column for both with the same value.
    pub(crate) fn plain<T: ToString + Into<Value>>(
        heading: &'static str,
        key: &'static str,
        value: T,
    ) -> Self {
        Self::optional(heading, key, Some(value))
    }

    /// The same with a value that may be missing: empty and null.
    pub(crate) fn optional<T: ToString + Into<Value>>(
        heading: &'static str,
        key: &'static str,
        value: Option<T>,
    ) -> Self {
        let text = value.as_ref().map_or_else(String::new, T::to_string);
        Self::new(heading, text, key, value.map_or(Value::Null, T::into))
    }

    /// A column for people only.
    pub(crate) fn text(heading: &'static str, text: impl ToString) -> Self {
        let (text, figure) = (text.to_string(), None);
        Self {
            heading,
            text,
            figure,
        }
    }
}

impl Figures {
    /// Figures of rows that have the same columns, in which all but that one stand to the right.
    pub(crate) fn new(
        name: &'static str,
        left: Option<usize>,
        explanation: impl Into<String>,
        rows: Vec<Vec<Cell>>,
        cycles: u64,
    ) -> Self {
        let headings = rows.first().into_iter().flatten().map(|cell| cell.heading);
        let left: Vec<usize> = left.into_iter().collect();
        let mut table = spinneret_table::figures(headings, &left);
        table.add_rows(rows.iter().map(|row| row.iter().map(|cell| cell.text.clone())));
        let json = |row: Vec<Cell>| -> Value {
            let figures = row.into_iter().filter_map(|cell| cell.figure);
            let figures: Map<_, _> = figures.map(|(key, value)| (key.to_owned(), value)).collect();
            figures.into()
        };
        Self {
            name,
            table,
            explanation: explanation.into(),
            rows: rows.into_iter().map(json).collect(),
            cycles,
        }
    }
}

/// Throughput at 250 MHz in Gb/s, frame bytes only.
pub(crate) fn gbps(bytes: usize, cycles: f64) -> f64 {
    bytes as f64 * 8.0 / cycles * 0.25
}

/// A figure of the public design, if there is one, and how many times better ours is.
pub(crate) fn reference(key: &'static str, theirs: Option<f64>, ours: f64) -> [Cell; 2] {
    let ratio = theirs.map_or_else(String::new, |theirs| format!("{:.1}x", theirs / ours));
    [
        Cell::optional("reference", key, theirs),
        Cell::text("ratio", ratio),
    ]
}

/// Throughput of frames at 250 MHz.
pub(crate) fn throughput(bytes: usize, cycles: f64) -> Cell {
    let gbps = gbps(bytes, cycles);
    Cell::new("Gb/s at 250 MHz", format!("{gbps:.1}"), "gbps_at_250_mhz", gbps)
}
