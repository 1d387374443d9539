//! A program with handlers that nobody runs.

use spinneret_host::Program;
use std::process::Command;
use std::sync::LazyLock;

const SOURCE: &str = "
    struct { unsigned long long flag[16]; struct { unsigned sum, count; } counters[16]; } __host_data;
    volatile unsigned total;
    volatile unsigned long long step = 0x0123456789abcdefull;
    volatile unsigned char large[10000] = {1, 2, 3};
    void count_ph(void *args) { (void)args; total += 1; }
    void copy_ph(void *args) { (void)args; total += large[0]; }
";
/// Handlers where program memory is, data where handler memory is, and no headers of the file in front of them.
const PLACES: &str = "-Wl,-n,-Ttext=0x1d000000,-Tdata=0x1c000000,-e,count_ph";

/// The program, compiled once.
pub(crate) fn program() -> &'static Program {
    static PROGRAM: LazyLock<Program> = LazyLock::new(compile);
    &PROGRAM
}

fn compile() -> Program {
    let folder = tempfile::tempdir().expect("there is room");
    let [source, elf] = ["handlers.c", "handlers.elf"].map(|name| folder.path().join(name));
    std::fs::write(&source, SOURCE).expect("there is room");
    let compiler = "riscv64-unknown-elf-gcc";
    let compiled = Command::new(compiler)
        .args([
            "-march=rv32imac",
            "-mabi=ilp32",
            "-O2",
            "-nostdlib",
            "-msmall-data-limit=0",
            PLACES,
        ])
        .arg("-o")
        .args([&elf, &source])
        .output()
        .unwrap_or_else(|error| panic!("{compiler} does not run ({error}): ./dev setup installs it"));
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    Program::open(&elf).unwrap_or_else(|error| panic!("{error}"))
}
