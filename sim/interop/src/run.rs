//! The steps of `./dev interop`, one after another.

use crate::loads::EXAMPLES;
use crate::request::{Request, Step};
use crate::steps::{Real, accesses, all_at_once, costs, example, four_contexts, public_examples};
use crate::{elaborate, page, trees};
use anyhow::{Result, ensure};
use spinneret_gen::board::corundum::{Pspin, corundum_root};

/// Does it: whether all was as it should be.
///
/// # Errors
/// If a checkout is not what it should be, a tool is missing, or the hardware fails.
pub fn run(request: &Request) -> Result<bool> {
    let wants = |step| request.steps.is_empty() || request.steps.contains(&step);
    let examples = chosen(&request.examples);
    let pspin = open_trees(request)?;
    println!("FPsPIN {}", trees::revision(&request.fpspin));
    if request.corundum.is_none() && request.steps.is_empty() {
        println!("without `--corundum-dir` the steps cards and core are left out");
    }
    let mut good = true;
    if let Some(corundum) = request.corundum.as_deref().filter(|_| wants(Step::Cards)) {
        println!("Corundum {}", trees::revision(corundum));
        good &= trees::cards(corundum, &request.fpspin)?;
    }
    if let Some(corundum) = request.corundum.as_deref().filter(|_| wants(Step::Core)) {
        good &= elaborate::elaborate(corundum, &request.fpspin, |line| println!("{line}"))?;
    }
    let with_model = [
        Step::Costs,
        Step::Accesses,
        Step::Locks,
        Step::Contexts,
        Step::Examples,
        Step::Public,
    ];
    if !with_model.into_iter().any(wants) {
        return Ok(good);
    }
    let real = Real::build(&pspin)?;
    if wants(Step::Costs) {
        good &= costs(&real, request.record)?;
    }
    if wants(Step::Accesses) {
        good &= accesses(&real, request.record)?;
    }
    if wants(Step::Locks) {
        good &= all_at_once(&real)?;
    }
    if wants(Step::Contexts) {
        good &= four_contexts(&real)?;
    }
    if wants(Step::Examples) {
        for name in examples {
            good &= example(&real, name, request)?;
        }
    }
    if wants(Step::Public) {
        good &= public_examples(&real, request)?;
    }
    if request.record {
        page::write(&request.fpspin, request.corundum.as_deref())?;
    }
    Ok(good)
}

/// Looks at both checkouts, so that a wrong one is told before anything long begins.
fn open_trees(request: &Request) -> Result<Pspin> {
    ensure!(
        request.fpspin.is_dir(),
        "`--fpspin-dir {}`: there is no such directory",
        request.fpspin.display()
    );
    if let Some(corundum) = &request.corundum {
        corundum_root(corundum)?;
    }
    Ok(Pspin::open(&request.fpspin)?)
}

/// Names of examples, without their folder.
pub fn example_names() -> impl Iterator<Item = &'static str> {
    EXAMPLES.iter().copied().map(short)
}

fn short(folder: &'static str) -> &'static str {
    folder.rsplit('/').next().unwrap_or(folder)
}

fn chosen(names: &[String]) -> Vec<&'static str> {
    let wanted =
        |folder: &&str| names.is_empty() || names.iter().any(|name| folder.ends_with(&format!("/{name}")));
    EXAMPLES.iter().copied().filter(wanted).collect()
}
