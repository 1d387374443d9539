//! Checkouts that a board cannot be built in: what is refused, and in which words. The checkouts are fakes of a few lines.

use crate::trees::{TEMPLATE, corundum, files, fpspin, output, template};
use spinneret_gen::board::corundum::{Options, REVISIONS};
use spinneret_hdl::app::Cluster;
use spinneret_hdl::app::corundum::Generation;
use std::path::Path;
use tempfile::TempDir;

/// The revisions that fit, as errors tell them.
const FITTING: &str = "941288e9 (2022-10-12) to 66b1a281 (2023-09-24) for fpspin-2023 or 2a7d0e09 (2023-11-07) to 1ca0151b \
                       (2023-12-02) for 2023-12";

#[test]
fn trees_that_are_not_what_they_should_be_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let (empty, spaces) = (scratch.path().join("empty"), scratch.path().join("two words"));
    std::fs::create_dir_all(&empty).unwrap();
    std::fs::create_dir_all(&spaces).unwrap();
    let corundum_at = |path: &Path| Options {
        corundum: Some(path.to_owned()),
        ..Options::default()
    };
    let pspin_at = |path: &Path| Options {
        pspin: Some(path.to_owned()),
        ..Options::default()
    };
    let refused = |options: &Options, sentence: &str| {
        let error = output("vcu1525", options, Path::new("out")).unwrap_err();
        assert_eq!(
            error.replace(&scratch.path().display().to_string(), "S"),
            sentence
        );
    };
    let missing = scratch.path().join("missing");
    refused(
        &corundum_at(&missing),
        "`--corundum-dir S/missing`: there is no such directory",
    );
    refused(
        &pspin_at(&missing),
        "`--pspin-dir S/missing`: there is no such directory",
    );
    refused(
        &corundum_at(&empty),
        "S/empty is no Corundum checkout: it has no fpga/common/rtl/mqnic_core.v; give the root of a checkout of \
         https://github.com/corundum/corundum",
    );
    refused(
        &pspin_at(&empty),
        "S/empty is no FPsPIN checkout: it has no fpga/app/pspin/rtl/pspin_wrap.sv; give the root of a checkout of \
         https://github.com/spcl/FPsPIN",
    );
    refused(
        &corundum_at(&spaces),
        "S/two words cannot be used: make takes ` ` in a path for something else; move the directory",
    );
    let stub = Options {
        cluster: Cluster::Stub,
        ..pspin_at(&empty)
    };
    refused(
        &stub,
        "`--pspin-dir` has no meaning here, as `--cluster stub` needs no PsPIN: leave it out",
    );
    let clock = Options {
        cluster_hz: 5_000_000,
        ..Options::default()
    };
    refused(
        &clock,
        "no dividers of an MMCM make 5 MHz of 250 MHz: from 6.25 to 1600 MHz are possible",
    );
}

/// What a tree lacks or has changed, and the sentence that says so.
#[test]
fn trees_of_the_wrong_sort_or_with_changes_are_refused_with_what_was_looked_for() {
    const NEW: &str = "mqnic/Alveo/fpga_100g/fpga_VCU1525";
    let new = Generation::Corundum202312;
    let refused = |board: &str, root: &Path, options: Options, sentence: &str| {
        let error = output(board, &options, Path::new("out")).unwrap_err();
        assert_eq!(error.replace(&root.display().to_string(), "S"), sentence);
    };
    let theirs = corundum(new, NEW);
    let at = |root: &Path| Options {
        corundum: Some(root.to_owned()),
        ..Options::default()
    };
    let root = theirs.path().canonicalize().unwrap();
    refused(
        "au50",
        &root,
        at(&root),
        "S has no design for board `au50`: there is no fpga/mqnic/Alveo/fpga_100g/fpga_AU50/Makefile and no \
         fpga/mqnic/AU50/fpga_100g/fpga/Makefile; check out another revision of Corundum, or choose one of the boards that \
         this one has: `vcu1525`",
    );
    let change = |file: &str, text: &str| std::fs::write(root.join(file), text).unwrap();
    change(
        &format!("fpga/{NEW}/config.tcl"),
        "dict set params APP_ID \"1\"\ndict set params APP_ID \"2\"\n",
    );
    refused(
        "vcu1525",
        &root,
        at(&root),
        &format!(
            "S/fpga/{NEW}/config.tcl has 2 lines `dict set params APP_ID ...` where the overlay needs one: is this \
                  revision of Corundum changed?"
        ),
    );
    change(&format!("fpga/{NEW}/Makefile"), "all:\n");
    refused(
        "vcu1525",
        &root,
        at(&root),
        &format!(
            "S/fpga/{NEW}/Makefile has 0 lines `include ../common/vivado.mk` where the overlay needs one: is this \
                  revision of Corundum changed?"
        ),
    );
}

