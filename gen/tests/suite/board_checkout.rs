//! Fake checkouts of a few lines in which a board cannot be built. Their errors are in the [snapshot of all
//! messages](crate::messages).

use crate::trees::{TEMPLATE, corundum, files, fpspin, output, template};
use spinneret_gen::board::corundum::{Options, Pspin, REVISIONS, SimulationList, build_app, render};
use spinneret_gen::board::find;
use spinneret_gen::render::HEADER;
use spinneret_hdl::app::Cluster;
use spinneret_hdl::app::corundum::Generation;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const NEW: Generation = Generation::Corundum202312;

/// The error of a board with a checkout, whose path is replaced by `S`; nothing if it can be built.
fn error(board: &str, tree: &Path, options: Options) -> Option<String> {
    let error = output(board, &options, Path::new("out")).err()?;
    Some(error.replace(&tree.display().to_string(), "S"))
}

fn corundum_at(path: &Path) -> Options {
    Options {
        corundum: Some(path.to_owned()),
        ..Options::default()
    }
}

fn pspin_at(path: &Path) -> Options {
    Options {
        cluster: Cluster::Pspin,
        pspin: Some(path.to_owned()),
        ..Options::default()
    }
}

pub(crate) fn wrong_trees(told: &mut Vec<String>) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path();
    let [empty, spaces, missing] = ["empty", "two words", "missing"].map(|name| path.join(name));
    fs::create_dir_all(&empty).unwrap();
    fs::create_dir_all(&spaces).unwrap();
    let stub = Options {
        cluster: Cluster::Stub,
        ..pspin_at(&empty)
    };
    let clock = Options {
        cluster_hz: Some(5_000_000),
        ..Options::default()
    };
    for options in [
        corundum_at(&missing),
        pspin_at(&missing),
        corundum_at(&empty),
        pspin_at(&empty),
        corundum_at(&spaces),
        stub,
        clock,
    ] {
        told.extend(error("vcu1525", path, options));
    }
    let alone = files(&[("hw/src/pspin.sv", "\n"), ("hw/Bender.yml", "\n")]);
    let alone = alone.path().canonicalize().unwrap();
    told.extend(error("vcu1525", &alone, pspin_at(&alone)));
    let theirs = fpspin();
    let root = theirs.path().canonicalize().unwrap();
    fs::remove_dir(root.join("fpga/app/pspin/deps/pspin/hw/deps/riscv/include")).unwrap();
    told.extend(error("vcu1525", &root, pspin_at(&root)));
}

pub(crate) fn changed_trees(told: &mut Vec<String>) {
    let at = "mqnic/Alveo/fpga_100g/fpga_VCU1525";
    let theirs = corundum(NEW, at);
    let root = theirs.path().canonicalize().unwrap();
    told.extend(error("au50", &root, corundum_at(&root)));
    for (file, text) in [
        (
            "config.tcl",
            "dict set params APP_ID \"1\"\ndict set params APP_ID \"2\"\n",
        ),
        ("Makefile", "all:\n"),
    ] {
        fs::write(root.join(format!("fpga/{at}/{file}")), text).unwrap();
        told.extend(error("vcu1525", &root, corundum_at(&root)));
    }
}

pub(crate) fn missing_files(told: &mut Vec<String>) {
    let theirs = corundum(NEW, "mqnic/Alveo/fpga_100g/fpga_AU250");
    let root = theirs.path().canonicalize().unwrap();
    let mut look = || told.extend(error("au250", &root, corundum_at(&root)));
    let [core, wrapper, xdc, top] = [
        "common/rtl/mqnic_core.v",
        "app/pspin/rtl/pspin_wrap.sv",
        "mqnic/Alveo/fpga_100g/fpga.xdc",
        "mqnic/Alveo/fpga_100g/rtl/fpga.v",
    ]
    .map(|name| root.join("fpga").join(name));
    fs::remove_file(xdc).unwrap();
    look();
    fs::rename(&core, core.with_extension("v.orig")).unwrap();
    look();
    fs::write(&core, "").unwrap();
    fs::remove_file(top).unwrap();
    // A tree that FPsPIN brings with it.
    fs::create_dir_all(wrapper.parent().unwrap()).unwrap();
    fs::write(wrapper, "").unwrap();
    look();
}

