//! Words and tables that several results have.

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
