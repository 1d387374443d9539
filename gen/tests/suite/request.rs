//! Names and settings of a command line against a small catalog.

use crate::support::{CATALOG, strings};
use serde_json::Value;
use spinneret_gen::render::{FILE_LIST, HEADER, Rendered, render};
use spinneret_gen::request::Request;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

fn request(config: &str, modules: &[&str], settings: &[&str]) -> Result<Request, String> {
    Request::new(CATALOG, config, &strings(modules), &strings(settings)).map_err(|error| error.to_string())
}

fn chosen(request: &Request) -> Vec<(&str, Vec<u64>)> {
    let blocks = request.blocks.iter();
    blocks
        .map(|b| (b.entry.name, b.parameters.iter().map(|p| p.value).collect()))
        .collect()
}

#[test]
fn without_names_all_shipped_blocks_have_the_values_of_the_configuration() {
    let reference = request("reference", &[], &[]).unwrap();
    assert_eq!(
        chosen(&reference),
        [("up_counter", vec![8, 3]), ("down_counter", vec![8, 3])]
    );
    assert!(reference.whole);
    let board = request("board", &[], &[]).unwrap();
    assert_eq!(
        chosen(&board),
        [("up_counter", vec![16, 3]), ("down_counter", vec![16, 3])]
    );
}

#[test]
fn named_modules_keep_the_order_of_the_catalog_and_count_once() {
    let some = request(
        "reference",
        &["bench_counter", "up_counter", "bench_counter"],
        &[],
    )
    .unwrap();
    assert_eq!(
        chosen(&some),
        [("up_counter", vec![8, 3]), ("bench_counter", vec![8])]
    );
    assert!(!some.whole);
}

#[test]
fn setting_applies_to_all_modules_and_specific_setting_wins() {
    let set = request("reference", &[], &["down_counter.width=32", "width=24"]).unwrap();
    assert_eq!(
        chosen(&set),
        [("up_counter", vec![24, 3]), ("down_counter", vec![32, 3])]
    );
    assert!(!set.whole);
}

/// Names and values that do not exist, and settings that do not go together.
pub(crate) fn refusals(told: &mut Vec<String>) {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("refrence", &[], &[]),
        ("x", &[], &[]),
        ("board", &["up_conter"], &[]),
        ("board", &["zzz"], &[]),
        ("board", &[], &["limt=1"]),
        ("board", &["bench_counter"], &["limit=1"]),
        ("board", &[], &["up_countr.width=8"]),
        ("board", &["up_counter"], &["down_counter.width=8"]),
        ("board", &[], &["up_counter.depth=8"]),
        ("board", &[], &["width=65"]),
        ("board", &[], &["width=8", "width=8"]),
    ];
    for (config, modules, settings) in cases {
        told.push(request(config, modules, settings).unwrap_err());
    }
    // A value in range may still be refused by the block.
    let odd = request("reference", &[], &["down_counter.width=7"]).unwrap();
    told.push(render(&odd).unwrap_err().to_string());
}

fn rendered(modules: &[&str], settings: &[&str]) -> Rendered {
    let request = Request::new(CATALOG, "reference", &strings(modules), &strings(settings)).unwrap();
    render(&request).unwrap()
}

fn text<'a>(rendered: &'a Rendered, name: &str) -> &'a str {
    &rendered.files.iter().find(|file| file.name == name).unwrap().text
}

#[test]
fn each_module_has_a_file_and_the_list_comes_last() {
    let rendered = rendered(&[], &[]);
    let names: Vec<_> = rendered.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["up_counter.sv", "down_counter.sv", FILE_LIST]);
    for file in &rendered.files {
        assert!(file.text.starts_with(HEADER), "{}", file.name);
        assert!(
            file.text.ends_with('\n') && !file.text.contains('\r'),
            "{}",
            file.name
        );
    }
    assert_eq!(
        text(&rendered, FILE_LIST),
        format!(
            "{HEADER}\n// SPDX-License-Identifier: MIT OR Apache-2.0\n\
             // Dependency order; names are relative to this folder (`verilator -F`).\n\
             // block: up_counter\n// block: down_counter\nup_counter.sv\ndown_counter.sv\n"
        )
    );
}

#[test]
fn generated_block_lists_its_parameter_values() {
    let rendered = rendered(&["up_counter"], &["width=16"]);
    let text = text(&rendered, "up_counter.sv");
    let comment = "// Block up_counter, configuration reference:\n\
                   //   width = 16 (bits of the value)\n//   limit = 3 (largest step)\n";
    assert!(text.contains(comment), "{text}");
    assert!(
        text.contains("WIDTH = 16") && text.contains("BYTES = 2"),
        "{text}"
    );
    let module = &rendered.modules[0];
    assert_eq!(module.lines, text.lines().count());
    let ports: Vec<_> = module
        .block
        .as_ref()
        .unwrap()
        .ports
        .iter()
        .map(|p| (p.name.as_str(), p.width))
        .collect();
    assert_eq!(ports, [("clk", 1), ("rst", 1), ("step", 16), ("count", 16)]);
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    assert_eq!(rendered(&[], &[]).files, rendered(&[], &[]).files);
}

