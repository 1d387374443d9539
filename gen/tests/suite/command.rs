//! The `gen-verilog` program as users run it, with the blocks that it really has.

use serde_json::Value;
use spinneret_gen::render::HASH_HEADER;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The list of what was written, which is none of the files that are counted.
const LIST: &str = ".gen-verilog";

/// A scratch folder that looks like a checkout, so that no test writes into the real one.
struct Checkout(TempDir);

struct Answer {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Checkout {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("gen")).unwrap();
        fs::write(scratch.path().join("Cargo.toml"), "[workspace]\n").unwrap();
        fs::write(
            scratch.path().join("gen/Cargo.toml"),
            "[package]\nname = \"spinneret-gen\"\n",
        )
        .unwrap();
        Self(scratch)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        let output = Command::new(env!("CARGO_BIN_EXE_gen-verilog"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap();
        let Output {
            status,
            stdout,
            stderr,
        } = output;
        Answer {
            code: status.code(),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    fn done(&self, arguments: &[&str]) -> String {
        let answer = self.run(arguments);
        assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""), "{arguments:?}");
        answer.out
    }

    /// The one sentence of a run that is refused, and writes nothing.
    fn refused(&self, arguments: &[&str]) -> String {
        let answer = self.run(arguments);
        assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(!self.path("gen/verilog").exists(), "a refused run writes nothing");
        assert_eq!(answer.err.lines().count(), 1, "{}", answer.err);
        answer.err.trim_end().to_owned()
    }
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries
        .map(|path| (name(&path), path))
        .filter(|(name, _)| name != LIST)
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect()
}

/// Name of a shipped module with the name, lower and upper limit of one of its parameters.
fn some_parameter(checkout: &Checkout) -> (String, String, u64, u64) {
    let list: Value = serde_json::from_str(&checkout.done(&["--list", "--json"])).unwrap();
    let modules = list["modules"].as_array().unwrap();
    let module = modules.iter().find(|module| module["shipped"] == true).unwrap();
    let parameter = &module["parameters"][0];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let limit = |name: &str| parameter[name].as_u64().unwrap();
    (
        text(&module["name"]),
        text(&parameter["name"]),
        limit("min"),
        limit("max"),
    )
}

/// The files of a directory and of those below, by path.
fn all_files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if name == LIST {
            continue;
        }
        if entry.path().is_dir() {
            let below = all_files(&entry.path()).into_iter();
            all.extend(below.map(|(file, text)| (format!("{name}/{file}"), text)));
        } else {
            all.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    all
}

#[test]
fn without_arguments_it_also_writes_the_application_block_of_a_board() {
    let checkout = Checkout::new();
    let out = checkout.done(&[]);
    let folder = "gen/verilog/board-vcu1525";
    assert!(
        out.contains(&format!("\nAMD VCU1525 (xcvu9p-fsgd2104-2L-e) in {folder}: ")),
        "{out}"
    );
    let written = all_files(&checkout.path(folder));
    let list = String::from_utf8(written["filelist.f"].clone()).unwrap();
    assert!(list.contains("\n// block: mqnic_app_block\n"), "{list}");
    for file in list.lines().filter(|line| !line.starts_with("//")) {
        assert!(written.contains_key(file), "{file}");
    }
    // They equal those that are written for the board alone, and nothing in them depends on this machine.
    checkout.done(&["--board", "vcu1525", "--out", "alone"]);
    assert_eq!(written, all_files(&checkout.path("alone")));
    for (name, text) in &written {
        let text = String::from_utf8_lossy(text);
        assert!(!text.contains(checkout.0.path().to_str().unwrap()), "{name}");
    }
    // A difference in either directory is reported, and both are repaired.
    fs::remove_file(checkout.path(&format!("{folder}/rtl/spinneret_app.sv"))).unwrap();
    let answer = checkout.run(&["--check"]);
    assert_eq!(answer.code, Some(1));
    let end = format!(
        "{folder} is not what the Rust blocks say:\n  missing  rtl/spinneret_app.sv\n\
         run `cargo run --release --bin gen-verilog` to repair it\n"
    );
    assert!(
        answer.out.contains("gen/verilog/reference is up to date (") && answer.out.ends_with(&end),
        "{}",
        answer.out
    );
    let answer = checkout.run(&["--check", "--json"]);
    assert_eq!(answer.code, Some(1));
    let json: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(json["up_to_date_before"], true);
    assert_eq!(
        json["board"]["differences_before"]["rtl/spinneret_app.sv"],
        "missing"
    );
    checkout.done(&[]);
    assert_eq!(written, all_files(&checkout.path(folder)));
    // A single configuration writes nothing else.
    checkout.done(&["--config", "reference", "--out", "other"]);
    assert!(!checkout.path("other/rtl").exists());
}

#[test]
fn obstacle_in_one_directory_prevents_writing_both() {
    let checkout = Checkout::new();
    fs::create_dir_all(checkout.path("gen/verilog/board-vcu1525")).unwrap();
    fs::write(checkout.path("gen/verilog/board-vcu1525/filelist.f"), "mine\n").unwrap();
    let answer = checkout.run(&[]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.err,
        "gen-verilog: gen/verilog/board-vcu1525/filelist.f is in the way and was not written by gen-verilog: move it away \
         or choose another `--out`\n"
    );
    assert!(!checkout.path("gen/verilog/reference").exists());
    // Vice versa as well.
    let checkout = Checkout::new();
    fs::create_dir_all(checkout.path("gen/verilog/reference")).unwrap();
    fs::write(checkout.path("gen/verilog/reference/filelist.f"), "mine\n").unwrap();
    assert_eq!(checkout.run(&[]).code, Some(2));
    assert!(!checkout.path("gen/verilog/board-vcu1525").exists());
}

#[test]
fn without_arguments_it_writes_the_reference_blocks_into_the_checkout() {
    let checkout = Checkout::new();
    let out = checkout.done(&[]);
    assert!(out.contains(" in gen/verilog/reference: "), "{out}");
    let written = files(&checkout.path("gen/verilog/reference"));
    assert!(written.contains_key("pspin_pkt_match.sv") && written.contains_key("filelist.f"));
    let list = String::from_utf8(written["filelist.f"].clone()).unwrap();
    let listed = list.lines().filter(|line| !line.starts_with("//"));
    assert_eq!(listed.clone().count(), written.len() - 1);
    for name in listed {
        assert!(out.contains(name), "the table names {name}");
    }
}

#[test]
fn two_runs_write_the_same_bytes_without_dates_or_paths() {
    let (first, second) = (Checkout::new(), Checkout::new());
    for checkout in [&first, &second] {
        checkout.done(&[]);
        checkout.done(&["--config", "board"]);
    }
    for folder in ["gen/verilog/reference", "gen/verilog/board"] {
        let written = files(&first.path(folder));
        assert_eq!(written, files(&second.path(folder)));
        for (name, text) in written {
            let text = String::from_utf8(text).unwrap();
            for path in [first.0.path().to_str().unwrap(), env!("CARGO_MANIFEST_DIR")] {
                assert!(!text.contains(path), "{name} holds {path}");
            }
        }
    }
}

#[test]
fn check_tells_each_kind_of_difference_and_repairs_nothing() {
    let checkout = Checkout::new();
    let missing = checkout.run(&["--check"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.out.contains("  missing  filelist.f\n"), "{}", missing.out);
    assert!(!checkout.path("gen/verilog").exists());

    checkout.done(&[]);
    let folder = checkout.path("gen/verilog/reference");
    let count = files(&folder).len();
    let of_board = all_files(&checkout.path("gen/verilog/board-vcu1525")).len();
    let of_board = format!("gen/verilog/board-vcu1525 is up to date ({of_board} files)\n");
    let up_to_date = format!("gen/verilog/reference is up to date ({count} files)\n{of_board}");
    assert_eq!(checkout.done(&["--check"]), up_to_date);

    let matcher = fs::read_to_string(folder.join("pspin_pkt_match.sv")).unwrap();
    fs::write(folder.join("old_block.sv"), &matcher).unwrap();
    add_to_list(&folder, "old_block.sv");
    fs::write(folder.join("pspin_pkt_match.sv"), format!("{matcher}// edited\n")).unwrap();
    fs::remove_file(folder.join("filelist.f")).unwrap();
    fs::write(folder.join("notes.sv"), "// somebody's own\n").unwrap();
    let before = files(&folder);
    let differs = checkout.run(&["--check"]);
    assert_eq!(differs.code, Some(1));
    let expected = "gen/verilog/reference is not what the Rust blocks say:\n  \
                    differs  .gen-verilog\n  missing  filelist.f\n  stale    old_block.sv\n  differs  pspin_pkt_match.sv\n\
                    run `cargo run --release --bin gen-verilog` to repair it\n";
    assert_eq!(differs.out, format!("{expected}{of_board}"));
    assert_eq!(files(&folder), before);

    let repaired = checkout.done(&[]);
    assert!(
        repaired.contains("2 files written") && repaired.contains("1 stale removed"),
        "{repaired}"
    );
    assert_eq!(checkout.done(&["--check"]), up_to_date);
    assert!(folder.join("notes.sv").exists());
}

#[test]
fn check_answers_in_json_with_the_same_exit_code() {
    let checkout = Checkout::new();
    let answer = checkout.run(&["--check", "--json"]);
    assert_eq!(answer.code, Some(1));
    let json: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(json["differences_before"]["filelist.f"], "missing");
    assert_eq!(json["checked_only"], true);
}

#[test]
fn a_selection_goes_to_a_folder_of_its_own() {
    let checkout = Checkout::new();
    let (module, ..) = some_parameter(&checkout);
    let json: Value = serde_json::from_str(&checkout.done(&["--module", &module, "--json"])).unwrap();
    assert_eq!(json["directory"], "gen/verilog/custom");
    let blocks: Vec<_> = json["modules"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|module| !module["ports"].is_null())
        .collect();
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0]["name"], module.as_str());
    assert!(!checkout.path("gen/verilog/reference").exists());
}

