//! The `spinneret` command; all of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    spinneret_nic::cli::main()
}
