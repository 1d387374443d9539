//! Tables that programs print for people, all in one style: no frame, a line below the headings, and no wider than the
//! terminal, if there is one.

pub use comfy_table::{Cell, CellAlignment, ColumnConstraint, Row, Table, Width};
use comfy_table::{ContentArrangement, TableComponent, presets};

/// An empty table; what is in it stands to the left.
pub fn table<'a>(headings: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_style(TableComponent::HeaderLines, '─')
        .set_style(TableComponent::MiddleHeaderIntersections, '─')
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(headings);
    table
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

#[cfg(test)]
mod tests {
    use super::figures;

    #[test]
    fn figures_stand_to_the_right_and_lines_fit() {
        let mut table = figures(["what", "how many"], &[0]);
        table.add_row(["frames", "7"]).add_row(["a", "1000"]);
        let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        assert_eq!(
            lines,
            [
                " what     how many",
                "───────────────────",
                " frames          7",
                " a            1000"
            ]
        );
        table.add_row(["words ".repeat(40), "8".to_owned()]).set_width(60);
        assert!(table.lines().all(|line| line.chars().count() <= 60), "{table}");
    }
}
