//! Checkouts that a board cannot be built in, which are fakes of a few lines. What is said of them is in the
//! [snapshot of all messages](crate::messages).

use crate::trees::{TEMPLATE, corundum, files, fpspin, output, template};
use spinneret_gen::board::corundum::{Options, REVISIONS};
use spinneret_hdl::app::Cluster;
use spinneret_hdl::app::corundum::Generation;
use std::fs;
use std::path::Path;

const NEW: Generation = Generation::Corundum202312;

/// What is said of a board for a tree, whose path is `S` there; nothing if it can be built.
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
        cluster_hz: 5_000_000,
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

/// What is said about a checkout with this application block.
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
fn an_application_block_with_the_names_of_its_generation_is_taken() {
    for generation in Generation::ALL {
        let text = template(generation);
        assert_eq!(generation_error(generation, &text), None);
        // What is said in comments is no name, in whatever encoding.
        let noisy = [b"// Z\xfcrich, port_of_zurich,\n".as_slice(), text.as_bytes()].concat();
        assert_eq!(generation_error(generation, noisy), None);
    }
}

/// The line of a name in the message is that of the text.
#[test]
fn a_name_too_many_is_told_with_its_line() {
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
