//! The design for the Colorlight 5A-75B: sources, pins, clocks and a Makefile for the open tools.

use super::{BoardOutput, Contents, top};
use crate::error::backend;
use crate::render::{File, HASH_HEADER};
use spinneret_bsp::Board;
use spinneret_bsp::colorlight_5a_75b::{CLOCK_HZ, CLOCKS, Colorlight5a75b, LINE_HZ};
use spinneret_verilog::TopOptions;
use std::fmt::Write as _;

/// All files of the board.
///
/// # Errors
/// The design cannot be generated.
pub(super) fn render(board: &'static Board) -> anyhow::Result<BoardOutput> {
    let mut library = Contents::library();
    let top = top(board);
    let added = library.add(&Colorlight5a75b::new()?, &top, &TopOptions::default());
    added.map_err(backend(&top))?;
    let contents = Contents::of(&library);
    let mut files = vec![
        contents.file_list(&top),
        constraints(board, &top),
        makefile(&top, &contents),
    ];
    files.extend(contents.sources);
    files.extend(contents.declarations);
    Ok(BoardOutput {
        board,
        files,
        notes: vec![
            format!(
                "lines at {} MHz, everything between them at {} MHz",
                megahertz(LINE_HZ),
                megahertz(CLOCK_HZ)
            ),
            format!("`make` in this directory builds build/seed-1/{top}.bit and .svf"),
        ],
    })
}

fn megahertz(hz: u64) -> f64 {
    hz as f64 / 1e6
}

/// Pins and clocks. nextpnr derives the clocks of the PLL, and does not compare clocks with each other.
fn constraints(board: &Board, top: &str) -> File {
    let mut text = format!("{HASH_HEADER}\n");
    // Writing to a string does not fail.
    for pin in (board.pins)() {
        let (signal, ball) = (&pin.signal, &pin.ball);
        let fast = if signal.contains("_tx") {
            " SLEWRATE=FAST"
        } else {
            ""
        };
        let _ = writeln!(text, "LOCATE COMP \"{signal}\" SITE \"{ball}\";");
        let _ = writeln!(text, "IOBUF PORT \"{signal}\" IO_TYPE=LVCMOS33{fast};");
    }
    for (signal, hz) in CLOCKS {
        let _ = writeln!(text, "FREQUENCY PORT \"{signal}\" {} MHZ;", megahertz(hz));
    }
    File {
        name: format!("constraints/{top}.lpf"),
        text,
    }
}

/// Builds the bitstream. A step that fails leaves no file that the next step would take for good.
fn makefile(top: &str, contents: &Contents) -> File {
    let sources = contents.in_makefile();
    let text = format!(
        "{HASH_HEADER}
# Synthesis, place and route, and bitstream by yosys, nextpnr-ecp5 and ecppack. nextpnr fails if a clock does not reach its
# frequency; SEED chooses another placement.
TOP := {top}
SEED := 1
BUILD := build
PLACED := $(BUILD)/seed-$(SEED)
NEXTPNR := nextpnr-ecp5
ECPPACK := ecppack
SOURCES :={sources}

.DELETE_ON_ERROR:
.PHONY: all clean
all: $(PLACED)/$(TOP).bit

$(BUILD)/$(TOP).json: $(SOURCES) Makefile
\tmkdir -p $(BUILD)
\tyosys -q -l $(BUILD)/yosys.log -p 'read_verilog -sv $(SOURCES); synth_ecp5 -top $(TOP) -json $@; check -assert'

$(PLACED)/$(TOP).config: $(BUILD)/$(TOP).json constraints/$(TOP).lpf
\tmkdir -p $(PLACED)
\t$(NEXTPNR) -q --25k --package CABGA256 --speed 6 --seed $(SEED) --json $< --lpf constraints/$(TOP).lpf \\
\t\t--report $(PLACED)/report.json --log $(PLACED)/nextpnr.log --textcfg $@

$(PLACED)/$(TOP).bit: $(PLACED)/$(TOP).config
\t$(ECPPACK) --input $< --svf $(PLACED)/$(TOP).svf --bit $@

clean:
\trm -rf $(BUILD)
"
    );
    File {
        name: "Makefile".to_owned(),
        text,
    }
}
