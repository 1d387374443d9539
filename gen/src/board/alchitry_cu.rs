//! Designs for the Alchitry Cu: sources, pins and a Makefile for the open tools.

use super::{BoardOutput, Contents, RTL, top};
use crate::error::backend;
use crate::render::{File, HASH_HEADER};
use spinneret_bsp::Board;
use spinneret_bsp::alchitry_cu::{AlchitryCu, CLOCK_HZ, UART_BAUD};
use spinneret_bsp::alchitry_cu_hpu::{self, AlchitryCuHpu};
use spinneret_verilog::TopOptions;

/// The design is a pipeline.
fn has_pipeline(board: &Board) -> bool {
    board.name == alchitry_cu_hpu::BOARD.name
}

/// Frequency that place and route has to reach, in MHz.
const CLOCK_MHZ: u64 = CLOCK_HZ / 1_000_000;

/// All files of the board.
///
/// # Errors
/// The design cannot be generated.
pub(super) fn render(board: &'static Board) -> anyhow::Result<BoardOutput> {
    let mut library = Contents::library();
    let (top, options) = (top(board), TopOptions::default());
    let added = if has_pipeline(board) {
        library.add(&AlchitryCuHpu::new()?, &top, &options)
    } else {
        library.add(&AlchitryCu::new()?, &top, &options)
    };
    added.map_err(backend(&top))?;
    let contents = Contents::of(&library);
    let mut files = vec![contents.file_list(&top), pins(board), makefile(board, &contents)];
    files.extend(contents.sources);
    files.extend(contents.declarations);
    Ok(BoardOutput {
        board,
        files,
        notes: vec![
            format!("clock {CLOCK_MHZ} MHz, serial line {UART_BAUD} bits a second"),
            format!(
                "`make` in this directory builds build/seed-1/{top}.bin; `make program` loads it into the board's flash"
            ),
        ],
    })
}

fn pins(board: &Board) -> File {
    let mut text = format!("{HASH_HEADER}\n");
    for pin in (board.pins)() {
        text.push_str(&format!("set_io {} {}\n", pin.signal, pin.ball));
    }
    File {
        name: format!("constraints/{}.pcf", top(board)),
        text,
    }
}

/// Commands of yosys for memories: the part has no distributed RAM, so those that ask for it become block RAM or registers.
/// They are there when modules with parameters are instantiated.
const MEMORIES: &str = "setattr -unset ram_style m:*";
/// The same for a pipeline, which needs all block RAMs. A word that is written is read in the same clock only where the read is
/// not used, so no logic has to see to that.
const MEMORIES_OF_HPU: &str = "proc; flatten; setattr -unset ram_style m:* a:ram_style=distributed %i; \
    setattr -set no_rw_check 1 m:*";

/// Builds the bitstream. A step that fails leaves no file that the next step would take for good.
fn makefile(board: &Board, contents: &Contents) -> File {
    let top = top(board);
    let memories = if has_pipeline(board) {
        MEMORIES_OF_HPU
    } else {
        MEMORIES
    };
    let sources = contents.in_makefile();
    let text = format!(
        "{HASH_HEADER}
# Synthesis, place and route, and bitstream by yosys, nextpnr-ice40 and icepack. nextpnr fails if the design does
# not reach the frequency; SEED chooses another placement.
TOP := {top}
FREQUENCY_MHZ := {CLOCK_MHZ}
SEED := 1
BUILD := build
PLACED := $(BUILD)/seed-$(SEED)
SOURCES :={sources}

.DELETE_ON_ERROR:
.PHONY: all program clean
all: $(PLACED)/$(TOP).bin

# The part has no distributed RAM.
$(BUILD)/$(TOP).json: $(SOURCES) Makefile
\tmkdir -p $(BUILD)
\tyosys -q -l $(BUILD)/yosys.log -p 'read_verilog -sv $(SOURCES); hierarchy -top $(TOP); {memories}' \\
\t\t-p 'synth_ice40 -top $(TOP) -json $@; check -assert'

$(PLACED)/$(TOP).asc: $(BUILD)/$(TOP).json constraints/$(TOP).pcf
\tmkdir -p $(PLACED)
\tnextpnr-ice40 -q --hx8k --package cb132 --freq $(FREQUENCY_MHZ) --seed $(SEED) --json $< \\
\t\t--pcf constraints/$(TOP).pcf --report $(PLACED)/report.json --log $(PLACED)/nextpnr.log --asc $@

$(PLACED)/$(TOP).bin: $(PLACED)/$(TOP).asc
\ticepack $< $@

program: all
\ticeprog $(PLACED)/$(TOP).bin

clean:
\trm -rf $(BUILD)
"
    );
    debug_assert!(contents.sources.iter().all(|file| file.name.starts_with(RTL)));
    File {
        name: "Makefile".to_owned(),
        text,
    }
}
