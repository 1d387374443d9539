//! Fake checkouts, and a fake application block.

use crate::support::Counter;
use anyhow::Error;
use spinneret_gen::board::corundum::{App, AppModule, AppRequest, Options, render};
use spinneret_gen::board::{BoardOutput, find};
use spinneret_hdl::app::TOP;
use spinneret_hdl::app::corundum::Generation;
use spinneret_verilog::prelude::*;
use spinneret_verilog::{Library, TopOptions};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Stands for the application block: has a sub-block, and instantiates the clock of the cluster.
#[module()]
struct FakeApp {
    /// The addend.
    pub step: Wire<In, 8>,
    /// The value.
    pub count: Wire<Out, 8>,
    part: Counter<8>,
    clock: ClockBox,
    ticks: Counter<8>,
    /// The clock of the cluster is steady.
    pub locked: Wire<Out, bool>,
}

/// The clock of the cluster as the application block knows it.
#[module(no_clock)]
struct ClockBox {
    clk: Signal<In, Clock>,
    rst: Wire<In, bool>,
    cluster_clk: Signal<Out, Clock>,
    cluster_locked: Wire<Out, bool>,
}

impl Logic for ClockBox {
    fn update(&mut self) {}
    fn hdl(&self) -> Verilog {
        Verilog::Blackbox(ast::BlackBox {
            code: "(* blackbox *)\nmodule spinneret_cluster_clock (\n    input  wire clk,\n    input  wire rst,\n    \
                   output wire cluster_clk,\n    output wire cluster_locked\n);\nendmodule"
                .to_owned(),
            name: "spinneret_cluster_clock".to_owned(),
        })
    }
}

#[kernel(FakeApp { step, count, part, clock, ticks, locked })]
fn update() {
    part.step = step;
    count = part.count;
    ticks.clk = clock.cluster_clk;
    ticks.step = 1;
    locked = clock.cluster_locked && ticks.count.any();
}

/// An application block that says in a parameter's documentation what it was made for.
pub(crate) fn fake_app(request: &AppRequest) -> Result<App, Error> {
    let block = FakeApp::new();
    let doc = format!(
        "Made for {}, {}, {}, {} Hz, {} bits.",
        request.board.name,
        request.generation.name(),
        request.cluster.name(),
        request.cluster_hz,
        request.data_width
    );
    let parameter = spinneret_verilog::Parameter {
        name: "APP_ENABLE".to_owned(),
        value: 1,
        doc,
    };
    let options = TopOptions {
        parameters: vec![parameter],
    };
    let mut library = Library::with_prefix("spinneret_", &[]);
    library.add(&block, TOP, &options).unwrap();
    let modules = library.modules().into_iter().map(|module| AppModule {
        name: module.name,
        text: module.text,
    });
    Ok(App {
        modules: modules.collect(),
        crossings_xdc: "# crossings".to_owned(),
    })
}

/// Where the application block is that Corundum ships.
pub(crate) const TEMPLATE: &str = "fpga/app/template/rtl/mqnic_app_block.v";

/// The application block that Corundum ships, with the names of the public tree's.
pub(crate) fn template(generation: Generation) -> String {
    let table = match generation {
        Generation::Corundum202312 => "corundum_2023_12",
        Generation::Fpspin2023 => "fpspin_2023",
    };
    let path = format!(
        "{}/../hdl/src/app/corundum/{table}.csv",
        env!("CARGO_MANIFEST_DIR")
    );
    let table = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (mut parameters, mut ports) = (Vec::new(), Vec::new());
    for row in table.lines().skip(1) {
        match row.splitn(3, ',').collect::<Vec<_>>()[..] {
            ["parameter", name, default] => parameters.push(format!("    parameter {name} = {default}")),
            [direction, name, "1"] => ports.push(format!("    {direction:<6} wire {name}")),
            [direction, name, width] => ports.push(format!("    {direction:<6} wire [{width}-1:0] {name}")),
            _ => panic!("{path}: what is `{row}`?"),
        }
    }
    format!(
        "/*\n\nNot the text of Corundum, only its names.\n\n*/\n\n`resetall\n`timescale 1ns / 1ps\n\
         `default_nettype none\n\n/*\n * Application block\n */\nmodule mqnic_app_block #\n(\n    \
         // Structural configuration\n{}\n)\n(\n{}\n);\n\nendmodule\n\n`resetall\n",
        parameters.join(",\n"),
        ports.join(",\n\n    /*\n     * The next, please\n     */\n")
    )
}

