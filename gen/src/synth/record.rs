//! Keeps the figures in the documentation up to date.

use super::Error;
use super::figures::reference;
use super::report::{Figures, HEADINGS, reference_row};
use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- figures: begin; written by `./dev synth --record` -->";
const END: &str = "<!-- figures: end -->";

/// Puts figures into the table of a page; rows of other blocks stay as they are.
///
/// # Errors
/// The page cannot be read or written, or lacks the marks around the table.
pub fn write(page: &Path, shown: &str, all: &[Figures]) -> Result<(), Error> {
    let failed = |action| {
        move |source| Error::Io {
            action,
            path: shown.to_owned(),
            source,
        }
    };
    let old = fs::read_to_string(page).map_err(failed("read"))?;
    let new = update(&old, shown, all)?;
    crate::page::replace(page, &new).map_err(failed("write"))
}

fn update(page: &str, shown: &str, all: &[Figures]) -> Result<String, Error> {
    let no_marks = || Error::NoMarks {
        path: shown.to_owned(),
        begin: BEGIN,
        end: END,
    };
    let (before, rest) = page.split_once(BEGIN).ok_or_else(no_marks)?;
    let (table, after) = rest.split_once(END).ok_or_else(no_marks)?;
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
    Ok(format!("{before}{BEGIN}\n{head}\n{body}{END}{after}"))
}

/// What a row of the reference design has behind the name of the block.
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
    let mut numbers = [None; 13];
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

fn line(name: &str, numbers: [Option<u32>; 13]) -> String {
    let cells = numbers.map(|number| number.map(|n| n.to_string()).unwrap_or_default());
    format!("| {name} | {} |", cells.join(" | "))
}

/// The block that a row of the table speaks of, whether it is ours or the reference's.
fn block_of(line: &str) -> Option<String> {
    let cell = line.strip_prefix("| `")?;
    Some(cell.split_once('`')?.0.to_owned())
}

fn rows_of(figures: &Figures) -> impl Iterator<Item = String> {
    let row = |note: &str, numbers: [Option<u32>; 13]| line(&format!("`{}`{note}", figures.block), numbers);
    let ours = row("", figures.row());
    let theirs = reference(&figures.block).map(|r| row(REFERENCE_NOTE, reference_row(r)));
    [Some(ours), theirs].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::depth::Depth;
    use crate::synth::resources::Resources;

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
        let both = update(&empty, "page", &[figures("b", 1), figures("a", 2)]).unwrap();
        let again = update(&both, "page", &[figures("b", 3)]).unwrap();
        let rows: Vec<_> = again.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(
            rows,
            [
                "| `a` | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |  |  |  |  |",
                "| `b` | 3 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |  |  |  |  |"
            ]
        );
        assert!(again.starts_with("before\n") && again.ends_with("\nafter\n"));
        assert_eq!(update(&again, "page", &[figures("b", 3)]).unwrap(), again);
    }

    #[test]
    fn the_reference_has_a_row_of_its_own() {
        let empty = format!("{BEGIN}\n{END}");
        let page = update(&empty, "page", &[figures("pspin_pkt_alloc", 1)]).unwrap();
        assert!(
            page.contains("| `pspin_pkt_alloc` in the reference design | 665 |  |  | 215 |"),
            "{page}"
        );
    }

    #[test]
    fn a_page_without_marks_is_refused() {
        let error = update("text", "docs/synthesis.md", &[]).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("docs/synthesis.md has no lines `<!-- figures: begin")
        );
    }

    #[test]
    fn blocks_that_make_a_whole_are_summed_up() {
        let all: Vec<_> = WHOLE.iter().map(|block| figures(block, 1000)).collect();
        let page = update(&format!("{BEGIN}\n{END}"), "page", &all).expect("the page has marks");
        let ours = "| registers, both paths and host DMA together, spinneret | 4000 |  |  | 0 |";
        let theirs =
            "| registers, both paths and host DMA together, reference design | 42272 |  |  | 16672 |";
        assert!(page.contains(ours) && page.contains(theirs), "{page}");
        // They are made anew, not added to.
        let page = update(&page, "page", &[]).expect("the page has marks");
        assert_eq!(page.matches("together").count(), 2, "{page}");
        // Without one of them there is no sum.
        let page = update(&format!("{BEGIN}\n{END}"), "page", &all[1..]).expect("the page has marks");
        assert!(!page.contains("together"), "{page}");
    }
}