#[test]
fn a_tree_without_files_that_its_makefile_lists_is_refused_with_the_first() {
    let theirs = corundum(Generation::Corundum202312, "mqnic/Alveo/fpga_100g/fpga_AU250");
    let root = theirs.path().canonicalize().unwrap();
    let at = "fpga/mqnic/Alveo/fpga_100g";
    let said = || {
        let options = Options {
            corundum: Some(root.clone()),
            ..Options::default()
        };
        let answer = output("au250", &options, Path::new("out"));
        answer
            .err()
            .map(|error| error.replace(&root.display().to_string(), "S"))
    };
    assert_eq!(said(), None);
    std::fs::remove_file(root.join(format!("{at}/fpga.xdc"))).unwrap();
    let list = format!("S/{at}/fpga_AU250/Makefile names");
    assert_eq!(
        said().unwrap(),
        format!(
            "{list} a file that is not there, S/{at}/fpga.xdc: give a complete checkout of \
             https://github.com/corundum/corundum"
        )
    );
    std::fs::remove_file(root.join("fpga/common/rtl/mqnic_core.v")).unwrap();
    std::fs::write(root.join("fpga/common/rtl/mqnic_core.v.orig"), "").unwrap();
    assert!(said().unwrap().contains("S is no Corundum checkout"));
    std::fs::write(root.join("fpga/common/rtl/mqnic_core.v"), "").unwrap();
    std::fs::remove_file(root.join(format!("{at}/rtl/fpga.v"))).unwrap();
    // A tree that FPsPIN brings with it.
    std::fs::create_dir_all(root.join("fpga/app/pspin/rtl")).unwrap();
    std::fs::write(root.join("fpga/app/pspin/rtl/pspin_wrap.sv"), "").unwrap();
    assert_eq!(
        said().unwrap(),
        format!(
            "{list} 2 files that are not there, the first of them S/{at}/rtl/fpga.v: FPsPIN's own copy of Corundum is not \
             complete, so give a checkout of https://github.com/corundum/corundum, {FITTING}"
        )
    );
}

#[test]
fn the_documentation_has_the_revisions_that_fit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/building-a-bitstream.md");
    let page = std::fs::read_to_string(path).unwrap();
    for revisions in REVISIONS {
        let row = format!(
            "| `{}` | {} | {} |",
            revisions.generation, revisions.first, revisions.last
        );
        assert!(page.contains(&row), "{row}");
    }
}

/// What is said about a checkout with this application block.
fn generation_error(generation: Generation, template: impl AsRef<[u8]>) -> Option<String> {
    let theirs = corundum(generation, "mqnic/Alveo/fpga_100g/fpga_VCU1525");
    std::fs::write(theirs.path().join(TEMPLATE), template).unwrap();
    let options = Options {
        generation,
        corundum: Some(theirs.path().to_owned()),
        ..Options::default()
    };
    let error = output("vcu1525", &options, Path::new("out")).err()?;
    Some(error.replace(&theirs.path().display().to_string(), "S"))
}

/// The beginning of the sentence about names, up to those.
fn does_not_fit(generation: Generation, template: &str) -> String {
    format!(
        "S does not fit generation {generation}: the module in its {TEMPLATE}, lines {} to {}, ",
        line_of(template, "module mqnic_app_block #"),
        line_of(template, ");")
    )
}

/// The only line that begins or ends with a text, from 1.
fn line_of(text: &str, part: &str) -> usize {
    let is_it = |line: &str| line.starts_with(part) || line.trim_end_matches(',').ends_with(part);
    let lines: Vec<_> = (1..).zip(text.lines()).filter(|(_, line)| is_it(line)).collect();
    assert_eq!(lines.len(), 1, "{part}: {lines:?}");
    lines[0].0
}

