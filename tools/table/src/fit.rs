//! Tables that are too wide for a terminal.

use comfy_table::{ColumnConstraint, Table, Width};

/// Blanks between two columns, of which comfy-table writes one, and before the first.
const GAP: u16 = 2;

/// The table with columns that are together no wider than that, if they have to give way.
pub(crate) fn fitting(table: &Table, width: u16) -> Table {
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

/// How wide each column becomes, of all of which are as wide as the room: none narrower than its longest word, unless those
/// are too wide together, and the rest evenly, for what is wider than that.
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

/// What each gets of the room: all that it wants, or as much as the others that do not get it.
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
fn longest_words(table: &Table) -> Vec<u16> {
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

/// How many places of a terminal a line takes: all characters of the project's tables take one.
fn columns(line: &str) -> usize {
    line.chars().count()
}

#[cfg(test)]
mod tests {
    use super::{fair, shares};

    #[test]
    fn who_wants_little_gets_it_and_others_share() {
        assert_eq!(fair(&[3, 40, 5, 40], 30), [3, 11, 5, 11]);
        assert_eq!(fair(&[3, 4], 30), [3, 4]);
        assert_eq!(fair(&[3, 4], 0), [0, 0]);
        assert!(fair(&[], 7).is_empty());
    }

    #[test]
    fn words_come_first() {
        // The second could have 15 by right, but then the first would lose its word.
        assert_eq!(shares(&[20, 60], &[20, 5], 30), [20, 10]);
        assert_eq!(shares(&[4, 60], &[4, 50], 30), [4, 26]);
    }
}
