//! `./dev bench NAME`: counts cycles in the simulation of a block.

mod app;
mod blocks;
mod figures;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use figures::Figures;
use spinneret_models::{
    PspinEgressDatapath, PspinEgressDatapathBoard, PspinHostmemDma, PspinHostmemDmaBoard,
    PspinIngressDatapath, PspinIngressDatapathBoard, PspinPktMatch, PspinPktMatchIp,
};
use spinneret_table::say;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Counts the clock cycles of a block in simulation.
///
/// Cycles are exact and the same on every machine; only the time that the simulation takes is not.
#[derive(Parser, Debug)]
#[command(name = "bench")]
struct Arguments {
    /// What to measure.
    name: Bench,
    /// With which parameter values the block is generated.
    #[arg(long, value_enum, default_value_t = Configuration::Reference)]
    config: Configuration,
    /// Where to write the figures as JSON [default: target/bench/NAME.json, or NAME-board.json].
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Bench {
    /// The matching engine.
    Match,
    /// The whole ingress path.
    Ingress,
    /// The whole egress path.
    Egress,
    /// The host DMA.
    Hostdma,
    /// The rate limiter, which boards have no other values for.
    Limiter,
    /// The application block, which is always as boards need it.
    App,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Configuration {
    /// As in the public design.
    Reference,
    /// As boards need it.
    Board,
}

impl Bench {
    fn run(self, config: Configuration) -> Result<Figures> {
        match (self, config) {
            (Self::Match, Configuration::Reference) => blocks::matching::<PspinPktMatch>("match"),
            (Self::Match, Configuration::Board) => blocks::matching::<PspinPktMatchIp>("match-board"),
            (Self::Ingress, Configuration::Reference) => blocks::ingress::<PspinIngressDatapath>("ingress"),
            (Self::Ingress, Configuration::Board) => {
                blocks::ingress::<PspinIngressDatapathBoard>("ingress-board")
            }
            (Self::Egress, Configuration::Reference) => blocks::egress::<PspinEgressDatapath>("egress"),
            (Self::Egress, Configuration::Board) => {
                blocks::egress::<PspinEgressDatapathBoard>("egress-board")
            }
            (Self::Hostdma, Configuration::Reference) => blocks::hostdma::<PspinHostmemDma>("hostdma"),
            (Self::Hostdma, Configuration::Board) => blocks::hostdma::<PspinHostmemDmaBoard>("hostdma-board"),
            (Self::Limiter, _) => blocks::limiter(),
            (Self::App, _) => app::run("app"),
        }
    }
}

fn main() -> ExitCode {
    spinneret_table::failed(work().map(|()| ExitCode::SUCCESS))
}

fn work() -> Result<()> {
    let Arguments { name, config, json } = Arguments::parse();
    let start = Instant::now();
    let figures = name.run(config)?;
    let seconds = start.elapsed().as_secs_f64();
    say(&figures.table);
    say(&figures.explanation);
    say(format_args!(
        "{} cycles in {seconds:.2} s ({:.0} thousand cycles a second)",
        figures.cycles,
        figures.cycles as f64 / seconds / 1000.0
    ));
    let default = || PathBuf::from(format!("target/bench/{}.json", figures.name));
    figures.write(&json.unwrap_or_else(default))
}
