//! A plan in numbers, as it is written as JSON.

use crate::halos::{ShownHalo, halos};
use crate::known::Known;
use crate::setup::Setup;
use crate::ways::{ShownWay, ways};
use molly::model::Program;
use molly::report::{Sent, Stored};
use molly::{Plan, Report};
use serde::Serialize;

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
    /// What a rank in the middle receives.
    pub(crate) halos: Vec<ShownHalo>,
    /// How its messages go under MPI.
    pub(crate) ways: Vec<ShownWay>,
    pub(crate) storage: Vec<ShownStorage>,
    pub(crate) overlap: ShownOverlap,
    /// Copies that are not made: from and to which field.
    pub(crate) exchanges: Vec<(String, String)>,
    /// Loops in which ranks take turns.
    pub(crate) turns: Vec<ShownTurns>,
    /// The same for people.
    #[serde(skip)]
    pub(crate) report: Report,
}

/// A loop in which ranks take turns.
#[derive(Debug, Serialize)]
pub(crate) struct ShownTurns {
    /// The fields of which values travel so.
    pub(crate) fields: Vec<String>,
    /// After how many rows the next rank takes its turn.
    pub(crate) rows: u32,
    /// The line of the first body in the loop.
    pub(crate) line: u32,
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

pub(crate) fn shown(known: &Known, program: &Program, setup: &Setup, plan: &Plan, planning_s: f64) -> Shown {
    let report = Report::new(program, plan);
    let channel = |sent: &Sent| {
        let (summary, (messages, elements)) = (&sent.summary, sent.summary.busiest);
        ShownChannel {
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
    let storage = |stored: &Stored| ShownStorage {
        field: stored.field.clone(),
        rank: stored.rank,
        owned: stored.owned,
        stored: stored.stored,
    };
    let turns = report.turns.iter().map(|turns| ShownTurns {
        fields: turns.fields.clone(),
        rows: turns.rows,
        line: turns.line,
    });
    Shown {
        program: known.name.to_owned(),
        about: known.about.to_owned(),
        size: setup.shape.clone(),
        steps: setup.steps,
        geometry: setup.geometry.to_string(),
        planning_s,
        channels: report.sent.iter().map(channel).collect(),
        halos: halos(program, plan, report.rank),
        ways: ways(program, plan, report.rank, setup.options.columns),
        storage: report.stored.iter().map(storage).collect(),
        overlap: ShownOverlap {
            rank: report.rank,
            instances: report.executed.instances,
            early: report.executed.early,
        },
        exchanges: report.exchanges.clone(),
        turns: turns.collect(),
        report,
    }
}
