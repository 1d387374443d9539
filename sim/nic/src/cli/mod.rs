//! The `spinneret` command.
//!
//! Exit codes: 0 success; 1 the work began and failed (a damaged capture, handlers that failed, hardware that disagrees
//! with its model); 2 the work could not begin as asked (arguments, rule files, missing or foreign captures, outputs
//! that cannot be created); 130 Ctrl-C before it began. Nothing is written in the last two cases.

pub mod match_cmd;
pub mod send_cmd;

pub use match_cmd::{Report, RuleSetReport};

use crate::fabric::FabricArguments;
use crate::installed;
use crate::run::{ReceiveArguments, RunArguments, ServeArguments};
use crate::terminal::{Failure, print, print_folded, tell_failure};
use anyhow::{Context as _, anyhow};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use spinneret_manual::ManualArguments;
use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the work began and failed: a damaged capture, an impossible packet, hardware that disagrees with its model,
     handlers that failed or were refused something (unless --allow-faults is given)
  2  the work could not begin as asked: arguments, rule file, capture or outputs; nothing was written
  130  Ctrl-C before the work began, where nothing was written, or a second Ctrl-C";

/// Models are the slow part of a run, so people who compare speeds have to know their compiler.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nmodels of the hardware compiled by ",
    env!("SPINNERET_MODEL_COMPILER")
);

/// spinneret's tools: the hardware of an open sPIN network card, simulated on real packets.
#[derive(Debug, Parser)]
#[command(name = "spinneret", version, long_version = LONG_VERSION, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sort the packets of a capture by the rules of a file, as the matching engine does
    Match(match_cmd::MatchArguments),
    /// Run handlers on the NIC, with packets from a capture, made up, or from Linux
    Run(Box<RunArguments>),
    /// Offer a NIC to programs in other processes, through a Unix socket
    Serve(Box<ServeArguments>),
    /// Connect many NICs by cables and switches, each for a program of its own
    Fabric(Box<FabricArguments>),
    /// Send a file to an SLMP receiver, over this machine's network
    Send(send_cmd::SendArguments),
    /// Receive files through SLMP, by handlers on the NIC or at a UDP port
    Receive(Box<ReceiveArguments>),
    /// Make a folder with a handler that runs, rules, a Makefile and a test
    New(NewArguments),
    /// Print where the headers, the linker script and the examples of handlers are
    Where,
    /// Write manual pages and completions for shells
    #[command(hide = true)]
    Manual(ManualArguments),
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Match(arguments) => match_cmd::run(arguments),
        Command::Run(arguments) => crate::run::run(arguments),
        Command::Serve(arguments) => crate::run::serve(arguments),
        Command::Fabric(arguments) => crate::fabric::fabric(arguments),
        Command::Send(arguments) => send_cmd::run(arguments),
        Command::Receive(arguments) => crate::run::receive(arguments),
        Command::New(arguments) => run_new(arguments),
        Command::Where => tell_where(),
        Command::Manual(arguments) => {
            spinneret_manual::write(&Arguments::command(), "spinneret", &arguments.share)
                .map_err(|error| Failure::Work(anyhow!("{error}")))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            tell_failure(&failure);
            failure.exit_code()
        }
    }
}

/// What takes the handler's name in names and texts of files.
const NAME: &str = "NAME";

/// Files of a new folder: names, texts, and whether they are programs.
const FILES: [(&str, &str, bool); 6] = [
    ("NAME.c", include_str!("new/handler.c"), false),
    ("rules.toml", include_str!("new/rules.toml"), false),
    ("Makefile", include_str!("new/Makefile"), false),
    ("test.sh", include_str!("new/test.sh"), true),
    ("README.md", include_str!("new/README.md"), false),
    (".gitignore", "build/\n", false),
];

/// Arguments of `spinneret new`.
#[derive(Clone, Debug, Args)]
struct NewArguments {
    /// Folder to make; its last part is the name of the handler
    #[arg(value_name = "NAME")]
    path: PathBuf,
}

/// Makes a folder with a handler that runs, its rules, a Makefile and a test.
///
/// # Errors
/// If the name is none for a handler, or the folder is there or cannot be made; nothing is left then.
fn run_new(arguments: &NewArguments) -> Result<(), Failure> {
    let path = &arguments.path;
    let name = name(path).map_err(Failure::Usage)?;
    fs::create_dir(path)
        .with_context(|| format!("{} cannot be made", path.display()))
        .map_err(|error| Failure::Usage(anyhow!("{error:#}")))?;
    if let Err(error) = fill(path, name) {
        // The folder was not there before.
        let _ = fs::remove_dir_all(path);
        return Err(Failure::Work(anyhow!("{error:#}")));
    }
    let shown = path.display();
    print_folded(format_args!(
        "{shown} has a handler that answers UDP packets to port 9000; try\n  make -C {shown} test\n  \
         spinneret run {shown} --generate udp,dport=9000,rate=10Gbps,count=1000\n"
    ))
    .map_err(Failure::Work)
}

/// Prints where the headers, the linker script and the examples are.
///
/// # Errors
/// If they are nowhere.
fn tell_where() -> Result<(), Failure> {
    let runtime = installed::runtime().map_err(Failure::usage)?;
    print(format_args!("{}\n", runtime.display())).map_err(Failure::Work)
}

/// The name of the handler: the functions that are called begin with it.
fn name(path: &Path) -> anyhow::Result<&str> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
    anyhow::ensure!(
        begins && name.chars().all(is_word),
        "`{name}` cannot be the name of a C function: take letters, digits and _, a letter first"
    );
    Ok(name)
}

fn fill(path: &Path, name: &str) -> anyhow::Result<()> {
    for (file, text, is_program) in FILES {
        let file = path.join(file.replace(NAME, name));
        let write = || {
            fs::write(&file, text.replace(NAME, name))?;
            match is_program {
                true => fs::set_permissions(&file, Permissions::from_mode(0o755)),
                false => Ok(()),
            }
        };
        write().with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_c_functions() {
        assert_eq!(
            name(Path::new("some/folder/echo_2")).expect("it is one"),
            "echo_2"
        );
        for wrong in ["", "2x", "a-b", "_a", "é", "a b", "x/.."] {
            let said = name(Path::new(wrong)).expect_err(wrong).to_string();
            assert!(said.contains("cannot be the name of a C function"), "{said}");
        }
    }
}
