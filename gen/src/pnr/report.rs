//! What place and route found, for people and for the documentation.

use super::nextpnr::Placed;
use crate::page;
use crate::synth::Error;
use crate::terminal::{number, table};
use spinneret_table::{Cell, Row};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- clocks: begin; written by `./dev pnr --record` -->";
const END: &str = "<!-- clocks: end -->";

/// Headings of the table; times are in ns.
const HEADINGS: [&str; 9] = [
    "block",
    "MHz",
    "all runs",
    "logic",
    "nets",
    "LUT",
    "FF",
    "RAM",
    "slowest path",
];

/// The clock of a block in words.
pub fn clock(placed: &Placed) -> String {
    placed
        .mhz()
        .map_or("no registers".to_owned(), |mhz| format!("{mhz:.0} MHz"))
}

/// A table for people.
pub fn text(all: &[Placed], with_paths: bool) -> String {
    let mut table = table(HEADINGS);
    for placed in all {
        let [numbers @ .., path] = cells(placed);
        let mut row = vec![Cell::new(&placed.block)];
        row.extend(numbers.map(|cell| number(Some(cell))));
        row.push(Cell::new(path));
        table.add_row(Row::from(row));
    }
    let mut text = format!(
        "{table}\nECP5-85, speed grade 8; of several runs the one in the middle. Logic and nets are ns on its slowest path.\n"
    );
    for placed in all.iter().filter(|_| with_paths) {
        for clock in &placed.clocks {
            let _ = writeln!(
                text,
                "\n{} ({}): {}",
                placed.block,
                clock.clock,
                clock.nets.join(" -> ")
            );
        }
    }
    text
}

/// The cells of a row, without the block's name; empty where there is nothing.
fn cells(placed: &Placed) -> [String; 8] {
    let used = |kind| placed.used.get(kind).map(u32::to_string).unwrap_or_default();
    let slowest = placed.slowest();
    let ns = |of: fn(&super::nextpnr::Clock) -> f64| {
        slowest.map_or(String::new(), |clock| format!("{:.1}", of(clock)))
    };
    [
        slowest.map_or(String::new(), |clock| format!("{:.0}", clock.mhz)),
        runs(placed),
        ns(|clock| clock.logic_ns),
        ns(|clock| clock.routing_ns),
        used("TRELLIS_COMB"),
        used("TRELLIS_FF"),
        used("DP16KD"),
        slowest.map_or(String::new(), |clock| format!("{} -> {}", clock.from, clock.to)),
    ]
}

/// The slowest and the fastest run, and how many there were.
fn runs(placed: &Placed) -> String {
    match placed.runs.as_slice() {
        [slowest, .., fastest] => format!("{slowest:.0} to {fastest:.0}, {} seeds", placed.runs.len()),
        _ => String::new(),
    }
}

/// Puts the figures of a block into the table of a page; rows of other blocks stay as they are.
///
/// # Errors
/// The page cannot be read or written, or lacks the marks around the table.
pub fn record(path: &Path, shown: &str, placed: &Placed) -> Result<(), Error> {
    let failed = |action| {
        move |source| Error::Io {
            action,
            path: shown.to_owned(),
            source,
        }
    };
    let old = fs::read_to_string(path).map_err(failed("read"))?;
    let new = update(&old, placed).ok_or_else(|| Error::NoMarks {
        path: shown.to_owned(),
        begin: BEGIN,
        end: END,
    })?;
    page::replace(path, &new).map_err(failed("write"))
}

fn update(page: &str, placed: &Placed) -> Option<String> {
    let (_, rest) = page.split_once(BEGIN)?;
    let (rows, _) = rest.split_once(END)?;
    let start = format!("| `{}` |", placed.block);
    let mut rows: Vec<String> = rows
        .lines()
        .filter(|line| line.starts_with("| `") && !line.starts_with(&start))
        .map(str::to_owned)
        .collect();
    let [numbers @ .., path] = cells(placed);
    let path = if path.is_empty() {
        path
    } else {
        format!("`{path}`")
    };
    rows.push(format!("{start} {} | {path} |", numbers.join(" | ")));
    rows.sort();
    let head = format!(
        "| {} |\n|---|{}---|\n",
        HEADINGS.join(" | "),
        "---:|".repeat(HEADINGS.len() - 2)
    );
    let body: String = rows.into_iter().map(|row| row + "\n").collect();
    page::between(page, [BEGIN, END], &(head + &body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pnr::nextpnr::Clock;

    fn placed(block: &str, mhz: f64) -> Placed {
        Placed {
            block: block.to_owned(),
            runs: vec![mhz],
            used: [("TRELLIS_FF".to_owned(), 3)].into(),
            clocks: vec![Clock {
                clock: "clk".to_owned(),
                mhz,
                logic_ns: 2.0,
                routing_ns: 6.04,
                from: "a".to_owned(),
                to: "b".to_owned(),
                nets: vec!["a".to_owned(), "c".to_owned()],
            }],
        }
    }

    #[test]
    fn rows_of_other_blocks_stay() {
        let page = format!("x\n{BEGIN}\n{END}\ny\n");
        let page = update(&page, &placed("two", 99.6)).unwrap();
        let page = update(&page, &placed("one", 150.0)).unwrap();
        let several = Placed {
            runs: vec![99.0, 101.0, 103.0],
            ..placed("two", 101.0)
        };
        let page = update(&page, &several).unwrap();
        let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(
            rows,
            [
                "| `one` | 150 |  | 2.0 | 6.0 |  | 3 |  | `a -> b` |",
                "| `two` | 101 | 99 to 103, 3 seeds | 2.0 | 6.0 |  | 3 |  | `a -> b` |"
            ]
        );
        assert!(page.starts_with("x\n") && page.ends_with("y\n"));
        assert_eq!(update("no marks", &placed("one", 1.0)), None);
    }

    #[test]
    fn paths_are_shown_if_asked_for() {
        let text = |paths| text(&[placed("one", 150.0)], paths);
        assert!(text(true).contains("one (clk): a -> c"));
        assert!(!text(false).contains("one (clk)"));
    }
}
