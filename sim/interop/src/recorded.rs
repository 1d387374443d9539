//! What was seen on the real cluster, kept as data of ours: tests hold the model to it, and a page of the docs is made
//! of it.
//!
//! ```text
//! ./dev interop --record --> recorded/costs.csv       clocks of an operation, in hundredths, with 1, 8 and 16 HPUs
//!                            recorded/accesses.csv    what came of an access
//!                            recorded/EXAMPLE.csv     clocks of packets, by size
//!                        --> docs/interop.md          the same for people, beside the model
//! ```

use crate::costs::{Cost, OPERATIONS};
use crate::example::Tried;
use crate::figures::{Figures, SIZES};
use crate::loads::Outcome;
use crate::touches::{Answer, TOUCHES};
use crate::traces::{self, Line};
use crate::trees;
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the data lies.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/recorded"))
}

/// Hundredths of a clock by which a cost may differ: what alignment and the loop around it make.
const COST_SLACK: u64 = 40;
/// Operations whose cost in a crowd comes from HPUs that meet in a bank of L1, which the model does not have.
const BANKS: [&str; 3] = ["L1 load", "L1 store", "L1 atomic"];

/// Whether the model's cost of an operation is within 10 % of the cluster's.
pub fn cost_fits(real: &Cost, model: &Cost) -> bool {
    let name = OPERATIONS[real.operation];
    let near = |(real, model): (&u64, &u64)| real.abs_diff(*model) <= real / 10 + COST_SLACK;
    let crowds = if BANKS.contains(&name) { 1 } else { 3 };
    // The bank is busy for one more clock after an atomic operation, which only the next one of the same word meets.
    let slack = if name == "L1 atomic" { 100 } else { 0 };
    real.hundredths
        .iter()
        .zip(&model.hundredths)
        .take(crowds)
        .all(|pair| near(pair) || pair.0.abs_diff(*pair.1) <= slack)
}

/// Cause of the model's watchdog at an address that answers nobody.
const SILENCE: u32 = spinneret_cluster::SILENCE;

/// Whether the model does what the cluster does, or refuses what the cluster does without any promise.
///
/// The model may refuse: a program that relies on such an access is told so. It may not answer with another value, nor
/// where the cluster refuses or hangs.
pub fn answers_fit(real: Answer, model: Answer) -> bool {
    match (real, model) {
        (Answer::Value(real), Answer::Value(model)) => real == model,
        (Answer::Silence, Answer::Cause(_)) => true,
        (Answer::Cause(real), Answer::Cause(model)) => real == model,
        (Answer::Value(_), Answer::Cause(cause)) => cause != SILENCE,
        _ => false,
    }
}

/// Parts in a hundred by which the model's clocks may differ: of a packet that is warm, of a cold one, and between two in a
/// crowd.
const WARM_PERCENT: u64 = 10;
const COLD_PERCENT: u64 = 20;
const CROWD_PERCENT: u64 = 15;

fn within(real: u64, model: u64, percent: u64) -> bool {
    real.abs_diff(model) * 100 <= real * percent
}

/// In what the model's clocks differ too much.
pub fn figures_differ(size: usize, is_first: bool, real: &Figures, model: &Figures) -> Option<String> {
    let mut all = Vec::new();
    if is_first && !within(real.cold, model.cold, COLD_PERCENT) {
        all.push(format!("cold {} and {}", real.cold, model.cold));
    }
    if !within(real.warm, model.warm, WARM_PERCENT) {
        all.push(format!("warm {} and {}", real.warm, model.warm));
    }
    if !within(real.crowd_tenths, model.crowd_tenths, CROWD_PERCENT) {
        all.push(format!(
            "in a crowd {:.1} and {:.1}",
            real.crowd_tenths as f64 / 10.0,
            model.crowd_tenths as f64 / 10.0
        ));
    }
    (!all.is_empty()).then(|| format!("{size} B: {} clocks", all.join(", ")))
}

