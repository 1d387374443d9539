//! Builds models as a build script does, in a process of its own with its own environment.

use spinneret_verilate::{Model, Port, build, finish};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;
use tempfile::{TempDir, tempdir};

/// The variable that tells the child process which models to build.
const CASE: &str = "SPINNERET_VERILATE_TEST_CASE";

const INVERTER: &str = "module top(input logic [6:0] a, output logic [6:0] q); assign q = ~a; endmodule\n";

fn model(name: &str, text: &str, width: usize) -> Model {
    let port = |name: &str, input| Port {
        name: name.to_owned(),
        input,
        width,
    };
    Model {
        name: name.to_owned(),
        top: "top".to_owned(),
        sources: vec![("top.sv".to_owned(), text.to_owned())],
        ports: vec![port("a", true), port("q", false)],
    }
}

fn models(case: &str) -> Vec<Model> {
    let changed = INVERTER.replace("~a", "a");
    let warned = INVERTER.replace("~a", "8'd0 | 8'(a)");
    let waiver = "`verilator_config\nlint_off -rule WIDTH -file \"top.sv\"\n";
    match case {
        "two" => vec![model("first", INVERTER, 7), model("second", INVERTER, 7)],
        "changed" => vec![model("first", INVERTER, 7), model("second", &changed, 7)],
        "one" => vec![model("first", INVERTER, 7)],
        "none" => vec![],
        "warned" => vec![model("doubtful", &warned, 7)],
        "waived" => {
            let mut model = model("doubtful", &warned, 7);
            model.sources.push(("waivers.vlt".to_owned(), waiver.to_owned()));
            vec![model]
        }
        "broken" => vec![
            model("first", INVERTER, 7),
            model("broken", "module top(;\nendmodule\n", 7),
        ],
        "width" => vec![model("wide", INVERTER, 9)],
        "name" => vec![model("No", INVERTER, 7)],
        _ => panic!("there is no case {case}"),
    }
}

/// The build script itself: it does nothing unless one of the other tests starts it.
#[test]
fn acts_as_build_script() {
    if let (Ok(case), Some(out)) = (env::var(CASE), env::var_os("OUT_DIR")) {
        finish(build(&models(&case), Path::new(&out)));
    }
}

/// Runs the build script for a case and returns the lines that it prints for Cargo.
fn run_with(case: &str, out: &Path, variables: &[(&str, &OsStr)]) -> Vec<String> {
    let program = env::current_exe().expect("this test has a file");
    let host = host();
    let output = Command::new(program)
        .args(["acts_as_build_script", "--exact", "--nocapture", "--quiet"])
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .envs(variables.iter().copied())
        .env("OUT_DIR", out)
        .env("TARGET", &host)
        .env("HOST", &host)
        .env(CASE, case)
        .output()
        .expect("this test can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("paths are in UTF-8 here");
    text.lines()
        .filter(|line| line.starts_with("cargo:"))
        .map(str::to_owned)
        .collect()
}

fn run(case: &str, out: &Path) -> Vec<String> {
    run_with(case, out, &[])
}

/// The one error of a case, without Cargo's prefix, line by line.
fn errors(case: &str, out: &Path) -> Vec<String> {
    let lines = run(case, out);
    lines
        .iter()
        .filter_map(|line| line.strip_prefix("cargo::error="))
        .map(str::to_owned)
        .collect()
}

/// The platform that this test runs on, as Cargo tells build scripts.
fn host() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("-vV")
        .output()
        .expect("rustc is there when Cargo is");
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its host").to_owned()
}

/// A build directory with nothing but the run-time library, which takes longest to compile: all tests
/// share one.
fn scratch() -> TempDir {
    static SHARED: LazyLock<TempDir> = LazyLock::new(|| {
        let shared = tempdir().expect("a scratch directory");
        assert_eq!(errors("none", shared.path()), [""; 0]);
        shared
    });
    let scratch = tempdir().expect("a scratch directory");
    let folder = Path::new("verilated/run-time");
    fs::create_dir_all(scratch.path().join(folder)).expect("the directory is writable");
    for entry in fs::read_dir(SHARED.path().join(folder)).expect("the library was built") {
        let file = entry.expect("the directory is readable").file_name();
        let copy = scratch.path().join(folder).join(&file);
        fs::copy(SHARED.path().join(folder).join(&file), copy).expect("the directory is writable");
    }
    scratch
}

fn library_time(out: &Path, model: &str) -> SystemTime {
    let library = out.join(format!("verilated/{model}/libspinneret_{model}.a"));
    fs::metadata(library)
        .and_then(|data| data.modified())
        .expect("the library exists")
}

