//! Recordings of the PULP cluster as CSV files. Tests compare the model with them, and a page of the docs shows them.
//!
//! ```text
//! ./dev interop --record --> recorded/costs.csv       clocks of an operation, in hundredths, with 1, 8 and 16 HPUs
//!                            recorded/accesses.csv    what came of an access
//!                            recorded/EXAMPLE.csv     clocks of packets, by size
//!                            recorded/traces/...      what passed for the first packets
//!                        --> docs/interop.md          the same as a page, with the results of the model
//! ```

use crate::compare::summary;
use crate::examples::{ExampleRun, Figures, SIZES, modelled_figures};
use crate::probes::{ACCESSES, Answer, Cost, OPERATIONS};
use crate::traces::{self, Line};
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the recordings.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/recorded"))
}

/// Writes `costs.csv`.
///
/// # Errors
/// If it cannot be written.
pub fn write_costs(costs: &[Cost]) -> Result<()> {
    let mut text = String::from("operation,1 HPU,8 HPUs,16 HPUs\n");
    for cost in costs {
        let [one, eight, all] = cost.hundredths;
        let _ = writeln!(text, "\"{}\",{one},{eight},{all}", OPERATIONS[cost.operation]);
    }
    write("costs.csv", &text)
}

/// Reads `costs.csv`.
///
/// # Errors
/// If the file is missing, or [`write_costs`] did not write it.
pub fn read_costs() -> Result<Vec<Cost>> {
    let rows = read("costs.csv")?;
    let costs = rows.iter().enumerate().map(|(operation, row)| {
        let (name, numbers) = row
            .trim_start_matches('"')
            .split_once("\",")
            .context("a row without a name")?;
        if OPERATIONS.get(operation) != Some(&name) {
            bail!("costs.csv: `{name}` is not operation {operation}: record it again");
        }
        let numbers: Vec<u64> = numbers.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let hundredths = numbers
            .try_into()
            .map_err(|_| anyhow::anyhow!("costs.csv: {name} has not three figures"))?;
        Ok(Cost {
            operation,
            hundredths,
        })
    });
    costs.collect()
}

/// Writes `accesses.csv`.
///
/// # Errors
/// If it cannot be written.
pub fn write_answers(answers: &[Answer]) -> Result<()> {
    let mut text = String::from("what,kind,address,answer\n");
    for ((what, kind, address), answer) in ACCESSES.iter().zip(answers) {
        let _ = writeln!(text, "\"{what}\",{kind:?},{address:#010x},{answer}");
    }
    write("accesses.csv", &text)
}

/// Reads `accesses.csv`.
///
/// # Errors
/// If the file is missing, or [`write_answers`] did not write it.
pub fn read_answers() -> Result<Vec<Answer>> {
    let rows = read("accesses.csv")?;
    let answers = rows.iter().map(|row| {
        let (_, answer) = row
            .rsplit_once(',')
            .context("accesses.csv: a row without an answer")?;
        Ok(match answer.strip_prefix("0x") {
            Some(value) => Answer::Value(u32::from_str_radix(value, 16)?),
            None if answer == "hangs" => Answer::Hang,
            None => Answer::Cause(answer.trim_start_matches("cause ").parse()?),
        })
    });
    answers.collect()
}

/// The name of an example without its folder.
pub(crate) fn short(example: &str) -> &str {
    example.rsplit('/').next().unwrap_or(example)
}

/// Writes the figures and results of an example.
///
/// # Errors
/// If they cannot be written.
pub fn write_example(name: &str, packets: usize, real: &ExampleRun, faults: &[String]) -> Result<()> {
    let mut text = String::from("bytes,cold,warm,crowd in tenths\n");
    for (size, figures) in SIZES.iter().zip(&real.figures) {
        let Figures {
            cold,
            warm,
            crowd_tenths,
        } = figures;
        let _ = writeln!(text, "{size},{cold},{warm},{crowd_tenths}");
    }
    let _ = writeln!(text, "# {packets} packets: {}", summary(faults));
    write(
        &format!("traces/{}.csv", short(name)),
        &traces::write(&real.trace),
    )?;
    write(&format!("{}.csv", short(name)), &text)
}

/// Writes the results of the public examples.
///
/// # Errors
/// If it cannot be written.
pub fn write_public(told: &[(&str, String)]) -> Result<()> {
    let rows = told.iter().map(|(name, came)| format!("{name},\"{came}\"\n"));
    write(
        "public.csv",
        &format!("example,what came of it\n{}", rows.collect::<String>()),
    )
}

/// The recorded trace of an example's first packets.
///
/// # Errors
/// If it is not there, or no trace.
pub fn read_trace(name: &str) -> Result<Vec<Line>> {
    traces::read(&read(&format!("traces/{}.csv", short(name)))?)
}