/// In what packets of an example of ours differ: nothing if all are right.
pub fn differences(name: &str, real: &Tried, model: &Tried) -> Vec<String> {
    let mut all = outcomes_differ(&real.outcome, &model.outcome);
    // Which HPU's page a request of `host_ping` takes, and which place a message of `slmp`, is a matter of time.
    if !name.ends_with("host_ping") && !name.ends_with("slmp") && real.outcome.host != model.outcome.host {
        all.push("host memory differs".to_owned());
    }
    all
}

/// What came of packets, in words.
pub fn verdict(faults: &[String]) -> String {
    match faults {
        [] => "all as in the model".to_owned(),
        faults => faults.join("; "),
    }
}

/// In what replies, messages and counters differ.
pub fn outcomes_differ(one: &Outcome, other: &Outcome) -> Vec<String> {
    let mut all = Vec::new();
    if one.replies != other.replies {
        let right = one
            .replies
            .iter()
            .filter(|reply| other.replies.binary_search(reply).is_ok())
            .count();
        all.push(format!("{right} of {} replies are right", other.replies.len()));
    }
    if one.messages != other.messages {
        all.push(format!(
            "{} messages arrived, not {}",
            one.messages.len(),
            other.messages.len()
        ));
    }
    if one.counters != other.counters {
        let differ = one
            .counters
            .iter()
            .zip(&other.counters)
            .filter(|(one, other)| one != other);
        all.extend(differ.map(|(one, other)| format!("{} is {}, not {}", one.0, one.1, other.1)));
    }
    all
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
/// If it is not there, or not what [`write_costs`] writes.
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
    for ((what, kind, address), answer) in TOUCHES.iter().zip(answers) {
        let _ = writeln!(text, "\"{what}\",{kind:?},{address:#010x},{answer}");
    }
    write("accesses.csv", &text)
}

/// Reads `accesses.csv`.
///
/// # Errors
/// If it is not there, or not what [`write_answers`] writes.
pub fn read_answers() -> Result<Vec<Answer>> {
    let rows = read("accesses.csv")?;
    let answers = rows.iter().map(|row| {
        let (_, answer) = row
            .rsplit_once(',')
            .context("accesses.csv: a row without an answer")?;
        Ok(match answer.strip_prefix("0x") {
            Some(value) => Answer::Value(u32::from_str_radix(value, 16)?),
            None if answer == "hangs" => Answer::Silence,
            None => Answer::Cause(answer.trim_start_matches("cause ").parse()?),
        })
    });
    answers.collect()
}

fn short(example: &str) -> &str {
    example.rsplit('/').next().unwrap_or(example)
}

/// Writes the figures of an example, and what came of its packets.
///
/// # Errors
/// If they cannot be written.
pub fn write_example(
    name: &str,
    packets: usize,
    real: &Tried,
    model: &Tried,
    faults: &[String],
) -> Result<()> {
    let mut text =
        String::from("bytes,cold,warm,crowd in tenths,model cold,model warm,model crowd in tenths\n");
    for ((size, real), model) in SIZES.iter().zip(&real.figures).zip(&model.figures) {
        let row = [
            real.cold,
            real.warm,
            real.crowd_tenths,
            model.cold,
            model.warm,
            model.crowd_tenths,
        ];
        let row: Vec<_> = row.iter().map(u64::to_string).collect();
        let _ = writeln!(text, "{size},{}", row.join(","));
    }
    let _ = writeln!(text, "# {packets} packets: {}", verdict(faults));
    write(
        &format!("traces/{}.csv", short(name)),
        &traces::write(&real.trace),
    )?;
    write(&format!("{}.csv", short(name)), &text)
}

/// Writes what came of the public examples.
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

