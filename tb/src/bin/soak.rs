//! `./dev soak NAME`: random traffic through a block, of any length.

use anyhow::{Context, Result, anyhow};
use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use rand::RngExt;
use spinneret_models as models;
use spinneret_sim::prelude::*;
use spinneret_sim::seed::Seed;
use spinneret_tb::bench::{Finish, Parameters};
use spinneret_tb::ip_frames::random_ip_frame;
use spinneret_tb::pkt_match::{Counts, MatchBench, Pauses, random_frame};
use spinneret_tb::{app, complex, egress, hostdma, hpu, ingress, regs};
use std::ops::AddAssign;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Instant;

/// Sends random traffic through a block and compares everything with its reference model.
#[derive(Parser, Debug)]
#[command(name = "soak")]
struct Arguments {
    /// The block to test.
    name: Soak,
    /// Number of packets, frames, transfers, accesses or instructions [default: a million; of the application block and the
    /// clusters, which are much larger, twenty thousand].
    #[arg(long, visible_alias = "packets")]
    count: Option<u64>,
    /// Seed of the traffic [default: a new one, which is printed].
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
    /// The handler processor, in lockstep with the simulator.
    Hpu,
    /// Two clusters as a whole, with malicious handlers and resets of HPUs or of everything.
    Cluster,
}

impl Soak {
    /// Returns the unit of the count.
    fn unit(self) -> &'static str {
        match self {
            Self::Match | Self::Ingress | Self::Egress => "frames",
            Self::Hostdma => "transfers",
            Self::Regs => "accesses",
            Self::App => "packets and frames",
            Self::Cluster => "packets",
            Self::Hpu => "instructions",
        }
    }

    /// Returns the default count.
    fn count(self) -> u64 {
        match self {
            Self::App | Self::Cluster => 20_000,
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
        Soak::Match => matching(rounds),
        Soak::Ingress => ingress(rounds),
        Soak::Egress => egress(rounds),
        Soak::Hostdma => hostdma(rounds),
        Soak::Regs => regs(rounds),
        Soak::App => app(rounds),
        Soak::Hpu => processor(rounds),
        Soak::Cluster => cluster(rounds),
    }
}

/// A simulation of a model with all random choices from a seed.
fn simulation<M: Model>(seed: Seed) -> Simulation<M> {
    let mut sim = Simulation::new(M::with_seed(seed.0)).unwrap_or_else(|error| panic!("{error}"));
    sim.set_seed(seed);
    sim
}

/// The stimulus whose turn it is.
fn in_turn<B>(turn: u64, mut stimuli: Vec<(&'static str, B)>) -> B {
    let turn = (turn % stimuli.len() as u64) as usize;
    stimuli.swap_remove(turn).1
}

fn print<'a>(lines: impl IntoIterator<Item = (&'a str, u64)>) {
    for (what, count) in lines {
        println!("{count:>12}  {what}");
    }
}

/// The egress path, 5000 commands a round. Every second round is one of the reference configuration.
fn egress(rounds: Rounds) -> Result<()> {
    fn run<M: Model>(seed: Seed, turn: u64, commands: u64) -> egress::Totals {
        egress::run_round(simulation::<M>(seed), in_turn(turn, egress::stimuli()), commands)
    }
    let egress::Totals { outcome, cycles } = rounds.run(5000, |seed, round, commands| match round % 4 {
        1 => run::<models::PspinEgressDatapathBoard>(seed, round / 4, commands),
        3 => run::<models::PspinEgressDatapathSmall>(seed, round / 4, commands),
        _ => run::<models::PspinEgressDatapath>(seed, round / 2, commands),
    })?;
    println!(
        "{} commands in {cycles} cycles, each answered once and in order:",
        outcome.commands()
    );
    print([
        ("sent as a frame, byte by byte as in memory", outcome.sent),
        ("not sent, as a line could not be read", outcome.read_errors),
        ("refused", outcome.refused),
    ]);
    Ok(())
}