/// Writes a variant of a block into a folder and answers what is said about it.
fn generate(folder: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_gen-verilog"))
        .args(arguments)
        .args(["--json", "--out"])
        .arg(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// An instance of the top module of a variant, with a signal for each port.
fn instance(name: &str, variant: &Value) -> String {
    let modules = variant["modules"].as_array().unwrap();
    let top = modules.iter().find(|module| !module["ports"].is_null()).unwrap();
    let (mut signals, mut connections) = (String::new(), Vec::new());
    for port in top["ports"].as_array().unwrap() {
        let (port, width) = (port["name"].as_str().unwrap(), port["width"].as_u64().unwrap());
        let _ = writeln!(signals, "logic [{}:0] {name}_{port};", width - 1);
        connections.push(format!(".{port}({name}_{port})"));
    }
    let module = top["name"].as_str().unwrap();
    format!("{signals}{module} {name} ({});\n", connections.join(", "))
}

/// Elaborates both variants, instantiated in one module, in both simulators; what they say if they refuse.
fn elaborate(scratch: &Path, variants: &[(&str, &Value)]) -> Result<(), String> {
    let instances: String = variants
        .iter()
        .map(|(name, variant)| instance(name, variant))
        .collect();
    fs::write(
        scratch.join("both.sv"),
        format!("module both;\n{instances}endmodule\n"),
    )
    .unwrap();
    let files = variants.iter().flat_map(|(name, variant)| {
        let modules = variant["modules"].as_array().unwrap().iter();
        modules.map(move |module| format!("{name}/{}", module["file"].as_str().unwrap()))
    });
    let files: Vec<_> = files.chain(["both.sv".to_owned()]).collect();
    for (tool, options) in [
        ("verilator", &["--lint-only", "--top-module", "both"][..]),
        ("iverilog", &["-g2012", "-t", "null", "-s", "both"]),
    ] {
        let output = Command::new(tool)
            .args(options)
            .args(&files)
            .current_dir(scratch)
            .output()
            .unwrap_or_else(|error| panic!("cannot run `{tool}` ({error}): run `./dev setup`"));
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
    }
    Ok(())
}

#[test]
fn two_variants_of_a_block_fit_into_one_design() {
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, prefix: &[&str]| {
        let width = if name == "wide" {
            "data_width=512"
        } else {
            "data_width=128"
        };
        let block = ["--module", "pspin_ingress_dma", "--set", width];
        generate(&scratch.path().join(name), &[&block, prefix].concat())
    };
    // A prefix with which names begin anyway is put in front of them once more.
    let wide = write("wide", &["--prefix", "pspin_"]);
    let narrow = write("narrow", &["--prefix", "n"]);
    for (variant, prefix) in [(&wide, "pspin_"), (&narrow, "n")] {
        let names = variant["modules"].as_array().unwrap().iter();
        let mut names = names.map(|module| module["name"].as_str().unwrap());
        assert!(names.all(|name| name.starts_with(prefix)), "{variant:#}");
    }
    assert_eq!(
        elaborate(scratch.path(), &[("wide", &wide), ("narrow", &narrow)]),
        Ok(())
    );
    // Without one of the prefixes they fit as well, without both they do not.
    let wide = write("wide", &[]);
    assert_eq!(
        elaborate(scratch.path(), &[("wide", &wide), ("narrow", &narrow)]),
        Ok(())
    );
    let narrow = write("narrow", &[]);
    let error = elaborate(scratch.path(), &[("wide", &wide), ("narrow", &narrow)]).unwrap_err();
    assert!(error.contains("pspin_ingress_dma"), "{error}");
}

#[test]
fn prefixed_modules_do_not_replace_others() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("gen");
    fs::create_dir(&folder).unwrap();
    fs::write(scratch.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"spinneret-gen\"\n").unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_gen-verilog"))
        .args(["--prefix", "mine_"])
        .current_dir(scratch.path())
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    assert!(!folder.join("verilog/reference").exists());
    let list = fs::read_to_string(folder.join("verilog/custom/filelist.f")).unwrap();
    let named = |line: &str| line.starts_with("mine_") || line.starts_with("//");
    assert!(list.lines().all(named), "{list}");
    assert!(list.contains("\n// block: mine_pspin_pkt_match\n"), "{list}");
}
