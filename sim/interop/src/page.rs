//! The tables of `docs/interop.md`, from the recordings.

use crate::costs::OPERATIONS;
use crate::example::{SIZES, modelled_figures};
use crate::recorded::{folder, read_costs, read_example, short};
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Where the tables begin and end in the page.
const BEGIN: &str = "<!-- begin of what ./dev interop --record writes -->";
const END: &str = "<!-- end of what ./dev interop --record writes -->";

/// Rewrites the tables of `docs/interop.md` from the recordings.
///
/// # Errors
/// If the page or the data cannot be read, or the page not written.
pub(crate) fn write(fpspin: &Path) -> Result<()> {
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
    for example in crate::loads::EXAMPLES {
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
