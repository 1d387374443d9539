//! The public tests of RISC-V, and a table of what they found.

use crate::{Common, FIRST, side_by_side};
use anyhow::{Context, Result};
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::{Value, json};
use spinneret_table::say;
use spinneret_tb::hpu::machine::{End, PROGRAM_END, Pipeline, Program, run_on_hart};
use spinneret_tb::hpu::suites::{Test, Toolchain, tests};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Percentage of clocks in which memory is busy while threads run different tests.
const BUSY: u32 = 25;
/// More than any test executes.
const INSTRUCTIONS: u64 = 200_000;

/// A test that can run, what it is compiled to, and what it does on the simulator's hart.
struct Ready {
    test: Test,
    program: Program,
    on_hart: End,
    /// The first fault of each run, by its name.
    failures: BTreeMap<String, Option<String>>,
}

impl Ready {
    /// The fault of a thread that ran it.
    fn verdict(&self, program: &Program, end: &End) -> Result<Option<String>> {
        self.test
            .verdict(program, end, Some((&self.program, &self.on_hart)))
    }

    fn record(&mut self, run: &str, thread: usize, verdict: Option<String>) {
        let first = self.failures.entry(run.to_owned()).or_default();
        *first = first
            .take()
            .or(verdict.map(|reason| format!("thread {thread}: {reason}")));
    }

    /// Clocks of a pipeline of that many threads, at most: a division takes 17 slots.
    fn limit(&self, threads: usize) -> u64 {
        threads as u64 * (20 * self.on_hart.clocks + 10_000)
    }
}

/// Runs the tests of all checkouts, and returns whether they pass.
pub(crate) fn run(checkouts: &[PathBuf], only: &str, common: &Common) -> Result<bool> {
    let mut all = Vec::new();
    for checkout in checkouts {
        all.extend(tests(checkout)?);
    }
    all.retain(|test| test.to_string().contains(only));
    let tools = Toolchain::find(&common.out)?;
    let boot = tools.boot()?;
    let programs = side_by_side("compiling", all.len(), |index| match all[index].unfit {
        Some(_) => Ok(None),
        None => tools.test(&all[index], FIRST),
    })?;
    let (mut ready, mut unfit) = (Vec::new(), Vec::new());
    for (mut test, program) in all.into_iter().zip(programs) {
        let Some(program) = program else {
            test.unfit
                .get_or_insert("it is larger than program memory can be".to_owned());
            unfit.push(test);
            continue;
        };
        let on_hart = run_on_hart(&program, INSTRUCTIONS)?;
        let verdict = test.verdict(&program, &on_hart, None)?;
        ready.push(Ready {
            test,
            program,
            on_hart,
            failures: [("hart".to_owned(), verdict)].into(),
        });
    }
    let mut runs = vec!["hart".to_owned()];
    for pipeline in common.pipelines()? {
        let [same, mixed] = ["same", "mixed"].map(|how| format!("{} threads, {how}", pipeline.threads));
        run_same(&pipeline, &boot, &mut ready, &same)?;
        run_mixed(&pipeline, &boot, &mut ready, &mixed, &tools)?;
        runs.extend([same, mixed]);
    }
    if common.json {
        println!("{:#}", as_json(&ready, &unfit));
    } else {
        print(&ready, &unfit, &runs);
    }
    Ok(ready
        .iter()
        .flat_map(|ready| ready.failures.values())
        .flatten()
        .count()
        == 0)
}

/// Every thread runs the same test, and memory is never busy.
fn run_same(pipeline: &Pipeline, boot: &Program, ready: &mut [Ready], name: &str) -> Result<()> {
    let verdicts = side_by_side(name, ready.len(), |index| {
        let ready = &ready[index];
        let threads = vec![&ready.program; pipeline.threads];
        let ends = pipeline.run(boot, &threads, 0, ready.limit(pipeline.threads))?;
        ends.iter()
            .map(|end| ready.verdict(&ready.program, end))
            .collect::<Result<Vec<_>>>()
    })?;
    for (ready, verdicts) in ready.iter_mut().zip(verdicts) {
        for (thread, verdict) in verdicts.into_iter().enumerate() {
            ready.record(name, thread, verdict);
        }
    }
    Ok(())
}

