//! CoreMark, and a table of its results.

use crate::{Common, FIRST, side_by_side};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use spinneret_tb::hpu::machine::{End, Pipeline, Program, run_on_hart};
use spinneret_tb::hpu::suites::Toolchain;
use std::ffi::OsString;
use std::path::Path;

/// Names of its sources.
const SOURCES: [&str; 5] = [
    "core_main",
    "core_list_join",
    "core_matrix",
    "core_state",
    "core_util",
];
/// More clocks of a thread than an iteration takes.
const LIMIT: u64 = 4_000_000;

/// Runs it on one thread and on all, and returns whether its own checks hold.
pub(crate) fn run(checkout: &Path, iterations: u32, flags: &str, common: &Common) -> Result<bool> {
    ensure!(
        checkout.join("coremark.h").is_file(),
        "{} is no checkout of CoreMark: git clone https://github.com/eembc/coremark",
        checkout.display()
    );
    let tools = Toolchain::find(&common.out)?;
    let boot = tools.boot()?;
    let program = compile(&tools, checkout, iterations, flags)?;
    let limit = u64::from(iterations) * LIMIT;
    // A hart that takes a clock for an instruction counts instructions.
    let instructions = ticks(&printed(&program, &run_on_hart(&program, limit)?)?)?;
    let pipelines = common.pipelines()?;
    let runs: Vec<(&Pipeline, usize)> = pipelines
        .iter()
        .flat_map(|pipeline| [(pipeline, 1), (pipeline, pipeline.threads)])
        .collect();
    let ends = side_by_side("CoreMark", runs.len(), |index| {
        let (pipeline, running) = runs[index];
        pipeline.run(
            &boot,
            &vec![&program; running],
            0,
            limit * pipeline.threads as u64,
        )
    })?;
    let headings = [
        "threads",
        "running",
        "slots per instruction",
        "CoreMark/MHz of a thread",
        "of all",
        "valid",
    ];
    let mut table = spinneret_table::figures(headings, &[5]);
    let (mut rows, mut is_good, mut last) = (Vec::new(), true, String::new());
    for ((pipeline, running), ends) in runs.into_iter().zip(ends) {
        let (mut total, mut slowest, mut is_valid) = (0.0, 0, true);
        for end in &ends {
            last = printed(&program, end)?;
            let ticks = ticks(&last)?;
            total += f64::from(iterations) * 1e6 / ticks as f64;
            slowest = slowest.max(ticks);
            is_valid &= last.contains("Correct operation validated");
        }
        let slots = slowest as f64 / (pipeline.threads as u64 * instructions) as f64;
        let cells = [
            pipeline.threads.to_string(),
            running.to_string(),
            format!("{slots:.3}"),
            format!("{:.3}", total / running as f64),
            format!("{total:.3}"),
            if is_valid { "yes" } else { "NO" }.to_owned(),
        ];
        table.add_row(spinneret_table::result_row(cells, is_valid));
        rows.push(json!({
            "threads": pipeline.threads,
            "running": running,
            "clocks": slowest,
            "slots_per_instruction": slots,
            "coremark_per_mhz": total,
            "is_valid": is_valid,
            "printed": last,
        }));
        is_good &= is_valid;
    }
    if common.json {
        println!(
            "{:#}",
            json!({ "coremark": rows, "iterations": iterations, "flags": flags })
        );
    } else {
        println!("{table}\n\nOne thread printed:\n\n{last}");
    }
    Ok(is_good)
}

fn compile(tools: &Toolchain, checkout: &Path, iterations: u32, flags: &str) -> Result<Program> {
    let port = Path::new(env!("CARGO_MANIFEST_DIR")).join("riscv-tests/coremark");
    let mut sources = SOURCES.map(|name| checkout.join(format!("{name}.c"))).to_vec();
    sources.push(port.join("core_portme.c"));
    let mut options: Vec<OsString> = flags.split_whitespace().map(OsString::from).collect();
    options.extend(
        [
            "--specs=picolibc.specs",
            "-DPICOLIBC_INTEGER_PRINTF_SCANF",
            "-DPERFORMANCE_RUN=1",
            &format!("-DITERATIONS={iterations}"),
            &format!("-DFLAGS_STR=\"{flags}\""),
        ]
        .map(OsString::from),
    );
    for folder in [&*port, checkout] {
        options.extend(["-I".into(), folder.into()]);
    }
    tools.program("coremark", &sources, &options, FIRST)
}

/// The text that a run printed.
fn printed(program: &Program, end: &End) -> Result<String> {
    ensure!(
        end.tohost.is_some(),
        "CoreMark does not end within {} clocks",
        end.clocks
    );
    let (console, length) = (program.symbol("console")?, program.symbol("console_length")?);
    let length = end.words(length, length + 4)[0];
    Ok(String::from_utf8_lossy(end.bytes(console, console + length)).into_owned())
}

/// The clocks that it counted.
fn ticks(text: &str) -> Result<u64> {
    let line = text.lines().find(|line| line.starts_with("Total ticks"));
    let ticks = line.and_then(|line| line.split_whitespace().last());
    Ok(ticks.context("CoreMark printed no time")?.parse()?)
}
