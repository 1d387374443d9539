//! `molly plan`: what a plan sends, stores and does when, as a table, as JSON, and as a picture.

use crate::args::{PlanArguments, named};
use crate::failure::Failure;
use crate::setup::join;
use crate::shown::{Shown, shown};
use crate::{halos, picture, ways};
use anyhow::{Context as _, anyhow};
use molly::Plan;
use molly::mpi::Mpi;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::time::Instant;

pub(crate) fn plan(arguments: &PlanArguments, mpi: Option<&Mpi>) -> Result<(), Failure> {
    let known = named(&arguments.program)?;
    let setup = arguments.asked.setup(&known, known.size, mpi, false)?;
    let program = (known.program)();
    let begun = Instant::now();
    let plan = Plan::new(&program, &(known.sizes)(&setup), &setup.geometry, setup.options);
    let plan = plan.map_err(Failure::usage)?;
    let planning_s = begun.elapsed().as_secs_f64();
    // All ranks have the same plan.
    if mpi.is_some_and(|mpi| mpi.world().rank() != 0) {
        return Ok(());
    }
    let shown = shown(&known, &program, &setup, &plan, planning_s);
    if let Some(file) = &arguments.svg {
        write_whole(file, &picture::draw(&shown, &plan)).map_err(Failure::Work)?;
    }
    match arguments.json {
        true => print(&(serde_json::to_string_pretty(&shown).map_err(Failure::work)? + "\n")),
        false => print(&text(&shown)),
    }
}

fn text(shown: &Shown) -> String {
    let mut text = format!(
        "{}: {}\n{}, {} steps, on {} ranks; planned in {:.3} s\n\n",
        shown.program,
        shown.about,
        join(&shown.size),
        shown.steps,
        shown.geometry,
        shown.planning_s
    );
    text += &shown.report.messages();
    text += &ways::text(&shown.ways);
    text += &halos::text(&shown.halos);
    for remark in shown.report.remarks() {
        text += &(remark + "\n");
    }
    text
}

/// Prints a result. Whoever reads the output and goes has seen enough of it.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Work(anyhow!("cannot print the result: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a file that is there whole or not at all.
fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    let unwritten = || format!("{} cannot be written", path.display());
    if path.exists() && !path.is_file() {
        return Err(anyhow!("{}: it is no file that can be replaced", unwritten()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")));
    let write = |mut file: tempfile::NamedTempFile| {
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)
    };
    file.and_then(write)
        .map(|_| ())
        .map_err(|error| anyhow!("{error}"))
        .with_context(unwritten)
        .map_err(|error| anyhow!("{error:#}"))
}
