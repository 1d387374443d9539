//! Figure 9: the two datatypes, and which bytes belong to an element of each.

use super::show;
use crate::harness::draw;
use anyhow::Result;
use plotters::prelude::*;
use spinneret_nic::mpi::PaperType;
use spinneret_nic::picture::{Area, COLORS, FONT, Painted, bytes};
use std::path::Path;

/// Size of the picture in points.
const SIZE: (u32, u32) = (960, 420);
/// Runs of a row: those of the vector of the complex type.
const RUNS: usize = 32;
/// Height of a row, of 1.
const HEIGHT: f64 = 0.6;

/// Type, constructor, size and extent; and the runs of one element of each type in memory, a row for each vector of
/// the complex type.
pub(super) fn run(out: &Path) -> Result<()> {
    let stages = PaperType::ALL.into_iter().flat_map(|kind| {
        let steps = kind.steps().iter().zip(kind.stages());
        steps.map(move |(step, stage)| {
            vec![
                kind.name().to_owned(),
                step.words(),
                stage.bounds.size.to_string(),
                stage.bounds.extent.to_string(),
            ]
        })
    });
    let columns = ["type", "constructor", "size_bytes", "extent_bytes"];
    show(&out.join("figure9.csv"), &columns, &Vec::from_iter(stages))?;
    let rows = rows()?;
    draw(&out.join("figure9.svg"), SIZE, |area| runs(area, &rows))
}

/// A row: its name, and the first byte and the end of each run.
type Row = (String, usize, Vec<[f64; 2]>);

fn rows() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (color, kind) in PaperType::ALL.into_iter().enumerate() {
        let layout = kind.layout(1)?;
        let runs: Vec<[f64; 2]> = layout
            .place(0, layout.bytes())
            .map(|piece| [piece.start as f64, (piece.start + piece.bytes as i64) as f64])
            .collect();
        for (number, runs) in runs.chunks(RUNS).enumerate() {
            let name = match kind {
                PaperType::Simple => "simple".to_owned(),
                PaperType::Complex => format!("complex, vector {}", number + 1),
            };
            rows.push((name, color, runs.to_vec()));
        }
    }
    Ok(rows)
}

fn runs(area: &Area<'_>, rows: &[Row]) -> Painted {
    let end = rows
        .iter()
        .flat_map(|(.., runs)| runs.last())
        .map(|[_, end]| *end)
        .fold(0.0, f64::max);
    let lowest = rows.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .caption(
            "One element of each type: 110 592 B in the order of the message, from above",
            (FONT, 18),
        )
        .margin(10)
        .margin_right(24)
        .x_label_area_size(36)
        .y_label_area_size(130)
        .build_cartesian_2d(0.0..end, lowest..0.0)?;
    let names = |y: &f64| {
        let row = rows
            .get((y.floor()) as usize)
            .filter(|_| (y.fract() - 0.5).abs() < 0.01);
        row.map(|(name, ..)| name.clone()).unwrap_or_default()
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .x_desc("place in memory, from the address of the element")
        .x_label_formatter(&|byte| bytes(*byte))
        .y_labels(2 * rows.len() + 1)
        .y_label_formatter(&names)
        .draw()?;
    for (number, (_, color, runs)) in rows.iter().enumerate() {
        let top = number as f64 + (1.0 - HEIGHT) / 2.0;
        chart.draw_series(runs.iter().map(|[start, end]| {
            Rectangle::new([(*start, top), (*end, top + HEIGHT)], COLORS[*color].filled())
        }))?;
    }
    Ok(())
}
