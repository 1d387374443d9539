//! `./dev interop`: runs the NIC and its handlers with the PULP cluster, and compares the model.

use crate::examples::{ExampleRun, PUBLIC_EXAMPLES, PublicExamples, SIZES, run_example};
use crate::model::{WATCHDOG, config, modelled, own_modelled, strict};
use crate::probes::{ACCESSES, Answer, Cost, OPERATIONS};
use crate::recorded::{self, short};
use crate::workloads::EXAMPLES;
use crate::{compare, contexts, examples, model, ping_pong, probes, top};
use anyhow::{Context as _, Result, bail, ensure};
use clap::builder::PossibleValuesParser;
use clap::{Parser, ValueEnum};
use spinneret_gen::board::corundum::Pspin;
use spinneret_nic::Simulated;
use spinneret_nic::run::Hpus;
use spinneret_verilate::{Port, Progress, SharedModel};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs the hardware and the handlers with the cluster of your checkout of FPsPIN
#[derive(Debug, Parser)]
#[command(name = "interop", bin_name = "./dev interop", version)]
#[command(after_help = "`./dev interop cards --help`: cards of Corundum, with your checkout of it")]
pub struct Arguments {
    /// Checkout of FPsPIN, with the cluster
    #[arg(long, value_name = "DIR", required_unless_present = "own")]
    pub fpspin_dir: Option<PathBuf>,
    /// Run spinneret's own cluster instead: `costs`, `locks` and `examples`
    #[arg(long, conflicts_with_all = ["fpspin_dir", "record"])]
    pub own: bool,
    /// Steps to run [default: all]
    #[arg(long = "step", value_enum, value_name = "STEP")]
    pub steps: Vec<Step>,
    /// Examples to run, such as icmp_ping [default: all]
    #[arg(long = "example", value_name = "NAME", value_parser = PossibleValuesParser::new(EXAMPLES.iter().map(|name| short(name))))]
    pub examples: Vec<String>,
    /// Packets of all sizes that each example gets
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(40..=100_000))]
    pub packets: u32,
    /// Write the tables of docs/interop.md and the recordings that the tests replay
    #[arg(long)]
    pub record: bool,
}

/// A part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// Costs of instructions and accesses
    Costs,
    /// Answers to accesses at all kinds of addresses
    Accesses,
    /// Locks and atomic operations with all HPUs at once
    Locks,
    /// Four contexts at once, with host memory and standard output
    Contexts,
    /// The example handlers: times, and 1000 packets each
    Examples,
    /// The public example handlers, built from their own Makefiles
    Public,
    /// The time of the ping-pong of the paper's Figure 1
    PingPong,
}

/// Runs the steps: whether all was as it should be.
///
/// # Errors
/// If the checkout is not usable, a tool is missing, or the hardware fails.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let wants = |step| arguments.steps.is_empty() || arguments.steps.contains(&step);
    let is_public = |step: &&Step| !matches!(step, Step::Costs | Step::Locks | Step::Examples);
    if let Some(step) = arguments.steps.iter().find(is_public).filter(|_| arguments.own) {
        bail!(
            "`--own` has no step `{}`: choose costs, locks or examples",
            step.to_possible_value()
                .map_or_else(String::new, |value| value.get_name().to_owned())
        );
    }
    let real = match &arguments.fpspin_dir {
        Some(folder) => {
            ensure!(
                folder.is_dir(),
                "`--fpspin-dir {}`: no such directory",
                folder.display()
            );
            let pspin = Pspin::open(folder)?;
            println!("FPsPIN {}", recorded::revision(folder));
            Real::build(&model::model(&pspin)?, "model")?
        }
        None => Real::Own,
    };
    let mut good = true;
    let public = |step| wants(step) && !arguments.own;
    if wants(Step::Costs) {
        good &= costs(&real, arguments.record)?;
    }
    if public(Step::Accesses) {
        good &= accesses(&real, arguments.record)?;
    }
    if wants(Step::Locks) {
        // An instruction of one of several threads takes longer than one of a core.
        let patience = if arguments.own { 10 } else { 1 } * contexts::PATIENCE;
        good &= locks(&real, patience)?;
    }
    if public(Step::Contexts) {
        good &= four_contexts(&real)?;
    }
    if wants(Step::Examples) {
        let names = &arguments.examples;
        let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == short(name));
        for name in EXAMPLES.iter().filter(|name| is_wanted(name)) {
            good &= example(&real, name, arguments)?;
        }
    }
    if let Some(folder) = &arguments.fpspin_dir {
        if wants(Step::Public) {
            good &= public_examples(&real, folder, arguments)?;
        }
        if wants(Step::PingPong) {
            ping_pong::run(|| real.nic(), folder)?;
        }
        if arguments.record {
            recorded::write_page(folder)?;
        }
    }
    Ok(good)
}

