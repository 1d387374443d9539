//! `molly plan`: what a plan sends, stores and does when, as a table, as JSON, and as a picture.

use crate::args::{PlanArguments, Setup, named};
use crate::failure::Failure;
use crate::known::Known;
use crate::picture;
use anyhow::{Context as _, anyhow};
use molly::Plan;
use molly::model::{Level, Program, Summary};
use molly::mpi::Mpi;
use serde::Serialize;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::time::Instant;

/// A plan in numbers.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    pub(crate) program: String,
    pub(crate) about: String,
    pub(crate) size: Vec<i64>,
    pub(crate) steps: i64,
    pub(crate) geometry: String,
    pub(crate) planning_s: f64,
    pub(crate) channels: Vec<ShownChannel>,
    pub(crate) storage: Vec<ShownStorage>,
    pub(crate) overlap: ShownOverlap,
    /// Copies that are not made: from and to which field.
    pub(crate) exchanges: Vec<(String, String)>,
}

/// Work of a rank in the middle.
#[derive(Debug, Serialize)]
pub(crate) struct ShownOverlap {
    pub(crate) rank: usize,
    /// Instances of bodies that it executes,
    pub(crate) instances: u64,
    /// and those of them that it executes while messages are under way.
    pub(crate) early: u64,
}

/// What is sent of a field at one level. Figures of a chunk are those of the one with most elements.
#[derive(Debug, Serialize)]
pub(crate) struct ShownChannel {
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
pub(crate) struct ShownStorage {
    pub(crate) field: String,
    pub(crate) rank: usize,
    pub(crate) owned: i64,
    pub(crate) stored: i64,
}

pub(crate) fn plan(arguments: &PlanArguments, mpi: Option<&Mpi>) -> Result<(), Failure> {
    let known = named(&arguments.program)?;
    let setup = arguments.asked.setup(&known, known.size, mpi)?;
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

fn shown(known: &Known, program: &Program, setup: &Setup, plan: &Plan, planning_s: f64) -> Shown {
    let channel = |summary: &Summary| {
        let (messages, elements) = summary.busiest;
        ShownChannel {
            field: program.fields[summary.field].clone(),
            when: when(summary.level),
            chunks: summary.chunks,
            messages_per_chunk: messages,
            elements_per_chunk: elements,
            bytes_per_chunk: elements * known.element_bytes[summary.field] as u64,
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
    let storage = |(field, name): (usize, &String)| {
        let product = |sizes: &mut dyn Iterator<Item = i64>| sizes.product::<i64>();
        let of_rank = |rank: usize| {
            let stored = product(&mut plan.storage(rank, field).iter().map(|span| span.len));
            let (_, owned) = plan.geometry.block(&plan.sizes.shapes[field], rank);
            (stored, rank, product(&mut owned.into_iter()))
        };
        let (stored, rank, owned) = (0..plan.geometry.ranks()).map(of_rank).max().unwrap_or((0, 0, 0));
        ShownStorage {
            field: name.clone(),
            rank,
            owned,
            stored,
        }
    };
    Shown {
        program: known.name.to_owned(),
        about: known.about.to_owned(),
        size: setup.shape.clone(),
        steps: setup.steps,
        geometry: setup.geometry.to_string(),
        planning_s,
        channels: plan.summaries().iter().map(channel).collect(),
        overlap: overlap(plan),
        exchanges: plan
            .exchanges
            .iter()
            .map(|exchange| {
                (
                    program.fields[exchange.from].clone(),
                    program.fields[exchange.to].clone(),
                )
            })
            .collect(),
        storage: program.fields.iter().enumerate().map(storage).collect(),
    }
}

/// That of a rank in the middle, which has neighbours on all sides if any has.
fn overlap(plan: &Plan) -> ShownOverlap {
    let middle: Vec<i64> = plan.geometry.extents().iter().map(|ranks| ranks / 2).collect();
    let rank = plan.geometry.rank(&middle);
    let executed = plan.executed(rank);
    ShownOverlap {
        rank,
        instances: executed.instances,
        early: executed.early,
    }
}

impl Shown {
    /// What is said beside the messages.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for stored in &self.storage {
            remarks.push(format!(
                "{}: rank {} owns {} elements and stores {} more",
                stored.field,
                stored.rank,
                stored.owned,
                stored.stored - stored.owned
            ));
        }
        for (from, to) in &self.exchanges {
            remarks.push(format!(
                "{from} and {to} exchange what is stored instead of copying to {to}"
            ));
        }
        let ShownOverlap {
            rank,
            instances,
            early,
        } = self.overlap;
        remarks.push(format!(
            "Rank {rank} executes {instances} instances, {:.1} % while messages are under way",
            100.0 * early as f64 / instances.max(1) as f64
        ));
        remarks
    }
}

/// When a channel's chunks travel, in words. Loops are counted from the outermost one.
fn when(level: Level) -> String {
    match level {
        Level::Initial => "at the beginning".to_owned(),
        Level::Final => "at the end".to_owned(),
        Level::Time(0) => "before each nest".to_owned(),
        Level::Time(at) if at % 2 == 1 => format!("each turn of loop {}", at.div_ceil(2)),
        Level::Time(at) => format!("each nest in loop {}", at / 2),
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
    if shown.channels.is_empty() {
        text += "No messages.\n";
    } else {
        text += &channels(shown);
    }
    for remark in shown.remarks() {
        text += &(remark + "\n");
    }
    text
}

/// Figures of the chunk with most elements, and how many chunks there are.
fn channels(shown: &Shown) -> String {
    let headings = [
        "", "", "chunks", "messages", "elements", "KiB", "a piece", "buffers",
    ];
    let mut table = spinneret_table::figures(headings, &[0, 1]);
    for channel in &shown.channels {
        table.add_row([
            channel.field.clone(),
            channel.when.clone(),
            channel.chunks.to_string(),
            channel.messages_per_chunk.to_string(),
            channel.elements_per_chunk.to_string(),
            format!("{:.1}", channel.bytes_per_chunk as f64 / 1024.0),
            format!("{:.1}", channel.elements_per_piece),
            channel.buffers.to_string(),
        ]);
    }
    let (messages, elements) = shown
        .channels
        .iter()
        .fold((0, 0), |(messages, elements), channel| {
            (messages + channel.messages, elements + channel.elements)
        });
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect();
    format!(
        "{}All chunks: {messages} messages, {elements} elements\n\n",
        lines.concat()
    )
}

/// `1024x1024`.
pub(crate) fn join(sizes: &[i64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
    sizes.join("x")
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
