//! Calls of the external tools. A tool that is missing fails the test with one sentence.

use std::path::Path;
use std::process::Command;

/// Runs a command in a directory and returns what it printed on both outputs and whether it succeeded.
pub(crate) fn run(directory: &Path, program: &str, arguments: &[&str]) -> (String, bool) {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap_or_else(|error| {
            panic!("cannot run `{program}` ({error}): run `./dev setup` to install the tools")
        });
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    (text, output.status.success())
}

fn must_succeed(directory: &Path, program: &str, arguments: &[&str]) -> String {
    let (text, success) = run(directory, program, arguments);
    assert!(success, "{program} {}:\n{text}", arguments.join(" "));
    text
}

/// Compiles and runs the test bench in Icarus Verilog.
///
/// Icarus 11 runs an `always_comb` again and again, without time passing, when it assigns a variable
/// twice and reads it (IEEE 1800-2017, 9.2.2.2.1 excludes such variables from what wakes it up). It
/// gets `always @*` instead, which does not hang; `bench.start` wakes every one up once, as
/// `always_comb` does automatically.
pub(crate) fn icarus(directory: &Path) -> String {
    let text = std::fs::read_to_string(directory.join("dut.sv")).expect("dut.sv");
    std::fs::write(
        directory.join("dut_icarus.sv"),
        text.replace("always_comb begin", "always @* begin if (bench.start) ;"),
    )
    .expect("dut_icarus.sv");
    must_succeed(
        directory,
        "iverilog",
        &[
            "-g2012",
            "-s",
            "bench",
            "-o",
            "bench.vvp",
            "dut_icarus.sv",
            "bench.sv",
        ],
    );
    must_succeed(directory, "vvp", &["-n", "bench.vvp"])
}

/// Compiles and runs the test bench in Verilator.
pub(crate) fn verilator(directory: &Path) -> String {
    let arguments = [
        "--binary",
        "--timing",
        "--top-module",
        "bench",
        "-Wno-fatal",
        "-Wno-WIDTH",
        "-O3",
        "-CFLAGS",
        "-O0",
        "--output-split",
        "20000",
        "-j",
        "2",
        "-Mdir",
        "obj",
        "dut.sv",
        "bench.sv",
    ];
    must_succeed(directory, "verilator", &arguments);
    must_succeed(directory, "obj/Vbench", &[])
}

/// Reads the modules in yosys and checks that all instances exist and that nothing is driven twice.
pub(crate) fn yosys(directory: &Path) {
    // `opt_clean` removes the rest of branches that are never taken before the check.
    let script = "read_verilog -sv dut.sv; hierarchy -check; proc; opt_clean; check -assert";
    must_succeed(directory, "yosys", &["-q", "-p", script]);
}

/// Lints the modules in Verilator. Test blocks need not read all their inputs nor use all outputs of sub-blocks.
pub(crate) fn lint(directory: &Path, waivers: &[&str]) {
    let mut arguments = vec!["--lint-only", "-Wall", "-Wno-DECLFILENAME", "-Wno-MULTITOP"];
    arguments.extend(["-Wno-UNUSED", "-Wno-PINCONNECTEMPTY"]);
    arguments.extend(waivers);
    arguments.push("dut.sv");
    let (text, success) = run(directory, "verilator", &arguments);
    assert!(success, "verilator --lint-only -Wall:\n{text}");
}