/// Clusters as hardware.
enum Real {
    /// Spinneret's own.
    Own,
    /// Those of a checkout in the application block, compiled.
    Public { library: PathBuf, ports: Vec<Port> },
}

impl Real {
    fn build(shared: &SharedModel, folder: &str) -> Result<Self> {
        let folder = crate::bench::root().join("target/interop").join(folder);
        let start = Instant::now();
        let library = spinneret_verilate::build_shared(shared, &folder, &|progress| {
            let minutes = start.elapsed().as_secs() / 60;
            match progress {
                Progress::Verilating => status("Verilator reads the cluster: some minutes"),
                Progress::Compiling(done, all) => {
                    status(&format!(
                        "compiling {done} of {all} files, {minutes} minutes so far; ten to twenty in all"
                    ));
                }
                Progress::Linking => status("linking"),
            }
        });
        let library = library.context("the model of the cluster")?;
        status("");
        Ok(Self::Public {
            library,
            ports: shared.model.ports.clone(),
        })
    }

    /// A NIC with the real cluster, after reset.
    fn nic(&self) -> Result<Simulated> {
        match self {
            Self::Own => model::own(),
            Self::Public { library, ports } => model::open(library, top::TOP, ports, config()),
        }
    }
}

/// One line that replaces the one before, on a terminal.
fn status(text: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[2K{text}");
        // Ignore errors: without a terminal no status is needed.
        let _ = std::io::stderr().flush();
    } else if !text.is_empty() {
        eprintln!("{text}");
    }
}

fn costs(real: &Real, record: bool) -> Result<bool> {
    let (model, hpus, conflicts) = match real {
        Real::Own => (own_modelled()?, Hpus::Any, compare::OWN_CONFLICTS),
        // Some operations are refused by default.
        Real::Public { .. } => (strict()?, Hpus::Pspin, compare::BANKS),
    };
    let model = probes::measure_costs(model, hpus, |_| ())?;
    let mut good = true;
    println!(
        "\n{:30} {:>24} {:>24}",
        "clocks, by HPUs at work", "cluster: 1, 8, 16", "model: 1, 8, 16"
    );
    let show = |cost: &Cost| {
        let other = &model[cost.operation];
        let text = |cost: &Cost| {
            cost.hundredths
                .map(|clocks| format!("{:.2}", clocks as f64 / 100.0))
                .join(" ")
        };
        let fits = compare::cost_fits(cost, other, conflicts);
        good &= fits;
        println!(
            "{:30} {:>24} {:>24}{}",
            OPERATIONS[cost.operation],
            text(cost),
            text(other),
            if fits { "" } else { "  differs" }
        );
    };
    let measured = probes::measure_costs(real.nic()?, hpus, show)?;
    if record {
        recorded::write_costs(&measured)?;
    }
    Ok(good)
}

fn accesses(real: &Real, record: bool) -> Result<bool> {
    let model = probes::probe_accesses(modelled(2000)?, |_, _| ())?;
    let mut good = true;
    println!(
        "\n{:34} {:16} {:>10} {:>12} {:>12}",
        "a handler's access", "", "address", "cluster", "model"
    );
    let show = |number: usize, answer: Answer| {
        let (what, kind, address) = ACCESSES[number];
        let fits = compare::answers_fit(answer, model[number]);
        good &= fits;
        println!(
            "{what:34} {:16} {address:#010x} {:>12} {:>12}{}",
            format!("{kind:?}"),
            answer.to_string(),
            model[number].to_string(),
            if fits { "" } else { "  differs" }
        );
    };
    let answers = probes::probe_accesses(real.nic()?, show)?;
    if record {
        recorded::write_answers(&answers)?;
    }
    Ok(good)
}

