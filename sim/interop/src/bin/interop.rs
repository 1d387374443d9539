//! `./dev interop`: spinneret against the public trees.

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use spinneret_interop::request::{Request, Step};
use spinneret_interop::run::{example_names, run};
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs the hardware and the handlers against your checkouts of FPsPIN and Corundum
#[derive(Debug, Parser)]
#[command(name = "interop", bin_name = "./dev interop", version)]
struct Arguments {
    /// Checkout of FPsPIN, with the cluster
    #[arg(long, value_name = "DIR")]
    fpspin_dir: PathBuf,
    /// Checkout of Corundum; without it the cards are left out
    #[arg(long, value_name = "DIR")]
    corundum_dir: Option<PathBuf>,
    /// What to do; everything if not given
    #[arg(long = "step", value_enum, value_name = "STEP")]
    steps: Vec<Step>,
    /// Examples to run, such as icmp_ping; all if not given
    #[arg(long = "example", value_name = "NAME", value_parser = PossibleValuesParser::new(example_names()))]
    examples: Vec<String>,
    /// Packets of all sizes that each example gets
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(40..=100_000))]
    packets: u32,
    /// Write the tables of docs/interop.md and what the tests replay
    #[arg(long)]
    record: bool,
}

impl Arguments {
    /// A step that was asked for and needs the other checkout.
    fn lacks_corundum(&self) -> Option<&'static str> {
        let needs = self.steps.iter().find_map(|step| match step {
            Step::Cards => Some("cards"),
            Step::Core => Some("core"),
            _ => None,
        });
        needs.filter(|_| self.corundum_dir.is_none())
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(step) = arguments.lacks_corundum() {
        let text = format!("the step {step} needs `--corundum-dir`");
        Arguments::command()
            .error(ErrorKind::MissingRequiredArgument, text)
            .exit();
    }
    match go(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("interop: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn go(arguments: Arguments) -> Result<bool> {
    run(&Request {
        fpspin: arguments.fpspin_dir,
        corundum: arguments.corundum_dir,
        steps: arguments.steps,
        examples: arguments.examples,
        packets: arguments.packets as usize,
        record: arguments.record,
    })
}
