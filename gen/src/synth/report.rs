//! Figures side by side with those of the reference design.

use super::depth::{Depth, Path};
use super::figures::{Reference, reference};
use super::resources::Resources;
use crate::terminal::{number, table};
use serde::Serialize;
use serde_json::{Value, json};
use spinneret_table::{Cell, Row};
use std::fmt::Write as _;

/// The figures of one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Name of the block.
    pub block: String,
    /// What it takes.
    pub resources: Resources,
    /// Its longest paths.
    pub depth: Depth,
}

/// Headings of the table; the last four are LUT levels.
pub const HEADINGS: [&str; 14] = [
    "block",
    "LUT",
    "MUXF",
    "CARRY4",
    "FF",
    "LUTRAM",
    "SRL",
    "RAMB18",
    "RAMB36",
    "URAM",
    "reg to reg",
    "in to reg",
    "reg to out",
    "in to out",
];

impl Figures {
    /// The cells of the block's row, without its name; a path that does not exist is empty.
    pub fn row(&self) -> [Option<u32>; 13] {
        let r = &self.resources;
        let d = &self.depth;
        let levels = |path: &Option<Path>| path.as_ref().map(|path| path.levels);
        [
            Some(r.lut),
            Some(r.muxf),
            Some(r.carry4),
            Some(r.ff),
            Some(r.lutram),
            Some(r.srl),
            Some(r.ramb18),
            Some(r.ramb36),
            Some(r.uram),
            levels(&d.between_registers),
            levels(&d.from_inputs),
            levels(&d.to_outputs),
            levels(&d.through),
        ]
    }
}

/// The row of the reference's block in the same columns.
pub fn reference_row(r: Reference) -> [Option<u32>; 13] {
    let none = None;
    [
        r.lut, none, none, r.ff, r.lutram, none, r.ramb18, r.ramb36, none, r.levels, none, none, none,
    ]
}

/// A table for people: each block with the reference's figures below it.
pub fn text(all: &[Figures], with_paths: bool) -> String {
    let mut table = table(HEADINGS);
    for figures in all {
        table.add_row(row(&figures.block, figures.row()));
        if let Some(reference) = reference(&figures.block) {
            table.add_row(row("  (reference design)", reference_row(reference)));
        }
    }
    let mut text =
        format!("{table}\nThe last four columns are LUT levels on the longest path of each sort.\n");
    if with_paths {
        all.iter().for_each(|figures| text.push_str(&paths(figures)));
    }
    text
}

/// The same for programs.
pub fn json(all: &[Figures]) -> Value {
    let each = all.iter().map(|figures| {
        let mut value = json!(figures);
        value["reference"] = reference(&figures.block).map_or(Value::Null, |r| {
            json!({
                "lut": r.lut, "ff": r.ff, "lutram": r.lutram, "ramb18": r.ramb18, "ramb36": r.ramb36,
                "levels": r.levels,
            })
        });
        value
    });
    each.collect()
}

fn row(name: &str, numbers: [Option<u32>; 13]) -> Row {
    let mut cells = vec![Cell::new(name)];
    cells.extend(numbers.into_iter().map(number));
    Row::from(cells)
}

fn paths(figures: &Figures) -> String {
    let d = &figures.depth;
    let sorts = [
        ("reg to reg", &d.between_registers),
        ("in to reg", &d.from_inputs),
        ("reg to out", &d.to_outputs),
        ("in to out", &d.through),
    ];
    let mut text = format!("\n{}\n", figures.block);
    for (sort, path) in sorts {
        if let Some(path) = path {
            let cells = path.cells.join(" ");
            let _ = writeln!(text, "  {sort:10} {} -> {}: {cells}", path.from, path.to);
        }
    }
    text
}
