//! The page of instructions.

use super::{COMPRESSED, CSRS, CsrRow, TABLE};
use std::fmt::Write;

/// The text of `docs/cluster/instructions.md`.
pub fn page() -> String {
    let mut text = String::from(
        "# Instructions\n\n\
         RV32IMAC with Zicsr and Zifencei, and `csum` for checksums, which RI5CY does not have. `isa/src/` has the tables; the\n\
         simulator, the disassembler, the decoder in hardware and this page are made from them. `./dev docs` writes the page.\n\n\
         ## 32 bits\n\n\
         | instruction | bits 31 to 0 | unit | what it does |\n|---|---|---|---|\n",
    );
    for row in TABLE {
        let unit = format!("{:?}", row.unit).to_lowercase();
        let does = row.does.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `{}` | `{}` | {unit} | `{does}` |",
            row.name,
            row.bits.replace('_', " ")
        );
    }
    text += "\n## 16 bits\n\n\
             The first row that fits counts; other encodings are illegal.\n\n\
             | instruction | bits 15 to 0 | stands for |\n|---|---|---|\n";
    for row in COMPRESSED {
        let long = row.op.row().map_or("illegal", |long| long.name);
        let _ = writeln!(
            text,
            "| `{}` | `{}` | `{long}` |",
            row.name,
            row.bits.replace('_', " ")
        );
    }
    text += "\n## Control and status registers\n\n\
             Those of our [HPU](../glossary.md#spin) ([its pipeline](hpu.md)). The mode is the lowest one that may read; other numbers are illegal.\n\n\
             | register | number | mode | writes | always reads | what it holds |\n|---|---|---|---|---|---|\n";
    for row in CSRS {
        let (mode, writes) = (format!("{:?}", row.mode), format!("{:?}", row.writes));
        let _ = writeln!(
            text,
            "| `{}` | `{}` | {} | {} | {} | {} |",
            row.name,
            number(row),
            mode.to_lowercase(),
            writes.to_lowercase(),
            row.value.map_or(String::new(), |value| format!("{value:#x}")),
            row.is
        );
    }
    text
}

/// The number of a register; the bits of several.
fn number(row: &CsrRow) -> String {
    let digits = row.bits.replace('_', "");
    u32::from_str_radix(&digits, 2).map_or(row.bits.replace('_', " "), |number| format!("{number:#x}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_is_up_to_date() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cluster/instructions.md");
        let wanted = super::page();
        if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
            std::fs::write(&path, &wanted).expect("the page can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == wanted,
            "docs/cluster/instructions.md differs from the table: run `./dev docs`"
        );
    }
}
