//! Two variants of a block in one design, each with a prefix of its own.

use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

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
fn what_has_a_prefix_does_not_replace_what_has_none() {
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
