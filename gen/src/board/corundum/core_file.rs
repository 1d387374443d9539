//! The description for FuseSoC.

use crate::render::{File, HASH_HEADER};
use spinneret_hdl::app::TOP;

/// A core in CAPI2, whose first line has to be its version.
pub(super) fn core_file(board: &str, [sources, declarations, models, constraints]: [&[String]; 4]) -> File {
    let mut text = format!(
        "CAPI=2:\n{HASH_HEADER}\nname: spinneret-nic:boards:{board}:{version}\n\
         description: The application block of spinneret for {board}\n\nfilesets:\n",
        version = env!("CARGO_PKG_VERSION"),
    );
    let mut fileset = |name: &str, kind: &str, files: &[String]| {
        text.push_str(&format!("  {name}:\n    file_type: {kind}\n    files:\n"));
        for file in files {
            text.push_str(&format!("      - {file}\n"));
        }
    };
    fileset("rtl", "systemVerilogSource", sources);
    fileset("declarations", "systemVerilogSource", declarations);
    fileset("models", "systemVerilogSource", models);
    fileset("constraints", "xdc", constraints);
    text.push_str(&format!(
        "\ntargets:\n  default:\n    filesets: [rtl, constraints]\n    toplevel: {TOP}\n"
    ));
    text.push_str(&format!(
            "  lint:\n    default_tool: verilator\n    filesets: [declarations, rtl]\n    toplevel: {TOP}\n    tools:\n      \
             verilator:\n        mode: lint-only\n"
        ));
    File {
        name: "spinneret.core".to_owned(),
        text,
    }
}