/// The configuration of a board as far as it decides on the application block: the values are those of the public trees.
pub(crate) const CONFIG: &str = "set params [dict create]
dict set params IF_COUNT \"2\"
dict set params PORTS_PER_IF \"1\"
dict set params SCHED_PER_IF [dict get $params PORTS_PER_IF]
dict set params CLK_PERIOD_NS_NUM \"4\"
dict set params CLK_PERIOD_NS_DENOM \"1\"
dict set params PTP_PEROUT_COUNT \"1\"
dict set params TX_QUEUE_INDEX_WIDTH \"13\"
dict set params RX_QUEUE_INDEX_WIDTH \"8\"
dict set params PTP_TS_ENABLE \"1\"
dict set params TX_RAM_SIZE \"131072\"
dict set params RX_RAM_SIZE \"131072\"
dict set params DDR_CH \"4\"
dict set params DDR_ENABLE \"0\"
dict set params APP_ID \"32'h00000000\"
dict set params APP_ENABLE \"0\"
dict set params APP_CTRL_ENABLE \"1\"
dict set params APP_DMA_ENABLE \"1\"
dict set params APP_AXIS_DIRECT_ENABLE \"1\"
dict set params APP_AXIS_SYNC_ENABLE \"1\"
dict set params APP_AXIS_IF_ENABLE \"1\"
dict set params APP_STAT_ENABLE \"1\"
dict set params DMA_IMM_ENABLE \"0\"
dict set params DMA_LEN_WIDTH \"16\"
dict set params DMA_TAG_WIDTH \"16\"
dict set params RAM_ADDR_WIDTH [expr int(ceil(log(max([dict get $params TX_RAM_SIZE], [dict get $params RX_RAM_SIZE]))/log(2)))]
dict set params AXIL_CTRL_DATA_WIDTH \"32\"
dict set params AXIL_CTRL_ADDR_WIDTH \"24\"
dict set params AXIL_APP_CTRL_DATA_WIDTH [dict get $params AXIL_CTRL_DATA_WIDTH]
dict set params AXIL_APP_CTRL_ADDR_WIDTH \"24\"
dict set params STAT_INC_WIDTH \"24\"
dict set params STAT_ID_WIDTH \"12\"
# The aperture of the application's BAR follows from what the overlay sets.
puts \"BAR 2: [expr [dict get $params APP_ENABLE] ? [dict get $params AXIL_APP_CTRL_ADDR_WIDTH] : 0]\"
set param_list {}
dict for {name value} $params {
    lappend param_list $name=$value
}
set_property generic $param_list [get_filesets sources_1]
";

/// A directory with these files.
pub(crate) fn files(entries: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in entries {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// A checkout of Corundum with one board, whose directory is below `fpga/`.
pub(crate) fn corundum(generation: Generation, board: &str) -> TempDir {
    let family = board.rsplit_once('/').unwrap().0;
    let makefile = "SYN_FILES = rtl/fpga.v\nSYN_FILES += ../../../common/rtl/mqnic_core.v\n\
                    SYN_FILES += app/template/rtl/mqnic_app_block.v\nXDC_FILES = fpga.xdc\n\
                    CONFIG_TCL_FILES = ./config.tcl\n\ninclude ../common/vivado.mk\n";
    // Says what the real one would build.
    let rules = "rel = $(foreach p,$1,$(if $(filter /% ./%,$p),$p,../$p))\n\
                 SYN := $(call rel,$(SYN_FILES))\nXDC := $(call rel,$(XDC_FILES))\n\
                 CONFIG := $(call rel,$(CONFIG_TCL_FILES))\n\
                 all:\n\t@for f in $(SYN); do echo syn $$f; done\n\t@for f in $(XDC); do echo xdc $$f; done\n\
                 \t@for f in $(CONFIG); do echo config $$f; done\n";
    files(&[
        ("fpga/common/rtl/mqnic_core.v", "module mqnic_core;\nendmodule\n"),
        (TEMPLATE, &template(generation)),
        (&format!("fpga/{board}/Makefile"), makefile),
        (&format!("fpga/{board}/config.tcl"), CONFIG),
        (&format!("fpga/{family}/common/vivado.mk"), rules),
        (&format!("fpga/{family}/rtl/fpga.v"), "module fpga;\nendmodule\n"),
        (&format!("fpga/{family}/fpga.xdc"), "\n"),
    ])
}

/// A checkout of FPsPIN with a cluster of one file.
pub(crate) fn fpspin() -> TempDir {
    let list = "SYN_FILES = rtl/fpga.v\nSYN_FILES += app/pspin/rtl/mqnic_app_block.v\n\
                SYN_FILES += app/pspin/rtl/pspin_wrap.sv\nSYN_FILES += app/pspin/deps/pspin/hw/src/pspin.sv\n\
                # SYN_FILES += app/pspin/deps/pspin/hw/src/pspin_verilator.sv\n";
    let root = files(&[
        ("fpga/app/pspin/rtl/pspin_wrap.sv", "\n"),
        ("fpga/app/pspin/deps/pspin/hw/src/pspin.sv", "\n"),
        ("fpga/mqnic/VCU1525/fpga_100g/fpga_pspin/Makefile", list),
    ]);
    for folder in [
        "axi/include",
        "common_cells/include",
        "cluster_interconnect/rtl/low_latency_interco",
        "riscv/include",
    ] {
        fs::create_dir_all(root.path().join("fpga/app/pspin/deps/pspin/hw/deps").join(folder)).unwrap();
    }
    root
}

/// The files of a board with the fake application block, or what is said instead.
pub(crate) fn output(board: &str, options: &Options, directory: &Path) -> Result<BoardOutput, String> {
    let board = find(board).map_err(|error| error.to_string())?;
    render(board, options, directory, &fake_app).map_err(|error| error.to_string())
}
