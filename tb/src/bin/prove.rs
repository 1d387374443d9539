//! `./dev prove`: proves what the blocks promise, by induction where that is possible.

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Parser;
use serde_json::{Value, json};
use spinneret_table::{Table, say};
use spinneret_tb::proofs::riscv_formal::{self, Answer, Check};
use spinneret_tb::proofs::{
    Ledger, Method, Outcome, Proof, Question, Verdict, find, prepare, proofs, questions,
};
use spinneret_verilate::schedule;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Proves what the blocks promise, with yosys, yosys-smtbmc and z3.
///
/// Proven is what holds for all traffic at all times; bounded what holds for all traffic in the given number
/// of cycles from the start. docs/testing.md explains how to read a counterexample.
#[derive(Parser, Debug)]
#[command(name = "prove", after_help = EXIT_CODES)]
struct Arguments {
    /// Proofs to run [default: all]
    names: Vec<String>,
    /// Show the proofs; run nothing
    #[arg(long)]
    list: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
    /// Folder for problems and counterexamples
    #[arg(long, default_value = "target/proofs")]
    out: PathBuf,
    /// Ask what `./dev test` asks, also whether broken blocks are found out, and record the answers for it
    #[arg(long, conflicts_with_all = ["names", "list"])]
    record: bool,
    /// Run the checks of this checkout of riscv-formal on the processor of handlers instead of proofs: all, or those that NAMES
    /// names, as insn_add or reg
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "json", "record"])]
    riscv_formal: Option<PathBuf>,
    /// Check this text of the processor instead of the generated one
    #[arg(long, value_name = "FILE", requires = "riscv_formal")]
    core: Option<PathBuf>,
    /// Proofs at the same time [default: the number of processors]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

