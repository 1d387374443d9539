//! `molly plan`: messages, storage and order of a plan, as a table, as JSON, and as a picture.

use crate::args::{PlanArguments, named};
use crate::programs::join;
use crate::view::{PlanView, halos_text, transports_text, view};
use crate::{Failure, picture};
use anyhow::{Context as _, anyhow};
use molly::Plan;
use molly::mpi::Mpi;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::time::Instant;

pub(crate) fn plan(arguments: &PlanArguments, mpi: Option<&Mpi>) -> Result<(), Failure> {
    let builtin = named(&arguments.program)?;
    let setup = arguments.asked.setup(&builtin, builtin.size, mpi, false)?;
    let program = (builtin.program)();
    let begun = Instant::now();
    let plan = Plan::new(&program, &(builtin.sizes)(&setup), &setup.geometry, setup.options);
    let plan = plan.map_err(Failure::usage)?;
    let planning_s = begun.elapsed().as_secs_f64();
    // All ranks have the same plan.
    if mpi.is_some_and(|mpi| mpi.world().rank() != 0) {
        return Ok(());
    }
    let view = view(&builtin, &program, &setup, &plan, planning_s);
    if let Some(file) = &arguments.svg {
        write_whole(file, &picture::draw(&view, &plan)).map_err(Failure::Work)?;
    }
    match arguments.json {
        true => print(&(serde_json::to_string_pretty(&view).map_err(Failure::work)? + "\n")),
        false => print(&text(&view)),
    }
}

fn text(view: &PlanView) -> String {
    let mut text = format!(
        "{}: {}\n{}, {} steps, on {} ranks; planned in {:.3} s\n\n",
        view.program,
        view.about,
        join(&view.size),
        view.steps,
        view.geometry,
        view.planning_s
    );
    text += &view.report.messages();
    text += &transports_text(&view.ways);
    text += &halos_text(&view.halos);
    for remark in view.report.remarks() {
        text += &(remark + "\n");
    }
    text
}

/// Prints a result. A closed pipe is no error: the reader has seen enough.
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
