//! Tests the Python package with pytest and checks its types with mypy, in a separate virtual environment.
//!
//! The tests load the module that Cargo built with this test, so nothing is compiled again. `pip install ./python`
//! builds the same module with maturin.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Packages that the tests need, from the Python registry.
const PACKAGES: [&str; 5] = [
    "pytest==9.2.0",
    "mypy==2.4.1",
    "scapy==2.8.0",
    "matplotlib==3.11.2",
    "cocotb==2.1.0",
];

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder with Cargo's build outputs for this profile.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("tests are files");
    test.parent().expect("they are in a folder").to_owned()
}

fn succeeds(command: &mut Command) -> Result<String, String> {
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr)
    );
    match status.success() {
        true => Ok(text),
        false => Err(format!("{command:?}: {text}")),
    }
}

/// Returns the Python of a virtual environment with the packages, which is created once and reused.
fn environment() -> Result<PathBuf, String> {
    let target = built()
        .ancestors()
        .nth(2)
        .expect("profiles have folders")
        .to_owned();
    let environment = target.join("tools/python");
    let listed = environment.join("complete");
    let python = environment.join("bin/python");
    let packages = PACKAGES.join(" ");
    if std::fs::read_to_string(&listed).is_ok_and(|found| found == packages) {
        return Ok(python);
    }
    let _ = std::fs::remove_dir_all(&environment);
    succeeds(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let mut pip = Command::new(&python);
    succeeds(pip.args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
    std::fs::write(&listed, packages).map_err(|error| error.to_string())?;
    Ok(python)
}

/// Copies the package with the module to `place`, as an installation has it.
fn package(place: &Path) {
    let package = place.join("spinneret");
    let copied = Command::new("cp")
        .args(["-rL"])
        .arg(folder().join("spinneret"))
        .arg(&package)
        .status();
    assert!(copied.is_ok_and(|status| status.success()), "it can be copied");
    std::fs::copy(
        built().join("lib_spinneret.so"),
        package.join("_spinneret.abi3.so"),
    )
    .expect("Cargo has built it");
}

#[test]
fn the_package_passes_its_tests_and_type_checks() {
    let python = match environment() {
        Ok(python) => python,
        Err(why) => return spinneret_skip::skip("python", &why),
    };
    let place = tempfile::tempdir().expect("there is room");
    package(place.path());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        // Python searches the current folder for packages first, and the package in the checkout has no module.
        command
            .current_dir(place.path())
            .env("PYTHONPATH", place.path())
            .args(arguments);
        command
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("MPLBACKEND", "Agg");
        succeeds(&mut command).unwrap_or_else(|why| panic!("{why}"))
    };
    let path = |name: &str| folder().join(name).display().to_string();
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider"];
    for (tests, passing) in [
        ("tests/test_nic.py", "19 passed"),
        ("examples/cocotb", "1 passed"),
    ] {
        let passed = run(&[&pytest[..], &[&path(tests)]].concat());
        assert!(passed.contains(passing), "{passed}");
    }
    let example = path("examples/latency.py");
    let typed = run(&["-m", "mypy", "--strict", "-p", "spinneret"]);
    assert!(typed.contains("Success"), "{typed}");
    run(&["-m", "mypy", "--strict", &example, &path("tests/test_nic.py")]);
    let printed = run(&[&example, "latency.svg"]);
    assert!(printed.starts_with("23 replies, "), "{printed}");
    let picture = std::fs::read_to_string(place.path().join("latency.svg")).expect("it was drawn");
    assert!(picture.contains("<svg"), "{picture}");
}