/// The error of a checkout with this application block.
fn generation_error(generation: Generation, template: impl AsRef<[u8]>) -> Option<String> {
    let theirs = corundum(generation, "mqnic/Alveo/fpga_100g/fpga_VCU1525");
    fs::write(theirs.path().join(TEMPLATE), template).unwrap();
    let options = Options {
        generation,
        ..corundum_at(theirs.path())
    };
    error("vcu1525", theirs.path(), options)
}

pub(crate) fn other_application_blocks(told: &mut Vec<String>) {
    let text = template(NEW);
    for (from, to) in [
        (" jtag_tck\n", " jtag_tck,\n    input wire jtag_trst\n"),
        ("    parameter PTP_TS_ENABLE = 1,\n", ""),
        ("parameter PTP_TS_WIDTH = 96", "parameter PTP_TS_FMT_TOD = 0"),
    ] {
        told.extend(generation_error(NEW, text.replace(from, to)));
    }
    for [asked, there] in [[0, 1], [1, 0]].map(|places| places.map(|at| Generation::ALL[at])) {
        told.extend(generation_error(asked, template(there)));
    }
    let unreadable: [&[u8]; 4] = [
        b"",
        &[0, 255, 96, 40, 42],
        &text.as_bytes()[..3000],
        b"module mqnic_app_block (\n`PORTS\n);",
    ];
    told.extend(unreadable.iter().filter_map(|text| generation_error(NEW, text)));
}

#[test]
fn accepts_application_block_of_its_generation() {
    for generation in Generation::ALL {
        let text = template(generation);
        assert_eq!(generation_error(generation, &text), None);
        // Comments contain no names, in any encoding.
        let noisy = [b"// Z\xfcrich, port_of_zurich,\n".as_slice(), text.as_bytes()].concat();
        assert_eq!(generation_error(generation, noisy), None);
    }
}

/// The line of a name in the message is that of the text.
#[test]
fn reports_extra_name_with_its_line() {
    let text = template(NEW).replace(" jtag_tck\n", " jtag_tck,\n    input wire jtag_trst\n");
    let line = 1 + text
        .lines()
        .position(|line| line.ends_with(" jtag_trst"))
        .unwrap();
    let told = generation_error(NEW, text).unwrap();
    assert!(
        told.contains(&format!("port `jtag_trst` (line {line}) too many")),
        "{told}"
    );
}

#[test]
fn the_documentation_has_the_revisions_that_fit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/building-a-bitstream.md");
    let page = fs::read_to_string(path).unwrap();
    for revisions in REVISIONS {
        let row = format!(
            "| `{}` | {} | {} |",
            revisions.generation, revisions.first, revisions.last
        );
        assert!(page.contains(&row), "{row}");
    }
}

const HW: &str = "fpga/app/pspin/deps/pspin/hw";
const WRAPPER: &str = "fpga/app/pspin/rtl/pspin_wrap.sv";

/// A checkout with the wrapper and these files of the cluster, which are listed in this order.
fn checkout(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let mut list = "SYN_FILES = rtl/fpga.v\nSYN_FILES += app/pspin/rtl/pspin_wrap.sv\n".to_owned();
    write(WRAPPER, "module pspin_wrap;\nendmodule\n");
    for (name, text) in files {
        write(&format!("{HW}/{name}"), text);
        list.push_str(&format!("SYN_FILES += app/pspin/deps/pspin/hw/{name}\n"));
    }
    write("fpga/mqnic/VCU1525/fpga_100g/fpga_pspin/Makefile", &list);
    if files.iter().all(|(name, _)| *name != "src/pspin.sv") {
        write(&format!("{HW}/src/pspin.sv"), "module pspin;\nendmodule\n");
    }
    for folder in [
        "axi/include",
        "common_cells/include",
        "cluster_interconnect/rtl/low_latency_interco",
        "riscv/include",
    ] {
        fs::create_dir_all(root.path().join(HW).join("deps").join(folder)).unwrap();
    }
    root
}