/// The host DMA, 5000 transfers a round, with three sets of parameter values in turn.
fn hostdma(rounds: Rounds) -> Result<()> {
    fn run<M: Model>(seed: Seed, turn: u64, transfers: u64) -> hostdma::Totals {
        hostdma::run_round(
            simulation::<M>(seed),
            in_turn(turn, hostdma::stimuli()),
            transfers,
        )
    }
    let totals = rounds.run(5000, |seed, round, transfers| match round % 3 {
        0 => run::<models::PspinHostmemDma>(seed, round / 3, transfers),
        1 => run::<models::PspinHostmemDmaBoard>(seed, round / 3, transfers),
        _ => run::<models::PspinHostmemDmaSmall>(seed, round / 3, transfers),
    })?;
    println!(
        "{} transfers in {} cycles, every byte of host memory right, no tag and no line lost:",
        totals.transfers(),
        totals.cycles
    );
    let halves = [
        ("writes", &totals.counters.writes, totals.descriptors[0]),
        ("reads", &totals.counters.reads, totals.descriptors[1]),
    ];
    for (name, counters, descriptors) in halves {
        for (what, count) in [
            ("bursts", counters.bursts),
            ("descriptors, also of resets", descriptors),
            ("refused bursts", counters.refused),
            ("bursts outside of all windows", counters.outside),
            ("failed descriptors", counters.dma_errors.iter().sum()),
            ("unsolicited statuses", counters.stray_status),
        ] {
            print([(&*format!("{name}: {what}"), count)]);
        }
    }
    Ok(())
}

/// The whole ingress path, 5000 frames a round. Every second round is one of the reference configuration.
fn ingress(rounds: Rounds) -> Result<()> {
    fn run<M: Model>(seed: Seed, turn: u64, frames: u64) -> ingress::Totals {
        let stimuli = ingress::stimuli(&ingress::Setup::of::<M>());
        ingress::run_round(simulation::<M>(seed), in_turn(turn, stimuli), frames)
    }
    let totals = rounds.run(5000, |seed, round, frames| match round % 6 {
        1 => run::<models::PspinIngressDatapathBoard>(seed, round / 6, frames),
        3 => run::<models::PspinIngressDatapathSmall>(seed, round / 6, frames),
        5 => run::<models::PspinIngressDatapathStall>(seed, round / 6, frames),
        _ => run::<models::PspinIngressDatapath>(seed, round / 2, frames),
    })?;
    println!(
        "{} frames in {} cycles, none lost:",
        totals.packets(),
        totals.cycles
    );
    print([
        ("unmatched, came out untouched", totals.bypassed),
        ("matched, in memory with their HER", totals.delivered),
    ]);
    for cause in ingress::Cause::ALL {
        print([(&*format!("dropped: {}", cause.name()), totals.drops[cause])]);
    }
    print([("wrong frees, refused", totals.refused)]);
    Ok(())
}

/// The control registers, 20,000 accesses a round; the models take turns.
fn regs(rounds: Rounds) -> Result<()> {
    fn run<M: Model>(seed: Seed, turn: u64, accesses: u64) -> regs::Totals {
        regs::run_round(simulation::<M>(seed), in_turn(turn, regs::stimuli()), accesses)
    }
    let totals = rounds.run(20_000, |seed, round, accesses| match round % 3 {
        0 => run::<models::PspinCtrlRegs>(seed, round / 3, accesses),
        1 => run::<models::PspinCtrlRegsBoard>(seed, round / 3, accesses),
        _ => run::<models::PspinCtrlRegsOdd>(seed, round / 3, accesses),
    })?;
    println!(
        "{} accesses in {} cycles, every output right in every cycle:",
        totals.accesses(),
        totals.cycles
    );
    print([
        ("written", totals.written),
        ("read", totals.read),
        ("refused", totals.refused),
        ("forgotten by a reset", totals.forgotten),
        ("words of standard output", totals.printed),
        ("resets", totals.resets),
    ]);
    Ok(())
}

/// The application block, 1000 packets a round, with everything at once and resets of the cluster; each round has a
/// cluster's clock of its own.
fn app(rounds: Rounds) -> Result<()> {
    let totals: app::Totals = rounds.run(1000, |seed, _, packets| {
        let clocks = app::Clocks::random(&mut seed.rng("clocks"));
        let block = models::MqnicAppBlock::with_seed(seed.0);
        let sim = Simulation::with_domains(block, &clocks.domains());
        let mut sim = sim.unwrap_or_else(|error| panic!("{error}"));
        sim.set_seed(seed);
        app::run_round(sim, clocks, packets)
    })?;
    println!(
        "{} packets of interface 0 in {} core cycles; all rounds ended empty, and all sums were exact:",
        totals.bypassed + totals.matched,
        totals.clocks
    );
    print([
        ("unmatched, at the host untouched", totals.bypassed),
        ("matched", totals.matched),
        ("of those: HERs that the cluster took", totals.hers),
        ("of those: dropped and counted", totals.dropped),
        ("frames of the cluster on the wire", totals.frames),
        ("resets of the cluster in full traffic", totals.resets),
    ]);
    Ok(())
}

