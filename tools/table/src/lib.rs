//! Terminal output in one style for all programs: tables without a frame, text that fits the terminal, errors as one
//! sentence. The feature `bench` adds the common part of benches.

#[cfg(feature = "bench")]
pub mod bench;

pub use comfy_table::{Cell, CellAlignment, ColumnConstraint, Row, Width};

use comfy_table::{Color, ContentArrangement, TableComponent, presets};
use std::fmt::{self, Display};
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::ops::{Deref, DerefMut};
use std::os::fd::AsFd;
use std::process::ExitCode;

/// A table that fits the terminal. On a narrow one it moves columns closer together and wraps cells; it splits a word only
/// when a column has no room for it.
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

/// Prints the table without trailing blanks.
impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fitting = self.0.width().map(|width| fitting(&self.0, width));
        for (number, line) in fitting.as_ref().unwrap_or(&self.0).lines().enumerate() {
            let end = if number > 0 { "\n" } else { "" };
            write!(f, "{end}{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns an empty, left-aligned table.
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

/// Returns an empty table of right-aligned figures. The columns whose indices are in `words` are left-aligned.
pub fn figures<'a>(headings: impl IntoIterator<Item = &'a str>, words: &[usize]) -> Table {
    let mut table = table(headings);
    for (number, column) in table.column_iter_mut().enumerate() {
        if !words.contains(&number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Returns a result row, in red on a colour terminal unless `is_good`.
pub fn result_row(cells: impl IntoIterator<Item = String>, is_good: bool) -> Row {
    let is_plain = is_good || !has_colour();
    let cells = cells.into_iter().map(Cell::new);
    match is_plain {
        true => Row::from(cells),
        false => Row::from(cells.map(|cell| cell.fg(Color::Red))),
    }
}

/// Blanks between two columns (comfy-table writes one of them) and before the first.
const GAP: u16 = 2;

/// Returns the table with its columns narrowed to `width`, if it is wider than that.
fn fitting(table: &comfy_table::Table, width: u16) -> comfy_table::Table {
    let mut fitting = table.clone();
    let widest = table.lines().map(|line| columns(line.trim_end())).max();
    let natural = table.column_max_content_widths();
    let gaps = GAP * u16::try_from(natural.len()).unwrap_or(u16::MAX / GAP);
    let frame: u16 = table.column_iter().map(|column| column.padding_width() + 1).sum();
    let all: u16 = natural.iter().copied().fold(0, u16::saturating_add);
    let is_narrow = all.saturating_add(frame.saturating_sub(1)) > width;
    if !is_narrow && widest <= Some(width.into()) {
        return fitting;
    }
    let room = width.saturating_sub(gaps.saturating_sub(1));
    let widths = shares(&natural, &longest_words(table), room);
    for (column, width) in fitting.column_iter_mut().zip(widths) {
        let constraint = match column.constraint() {
            Some(ColumnConstraint::Hidden) => ColumnConstraint::Hidden,
            // A width counts the blank before it.
            _ => ColumnConstraint::Absolute(Width::Fixed(width.saturating_add(GAP - 1))),
        };
        column.set_padding((GAP - 1, 0)).set_constraint(constraint);
    }
    fitting
}

/// Divides the room among the columns. Each gets its longest word first, if all of these fit; the rest of the room is shared
/// evenly by the columns that need more.
fn shares(natural: &[u16], words: &[u16], room: u16) -> Vec<u16> {
    let mut widths = fair(words, room);
    let left = room.saturating_sub(widths.iter().sum());
    let wanted: Vec<u16> = natural
        .iter()
        .zip(&widths)
        .map(|(natural, width)| natural.saturating_sub(*width))
        .collect();
    for (width, more) in widths.iter_mut().zip(fair(&wanted, left)) {
        *width = (*width + more).max(1);
    }
    widths
}

/// Max-min fair shares of the room: each gets what it wants, or as much as every other one that does not.
fn fair(wanted: &[u16], room: u16) -> Vec<u16> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|index| wanted[*index]);
    let (mut room, mut given) = (room, vec![0; wanted.len()]);
    for (place, index) in order.iter().enumerate() {
        let others = u16::try_from(wanted.len() - place).unwrap_or(u16::MAX);
        given[*index] = wanted[*index].min(room / others);
        room -= given[*index];
    }
    given
}

/// The longest word of each column.
fn longest_words(table: &comfy_table::Table) -> Vec<u16> {
    let mut longest = vec![0; table.column_iter().count()];
    for row in table.header().into_iter().chain(table.row_iter()) {
        for (cell, longest) in row.cell_iter().zip(&mut longest) {
            let words = cell.content();
            let word = words.split_whitespace().map(columns).max().unwrap_or(0);
            *longest = u16::try_from(word).unwrap_or(u16::MAX).max(*longest);
        }
    }
    longest
}

/// Prints a text and a line end to standard output, wrapped to the width of the terminal.
///
/// # Panics
/// Like `println!`, if the text cannot be written. A closed pipe is no error: the reader has seen enough.
pub fn say(text: impl Display) {
    let mut out = stdout().lock();
    let text = for_people(&text.to_string(), &out);
    match writeln!(out, "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            panic!("cannot print the result: {error}")
        }
        _ => {}
    }
}

/// Prints to standard error in the same way, and ignores errors.
pub fn tell(text: impl Display) {
    let mut out = stderr().lock();
    let text = for_people(&text.to_string(), &out);
    let _ = writeln!(out, "{text}");
}

/// Returns the exit code of a program. Prints an error as one sentence, with its causes.
pub fn failed<E: Display>(result: Result<ExitCode, E>) -> ExitCode {
    result.unwrap_or_else(|error| {
        tell(error_line(&format!("{error:#}")));
        ExitCode::FAILURE
    })
}

/// Formats an error message.
pub fn error_line(sentence: &str) -> String {
    match stderr().is_terminal() && has_colour() {
        true => format!("\x1b[31merror:\x1b[0m {sentence}"),
        false => format!("error: {sentence}"),
    }
}

/// Whether the user allows colours on a terminal (<https://no-color.org>).
pub fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Wraps the text if the stream is a terminal, else returns it unchanged.
pub fn for_people(text: &str, stream: &(impl IsTerminal + AsFd)) -> String {
    let width = stream
        .is_terminal()
        .then(|| terminal_size::terminal_size_of(stream))
        .flatten();
    match width {
        Some((terminal_size::Width(width), _)) if width > 0 => fold(text, width.into()),
        _ => text.to_owned(),
    }
}

/// Wraps lines wider than `width` between words; continuation lines keep the indent. A longer word, such as a file name,
/// stays whole.
pub fn fold(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            folded.push('\n');
        }
        if columns(line) <= width {
            folded.push_str(line);
            continue;
        }
        let words = line.trim_start_matches(' ');
        let indent = &line[..line.len() - words.len()];
        let mut at = indent.len();
        folded.push_str(indent);
        for (place, word) in words.split(' ').enumerate() {
            let long = columns(word);
            if place > 0 && at + 1 + long > width {
                folded.push('\n');
                folded.push_str(indent);
                at = indent.len();
            } else if place > 0 {
                folded.push(' ');
                at += 1;
            }
            folded.push_str(word);
            at += long;
        }
    }
    folded
}

