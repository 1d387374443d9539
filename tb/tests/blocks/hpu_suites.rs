//! Checkouts of the public tests of RISC-V, in small: what is found in them, and what fails.

use spinneret_skip::skip;
use spinneret_tb::hpu::machine::{RESET, run_on_hart};
use spinneret_tb::hpu::suites::{Toolchain, tests};
use std::fs;
use std::path::Path;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The outcome of each test of a checkout on the simulator's hart, or why it does not apply.
fn outcomes(checkout: &Path) -> Vec<(String, String)> {
    let tools = Toolchain::find(&checkout.join("out")).unwrap();
    let outcome = |test: &spinneret_tb::hpu::suites::Test| {
        if let Some(reason) = &test.unfit {
            return reason.clone();
        }
        let Some(program) = tools.test(test, RESET).unwrap() else {
            return "too large".into();
        };
        let end = run_on_hart(&program, 1000).unwrap();
        let verdict = test.verdict(&program, &end, None).unwrap();
        verdict.unwrap_or("passes".into())
    };
    let tests = tests(checkout).unwrap();
    tests
        .iter()
        .map(|test| (test.to_string(), outcome(test)))
        .collect()
}

fn has_compiler(test: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let found = Toolchain::find(folder.path());
    if let Err(error) = &found {
        skip(test, &format!("{error:#}"));
    }
    found.is_ok()
}

fn expect(found: &[(String, String)], wanted: &[(&str, &str)]) {
    let found: Vec<(&str, &str)> = found.iter().map(|(test, what)| (&**test, &**what)).collect();
    assert_eq!(found, wanted);
}

#[test]
fn tests_that_check_themselves_pass_and_fail() {
    if !has_compiler("tests_that_check_themselves_pass_and_fail") {
        return;
    }
    let ends = |value: u32| {
        format!(
            "#include \"riscv_test.h\"\nBEGIN\nli a0, {value}\nsw a0, tohost, t0\n1: j 1b\n\
             .section .tohost, \"aw\"\n.global tohost\ntohost: .word 0\n"
        )
    };
    let checkout = tempfile::tempdir().unwrap();
    write(
        checkout.path(),
        &[
            (
                "env/p/riscv_test.h",
                "#define BEGIN .section .text.init; .global _start; _start:\n",
            ),
            ("isa/rv32ui/right.S", &ends(1)),
            ("isa/rv32ui/wrong.S", &ends(7 << 1 | 1)),
            ("isa/rv32ui/fence_i.S", &ends(1)),
            ("isa/rv32um/endless.S", &ends(0)),
            ("isa/rv32um/README", "no test"),
        ],
    );
    expect(
        &outcomes(checkout.path()),
        &[
            (
                "rv32ui/fence_i",
                "it writes its own code, and program memory is the host's to write",
            ),
            ("rv32ui/right", "passes"),
            ("rv32ui/wrong", "case 7 fails"),
            ("rv32um/endless", "it does not end within 1000 clocks"),
        ],
    );
}

#[test]
fn signatures_are_compared_with_the_references() {
    if !has_compiler("signatures_are_compared_with_the_references") {
        return;
    }
    let test = |isa: &str, case: &str| {
        format!(
            "#include \"model_test.h\"\n#include \"arch_test.h\"\nRVTEST_ISA(\"{isa}\")\n\
             RVTEST_CASE(0, \"//check ISA:=regex(.*I.*);{case}def WORD=0x12345678\")\n\
             .section .text.init\nRVMODEL_BOOT\nla a0, begin_signature\nli a1, WORD\nsw a1, 4(a0)\nRVMODEL_HALT\n\
             .data\nRVMODEL_DATA_BEGIN\n.word 1, 0, 3, 4\nRVMODEL_DATA_END\n"
        )
    };
    let (right, wrong) = (
        "00000001\n12345678\n00000003\n00000004\n",
        "00000001\n12345678\n00000003\n",
    );
    let root = "riscv-test-suite/rv32i_m";
    let checkout = tempfile::tempdir().unwrap();
    let path = |name: &str| format!("{root}/{name}");
    write(
        checkout.path(),
        &[
            (
                "riscv-test-suite/env/arch_test.h",
                "#define RVTEST_ISA(name)\n#define RVTEST_CASE(number, text)\n",
            ),
            (&path("I/src/bare.S"), &test("RV32I", "")),
            (&path("I/src/right.S"), &test("RV32I_Zicsr", "")),
            (
                &path("I/src/short.S"),
                &test("RV32I", "check ISA:=regex(^[^C]+$);"),
            ),
            (&path("I/src/wrong.S"), &test("RV32I", "")),
            (&path("I/references/right.reference_output"), right),
            (&path("I/references/wrong.reference_output"), wrong),
            (&path("C/src/more.S"), &test("RV32I_Zca_Zcb", "")),
        ],
    );
    expect(
        &outcomes(checkout.path()),
        &[
            ("I/bare", "passes"),
            ("I/right", "passes"),
            (
                "I/short",
                "it is for harts that have not C, or no misaligned accesses",
            ),
            ("I/wrong", "word 3 of the signature is 00000004, not missing"),
            ("C/more", "it needs Zcb"),
        ],
    );
}

#[test]
fn other_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |wanted: &str| {
        let error = tests(folder.path()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    refused("git clone --recursive https://github.com/riscv-software-src/riscv-tests");
    write(folder.path(), &[("isa/rv32ui/add.S", "")]);
    refused("submodule update --init env");
}