fn simulation(checkout: &TempDir) -> Result<SimulationList, String> {
    Pspin::open(checkout.path())
        .and_then(|pspin| pspin.simulation())
        .map_err(|error| error.to_string())
}

/// Paths below the cluster's folder.
fn below(checkout: &TempDir, paths: &[PathBuf]) -> Vec<String> {
    let root = checkout.path().canonicalize().unwrap().join(HW);
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap_or(path).display().to_string();
    paths.iter().map(name).collect()
}

/// A cluster whose own list is in no order that works, with everything that looks like a package or its use.
const CLUSTER: &[(&str, &str)] = &[
    (
        "src/pspin.sv",
        "import top_pkg::*;\nmodule pspin (input top_pkg::word_t a);\n  import late_pkg::*;\nendmodule\n",
    ),
    ("deps/include/macros.svh", "`define A top_pkg::word_t\n"),
    (
        "deps/include/more.v",
        "// Only macros.\n`define B module no;\nimport base_pkg::*;\n",
    ),
    (
        "src/top_pkg.sv",
        "// early_pkg::x, import none::*;\n/* none::a */\n`include \"none::b\"\n\
         package automatic top_pkg;\n  import base_pkg::*;\n  localparam string S = \"none::c // \";\n  \
         typedef base_pkg::word_t word_t;\n`ifdef NOT_DEFINED\n  import none::*;\n`endif\nendpackage\n",
    ),
    (
        "src/late_pkg.sv",
        "package late_pkg;\n  localparam int unsigned X = top_pkg::word_t'(1), Y = base_pkg::Z;\nendpackage : late_pkg\n",
    ),
    (
        "src/base_pkg.sv",
        "`ifdef TARGET_SYNTHESIS\npackage base_pkg;\n  typedef logic [7:0] word_t;\n  localparam Z = 1;\nendpackage\n`endif\n",
    ),
    (
        "src/user.sv",
        "module user #(parameter type T = word_t) (input T a);\n  T::x y;\nendmodule\n",
    ),
];

#[test]
fn packages_come_first_in_dependency_order() {
    let checkout = checkout(CLUSTER);
    // The same file twice in the list is read once.
    let list = checkout
        .path()
        .join("fpga/mqnic/VCU1525/fpga_100g/fpga_pspin/Makefile");
    let twice = fs::read_to_string(&list).unwrap().repeat(2);
    fs::write(&list, twice).unwrap();
    let found = simulation(&checkout).unwrap();
    let files = below(&checkout, &found.files);
    let root = checkout.path().canonicalize().unwrap();
    let wrapper = root.join(WRAPPER).display().to_string();
    let expected = [
        "src/base_pkg.sv",
        "src/top_pkg.sv",
        "src/late_pkg.sv",
        &wrapper,
        "src/pspin.sv",
        "src/user.sv",
    ];
    assert_eq!(files, expected);
    assert_eq!(found.packages, 3);
    assert_eq!(
        below(&checkout, &found.includes),
        [
            "deps/axi/include",
            "deps/common_cells/include",
            "deps/cluster_interconnect/rtl/low_latency_interco",
            "deps/riscv/include"
        ]
    );
    assert_eq!(found.defines, ["TARGET_SYNTHESIS", "PULP_FPGA_EMUL"]);
    // Imports in a module, in a package or only in a file of macros affect no other file.
    let imports: Vec<_> = found
        .imports
        .lines()
        .filter(|line| !line.starts_with("//"))
        .collect();
    assert_eq!(imports, ["import top_pkg::*;"]);
    assert!(found.imports.starts_with(HEADER));
}