/// The recorded figures of an example, by size.
///
/// # Errors
/// If the file is missing, or [`write_example`] did not write it.
pub fn read_example(name: &str) -> Result<Vec<Figures>> {
    let rows = read(&format!("{}.csv", short(name)))?;
    let figures = rows.iter().map(|row| {
        let numbers: Vec<u64> = row.split(',').skip(1).map(str::parse).collect::<Result<_, _>>()?;
        let [cold, warm, crowd_tenths] = numbers[..] else {
            bail!("{name}.csv: a row has not three figures");
        };
        Ok(Figures {
            cold,
            warm,
            crowd_tenths,
        })
    });
    figures.collect()
}

fn write(name: &str, text: &str) -> Result<()> {
    let path = folder().join(name);
    let folder = path.parent().unwrap_or(&path);
    let failed = || format!("cannot write {}", path.display());
    fs::create_dir_all(folder).with_context(failed)?;
    // Write to a temporary file first, so that a file is always complete.
    let part = path.with_extension("part");
    fs::write(&part, text)
        .and_then(|()| fs::rename(&part, &path))
        .with_context(failed)
}

/// The rows of a file, without the heading and notes.
pub(crate) fn read(name: &str) -> Result<Vec<String>> {
    let path = folder().join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect())
}

/// Markers around the tables in the page.
const BEGIN: &str = "<!-- begin of what ./dev interop --record writes -->";
const END: &str = "<!-- end of what ./dev interop --record writes -->";

/// Rewrites the tables of `docs/interop.md` from the recordings.
///
/// # Errors
/// If the page or the data cannot be read, or the page not written.
pub(crate) fn write_page(fpspin: &Path) -> Result<()> {
    let path = crate::bench::root().join("docs/interop.md");
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let (Some(begin), Some(end)) = (page.find(BEGIN), page.find(END)) else {
        bail!(
            "{} has no place for the tables: it needs the lines `{BEGIN}` and `{END}`",
            path.display()
        );
    };
    let mut text = page[..begin + BEGIN.len()].to_owned();
    let _ = write!(text, "\n\nFPsPIN {}.\n\n", revision(fpspin));
    add_examples(&mut text)?;
    add_costs(&mut text)?;
    text.push_str(&page[end..]);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The commit of a checkout, in short.
pub(crate) fn revision(path: &Path) -> String {
    let output = Command::new("git")
        .args(["rev-parse", "--short=10", "HEAD"])
        .current_dir(path)
        .output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => "of no known revision".to_owned(),
    }
}

fn add_examples(text: &mut String) -> Result<()> {
    text.push_str("### Examples\n\nClocks of the cluster; each cell is cluster / model.\n\n");
    text.push_str(
        "| example | packets | bytes | cold | warm | each of 48 at once |\n|---|---|---:|---:|---:|---:|\n",
    );
    for example in crate::workloads::EXAMPLES {
        let name = short(example);
        let file = folder().join(format!("{name}.csv"));
        let Ok(content) = fs::read_to_string(&file) else {
            continue;
        };
        let note = content
            .lines()
            .find_map(|line| line.strip_prefix("# "))
            .unwrap_or_default();
        let (real, model) = (read_example(name)?, modelled_figures(example)?);
        for (row, (size, (real, model))) in SIZES.iter().zip(real.iter().zip(&model)).enumerate() {
            let (name, note) = if row == 0 { (name, note) } else { ("", "") };
            let cold = if row == 0 {
                format!("{} / {}", real.cold, model.cold)
            } else {
                String::new()
            };
            let tenths = |clocks: u64| clocks as f64 / 10.0;
            let _ = writeln!(
                text,
                "| {name} | {note} | {size} | {cold} | {} / {} | {:.1} / {:.1} |",
                real.warm,
                model.warm,
                tenths(real.crowd_tenths),
                tenths(model.crowd_tenths)
            );
        }
    }
    text.push('\n');
    Ok(())
}

fn add_costs(text: &mut String) -> Result<()> {
    text.push_str(
        "### Costs\n\nClocks of one operation of `runtime/tests/costs`, with 1, 8 and 16 HPUs at it.\n\n",
    );
    text.push_str("| operation | 1 | 8 | 16 |\n|---|---:|---:|---:|\n");
    for cost in read_costs()? {
        let [one, eight, all] = cost.hundredths.map(|clocks| clocks as f64 / 100.0);
        let _ = writeln!(
            text,
            "| {} | {one:.2} | {eight:.2} | {all:.2} |",
            OPERATIONS[cost.operation]
        );
    }
    text.push('\n');
    Ok(())
}