/// Refused arguments; the names of modules and settings are in [`crate::request`].
pub(crate) fn refusals(told: &mut Vec<String>) {
    let checkout = Checkout::new();
    for arguments in [
        &["--config", "boart"][..],
        &["--module", "pspin_pkt_macht"],
        &["--prefix", ""],
        &["--prefix", "2nd_"],
        &["--prefix", "wide-"],
        &["--prefix", "weit\u{e9}_"],
        &["--board", "vcu1526"],
        &["--board", "vcu1525", "--corundum", "2023-21"],
        &["--board", "vcu1525", "--cluster", "none"],
        &["--board", "vcu1525", "--rate", "40"],
        &["--board", "vcu1525", "--cluster-mhz", "40M"],
        &["--board", "alchitry-cu", "--cluster-mhz", "50"],
        &["--set", "width"],
        &["--set", "width=8", "--set", "width=8"],
    ] {
        told.push(checkout.refused(arguments));
    }
}

/// As if a run of another time had written a file.
fn add_to_list(folder: &Path, name: &str) {
    let list = folder.join(LIST);
    let listed = fs::read_to_string(&list).unwrap();
    fs::write(list, format!("{listed}{name}\n")).unwrap();
}

#[test]
fn board_is_written_checked_and_stale_files_removed() {
    let checkout = Checkout::new();
    let answer = checkout.done(&["--board", "alchitry-cu"]);
    assert!(
        answer.starts_with("Alchitry Cu (ice40hx8k-cb132) in target/boards/alchitry-cu: "),
        "{answer}"
    );
    let root = checkout.path("target/boards/alchitry-cu");
    let list = fs::read_to_string(root.join("filelist.f")).unwrap();
    let sources: Vec<_> = list.lines().filter(|line| !line.starts_with("//")).collect();
    assert_eq!(sources.last(), Some(&"rtl/alchitry_cu.sv"));
    for source in &sources {
        assert!(root.join(source).is_file(), "{source}");
    }
    let check = ["--board", "alchitry-cu", "--check"];
    assert!(checkout.done(&check).contains(" is up to date ("));
    // Its own files of another time are found again in every folder; those of others stay.
    fs::copy(root.join(sources[0]), root.join("rtl/spinneret_old.sv")).unwrap();
    add_to_list(&root, "rtl/spinneret_old.sv");
    fs::write(root.join("rtl/mine.sv"), "// mine\n").unwrap();
    fs::write(
        root.join("constraints/alchitry_cu.pcf"),
        format!("{HASH_HEADER}\nset_io clock A1\n"),
    )
    .unwrap();
    let answer = checkout.run(&check);
    assert_eq!(answer.code, Some(1));
    let lines: Vec<_> = answer.out.lines().collect();
    assert_eq!(
        lines,
        [
            "target/boards/alchitry-cu is not what the Rust blocks say:",
            "  differs  .gen-verilog",
            "  differs  constraints/alchitry_cu.pcf",
            "  stale    rtl/spinneret_old.sv",
            "run `cargo run --release --bin gen-verilog -- --board alchitry-cu` to repair it",
        ]
    );
    checkout.done(&["--board", "alchitry-cu"]);
    assert!(checkout.done(&check).contains(" is up to date ("));
    assert!(root.join("rtl/mine.sv").is_file() && !root.join("rtl/spinneret_old.sv").exists());
}

