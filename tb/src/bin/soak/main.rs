//! `./dev soak NAME`: random traffic through a block, as much as one likes.

mod blocks;
mod rounds;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use rand::RngExt;
use rounds::Rounds;
use std::process::ExitCode;

/// Sends random traffic through a block and compares everything with its reference model.
#[derive(Parser, Debug)]
#[command(name = "soak")]
struct Arguments {
    /// What to test.
    name: Soak,
    /// Number of packets, frames, transfers or accesses [default: a million; of the application block, which is
    /// much larger, twenty thousand].
    #[arg(long, visible_alias = "packets")]
    count: Option<u64>,
    /// What the traffic depends on [default: a new one, which is printed].
    #[arg(long)]
    seed: Option<u64>,
    /// The round to begin with, to see again what a later one found.
    #[arg(long, default_value_t = 0)]
    round: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Soak {
    /// The matching engine.
    Match,
    /// The whole ingress path.
    Ingress,
    /// The whole egress path.
    Egress,
    /// The host DMA.
    Hostdma,
    /// The control registers.
    Regs,
    /// The application block, with everything at once and resets of the cluster.
    App,
}

impl Soak {
    /// What is counted.
    fn unit(self) -> &'static str {
        match self {
            Self::Match | Self::Ingress | Self::Egress => "frames",
            Self::Hostdma => "transfers",
            Self::Regs => "accesses",
            Self::App => "packets and frames",
        }
    }

    /// How many, unless one says it.
    fn count(self) -> u64 {
        match self {
            Self::App => 20_000,
            _ => 1_000_000,
        }
    }
}

fn main() -> ExitCode {
    spinneret_table::failed(work().map(|()| ExitCode::SUCCESS))
}

fn work() -> Result<()> {
    let Arguments {
        name,
        count,
        seed,
        round,
    } = Arguments::parse();
    let seed = seed.unwrap_or_else(|| rand::rng().random());
    let count = count.unwrap_or_else(|| name.count());
    println!("seed {seed}, {count} {}", name.unit());
    let rounds = Rounds {
        seed,
        count,
        first: round,
        unit: name.unit(),
    };
    match name {
        Soak::Match => blocks::matching(rounds),
        Soak::Ingress => blocks::ingress(rounds),
        Soak::Egress => blocks::egress(rounds),
        Soak::Hostdma => blocks::hostdma(rounds),
        Soak::Regs => blocks::regs(rounds),
        Soak::App => blocks::app(rounds),
    }
}
