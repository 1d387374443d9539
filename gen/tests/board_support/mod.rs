//! Fake checkouts, and a fake application block.

#[path = "../support/counter.rs"]
mod counter;

use counter::Counter;
use spinneret_gen::Error;
use spinneret_gen::board::corundum::{App, AppModule, AppRequest};
use spinneret_hdl::app::TOP;
use spinneret_hdl::app::corundum::Generation;
use spinneret_verilog::prelude::*;
use spinneret_verilog::{Library, TopOptions};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Stands for the application block: has a sub-block, and instantiates the clock of the cluster.
#[derive(LogicBlock, Describe, Debug)]
struct FakeApp {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Reset.
    pub rst: Wire<In, Bit>,
    /// What is added.
    pub step: Wire<In, Word>,
    /// The value.
    pub count: Wire<Out, Word>,
    part: Counter,
    clock: ClockBox,
    cluster: Signal<Local, Clock>,
    seen: Reg<bool>,
    /// The clock of the cluster is steady.
    pub locked: Wire<Out, bool>,
}

/// The clock of the cluster as the application block knows it.
#[derive(LogicBlock, Debug)]
struct ClockBox {
    pub clk: Signal<In, Clock>,
    pub rst: Wire<In, bool>,
    pub cluster_clk: Signal<Out, Clock>,
    pub cluster_locked: Wire<Out, bool>,
}

impl Logic for ClockBox {
    fn update(&mut self) {}
    fn connect(&mut self) {
        self.cluster_clk.connect();
        self.cluster_locked.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Blackbox(ast::BlackBox {
            code: "(* blackbox *)\nmodule spinneret_cluster_clock (\n    input  wire clk,\n    input  wire rst,\n    \
                   output wire cluster_clk,\n    output wire cluster_locked\n);\nendmodule"
                .to_owned(),
            name: "spinneret_cluster_clock".to_owned(),
        })
    }
}

impl Logic for FakeApp {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.part);
        self.part.step.next = self.step.val();
        self.count.next = self.part.count.val();
        self.clock.clk.next = self.clk.val();
        self.clock.rst.next = self.rst.val();
        self.cluster.next = self.clock.cluster_clk.val();
        clocked!(self.cluster => self.seen);
        self.seen.d.next = self.clock.cluster_locked.val();
        self.locked.next = self.seen.q.val();
    }
}

/// An application block that says in a parameter's documentation what it was made for.
pub(crate) fn fake_app(request: &AppRequest) -> Result<App, Error> {
    let block = FakeApp {
        clk: Signal::default(),
        rst: Wire::bit(),
        step: Wire::word(8),
        count: Wire::word(8),
        part: Counter::new(8),
        clock: ClockBox {
            clk: Signal::default(),
            rst: Wire::bit(),
            cluster_clk: Signal::default(),
            cluster_locked: Wire::bit(),
        },
        cluster: Signal::default(),
        seen: Reg::bit(),
        locked: Wire::bit(),
    };
    let doc = format!(
        "Made for {}, {}, {}, {} Hz.",
        request.board.name,
        request.generation.name(),
        request.cluster.name(),
        request.cluster_hz
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
    let modules = library.modules().map(|module| AppModule {
        name: module.name.clone(),
        text: module.text.clone(),
    });
    Ok(App {
        modules: modules.collect(),
        crossings_xdc: "# crossings".to_owned(),
    })
}

/// The ports of the application block that Corundum ships.
fn template(generation: Generation) -> &'static str {
    match generation {
        Generation::Corundum202312 => {
            "module mqnic_app_block (input wire ptp_td_sd, input wire ptp_ts);\nendmodule\n"
        }
        Generation::Fpspin2023 => "module mqnic_app_block (input wire [95:0] ptp_ts_96);\nendmodule\n",
    }
}

fn files(entries: &[(&str, &str)]) -> TempDir {
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
    let config = "set params [dict create]\ndict set params BEFORE \"1\"\ndict set params APP_ID \"32'h00000000\"\n\
                  dict set params APP_ENABLE \"0\"\ndict set params APP_CTRL_ENABLE \"1\"\n\
                  dict set params APP_DMA_ENABLE \"1\"\ndict set params APP_AXIS_DIRECT_ENABLE \"1\"\n\
                  dict set params APP_AXIS_SYNC_ENABLE \"1\"\ndict set params APP_AXIS_IF_ENABLE \"1\"\n\
                  dict set params APP_STAT_ENABLE \"1\"\ndict set params AXIL_APP_CTRL_ADDR_WIDTH \"16\"\n\
                  dict set params AFTER [dict get $params AXIL_APP_CTRL_ADDR_WIDTH]\n\
                  set param_list {}\ndict for {name value} $params {\n    lappend param_list $name=$value\n}\n\
                  set_property generic $param_list [get_filesets sources_1]\n";
    files(&[
        ("fpga/common/rtl/mqnic_core.v", "module mqnic_core;\nendmodule\n"),
        ("fpga/app/template/rtl/mqnic_app_block.v", template(generation)),
        (&format!("fpga/{board}/Makefile"), makefile),
        (&format!("fpga/{board}/config.tcl"), config),
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

/// A checkout of PsPIN, which is not what is needed.
pub(crate) fn pspin_alone() -> TempDir {
    files(&[("hw/src/pspin.sv", "\n"), ("hw/Bender.yml", "\n")])
}

/// Every file below a directory with its text.
pub(crate) fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(tree(&path));
        } else {
            all.insert(path.display().to_string(), fs::read_to_string(&path).unwrap());
        }
    }
    all
}

/// Runs a command that has to succeed, and answers what it said.
pub(crate) fn run(command: &mut Command) -> String {
    let answer = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{command:?}\n{said}\n{complaints}");
    said
}