const EXIT_CODES: &str = "Exit codes: 0 all hold, 1 one does not, 2 refused or a tool is missing";

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("prove: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether all proofs hold.
fn run(arguments: &Arguments) -> Result<bool> {
    if let Some(checkout) = &arguments.riscv_formal {
        return check(arguments, checkout);
    }
    let proofs = select(&arguments.names)?;
    if arguments.list {
        say(format_args!("{}", list(&proofs)));
        return Ok(true);
    }
    if arguments.record {
        return record(&arguments.out, jobs(arguments));
    }
    let start = Instant::now();
    let outcomes = prove(&proofs, &arguments.out, jobs(arguments))?;
    let seconds = start.elapsed().as_secs_f64();
    if arguments.json {
        let rows: Vec<_> = outcomes.iter().map(row).collect();
        println!("{:#}", json!({ "proofs": rows, "seconds": seconds }));
    } else {
        println!("{}", table(&outcomes));
        for outcome in &outcomes {
            report_failure(outcome);
        }
        let holding = outcomes.iter().filter(|outcome| outcome.holds()).count();
        say(format_args!(
            "{holding} of {} proofs hold, {seconds:.1} s",
            outcomes.len()
        ));
    }
    Ok(outcomes.iter().all(Outcome::holds))
}

/// Runs checks of riscv-formal. Returns whether all hold.
fn check(arguments: &Arguments, checkout: &Path) -> Result<bool> {
    let mut checks = riscv_formal::checks(checkout)?;
    if let Some(unknown) = arguments
        .names
        .iter()
        .find(|name| checks.iter().all(|check| check.name != **name))
    {
        bail!("there is no check `{unknown}`, or it does not apply: without a name all that apply run");
    }
    checks.retain(|check| arguments.names.is_empty() || arguments.names.contains(&check.name));
    let core = match &arguments.core {
        Some(file) => fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?,
        None => riscv_formal::core()?,
    };
    let folder = arguments.out.join("riscv-formal");
    let run = |index: usize| checks[index].run(checkout, &core, &folder);
    let answers = schedule::run(jobs(arguments), checks.len(), run);
    let answers = answers.into_iter().collect::<Result<Vec<Answer>>>()?;
    let mut table = spinneret_table::figures(["check", "seconds", "result"], &[0, 2]);
    for (Check { name, .. }, Answer { holds, time, .. }) in checks.iter().zip(&answers) {
        let result = if *holds { "holds" } else { "FAILED" };
        let cells = [
            name.clone(),
            format!("{:.1}", time.as_secs_f64()),
            result.to_owned(),
        ];
        table.add_row(spinneret_table::result_row(cells, *holds));
    }
    println!("{table}");
    for answer in answers.iter().filter(|answer| !answer.holds) {
        say(format_args!(
            "{}",
            answer.folder.join("counterexample.vcd").display()
        ));
    }
    let holding = answers.iter().filter(|answer| answer.holds).count();
    say(format_args!("{holding} of {} checks hold", answers.len()));
    Ok(holding == answers.len())
}

fn select(names: &[String]) -> Result<Vec<&'static Proof>> {
    if names.is_empty() {
        return Ok(proofs().iter().collect());
    }
    let known = || {
        proofs()
            .iter()
            .map(|proof| proof.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    names
        .iter()
        .map(|name| find(name).ok_or_else(|| anyhow!("there is no proof `{name}`: choose from {}", known())))
        .collect()
}

fn jobs(arguments: &Arguments) -> usize {
    arguments.jobs.map_or_else(schedule::allowed, usize::from)
}

/// Asks what `./dev test` asks, which is what is new and some of the rest, and writes the ledger if all answers are as
/// they should be.
fn record(folder: &Path, jobs: usize) -> Result<bool> {
    let all: Vec<Question> = questions().filter(Question::is_fast).collect();
    let ledger = Ledger::read()?;
    let answers = schedule::run(jobs, all.len(), |index| {
        let question = &all[index];
        if ledger.may_skip(&question.key()?) {
            return Ok(None);
        }
        let answer = question.ask(folder);
        eprintln!(
            "{question}: {}",
            if matches!(answer, Ok(None)) { "ok" } else { "NO" }
        );
        answer
    });
    let wrong: Vec<String> = answers
        .into_iter()
        .filter_map(Result::transpose)
        .map(|wrong| wrong.unwrap_or_else(|error| format!("{error:#}")))
        .collect();
    if wrong.is_empty() {
        Ledger::write(&all)?;
        say(format_args!(
            "{} answers are recorded in {}",
            all.len(),
            Ledger::path().display()
        ));
    }
    wrong.iter().for_each(|wrong| say(format_args!("{wrong}")));
    Ok(wrong.is_empty())
}

/// Runs the proofs, some at a time; the outcomes are in the order of the proofs.
fn prove(proofs: &[&Proof], folder: &Path, jobs: usize) -> Result<Vec<Outcome>> {
    let outcomes = schedule::run(jobs, proofs.len(), |index| {
        prepare(proofs[index], folder)?.solve()
    });
    outcomes.into_iter().collect()
}

fn method(verdict: &Verdict, method: Method) -> String {
    match (verdict, method) {
        (Verdict::Proven(k), _) => format!("induction, k = {k}"),
        (Verdict::Bounded(cycles), _) => format!("bounded, {cycles} cycles"),
        (Verdict::Failed { .. }, Method::Induction(k)) => format!("induction, k <= {k}"),
        (Verdict::Failed { .. }, Method::Bounded(cycles)) => format!("bounded, {cycles} cycles"),
    }
}

fn result(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proven(_) => "proven",
        Verdict::Bounded(_) => "holds so far",
        Verdict::Failed { from_start: true, .. } => "FAILED",
        Verdict::Failed {
            from_start: false, ..
        } => "NOT CLOSED",
    }
}

fn settings(proof: &Proof) -> String {
    let settings = proof
        .settings
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let choices = proof
        .choices
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    settings.chain(choices).collect::<Vec<_>>().join(" ")
}

fn list(proofs: &[&Proof]) -> Table {
    let mut table = spinneret_table::table(["proof", "block", "shows"]);
    for proof in proofs {
        let block = format!("{} {}", proof.block, settings(proof));
        table.add_row([proof.name, &block, proof.shows]);
    }
    table
}

fn table(outcomes: &[Outcome]) -> Table {
    let headings = ["proof", "parameters", "method", "seconds", "result"];
    let mut table = spinneret_table::figures(headings, &[0, 1, 2, 4]);
    for outcome in outcomes {
        let cells = [
            outcome.proof.name.to_owned(),
            settings(&outcome.proof),
            method(&outcome.verdict, outcome.proof.method),
            format!("{:.1}", outcome.time.as_secs_f64()),
            result(&outcome.verdict).to_owned(),
        ];
        let is_good = !matches!(outcome.verdict, Verdict::Failed { .. });
        table.add_row(spinneret_table::result_row(cells, is_good));
    }
    table
}

fn report_failure(outcome: &Outcome) {
    let Verdict::Failed {
        property,
        from_start,
        trace,
    } = &outcome.verdict
    else {
        return;
    };
    let name = outcome.proof.name;
    match (trace, from_start) {
        (Some(trace), true) => say(format_args!(
            "{name}: `{property}` is violated: {}",
            trace.display()
        )),
        (Some(trace), false) => {
            say(format_args!(
                "{name}: `{property}` does not follow by induction: {}",
                trace.display()
            ));
        }
        (None, _) => say(format_args!("{name}: `{property}` cannot be reached")),
    }
}

fn row(outcome: &Outcome) -> Value {
    let (property, trace) = match &outcome.verdict {
        Verdict::Failed { property, trace, .. } => (Some(property), trace.as_ref()),
        _ => (None, None),
    };
    let settings: serde_json::Map<_, _> = outcome
        .proof
        .settings
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    json!({
        "proof": outcome.proof.name,
        "block": outcome.proof.block,
        "parameters": settings,
        "shows": outcome.proof.shows,
        "method": method(&outcome.verdict, outcome.proof.method),
        "seconds": outcome.time.as_secs_f64(),
        "result": result(&outcome.verdict),
        "holds": outcome.holds(),
        "property": property,
        "counterexample": trace.map(|path| path.display().to_string()),
    })
}