/// Width of a text in terminal columns; escape sequences of colours take none.
fn columns(text: &str) -> usize {
    let (mut count, mut is_colour) = (0, false);
    for character in text.chars() {
        match (is_colour, character) {
            (false, '\x1b') => is_colour = true,
            (false, _) => count += 1,
            (true, 'm') => is_colour = false,
            (true, _) => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{Table, fair, figures, fold, shares, table};

    fn lines(table: &Table) -> Vec<String> {
        table.to_string().lines().map(str::to_owned).collect()
    }

    #[test]
    fn figures_are_right_aligned() {
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
    fn narrow_table_moves_columns_together() {
        let mut table = figures(["what", "how many"], &[0]);
        table.add_row(["frames", "7"]).set_width(17);
        assert_eq!(
            lines(&table),
            [" what    how many", "─────────────────", " frames         7"]
        );
    }

    #[test]
    fn keeps_words_whole_if_there_is_room() {
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
    fn overlong_word_leaves_room_for_other_columns() {
        let mut table = table(["file", "what"]);
        table.add_row([&"/folder".repeat(30), "a trace"]).set_width(40);
        let text = table.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(text.contains(" trace"), "{text}");
    }

    #[test]
    fn prints_on_very_narrow_terminal() {
        let mut table = figures(["what", "how many", "in", "out"], &[0]);
        table.add_row(["frames", "7", "8", "9"]);
        for width in 0..12 {
            table.set_width(width);
            assert!(table.to_string().contains('7'), "{width}");
        }
    }

    #[test]
    fn fair_shares_are_max_min_fair() {
        assert_eq!(fair(&[3, 40, 5, 40], 30), [3, 11, 5, 11]);
        assert_eq!(fair(&[3, 4], 30), [3, 4]);
        assert_eq!(fair(&[3, 4], 0), [0, 0]);
        assert!(fair(&[], 7).is_empty());
    }

    #[test]
    fn longest_words_take_precedence() {
        // The second could have 15 by right, but then the first would lose its word.
        assert_eq!(shares(&[20, 60], &[20, 5], 30), [20, 10]);
        assert_eq!(shares(&[4, 60], &[4, 50], 30), [4, 26]);
    }

    #[test]
    fn wraps_between_words_and_keeps_indent() {
        assert_eq!(fold("one two three", 8), "one two\nthree");
        assert_eq!(fold("  one two three\nfour", 8), "  one\n  two\n  three\nfour");
        assert_eq!(fold("one two\n", 7), "one two\n");
        assert_eq!(fold("", 0), "");
    }

    #[test]
    fn keeps_file_names_whole_and_ignores_colours() {
        assert_eq!(fold("see /a/long/name now", 8), "see\n/a/long/name\nnow");
        assert_eq!(fold("\x1b[31merror:\x1b[0m no", 9), "\x1b[31merror:\x1b[0m no");
    }
}
