//! `./dev soak NAME`: random traffic through a block, as much as one likes.

use anyhow::{Context, Result, anyhow};
use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use rand::RngExt;
use spinneret_sim::model::Model;
use spinneret_sim::models::{PspinPktMatch, PspinPktMatchIp};
use spinneret_sim::reference::matcher::MatcherParams;
use spinneret_sim::seed::Seed;
use spinneret_sim::simulation::Simulation;
use spinneret_tb::ip_frames::random_ip_frame;
use spinneret_tb::pkt_match::{Counts, MatchBench, MessageId, Pauses, random_frame, random_rules};
use std::panic::{self, AssertUnwindSafe};

/// Sends random traffic through a block and compares everything with its reference model.
#[derive(Parser, Debug)]
#[command(name = "soak")]
struct Arguments {
    /// What to test.
    name: Soak,
    /// Number of frames.
    #[arg(long, default_value_t = 1_000_000)]
    count: u64,
    /// What the traffic depends on [default: a new one, which is printed].
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Soak {
    /// The matching engine, in turn as in the reference and as in the board configuration.
    Match,
}

/// Frames between two changes of the rules.
const FRAMES_PER_TABLE: u64 = 100;
/// Tables between two changes of the pauses, each with a new simulation.
const TABLES_PER_ROUND: u64 = 50;

fn main() -> Result<()> {
    let Arguments {
        name: Soak::Match,
        count,
        seed,
    } = Arguments::parse();
    let seed = seed.unwrap_or_else(|| rand::rng().random());
    println!("seed {seed}, {count} frames");
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {per_sec}, {eta} left")
        .context("the progress bar's template is wrong")?;
    let progress = ProgressBar::new(count).with_style(style);
    let mut total = Counts::default();
    for round in 0_u64.. {
        let left = count - total.bypassed - total.matched;
        if left == 0 {
            break;
        }
        let frames = left.min(FRAMES_PER_TABLE * TABLES_PER_ROUND);
        // A difference panics with what differs; the seed and the round say how to see it again.
        let run = || match round % 2 {
            0 => run_round::<PspinPktMatch>(seed, round, frames, &MatcherParams::REFERENCE),
            _ => run_round::<PspinPktMatchIp>(seed, round, frames, &MatcherParams::BOARD),
        };
        let counts = panic::catch_unwind(AssertUnwindSafe(run))
            .map_err(|_| anyhow!("round {round} failed: repeat with --seed {seed} --count {count}"))?;
        total.bypassed += counts.bypassed;
        total.matched += counts.matched;
        progress.inc(frames);
    }
    progress.finish_and_clear();
    println!(
        "{count} frames agree: {} matched, {} unmatched, nothing lost",
        total.matched, total.bypassed
    );
    Ok(())
}

fn run_round<M: Model>(seed: u64, round: u64, frames: u64, params: &MatcherParams) -> Counts {
    let round_seed = Seed(seed.wrapping_add(round.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut rng = round_seed.rng("traffic");
    let pauses = match round / 2 % 4 {
        0 => Pauses::default(),
        1 => Pauses::bursty(),
        _ => Pauses::random(rng.random_range(1..80)),
    };
    let mut sim = Simulation::new(M::with_seed(round_seed.0)).unwrap_or_else(|error| panic!("{error}"));
    sim.set_seed(round_seed);
    let mut bench = MatchBench::new(sim, params, MessageId::REFERENCE, pauses);
    let mut counts = Counts::default();
    let mut left = frames;
    while left > 0 {
        bench.load(Some(&random_rules(&mut rng, params)));
        let batch = left.min(FRAMES_PER_TABLE);
        for _ in 0..batch {
            // Without headers no rule relative to the payload matches.
            let frame = if params.ip_relative && rng.random_ratio(3, 4) {
                random_ip_frame(&mut rng, 97)
            } else {
                random_frame(&mut rng, 16)
            };
            bench.send(frame);
        }
        let settled = bench.settle();
        counts.bypassed += settled.bypassed;
        counts.matched += settled.matched;
        left -= batch;
    }
    bench.finish();
    counts
}
