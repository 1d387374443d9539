//! What a bench has measured: a table for people and JSON for programs.

use anyhow::Result;
use serde_json::{Value, json};
use spinneret_table::Table;
use spinneret_table::bench::write;
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
        write(path, &format!("{document:#}\n"))?;
        println!("figures: {}", path.display());
        Ok(())
    }
}

/// A table with these headings, in which all columns but `left` stand to the right.
pub(crate) fn table(headings: &[&str], left: usize, rows: impl Iterator<Item = Vec<String>>) -> Table {
    let mut table = spinneret_table::figures(headings.iter().copied(), &[left]);
    table.add_rows(rows);
    table
}

/// Throughput at 250 MHz in Gb/s, frame bytes only.
pub(crate) fn gbps(bytes: usize, cycles: f64) -> f64 {
    bytes as f64 * 8.0 / cycles * 0.25
}

/// A figure of the public design, if there is one, and how many times better ours is.
pub(crate) fn reference(theirs: Option<f64>, ours: f64) -> [String; 2] {
    match theirs {
        Some(theirs) => [theirs.to_string(), format!("{:.1}x", theirs / ours)],
        None => [String::new(), String::new()],
    }
}
