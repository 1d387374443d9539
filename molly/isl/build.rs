//! Reports a missing isl before the linker does.

use std::io::Write as _;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if !links().unwrap_or(true) {
        println!("cargo::error=isl cannot be linked: install libisl-dev, or run ./dev setup");
    }
}

/// Whether a C program that uses isl can be linked; nothing where there is no C compiler to ask.
fn links() -> Option<bool> {
    let mut compiler = Command::new("cc")
        .args(["-x", "c", "-", "-lisl", "-o", "/dev/null"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let program = b"void *isl_ctx_alloc(void); int main(void) { return !isl_ctx_alloc(); }";
    compiler.stdin.take()?.write_all(program).ok()?;
    Some(compiler.wait().ok()?.success())
}
