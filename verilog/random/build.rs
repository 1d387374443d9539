//! Writes random kernels as Rust.
//!
//! `SPINNERET_SEED` chooses the kernels and `SPINNERET_KERNELS` their number; both are printed by the
//! test that runs them, so that every failure can be repeated.

#[path = "generator/mod.rs"]
mod generator;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

const DEFAULT_SEED: u64 = 1;
/// Before a merge; `./dev nightly` asks for 2000. The C++ compiler takes 0.14 s for each.
const DEFAULT_KERNELS: u64 = 100;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=generator");
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write the random kernels: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<(), String> {
    let seed = number("SPINNERET_SEED", DEFAULT_SEED)?;
    let count = number("SPINNERET_KERNELS", DEFAULT_KERNELS)?;
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts")?;
    let path = Path::new(&out).join("kernels.rs");
    fs::write(&path, generator::file(seed, count)).map_err(|error| format!("{}: {error}", path.display()))
}

fn number(variable: &str, default: u64) -> Result<u64, String> {
    println!("cargo::rerun-if-env-changed={variable}");
    let Ok(text) = env::var(variable) else {
        return Ok(default);
    };
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("{variable}={text} is no number: write it in decimal or as 0x..."))
}
