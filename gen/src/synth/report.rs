//! Figures side by side with those of the reference design.

use super::depth::{Depth, Path as LongestPath};
use super::netlist::Resources;
use super::{Reference, reference};
use crate::error::failed;
use crate::report::{number, table};
use crate::workspace;
use anyhow::Context as _;
use serde::Serialize;
use serde_json::{Value, json};
use spinneret_table::{Cell, Row};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The figures of one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Name of the block.
    pub block: String,
    /// Its resources.
    pub resources: Resources,
    /// Its longest paths.
    pub depth: Depth,
}

/// Headings of the table; the last four are LUT levels.
pub const HEADINGS: [&str; 15] = [
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
    "DSP",
    "reg to reg",
    "in to reg",
    "reg to out",
    "in to out",
];

impl Figures {
    /// The cells of the block's row, without its name; a path that does not exist is empty.
    pub fn row(&self) -> [Option<u32>; 14] {
        let r = &self.resources;
        let d = &self.depth;
        let levels = |path: &Option<LongestPath>| path.as_ref().map(|path| path.levels);
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
            Some(r.dsp),
            levels(&d.between_registers),
            levels(&d.from_inputs),
            levels(&d.to_outputs),
            levels(&d.through),
        ]
    }
}

/// The row of the reference's block in the same columns.
pub fn reference_row(r: Reference) -> [Option<u32>; 14] {
    let none = None;
    [
        r.lut, none, none, r.ff, r.lutram, none, r.ramb18, r.ramb36, none, none, r.levels, none, none, none,
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

fn row(name: &str, numbers: [Option<u32>; 14]) -> Row {
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

const BEGIN: &str = "<!-- figures: begin; written by `./dev synth --record` -->";
const END: &str = "<!-- figures: end -->";

/// Puts figures into the table of a page; rows of other blocks stay as they are.
///
/// # Errors
/// The page cannot be read or written, or lacks the marks around the table.
pub fn record(page: &Path, shown: &str, all: &[Figures]) -> anyhow::Result<()> {
    let old = fs::read_to_string(page).map_err(failed("read", shown))?;
    let new = update(&old, all).with_context(|| workspace::no_marks(shown, [BEGIN, END]))?;
    workspace::replace(page, &new).map_err(failed("write", shown))
}

fn update(page: &str, all: &[Figures]) -> Option<String> {
    let (_, rest) = page.split_once(BEGIN)?;
    let (table, _) = rest.split_once(END)?;
    let mut rows: Vec<(String, String)> = table
        .lines()
        .filter_map(|line| Some((block_of(line)?, line.to_owned())))
        .collect();
    for figures in all {
        rows.retain(|(block, _)| *block != figures.block);
        rows.extend(rows_of(figures).map(|line| (figures.block.clone(), line)));
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let sums = [
        sum("spinneret", &rows, ""),
        sum("reference design", &rows, REFERENCE_NOTE),
    ];
    let columns = HEADINGS.len() - 1;
    let head = format!("| {} |\n|---|{}", HEADINGS.join(" | "), "---:|".repeat(columns));
    let body: String = rows
        .into_iter()
        .map(|(_, line)| line)
        .chain(sums.into_iter().flatten())
        .map(|line| line + "\n")
        .collect();
    workspace::between(page, [BEGIN, END], &format!("{head}\n{body}"))
}

/// Suffix of the block name in rows of the reference design.
const REFERENCE_NOTE: &str = " in the reference design";

/// The blocks that do all that the reference design does around the cluster, each with its parts.
const WHOLE: [&str; 4] = [
    "pspin_ctrl_regs",
    "pspin_egress_datapath",
    "pspin_hostmem_dma",
    "pspin_ingress_datapath",
];

/// The row with the LUTs and flip-flops of all these blocks, if the table has them all.
fn sum(whose: &str, rows: &[(String, String)], note: &str) -> Option<String> {
    let mut sums = [0; 2];
    for block in WHOLE {
        let start = format!("| `{block}`{note} |");
        let (_, found) = rows.iter().find(|(_, line)| line.starts_with(&start))?;
        let cells: Vec<&str> = found.split('|').map(str::trim).collect();
        for (sum, column) in sums.iter_mut().zip([LUT_COLUMN, FF_COLUMN]) {
            *sum += cells.get(column)?.parse::<u32>().ok()?;
        }
    }
    let mut numbers = [None; 14];
    for (sum, column) in sums.into_iter().zip([LUT_COLUMN, FF_COLUMN]) {
        // Of a line that begins with a bar, the first cell is empty and the second one the name.
        numbers[column - 2] = Some(sum);
    }
    Some(line(
        &format!("registers, both paths and host DMA together, {whose}"),
        numbers,
    ))
}

/// Cells of a line, counted from the bar at its start.
const LUT_COLUMN: usize = 2;
const FF_COLUMN: usize = 5;

fn line(name: &str, numbers: [Option<u32>; 14]) -> String {
    let cells = numbers.map(|number| number.map(|n| n.to_string()).unwrap_or_default());
    format!("| {name} | {} |", cells.join(" | "))
}

/// The block that a row of the table speaks of, whether it is ours or the reference's.
fn block_of(line: &str) -> Option<String> {
    let cell = line.strip_prefix("| `")?;
    Some(cell.split_once('`')?.0.to_owned())
}

fn rows_of(figures: &Figures) -> impl Iterator<Item = String> {
    let row = |note: &str, numbers: [Option<u32>; 14]| line(&format!("`{}`{note}", figures.block), numbers);
    let ours = row("", figures.row());
    let theirs = reference(&figures.block).map(|r| row(REFERENCE_NOTE, reference_row(r)));
    [Some(ours), theirs].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::depth::Depth;
    use crate::synth::netlist::Resources;

    fn figures(block: &str, lut: u32) -> Figures {
        let resources = Resources {
            lut,
            ..Resources::default()
        };
        Figures {
            block: block.to_owned(),
            resources,
            depth: Depth::default(),
        }
    }

    #[test]
    fn replaces_a_row_and_keeps_the_others_and_the_text_around() {
        let empty = format!("before\n{BEGIN}\n{END}\nafter\n");
        let both = update(&empty, &[figures("b", 1), figures("a", 2)]).unwrap();
        let again = update(&both, &[figures("b", 3)]).unwrap();
        let rows: Vec<_> = again.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(
            rows,
            [
                "| `a` | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |  |  |  |  |",
                "| `b` | 3 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |  |  |  |  |"
            ]
        );
        assert!(again.starts_with("before\n") && again.ends_with("\nafter\n"));
        assert_eq!(update(&again, &[figures("b", 3)]).unwrap(), again);
        assert_eq!(update("a page without marks", &[]), None);
    }

    #[test]
    fn the_reference_has_a_row_of_its_own() {
        let empty = format!("{BEGIN}\n{END}");
        let page = update(&empty, &[figures("pspin_pkt_alloc", 1)]).unwrap();
        assert!(
            page.contains("| `pspin_pkt_alloc` in the reference design | 665 |  |  | 215 |"),
            "{page}"
        );
    }

    #[test]
    fn totals_sum_the_main_blocks() {
        let all: Vec<_> = WHOLE.iter().map(|block| figures(block, 1000)).collect();
        let page = update(&format!("{BEGIN}\n{END}"), &all).expect("the page has marks");
        let ours = "| registers, both paths and host DMA together, spinneret | 4000 |  |  | 0 |";
        let theirs =
            "| registers, both paths and host DMA together, reference design | 42272 |  |  | 16672 |";
        assert!(page.contains(ours) && page.contains(theirs), "{page}");
        // Rows are replaced, not appended.
        let page = update(&page, &[]).expect("the page has marks");
        assert_eq!(page.matches("together").count(), 2, "{page}");
        // Without one of them there is no sum.
        let page = update(&format!("{BEGIN}\n{END}"), &all[1..]).expect("the page has marks");
        assert!(!page.contains("together"), "{page}");
    }
}
