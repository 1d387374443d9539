//! Builds the Verilator models of the designs that the bus models are tested with: every file of `tests/fixtures`.

use spinneret_verilate::{Model, Port};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FIXTURES: &str = "tests/fixtures";

fn main() {
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={FIXTURES}");
    match fixtures() {
        Ok(models) => spinneret_verilate::finish(spinneret_verilate::build(&models, Path::new(&out))),
        Err(error) => println!("cargo::error=cannot read the fixtures: {error}"),
    }
}

fn fixtures() -> io::Result<Vec<Model>> {
    let files: io::Result<Vec<PathBuf>> = fs::read_dir(FIXTURES)?.map(|entry| Ok(entry?.path())).collect();
    let mut files = files?;
    files.sort();
    files.iter().map(|path| fixture(path)).collect()
}

/// A design in a file of its own name, with the ports that its header declares, one a line.
fn fixture(path: &Path) -> io::Result<Model> {
    let text = fs::read_to_string(path)?;
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok(Model {
        top: name.clone(),
        ports: text
            .lines()
            .take_while(|line| *line != ");")
            .filter_map(port)
            .collect(),
        sources: vec![(format!("{name}.sv"), text)],
        name,
    })
}

/// The port of a line such as `    input  logic [ 31:0] s_axis_tdata,`.
fn port(line: &str) -> Option<Port> {
    let (direction, declared) = line.trim().split_once(' ')?;
    let input = match direction {
        "input" => true,
        "output" => false,
        _ => return None,
    };
    let declared = declared
        .trim()
        .strip_prefix("logic")?
        .trim()
        .trim_end_matches(',');
    let (width, name) = match declared
        .strip_prefix('[')
        .and_then(|range| range.split_once(":0]"))
    {
        Some((highest, name)) => (highest.trim().parse::<usize>().ok()? + 1, name),
        None => (1, declared),
    };
    let name = name.trim().trim_start_matches('\\').to_owned();
    Some(Port { name, input, width })
}
