//! The program `spinneret-bench`: `./dev bench NAME` and `./dev experiments`.

use std::process::ExitCode;

fn main() -> ExitCode {
    spinneret_bench::main()
}