fn locks(real: &Real, patience: u64) -> Result<bool> {
    status("locks and atomic operations");
    let counted = contexts::locks(&real.nic()?, patience)?;
    status("");
    println!("\nlocks and atomic operations with all HPUs at once:");
    for (what, found, wanted) in &counted {
        println!(
            "  {what:8} {found:6} of {wanted:6}{}",
            if found == wanted { "" } else { "  wrong" }
        );
    }
    Ok(counted.iter().all(|(_, found, wanted)| found == wanted))
}

fn four_contexts(real: &Real) -> Result<bool> {
    status("four contexts");
    // The PULP cluster does not say which context accesses host memory, so a context reaches the memory of others.
    let model = contexts::four_contexts(&strict()?)?;
    let told = contexts::four_contexts(&real.nic()?)?;
    status("");
    let differ: Vec<_> = told
        .iter()
        .zip(&model)
        .filter(|(one, other)| one != other)
        .collect();
    let good = differ.is_empty() && told.len() == model.len();
    println!(
        "\nfour contexts: {}",
        if good {
            "all as in the model"
        } else {
            "not as in the model"
        }
    );
    for (one, other) in differ {
        println!("  {one}; in the model {other}");
    }
    Ok(good)
}

fn public_examples(real: &Real, folder: &Path, arguments: &Arguments) -> Result<bool> {
    let public = PublicExamples::build(folder)?;
    println!();
    let (mut good, mut told) = (true, Vec::new());
    for (name, packets) in PUBLIC_EXAMPLES {
        status(&format!("the public {name}"));
        let model = public.attempt(modelled(WATCHDOG)?, name, *packets)?;
        let tried = public.attempt(real.nic()?, name, *packets)?;
        status("");
        let mut faults = compare::outcomes_differ(&tried.0, &model.0);
        if tried.1 != model.1 {
            faults.push(format!("{} characters printed, not {}", tried.1, model.1));
        }
        let came = format!(
            "{} packets, {} replies, {}",
            tried.0.packets,
            tried.0.replies.len(),
            compare::summary(&faults)
        );
        println!("the public {name}: {came}");
        good &= faults.is_empty();
        told.push((*name, came));
    }
    if arguments.record {
        recorded::write_public(&told)?;
    }
    Ok(good)
}

fn example(real: &Real, name: &'static str, arguments: &Arguments) -> Result<bool> {
    let packets = arguments.packets as usize;
    let mixed = [examples::MIXED_ALONE, packets - examples::MIXED_ALONE];
    let (model, hpus) = match real {
        Real::Own => (own_modelled()?, Hpus::Any),
        Real::Public { .. } => (modelled(WATCHDOG)?, Hpus::Pspin),
    };
    let model = run_example(model, name, hpus, mixed, &mut |_| ())?;
    let tried = run_example(real.nic()?, name, hpus, mixed, &mut |text| {
        status(&format!("{name}: {text}"))
    })?;
    status("");
    let mut faults = compare::differences(name, &tried, &model);
    if arguments.own {
        let pairs = SIZES.iter().zip(tried.figures.iter().zip(&model.figures));
        faults.extend(pairs.enumerate().filter_map(|(row, (size, (real, model)))| {
            compare::figures_differ(name, *size, row == 0, [real, model], compare::OWN_CROWD_PERCENT)
        }));
    }
    println!("\n{name}: {packets} packets, {}", compare::summary(&faults));
    show_figures(&tried, &model);
    if arguments.record {
        recorded::write_example(name, packets, &tried, &faults)?;
    }
    Ok(faults.is_empty())
}

fn show_figures(real: &ExampleRun, model: &ExampleRun) {
    println!("  clocks     cold: cluster, model   warm: cluster, model   each of 48 at once");
    for ((size, real), model) in SIZES.into_iter().zip(&real.figures).zip(&model.figures) {
        println!(
            "  {size:5} B  {:>10} {:>10} {:>10} {:>10} {:>13.1} {:>8.1}",
            real.cold,
            model.cold,
            real.warm,
            model.warm,
            real.crowd_tenths as f64 / 10.0,
            model.crowd_tenths as f64 / 10.0
        );
    }
}
