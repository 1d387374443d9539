//! `./dev bench NAME`: counts cycles in the simulation of a block.

mod figures;
mod ingress;
mod matching;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use figures::Figures;
use std::path::PathBuf;
use std::time::Instant;

/// Counts the clock cycles of a block in simulation.
///
/// Cycles are exact and the same on every machine; only the time that the simulation takes is not.
#[derive(Parser, Debug)]
#[command(name = "bench")]
struct Arguments {
    /// What to measure.
    name: Bench,
    /// Where to write the figures as JSON [default: target/bench/NAME.json].
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Bench {
    /// The matching engine.
    Match,
    /// The whole ingress path.
    Ingress,
}

impl Bench {
    fn run(self) -> Result<Figures> {
        match self {
            Self::Match => matching::run(),
            Self::Ingress => ingress::run(),
        }
    }
}

fn main() -> Result<()> {
    let Arguments { name, json } = Arguments::parse();
    let start = Instant::now();
    let figures = name.run()?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", figures.table);
    println!("{}", figures.explanation);
    println!(
        "{} cycles in {seconds:.2} s ({:.0} thousand cycles a second)",
        figures.cycles,
        figures.cycles as f64 / seconds / 1000.0
    );
    let default = || PathBuf::from(format!("target/bench/{}.json", figures.name));
    figures.write(&json.unwrap_or_else(default))
}