/// A package that is nowhere, with the line that uses it, and packages that need each other.
pub(crate) fn refusals(told: &mut Vec<String>) {
    for text in [
        "module m;\n  import gone_pkg::*;\nendmodule\n",
        "\n\nimport gone_pkg::x;\nmodule m;\nendmodule\n",
        "module m;\n  localparam A = top_pkg::B + gone_pkg::C;\nendmodule\n",
    ] {
        let mut files = CLUSTER.to_vec();
        files.push(("src/m.sv", text));
        told.push(simulation(&checkout(&files)).unwrap_err());
    }
    let circle = [
        (
            "src/other_pkg.sv",
            "package other_pkg;\nimport a_pkg::*;\nendpackage\n",
        ),
        ("src/a_pkg.sv", "package a_pkg;\nimport b_pkg::*;\nendpackage\n"),
        (
            "src/b_pkg.sv",
            "package b_pkg;\nlocalparam X = c_pkg::Y;\nendpackage\n",
        ),
        ("src/c_pkg.sv", "package c_pkg;\nimport a_pkg::Z;\nendpackage\n"),
    ];
    told.push(simulation(&checkout(&circle)).unwrap_err());
}

#[test]
fn packages_of_one_file_may_be_mutually_dependent() {
    let own = [(
        "src/a_pkg.sv",
        "package a_pkg;\nlocalparam X = 1, Y = a_pkg::X;\nendpackage\n\
         package b_pkg;\nlocalparam X = a_pkg::X, Y = b_pkg::X;\nendpackage\n",
    )];
    assert_eq!(simulation(&checkout(&own)).unwrap().packages, 1);
}

#[test]
fn board_with_cluster_has_a_simulation_list() {
    let pspin = checkout(CLUSTER);
    let options = |pspin| Options {
        cluster: Cluster::Pspin,
        pspin,
        ..Options::default()
    };
    let files = |options: &Options| {
        let output = render(find("vcu1525").unwrap(), options, Path::new("out"), &build_app);
        output.unwrap().files
    };
    let with = files(&options(Some(pspin.path().to_owned())));
    let text = |name: &str| {
        with.iter()
            .find(|file| file.name == name)
            .map(|file| file.text.as_str())
    };
    let list = text("sim/filelist.f").unwrap();
    let lines: Vec<_> = list.lines().filter(|line| !line.starts_with("//")).collect();
    assert_eq!(lines[..2], ["+define+TARGET_SYNTHESIS", "+define+PULP_FPGA_EMUL"]);
    let place = |end: &str| {
        let places: Vec<_> = (0..lines.len()).filter(|at| lines[*at].ends_with(end)).collect();
        assert_eq!(places.len(), 1, "{end}: {places:?}");
        places[0]
    };
    let order = [
        "/riscv/include",
        "/src/base_pkg.sv",
        "/src/late_pkg.sv",
        "spinneret_cluster_imports.sv",
        "/pspin_wrap.sv",
        "/src/user.sv",
        "spinneret_cluster_clock.sv",
        "../rtl/spinneret_app.sv",
        "../rtl/mqnic_app_block.sv",
    ];
    let places: Vec<_> = order.iter().map(|end| place(end)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(lines.last(), Some(&"../rtl/mqnic_app_block.sv"));
    // The clock is the model, not the primitives; every other module of spinneret is there.
    assert!(lines.contains(&"spinneret_cluster_clock.sv"));
    let ours = with.iter().filter(|file| file.name.starts_with("rtl/")).count();
    assert_eq!(
        lines.iter().filter(|line| line.starts_with("../rtl/")).count(),
        ours - 1
    );
    assert!(
        text("sim/spinneret_cluster_imports.sv")
            .unwrap()
            .contains("import top_pkg::*;\n")
    );
    // Every path is there, from the place of the list or absolute.
    for line in lines.iter().filter(|line| line.starts_with('/')) {
        assert!(Path::new(line).is_file(), "{line}");
    }
    let without = files(&options(None));
    assert!(without.iter().all(|file| file.name != "sim/filelist.f"));
}
