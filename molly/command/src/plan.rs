//! `molly plan`: what a plan sends, stores and does when, as a table, as JSON, and as a picture.

use crate::Failure;
use crate::args::{PlanArguments, named};
use crate::messages::{HaloView, TransportView, halos, halos_text, transports, transports_text};
use crate::picture;
use crate::programs::Builtin;
use crate::programs::{Setup, join};
use anyhow::{Context as _, anyhow};
use molly::model::Program;
use molly::mpi::Mpi;
use molly::report::{Sent, Stored};
use molly::{Plan, Report};
use serde::Serialize;
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
    let shown = view(&known, &program, &setup, &plan, planning_s);
    if let Some(file) = &arguments.svg {
        write_whole(file, &picture::draw(&shown, &plan)).map_err(Failure::Work)?;
    }
    match arguments.json {
        true => print(&(serde_json::to_string_pretty(&shown).map_err(Failure::work)? + "\n")),
        false => print(&text(&shown)),
    }
}

fn text(shown: &PlanView) -> String {
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
    text += &transports_text(&shown.ways);
    text += &halos_text(&shown.halos);
    for remark in shown.report.remarks() {
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

// A plan in numbers, as it is written as JSON.

/// A plan in numbers.
#[derive(Debug, Serialize)]
pub(crate) struct PlanView {
    pub(crate) program: String,
    pub(crate) about: String,
    pub(crate) size: Vec<i64>,
    pub(crate) steps: i64,
    pub(crate) geometry: String,
    pub(crate) planning_s: f64,
    pub(crate) channels: Vec<ChannelView>,
    /// What a rank in the middle receives.
    pub(crate) halos: Vec<HaloView>,
    /// How its messages go under MPI.
    pub(crate) ways: Vec<TransportView>,
    pub(crate) storage: Vec<StorageView>,
    pub(crate) overlap: OverlapView,
    /// Copies that are not made: from and to which field.
    pub(crate) exchanges: Vec<(String, String)>,
    /// Loops in which ranks take turns.
    pub(crate) turns: Vec<TurnsView>,
    /// The same for people.
    #[serde(skip)]
    pub(crate) report: Report,
}

/// A loop in which ranks take turns.
#[derive(Debug, Serialize)]
pub(crate) struct TurnsView {
    /// The fields of which values travel so.
    pub(crate) fields: Vec<String>,
    /// After how many rows the next rank takes its turn.
    pub(crate) rows: u32,
    /// The line of the first body in the loop.
    pub(crate) line: u32,
}

/// Work of a rank in the middle.
#[derive(Debug, Serialize)]
pub(crate) struct OverlapView {
    pub(crate) rank: usize,
    /// Instances of bodies that it executes,
    pub(crate) instances: u64,
    /// and those of them that it executes while messages are under way.
    pub(crate) early: u64,
}

/// What is sent of a field at one level. Figures of a chunk are those of the one with most elements.
#[derive(Debug, Serialize)]
pub(crate) struct ChannelView {
    pub(crate) field: String,
    pub(crate) when: String,
    pub(crate) chunks: u64,
    pub(crate) messages_per_chunk: u64,
    pub(crate) elements_per_chunk: u64,
    pub(crate) bytes_per_chunk: u64,
    /// Elements of a piece of neighbours, on average.
    pub(crate) elements_per_piece: f64,
    pub(crate) buffers: usize,
    pub(crate) messages: u64,
    pub(crate) elements: u64,
    /// Sender, receiver, and elements of their message in a chunk.
    pub(crate) pairs: Vec<(usize, usize, u64)>,
}

/// What the rank that stores most has of a field.
#[derive(Debug, Serialize)]
pub(crate) struct StorageView {
    pub(crate) field: String,
    pub(crate) rank: usize,
    pub(crate) owned: i64,
    pub(crate) stored: i64,
}

fn view(known: &Builtin, program: &Program, setup: &Setup, plan: &Plan, planning_s: f64) -> PlanView {
    let report = Report::new(program, plan);
    let channel = |sent: &Sent| {
        let (summary, (messages, elements)) = (&sent.summary, sent.summary.busiest);
        ChannelView {
            field: sent.field.clone(),
            when: sent.when.clone(),
            chunks: summary.chunks,
            messages_per_chunk: messages,
            elements_per_chunk: elements,
            bytes_per_chunk: sent.bytes,
            elements_per_piece: elements as f64 / summary.pieces.max(1) as f64,
            buffers: summary.buffers,
            messages: summary.messages,
            elements: summary.elements,
            pairs: summary
                .pairs
                .iter()
                .map(|(&(from, to), &count)| (from, to, count))
                .collect(),
        }
    };
    let storage = |stored: &Stored| StorageView {
        field: stored.field.clone(),
        rank: stored.rank,
        owned: stored.owned,
        stored: stored.stored,
    };
    let turns = report.turns.iter().map(|turns| TurnsView {
        fields: turns.fields.clone(),
        rows: turns.rows,
        line: turns.line,
    });
    PlanView {
        program: known.name.to_owned(),
        about: known.about.to_owned(),
        size: setup.shape.clone(),
        steps: setup.steps,
        geometry: setup.geometry.to_string(),
        planning_s,
        channels: report.sent.iter().map(channel).collect(),
        halos: halos(program, plan, report.rank),
        ways: transports(program, plan, report.rank, setup.options.columns),
        storage: report.stored.iter().map(storage).collect(),
        overlap: OverlapView {
            rank: report.rank,
            instances: report.executed.instances,
            early: report.executed.early,
        },
        exchanges: report.exchanges.clone(),
        turns: turns.collect(),
        report,
    }
}
