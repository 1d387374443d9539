//! Words and tables that several results have.

use molly::model::Level;

/// When a channel's chunks travel, in words. Loops are counted from the outermost one.
pub(crate) fn when(level: Level) -> String {
    match level {
        Level::Initial => "at the beginning".to_owned(),
        Level::Final => "at the end".to_owned(),
        Level::Time(0) => "before each nest".to_owned(),
        Level::Time(at) if at % 2 == 1 => format!("each turn of loop {}", at.div_ceil(2)),
        Level::Time(at) => format!("each nest in loop {}", at / 2),
    }
}

/// A table of figures behind two columns of words. Where there is no terminal it has the width of most.
pub(crate) fn narrow<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = spinneret_table::figures(headings, &[0, 1]);
    if table.width().is_none() {
        table.set_width(80);
    }
    rows.for_each(|row| {
        table.add_row(row);
    });
    format!("{table}\n")
}

/// Ranks, or how many they are.
pub(crate) fn ranks(ranks: &[usize]) -> String {
    match ranks {
        few @ ([_] | [_, _]) => few.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
        many => format!("{} ranks", many.len()),
    }
}