/// Every thread runs another test, and memory is busy in some clocks.
fn run_mixed(
    pipeline: &Pipeline,
    boot: &Program,
    ready: &mut [Ready],
    name: &str,
    tools: &Toolchain,
) -> Result<()> {
    let mut order: Vec<usize> = (0..ready.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(1));
    // Each with the address of its code, which begins with a gap of a page at most.
    let mut groups: Vec<Vec<(usize, u32)>> = Vec::new();
    let mut next = PROGRAM_END;
    for index in order {
        let bytes = (ready[index].program.end() - FIRST).next_multiple_of(0x1000) + 0x1000;
        let is_full = groups.last().is_none_or(|group| group.len() == pipeline.threads);
        if is_full || next + bytes > PROGRAM_END {
            groups.push(Vec::new());
            next = FIRST;
        }
        groups.last_mut().context("a group")?.push((index, next));
        next += bytes;
    }
    let verdicts = side_by_side(name, groups.len(), |number| {
        let group = &groups[number];
        let link = |(index, origin): &(usize, u32)| {
            let program = tools.test(&ready[*index].test, *origin)?;
            program.context("a test is larger at another address")
        };
        let programs: Vec<Program> = group.iter().map(link).collect::<Result<_>>()?;
        let threads: Vec<&Program> = programs.iter().cycle().take(pipeline.threads).collect();
        let limits = group
            .iter()
            .map(|(index, _)| ready[*index].limit(pipeline.threads));
        let ends = pipeline.run(boot, &threads, BUSY, limits.max().unwrap_or(0))?;
        let members = threads.iter().zip(group.iter().cycle()).zip(&ends);
        let verdict = |((program, (index, _)), end): ((&&Program, &(usize, u32)), &End)| {
            Ok((*index, ready[*index].verdict(program, end)?))
        };
        members.map(verdict).collect::<Result<Vec<_>>>()
    })?;
    for group in verdicts {
        for (thread, (index, verdict)) in group.into_iter().enumerate() {
            ready[index].record(name, thread, verdict);
        }
    }
    Ok(())
}

fn as_json(ready: &[Ready], unfit: &[Test]) -> Value {
    let row = |test: &Test, key: &str, value: Value| json!({ "suite": test.suite, "name": test.name, "has_reference": test.has_reference(), key: value });
    let ran = ready
        .iter()
        .map(|ready| row(&ready.test, "failures", json!(ready.failures)));
    let unfit = unfit
        .iter()
        .map(|test| row(test, "does_not_apply", json!(test.unfit)));
    json!({ "tests": ran.chain(unfit).collect::<Vec<_>>() })
}

fn print(ready: &[Ready], unfit: &[Test], runs: &[String]) {
    let suites: BTreeSet<&str> = ready
        .iter()
        .map(|ready| &ready.test)
        .chain(unfit)
        .map(|test| &*test.suite)
        .collect();
    let headings = ["suite"]
        .into_iter()
        .chain(runs.iter().map(|run| &**run))
        .chain(["do not apply"]);
    let mut table = spinneret_table::figures(headings, &[0]);
    for suite in suites {
        let ours = || ready.iter().filter(|ready| ready.test.suite == suite);
        let passed = |run: &String| ours().filter(|ready| ready.failures[run].is_none()).count();
        let unfit = unfit.iter().filter(|test| test.suite == suite).count();
        let is_good = runs.iter().all(|run| passed(run) == ours().count());
        let cells = runs
            .iter()
            .map(|run| format!("{} of {}", passed(run), ours().count()));
        let cells = [suite.to_owned()]
            .into_iter()
            .chain(cells)
            .chain([unfit.to_string()]);
        table.add_row(spinneret_table::result_row(cells, is_good));
    }
    println!("{table}");
    for ready in ready {
        for (run, failure) in &ready.failures {
            if let Some(failure) = failure {
                say(format_args!("{}, {run}: {failure}", ready.test));
            }
        }
    }
    let mut reasons: BTreeMap<Option<&str>, Vec<String>> = BTreeMap::new();
    for test in unfit {
        reasons
            .entry(test.unfit.as_deref())
            .or_default()
            .push(test.to_string());
    }
    for (reason, tests) in reasons {
        say(format_args!(
            "does not apply, {}: {}",
            reason.unwrap_or_default(),
            tests.join(", ")
        ));
    }
    let compared = ready.iter().filter(|ready| !ready.test.has_reference()).count();
    if compared > 0 {
        say(format_args!(
            "{compared} tests have no reference in their checkout: compared with the simulator's hart"
        ));
    }
}