#[test]
fn board_does_not_overwrite_foreign_makefile() {
    let checkout = Checkout::new();
    fs::create_dir(checkout.path("mine")).unwrap();
    fs::write(checkout.path("mine/Makefile"), "all:\n").unwrap();
    let told = checkout.refused(&["--board", "alchitry-cu", "--out", "mine"]);
    assert!(told.contains("mine/Makefile is in the way"), "{told}");
    assert_eq!(fs::read_dir(checkout.path("mine")).unwrap().count(), 1);
}

#[test]
fn rejects_invalid_settings() {
    let checkout = Checkout::new();
    let (module, parameter, min, max) = some_parameter(&checkout);
    let too_much = max + 1;
    let told = checkout.refused(&["--set", &format!("{module}.{parameter}={too_much}")]);
    let limits =
        format!("{module}: {parameter} = {too_much} is not possible: it must be from {min} to {max}");
    assert!(told.ends_with(&limits), "{told}");
    // All parameters that there are follow.
    let told = checkout.refused(&["--set", "no_such_parameter_anywhere=1"]);
    assert!(
        told.contains("has a parameter `no_such_parameter_anywhere`: "),
        "{told}"
    );
}

#[test]
fn an_unwritable_directory_is_refused_and_stays_as_it_is() {
    let checkout = Checkout::new();
    fs::write(checkout.path("file"), "text").unwrap();
    let answer = checkout.run(&["--out", "file/below"]);
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.err.starts_with("gen-verilog: cannot ") && answer.err.contains("file/below: "),
        "{}",
        answer.err
    );
    assert_eq!(answer.err.lines().count(), 1, "{}", answer.err);
    assert_eq!(fs::read_to_string(checkout.path("file")).unwrap(), "text");
}

#[test]
fn the_list_names_everything_that_can_be_asked_for() {
    let checkout = Checkout::new();
    let list = checkout.done(&["--list"]);
    let (module, parameter, ..) = some_parameter(&checkout);
    for word in [
        "reference",
        "board",
        "vcu1525",
        "alchitry-cu",
        "alchitry-cu-hpu",
        "colorlight-5a-75b",
        &module,
        &parameter,
    ] {
        assert!(list.contains(word), "{word} is not in\n{list}");
    }
    assert!(!checkout.path("gen/verilog").exists());
}