#[test]
fn an_application_block_with_other_names_is_refused_with_the_first_that_differ() {
    let new = Generation::Corundum202312;
    let text = template(new);
    let refused = |from: &str, to: &str, differences: &str, count: &str| {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        assert_eq!(
            generation_error(new, &changed).unwrap(),
            format!(
                "{}{differences}; the nearest of the known generations is 2023-12, which differs in {count}: check out a \
                 revision of Corundum that fits one: {FITTING}",
                does_not_fit(new, &changed)
            )
        );
    };
    let last = line_of(&text, " jtag_tck");
    refused(
        " jtag_tck\n",
        " jtag_tck,\n    input wire jtag_trst\n",
        &format!("has port `jtag_trst` (line {}) too many", last + 1),
        "1 name",
    );
    refused(
        "    parameter PTP_TS_ENABLE = 1,\n",
        "",
        "lacks parameter `PTP_TS_ENABLE`",
        "1 name",
    );
    refused(
        "parameter PTP_TS_WIDTH = 96",
        "parameter PTP_TS_FMT_TOD = 0",
        &format!(
            "has parameter `PTP_TS_FMT_TOD` (line {}) too many and lacks parameter `PTP_TS_WIDTH`",
            line_of(&text, "    parameter PTP_TS_WIDTH =")
        ),
        "2 names",
    );
    assert_eq!(generation_error(new, &text), None);
    // What is said in comments is no name, in whatever encoding.
    let noisy = [b"// Z\xfcrich, port_of_zurich,\n".as_slice(), text.as_bytes()].concat();
    assert_eq!(generation_error(new, noisy), None);
}

#[test]
fn an_application_block_of_the_other_generation_is_refused_with_the_option_that_fits() {
    let [new, old] = Generation::ALL;
    let text = template(old);
    let [ts, step, sync, sync_step] = ["ptp_ts_96", "ptp_ts_step", "ptp_sync_ts_96", "ptp_sync_ts_step"]
        .map(|name| line_of(&text, &format!(" {name}")));
    assert_eq!(
        generation_error(new, &text).unwrap(),
        format!(
            "{}has parameter `PTP_USE_SAMPLE_CLOCK` (line {}), port `ptp_ts_96` (line {ts}), port `ptp_ts_step` (line \
             {step}), port `ptp_sync_ts_96` (line {sync}), port `ptp_sync_ts_step` (line {sync_step}) too many and lacks \
             port `ptp_td_sd`, port `ptp_sync_locked`, port `ptp_sync_ts_rel`, port `ptp_sync_ts_rel_step`, port \
             `ptp_sync_ts_tod` and 2 more; use `--corundum fpspin-2023`, which fits, or check out another \
             revision of Corundum: {FITTING}",
            does_not_fit(new, &text),
            line_of(&text, "    parameter PTP_USE_SAMPLE_CLOCK")
        )
    );
    let error = generation_error(old, template(new)).unwrap();
    assert!(
        error.contains("; use `--corundum 2023-12`, which fits, or check out another revision"),
        "{error}"
    );
    assert_eq!(generation_error(old, text), None);
}

#[test]
fn an_application_block_that_cannot_be_read_is_refused() {
    let new = Generation::Corundum202312;
    let text = template(new);
    for (template, reason) in [
        (b"".as_slice(), "has no such module"),
        (&[0, 255, 96, 40, 42], "has no such module"),
        (
            &text.as_bytes()[..3000],
            "begins it in line 14 with a header that cannot be read",
        ),
        (
            b"module mqnic_app_block (\n`PORTS\n);",
            "has an entry without a name in line 2 of its header",
        ),
    ] {
        assert_eq!(
            generation_error(new, template).unwrap(),
            format!(
                "S is of no known generation: its fpga/app/template/rtl/mqnic_app_block.v should have the module \
                 `mqnic_app_block`, but {reason}; check out a revision of Corundum that fits one: {FITTING}"
            )
        );
    }
}

#[test]
fn pspin_trees_without_their_wrapper_or_their_submodules_are_refused() {
    let refused = |root: &Path, sentence: &str| {
        let options = Options {
            pspin: Some(root.to_owned()),
            ..Options::default()
        };
        let error = output("vcu1525", &options, Path::new("out")).unwrap_err();
        assert_eq!(error.replace(&root.display().to_string(), "S"), sentence);
    };
    let alone = pspin_alone();
    refused(
        &alone.path().canonicalize().unwrap(),
        "S is PsPIN alone (it has hw/src/pspin.sv): the module `pspin_wrap` and the changes for FPGAs are in FPsPIN, so \
         give a checkout of https://github.com/spcl/FPsPIN, which has fpga/app/pspin/rtl/pspin_wrap.sv",
    );
    let theirs = fpspin();
    let root = theirs.path().canonicalize().unwrap();
    std::fs::remove_dir(root.join("fpga/app/pspin/deps/pspin/hw/deps/riscv/include")).unwrap();
    refused(
        &root,
        "S/fpga/mqnic/VCU1525/fpga_100g/fpga_pspin/Makefile names a file that is not there, \
         S/fpga/app/pspin/deps/pspin/hw/deps/riscv/include: fetch the tree's submodules",
    );
}

/// A checkout of PsPIN, which is not what is needed.
fn pspin_alone() -> TempDir {
    files(&[("hw/src/pspin.sv", "\n"), ("hw/Bender.yml", "\n")])
}
