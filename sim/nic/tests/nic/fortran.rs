//! Handlers in Fortran, whose output is that of the same module on this machine, compiled by gfortran with its own library.

use crate::kit::{json, ok, packets, runtime, spinneret, stderr, succeeds};
use spinneret_packets::capture::{CaptureWriter, Packet, Resolution};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;

/// An IPv4 packet, with bytes that are negative numbers.
fn packet() -> Vec<u8> {
    let mut bytes: Vec<u8> = (1..=90_u32).map(|number| (number * 37 % 251) as u8 | 1).collect();
    bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0x00]);
    bytes
}

/// Runs the handlers of a folder on that packet.
fn run(folder: &Path, options: &[&str]) -> Output {
    let captures = ok(TempDir::new());
    let capture = captures.path().join("in.pcap");
    let mut writer = ok(CaptureWriter::create(&capture, Resolution::Nano));
    ok(writer.write(&Packet {
        timestamp: Duration::ZERO,
        data: packet(),
        original_len: packet().len() as u32,
    }));
    ok(writer.finish());
    let mut command = spinneret();
    command.arg("run").arg(folder).arg("--pcap").arg(capture);
    succeeds(command.args(options))
}

/// The output of the program on this machine.
fn native() -> String {
    let folder = ok(TempDir::new());
    let bytes: Vec<String> = packet()
        .iter()
        .map(|byte| byte.cast_signed().to_string())
        .collect();
    let main = format!(
        "program main\n    use list\n    integer(c_int8_t) :: bytes({}) = [{}]\n    call write_all(bytes)\nend program\n",
        bytes.len(),
        bytes.join(", &\n        ")
    );
    ok(fs::write(folder.path().join("main.f90"), main));
    let mut compiler = Command::new("gfortran");
    compiler.current_dir(folder.path()).args(["-o", "main"]);
    succeeds(compiler.arg(runtime("tests/fortran/list.f90")).arg("main.f90"));
    let output = succeeds(&mut Command::new(folder.path().join("main")));
    ok(String::from_utf8(output.stdout))
}

/// The output of the handler, on any HPU.
fn written(output: &Output) -> String {
    let text = stderr(output);
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("] "));
    lines.map(|(_, line)| format!("{line}\n")).collect()
}

/// Whether two words are the same text, or the same number in as many characters: the C library of handlers ends digits with 0 as
/// soon as they say which number it is.
fn agree(one: &str, other: &str) -> bool {
    one == other
        || (one.len() == other.len() && one.parse::<f64>().is_ok_and(|number| Ok(number) == other.parse()))
}

#[test]
fn write_as_the_same_program_on_this_machine() {
    let (handler, native) = (written(&run(&runtime("tests/fortran"), &[])), native());
    assert_eq!(handler.lines().count(), native.lines().count(), "{handler}");
    for (one, other) in handler.lines().zip(native.lines()) {
        let agree = one
            .split(' ')
            .zip(other.split(' '))
            .all(|(one, other)| agree(one, other));
        assert!(agree && one.len() == other.len(), "{one}\n{other}");
    }
}

#[test]
fn statements_that_are_missing_end_the_task_and_say_so() {
    let folder = ok(TempDir::new());
    let handler = ok(fs::read_to_string(runtime("tests/fortran/fortran.f90")));
    let handler = handler.replace("    use list\n", "").replace(
        "call write_all(packet(args))",
        "write (*, '(i5)') size(packet(args))",
    );
    ok(fs::write(folder.path().join("fortran.f90"), handler));
    ok(fs::copy(
        runtime("tests/fortran/rules.toml"),
        folder.path().join("rules.toml"),
    ));
    let makefile = format!("include {}\n", runtime("spin.mk").display());
    ok(fs::write(folder.path().join("Makefile"), makefile));
    let output = run(folder.path(), &["--json", "--allow-faults"]);
    assert_eq!(
        written(&output),
        "Fortran: handlers have WRITE (*, *) and PRINT * alone, without formats and other units\n"
    );
    assert_eq!(packets(&json(&output), "done with"), 1);
}