/// The recorded figures of an example, by size: those of the cluster, and those of the model at that time.
///
/// # Errors
/// If they are not there, or not what [`write_example`] writes.
pub fn read_example(name: &str) -> Result<Vec<[Figures; 2]>> {
    let rows = read(&format!("{}.csv", short(name)))?;
    let figures = rows.iter().map(|row| {
        let numbers: Vec<u64> = row.split(',').skip(1).map(str::parse).collect::<Result<_, _>>()?;
        let [cold, warm, crowd_tenths, m_cold, m_warm, m_crowd] = numbers[..] else {
            bail!("{name}.csv: a row has not six figures");
        };
        Ok([
            Figures {
                cold,
                warm,
                crowd_tenths,
            },
            Figures {
                cold: m_cold,
                warm: m_warm,
                crowd_tenths: m_crowd,
            },
        ])
    });
    figures.collect()
}

fn write(name: &str, text: &str) -> Result<()> {
    let path = folder().join(name);
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The rows of a file, without the heading and notes.
fn read(name: &str) -> Result<Vec<String>> {
    let path = folder().join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect())
}

/// Where the tables begin and end in the page.
const BEGIN: &str = "<!-- begin of what ./dev interop --record writes -->";
const END: &str = "<!-- end of what ./dev interop --record writes -->";

/// Writes the tables of `docs/interop.md` anew, from everything that is recorded.
///
/// # Errors
/// If the page or the data cannot be read, or the page not written.
pub fn write_page(fpspin: &Path, corundum: Option<&Path>) -> Result<()> {
    let path = crate::bench::root().join("docs/interop.md");
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let (Some(begin), Some(end)) = (page.find(BEGIN), page.find(END)) else {
        bail!(
            "{} has no place for the tables: it needs the lines `{BEGIN}` and `{END}`",
            path.display()
        );
    };
    let mut text = page[..begin + BEGIN.len()].to_owned();
    let _ = write!(text, "\n\nFPsPIN {}", trees::revision(fpspin));
    if let Some(corundum) = corundum {
        let _ = write!(text, ", Corundum {}", trees::revision(corundum));
    }
    text.push_str(".\n\n");
    add_examples(&mut text)?;
    add_public(&mut text)?;
    add_costs(&mut text)?;
    add_answers(&mut text)?;
    text.push_str(&page[end..]);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn add_examples(text: &mut String) -> Result<()> {
    text.push_str("### Examples\n\nClocks of the cluster; each cell is cluster / model.\n\n");
    text.push_str("| example | packets | bytes | cold | warm | between two, all HPUs busy |\n|---|---|---:|---:|---:|---:|\n");
    for name in crate::loads::EXAMPLES.iter().map(|name| short(name)) {
        let file = folder().join(format!("{name}.csv"));
        let Ok(content) = fs::read_to_string(&file) else {
            continue;
        };
        let note = content
            .lines()
            .find_map(|line| line.strip_prefix("# "))
            .unwrap_or_default();
        for (row, (size, [real, model])) in SIZES.iter().zip(read_example(name)?).enumerate() {
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

fn add_public(text: &mut String) -> Result<()> {
    let Ok(rows) = read("public.csv") else {
        return Ok(());
    };
    text.push_str("### Public examples\n\n| example | what came of it |\n|---|---|\n");
    for row in rows {
        let (name, came) = row.split_once(',').context("public.csv: a row without an end")?;
        let _ = writeln!(text, "| {name} | {} |", came.trim_matches('"'));
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

fn add_answers(text: &mut String) -> Result<()> {
    text.push_str("### Accesses\n\nWhat came of a handler's access (`runtime/tests/touch`).\n\n");
    text.push_str("| what | access | address | answer |\n|---|---|---|---|\n");
    for ((what, kind, address), answer) in TOUCHES.iter().zip(read_answers()?) {
        let _ = writeln!(text, "| {what} | {kind:?} | {address:#010x} | {answer} |");
    }
    text.push('\n');
    Ok(())
}