#[test]
fn a_missing_verilator_is_reported_in_one_sentence() {
    let out = scratch();
    assert_eq!(
        run_with("two", out.path(), &[("PATH", OsStr::new(""))]),
        [
            "cargo::error=spinneret needs Verilator to run its tests: run `./dev setup` in the project's root, \
             which installs it."
        ]
    );
}

#[test]
fn only_models_that_changed_are_built_again() {
    let scratch = scratch();
    let out = scratch.path();
    assert_eq!(errors("two", out), [""; 0]);
    let [first, second] = ["first", "second"].map(|model| library_time(out, model));
    run("two", out);
    assert_eq!(
        ["first", "second"].map(|model| library_time(out, model)),
        [first, second]
    );

    run("changed", out);
    assert_eq!(library_time(out, "first"), first);
    assert!(library_time(out, "second") > second);

    // A build that was interrupted leaves no stamp.
    fs::remove_file(out.join("verilated/first/stamp")).expect("there is a stamp");
    run("changed", out);
    assert!(library_time(out, "first") > first);

    run("one", out);
    assert!(
        !out.join("verilated/second").exists(),
        "what is no longer asked for is removed"
    );
    assert!(
        !fs::read_to_string(out.join("models.rs"))
            .expect("it is written")
            .contains("Second")
    );
    assert_eq!(errors("none", out), [""; 0]);
}

#[test]
fn a_library_of_another_compiler_is_not_used() {
    let scratch = scratch();
    let out = scratch.path();
    let compiled_by = |compiler: &str| run_with("one", out, &[("CXX", OsStr::new(compiler))]);
    let named = |lines: &[String]| {
        let line = lines
            .iter()
            .find_map(|line| line.strip_prefix("cargo::rustc-env=SPINNERET_MODEL_COMPILER="));
        line.expect("the compiler is named").to_owned()
    };
    let slow = compiled_by("g++");
    assert!(named(&slow).starts_with("g++"), "{slow:?}");
    let warning = slow.iter().find(|line| line.starts_with("cargo::warning="));
    assert!(
        warning.is_some_and(|line| line.contains("clang++-16")),
        "what costs speed is told: {slow:?}"
    );
    let first = library_time(out, "first");
    compiled_by("g++");
    assert_eq!(library_time(out, "first"), first, "the same compiler's is taken");
    // The same program, but every processor may run what it makes.
    run_with(
        "one",
        out,
        &[
            ("CXX", OsStr::new("g++")),
            ("SPINNERET_PORTABLE", OsStr::new("1")),
        ],
    );
    let portable = library_time(out, "first");
    assert!(portable > first);
    let quick = run("one", out);
    if named(&quick).contains("clang") {
        assert!(library_time(out, "first") > portable);
        assert!(
            !quick.iter().any(|line| line.starts_with("cargo::warning=")),
            "{quick:?}"
        );
    }

    let lines = compiled_by("/nowhere/c++");
    assert!(
        lines.iter().any(|line| line
            .starts_with("cargo::error=the C++ compiler `/nowhere/c++` does not work: ")
            && line.ends_with("; set CXX to another one")),
        "{lines:?}"
    );
}

#[test]
fn models_are_linked_before_what_they_use() {
    let scratch = scratch();
    let lines = run("two", scratch.path());
    let libraries: Vec<_> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("cargo::rustc-link-lib="))
        .collect();
    assert_eq!(
        libraries,
        [
            "static=spinneret_first",
            "static=spinneret_second",
            "static=spinneret_verilated",
            "dylib=stdc++",
            "dylib=z"
        ]
    );
}

#[test]
fn warnings_are_errors_that_name_the_model() {
    let scratch = scratch();
    let lines = errors("warned", scratch.path());
    assert_eq!(lines[0], "Verilator refuses model `doubtful`:");
    assert!(lines[1].starts_with("%Warning-WIDTH: top.sv:1:"), "{lines:?}");
    assert_eq!(errors("waived", scratch.path()), [""; 0]);
}

#[test]
fn errors_name_the_model() {
    let scratch = scratch();
    let lines = errors("broken", scratch.path());
    assert_eq!(lines[0], "Verilator refuses model `broken`:");
    assert!(lines[1].starts_with("%Error: top.sv:"), "{lines:?}");

    let lines = run("width", scratch.path());
    assert!(
        lines
            .iter()
            .any(|line| line.contains("port a is not 9 bits wide")),
        "{lines:?}"
    );
    let last = lines.last().expect("there is an error");
    assert!(
        last.starts_with("cargo::error=the C++ compiler refuses model `wide`"),
        "{lines:?}"
    );

    assert_eq!(
        errors("name", scratch.path()),
        ["model `No` is not usable: its name is not in snake_case"]
    );
}
