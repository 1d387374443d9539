//! What programs print for people, all in one style: tables without a frame, text that is no wider than the terminal, and
//! errors as sentences; and the common part of benches.

#[cfg(feature = "bench")]
pub mod bench;
mod fit;
mod text;

pub use comfy_table::{Cell, CellAlignment, ColumnConstraint, Row, Width};
pub use text::{error_line, failed, fold, for_people, has_colour, say, tell};

use comfy_table::{Color, ContentArrangement, TableComponent, presets};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A table; when it is printed, it is no wider than the terminal, if there is one. Where that is narrow, columns stand closer
/// together, and cells have lines; no word is parted as long as there is room for it.
#[derive(Clone, Debug)]
pub struct Table(comfy_table::Table);

impl Deref for Table {
    type Target = comfy_table::Table;

    fn deref(&self) -> &comfy_table::Table {
        &self.0
    }
}

impl DerefMut for Table {
    fn deref_mut(&mut self) -> &mut comfy_table::Table {
        &mut self.0
    }
}

/// Shows the table without blanks at the ends of lines.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fitting = self.0.width().map(|width| fit::fitting(&self.0, width));
        for (number, line) in fitting.as_ref().unwrap_or(&self.0).lines().enumerate() {
            let end = if number > 0 { "\n" } else { "" };
            write!(f, "{end}{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// An empty table; what is in it stands to the left.
pub fn table<'a>(headings: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = comfy_table::Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_style(TableComponent::HeaderLines, '─')
        .set_style(TableComponent::MiddleHeaderIntersections, '─')
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(headings);
    Table(table)
}

/// An empty table of figures, which stand to the right; columns with these numbers, from 0, are words.
pub fn figures<'a>(headings: impl IntoIterator<Item = &'a str>, words: &[usize]) -> Table {
    let mut table = table(headings);
    for (number, column) in table.column_iter_mut().enumerate() {
        if !words.contains(&number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A row of a result: red on terminals with colours, if that is not as it should be.
pub fn result_row(cells: impl IntoIterator<Item = String>, is_good: bool) -> Row {
    let is_plain = is_good || !has_colour();
    let cells = cells.into_iter().map(Cell::new);
    match is_plain {
        true => Row::from(cells),
        false => Row::from(cells.map(|cell| cell.fg(Color::Red))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, figures, table};

    fn lines(table: &Table) -> Vec<String> {
        table.to_string().lines().map(str::to_owned).collect()
    }

    #[test]
    fn figures_stand_to_the_right() {
        let mut table = figures(["what", "how many"], &[0]);
        table.add_row(["frames", "7"]).add_row(["a", "1000"]);
        assert_eq!(
            lines(&table),
            [
                " what     how many",
                "───────────────────",
                " frames          7",
                " a            1000"
            ]
        );
    }

    #[test]
    fn a_table_that_is_a_little_too_wide_stands_closer() {
        let mut table = figures(["what", "how many"], &[0]);
        table.add_row(["frames", "7"]).set_width(17);
        assert_eq!(
            lines(&table),
            [" what    how many", "─────────────────", " frames         7"]
        );
    }

    #[test]
    fn words_stay_whole_where_there_is_room() {
        let mut table = figures(["handler", "cycles p50", "packets/s", "text"], &[0, 3]);
        table.add_row(["histogram_hh", "1475", "1520207", &"some words ".repeat(9)]);
        for width in 48..120 {
            table.set_width(width);
            let text = table.to_string();
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width.into()), "{width}\n{text}");
            for word in [
                "handler",
                "histogram_hh",
                "cycles",
                "packets/s",
                "1520207",
                "words",
            ] {
                assert!(text.contains(word), "{width}: {word}\n{text}");
            }
        }
    }

    #[test]
    fn a_word_that_is_wider_than_the_terminal_leaves_room_for_others() {
        let mut table = table(["file", "what"]);
        table.add_row([&"/folder".repeat(30), "a trace"]).set_width(40);
        let text = table.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(text.contains(" trace"), "{text}");
    }

    #[test]
    fn a_terminal_that_is_narrower_than_any_table_is_no_failure() {
        let mut table = figures(["what", "how many", "in", "out"], &[0]);
        table.add_row(["frames", "7", "8", "9"]);
        for width in 0..12 {
            table.set_width(width);
            assert!(table.to_string().contains('7'), "{width}");
        }
    }
}
