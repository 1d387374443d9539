//! The page of instructions.

use super::{COMPRESSED, TABLE};
use std::fmt::Write;

/// The text of `docs/cluster/instructions.md`.
pub fn page() -> String {
    let mut text = String::from(
        "# Instructions\n\n\
         RV32IMAC with Zicsr and Zifencei. `isa/src/table.rs` is the table; the simulator, the disassembler and this page are made\n\
         from it. `./dev docs` writes the page.\n\n\
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
    text
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
