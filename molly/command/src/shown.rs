//! A plan in numbers and words, as it is printed, drawn, or written as JSON.

use crate::halos::{ShownHalo, halos};
use crate::known::Known;
use crate::setup::Setup;
use crate::ways::{ShownWay, ways};
use crate::words::when;
use molly::Plan;
use molly::model::{Program, Summary};
use serde::Serialize;
use std::num::NonZeroU32;

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
    /// Fields in whose sweeps ranks take turns,
    pub(crate) turns: Vec<String>,
    /// and after how many rows the next one does; nothing if after a whole sweep.
    pub(crate) rows: Option<NonZeroU32>,
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
    let channel = |summary: &Summary| {
        let (messages, elements) = summary.busiest;
        let element_bytes = known.element_bytes[summary.field];
        ShownChannel {
            field: program.fields[summary.field].clone(),
            when: when(summary.level),
            chunks: summary.chunks,
            messages_per_chunk: messages,
            elements_per_chunk: elements,
            bytes_per_chunk: elements * element_bytes as u64,
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
        halos: halos(known, program, plan, middle(plan)),
        ways: ways(program, plan, middle(plan), setup.options.columns),
        overlap: overlap(plan),
        turns: plan
            .turns
            .iter()
            .map(|field| program.fields[*field].clone())
            .collect(),
        rows: plan.rows,
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

/// A rank in the middle, which has neighbours on all sides if any has.
fn middle(plan: &Plan) -> usize {
    let middle: Vec<i64> = plan.geometry.extents().iter().map(|ranks| ranks / 2).collect();
    plan.geometry.rank(&middle)
}

fn overlap(plan: &Plan) -> ShownOverlap {
    let rank = middle(plan);
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
        for field in &self.turns {
            let rows = match self.rows {
                Some(rows) => format!("{rows} rows"),
                None => "all rows".to_owned(),
            };
            remarks.push(format!(
                "Ranks take turns in a sweep over {field}: each waits for {rows} of those before it"
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

/// `1024x1024`.
pub(crate) fn join(sizes: &[i64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
    sizes.join("x")
}
