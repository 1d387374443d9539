//! `./dev riscv-tests` and `./dev bench coremark`: public programs on the pipeline of HPUs, from checkouts of the user.

mod coremark;
mod tests;

use anyhow::Result;
use clap::{Args, Parser};
use indicatif::{ProgressBar, ProgressStyle};
use spinneret_tb::hpu::machine::{Pipeline, RESET};
use spinneret_verilate::schedule;
use std::path::PathBuf;
use std::process::ExitCode;

const EXIT_CODES: &str = "Exit codes: 0 all is right, 1 a test fails, 2 refused, or a tool is missing";

/// Runs public programs on the pipeline of HPUs, in simulation.
#[derive(Parser, Debug)]
#[command(name = "hpu", after_help = EXIT_CODES)]
enum Arguments {
    /// The public tests of RISC-V: on the simulator's hart, on all threads at once, and each with others
    #[command(after_help = EXIT_CODES)]
    RiscvTests {
        /// Checkouts of riscv-tests and riscv-arch-test
        #[arg(required = true)]
        checkouts: Vec<PathBuf>,
        /// Run only tests whose suite and name, as in `rv32ui/add`, contain this
        #[arg(long, default_value = "")]
        only: String,
        #[command(flatten)]
        common: Common,
    },
    /// CoreMark on one thread while the others idle, and on all
    #[command(after_help = EXIT_CODES)]
    Coremark {
        /// Checkout of CoreMark
        checkout: PathBuf,
        /// Iterations: a valid run takes ten million clocks
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
        iterations: u32,
        /// Options of the compiler
        #[arg(long, default_value = "-O3", allow_hyphen_values = true)]
        flags: String,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Args, Debug)]
struct Common {
    /// Threads of the pipelines
    #[arg(long, value_delimiter = ',', default_values_t = [4, 8])]
    threads: Vec<usize>,
    /// Clocks from an access to its data: 1 or 2
    #[arg(long, default_value_t = 1)]
    memory_clocks: usize,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
    /// Folder for compiled programs and pipelines
    #[arg(long, default_value = "target/riscv-tests")]
    out: PathBuf,
}

/// Where programs begin, behind the code that starts them.
const FIRST: u32 = RESET + 0x80;

fn main() -> ExitCode {
    let good = match Arguments::parse() {
        Arguments::RiscvTests {
            checkouts,
            only,
            common,
        } => tests::run(&checkouts, &only, &common),
        Arguments::Coremark {
            checkout,
            iterations,
            flags,
            common,
        } => coremark::run(&checkout, iterations, &flags, &common),
    };
    match good {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("hpu: {error:#}");
            ExitCode::from(2)
        }
    }
}

impl Common {
    fn pipelines(&self) -> Result<Vec<Pipeline>> {
        side_by_side("pipelines", self.threads.len(), |index| {
            Pipeline::build(self.threads[index], self.memory_clocks, &self.out)
        })
    }
}

/// Does jobs side by side under a bar, and returns their results in order.
fn side_by_side<T: Send>(
    what: &str,
    count: usize,
    job: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let bar = ProgressBar::new(count as u64);
    bar.set_style(ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}")?);
    bar.set_message(what.to_owned());
    let results = schedule::run(schedule::allowed(), count, |index| {
        let result = job(index);
        bar.inc(1);
        result
    });
    bar.finish_and_clear();
    results.into_iter().collect()
}
