//! The Alchitry Cu: sources, pins and a Makefile for the open tools.

use super::library::{Contents, RTL, backend};
use super::output::BoardOutput;
use crate::Error;
use crate::render::{File, HASH_HEADER};
use spinneret_bsp::Board;
use spinneret_bsp::alchitry_cu::{AlchitryCu, CLOCK_HZ, UART_BAUD};
use spinneret_verilog::TopOptions;

/// Name of the top module.
pub const TOP: &str = "alchitry_cu";
/// Frequency that place and route has to reach, in MHz.
pub const CLOCK_MHZ: u64 = CLOCK_HZ / 1_000_000;
/// Where the Makefile puts what place and route reports, below the output directory.
pub const REPORT: &str = "build/report.json";

/// All files of the board.
///
/// # Errors
/// The design cannot be generated.
pub fn render(board: &'static Board) -> Result<BoardOutput, Error> {
    let mut library = Contents::library();
    library
        .add(&AlchitryCu::new()?, TOP, &TopOptions::default())
        .map_err(backend(TOP))?;
    let contents = Contents::of(&library);
    let mut files = vec![contents.file_list(TOP), pins(board), makefile(&contents)];
    files.extend(contents.sources);
    files.extend(contents.declarations);
    Ok(BoardOutput {
        board,
        files,
        notes: vec![
            format!("clock {CLOCK_MHZ} MHz, serial line {UART_BAUD} bits a second"),
            "`make` in this directory builds build/alchitry_cu.bin; `make program` loads it into the board's flash"
                .to_owned(),
        ],
    })
}

fn pins(board: &Board) -> File {
    let mut text = format!("{HASH_HEADER}\n");
    for pin in (board.pins)() {
        text.push_str(&format!("set_io {} {}\n", pin.signal, pin.ball));
    }
    File {
        name: format!("constraints/{TOP}.pcf"),
        text,
    }
}

/// Builds the bitstream. A step that fails leaves no file that the next step would take for good.
fn makefile(contents: &Contents) -> File {
    let sources: String = contents
        .sources
        .iter()
        .map(|file| format!(" \\\n    {}", file.name))
        .collect();
    let text = format!(
        "{HASH_HEADER}
# Synthesis, place and route, and bitstream by yosys, nextpnr-ice40 and icepack. nextpnr fails if the design does
# not reach the frequency; SEED chooses another placement.
TOP := {TOP}
FREQUENCY_MHZ := {CLOCK_MHZ}
SEED := 1
BUILD := build
SOURCES :={sources}

.DELETE_ON_ERROR:
.PHONY: all program clean
all: $(BUILD)/$(TOP).bin

# The part has no distributed RAM: memories that ask for it become block RAM or registers. They are there when modules with
# parameters are instantiated.
$(BUILD)/$(TOP).json: $(SOURCES) Makefile
\tmkdir -p $(BUILD)
\tyosys -q -l $(BUILD)/yosys.log -p 'read_verilog -sv $(SOURCES); hierarchy -top $(TOP); setattr -unset ram_style m:*' \\
\t\t-p 'synth_ice40 -top $(TOP) -json $@; check -assert'

$(BUILD)/$(TOP).asc: $(BUILD)/$(TOP).json constraints/$(TOP).pcf
\tnextpnr-ice40 -q --hx8k --package cb132 --freq $(FREQUENCY_MHZ) --seed $(SEED) --json $< \\
\t\t--pcf constraints/$(TOP).pcf --report $(BUILD)/report.json --log $(BUILD)/nextpnr.log --asc $@

$(BUILD)/$(TOP).bin: $(BUILD)/$(TOP).asc
\ticepack $< $@

program: all
\ticeprog $(BUILD)/$(TOP).bin

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
