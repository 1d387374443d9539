//! `./dev soak NAME`: random traffic through a block, as much as one likes.

mod egress;
mod hostdma;
mod ingress;
mod matching;
mod regs;
mod rounds;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use rand::RngExt;
use rounds::Rounds;

/// Sends random traffic through a block and compares everything with its reference model.
#[derive(Parser, Debug)]
#[command(name = "soak")]
struct Arguments {
    /// What to test.
    name: Soak,
    /// Number of frames, transfers or accesses.
    #[arg(long, default_value_t = 1_000_000)]
    count: u64,
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
}

impl Soak {
    /// What is counted.
    fn unit(self) -> &'static str {
        match self {
            Self::Match | Self::Ingress | Self::Egress => "frames",
            Self::Hostdma => "transfers",
            Self::Regs => "accesses",
        }
    }
}

fn main() -> Result<()> {
    let Arguments {
        name,
        count,
        seed,
        round,
    } = Arguments::parse();
    let seed = seed.unwrap_or_else(|| rand::rng().random());
    println!("seed {seed}, {count} {}", name.unit());
    let rounds = Rounds {
        seed,
        count,
        first: round,
        unit: name.unit(),
    };
    match name {
        Soak::Match => matching::run(rounds),
        Soak::Ingress => ingress::run(rounds),
        Soak::Egress => egress::run(rounds),
        Soak::Hostdma => hostdma::run(rounds),
        Soak::Regs => regs::run(rounds),
    }
}