/// Two clusters, 1000 packets a round, without resets, with resets of HPUs, and with one of everything in turn.
fn cluster(rounds: Rounds) -> Result<()> {
    let totals: complex::Totals = rounds.run(1000, |seed, round, packets| {
        let resets = complex::Resets::ALL[(round % 3) as usize];
        complex::run_round(simulation(seed), packets, resets)
    })?;
    println!(
        "{} packets in {} clocks, each with one feedback; no handler reached what it does not own:",
        totals.packets, totals.clocks
    );
    print([
        ("handlers that ended", totals.handlers),
        ("of those: failed", totals.failed),
        ("of those: stopped", totals.stopped),
        ("packets that were sent", totals.sent),
        ("bursts to and from the host", totals.bursts),
        ("resets in full traffic", totals.resets),
        ("HPUs that began again", totals.restarts),
    ]);
    Ok(())
}

/// The processor: a random program a round, on 4, 8 and 16 threads in turn.
fn processor(rounds: Rounds) -> Result<()> {
    fn run<M: hpu::Pipeline>(seed: Seed, instructions: u64) -> hpu::Totals {
        hpu::run_round(simulation::<M>(seed), seed.rng("program"), instructions, None)
    }
    let totals = rounds.run(8 * hpu::ROUND, |seed, round, instructions| match round % 3 {
        0 => run::<models::HpuPipeline4>(seed, instructions),
        1 => run::<models::HpuPipeline8>(seed, instructions),
        _ => run::<models::HpuPipeline16>(seed, instructions),
    })?;
    println!(
        "{} instructions in {} clocks, each as the simulator does it:",
        totals.instructions, totals.clocks
    );
    for (cause, count) in totals.traps.into_iter().enumerate() {
        if count != 0 {
            print([(&*format!("trapped, cause {cause}"), count)]);
        }
    }
    Ok(())
}

/// The matching engine, in turn as in the reference and as in the board configuration: other rules after 100 frames,
/// other pauses in each round of 5000.
fn matching(rounds: Rounds) -> Result<()> {
    let counts = rounds.run(5000, |seed, round, frames| match round % 2 {
        0 => match_frames::<models::PspinPktMatch>(seed, round / 2, frames),
        _ => match_frames::<models::PspinPktMatchIp>(seed, round / 2, frames),
    })?;
    println!(
        "{} frames agree: {} matched, {} unmatched, nothing lost",
        counts.bypassed + counts.matched,
        counts.matched,
        counts.bypassed
    );
    Ok(())
}

fn match_frames<M: Model>(seed: Seed, round: u64, frames: u64) -> Counts {
    let params = Parameters::of::<M>().matcher();
    let mut rng = seed.rng("traffic");
    let pauses = match round % 4 {
        0 => Pauses::default(),
        1 => Pauses::bursty(),
        _ => Pauses::random(rng.random_range(1..80)),
    };
    let mut bench = MatchBench::new(simulation::<M>(seed), pauses);
    let total = bench.random(&mut rng, frames, |rng| {
        // Without headers no rule relative to the payload matches.
        if params.ip_relative && rng.random_ratio(3, 4) {
            random_ip_frame(rng, 97)
        } else {
            random_frame(rng, 16)
        }
    });
    bench.finish();
    total
}

/// Parameters of the rounds.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    /// Seed of all random choices.
    seed: u64,
    /// Frames, or what else is counted, of all rounds together.
    count: u64,
    /// Number of the first round.
    first: u64,
    /// Unit of the count, in the plural.
    unit: &'static str,
}

impl Rounds {
    /// Runs rounds of that many frames until all are sent, and adds up what they return.
    fn run<T: Default + AddAssign>(
        self,
        frames_per_round: u64,
        run_round: impl Fn(Seed, u64, u64) -> T,
    ) -> Result<T> {
        let template = format!(
            "{{bar:40}} {{pos}}/{{len}} {}, {{per_sec}}, {{eta}} left",
            self.unit
        );
        let style =
            ProgressStyle::with_template(&template).context("the progress bar's template is wrong")?;
        let progress = ProgressBar::new(self.count).with_style(style);
        let start = Instant::now();
        let (mut total, mut left) = (T::default(), self.count);
        for round in self.first.. {
            if left == 0 {
                break;
            }
            let frames = left.min(frames_per_round);
            let seed = Seed(self.seed.wrapping_add(round.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            // A difference panics with what differs; the seed and the round say how to see it again.
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| run_round(seed, round, frames)));
            let repeat = format!("--seed {} --round {round} --count {frames}", self.seed);
            total += outcome.map_err(|_| anyhow!("round {round} failed: repeat with {repeat}"))?;
            progress.inc(frames);
            left -= frames;
        }
        progress.finish_and_clear();
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{seconds:.1} s, {:.0} {} a second",
            self.count as f64 / seconds,
            self.unit
        );
        Ok(total)
    }
}
