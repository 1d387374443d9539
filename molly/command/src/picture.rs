//! SVG picture of a plan: the grid of ranks and the messages of a chunk.

use crate::programs::join;
use crate::view::{ChannelView, PlanView};
use molly::Plan;
use std::fmt::Write as _;

/// Width of the picture.
const WIDTH: f64 = 900.0;
/// Most ranks along a side that are drawn; of more, those at the beginning.
const MOST: i64 = 8;
/// Colours that most people can distinguish, also on paper (Okabe and Ito, without the yellow).
const COLORS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888",
];

/// Where ranks are drawn: two directions of the grid, and copies side by side for the others.
#[derive(Debug)]
struct Sheet {
    rows: i64,
    columns: i64,
    cell: f64,
    top: f64,
}

/// Draws the ranks, and for each channel an arrow from sender to receiver.
pub(crate) fn draw(view: &PlanView, plan: &Plan) -> String {
    let extents = plan.geometry.extents();
    let (rows, columns) = match extents {
        [ranks] => (1, (*ranks).min(MOST)),
        [rows, columns, ..] => ((*rows).min(MOST), (*columns).min(MOST)),
        [] => (1, 1),
    };
    let sheet = Sheet {
        rows,
        columns,
        cell: (600.0 / rows.max(columns) as f64).min(220.0),
        top: 70.0,
    };
    let legend = sheet.top + sheet.cell * rows as f64 + 40.0;
    let height = legend + 24.0 * (view.channels.len() + view.report.remarks().len() + 1) as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"20\" y=\"30\" font-size=\"18\">{}: {}, {} on {} ranks</text>\n",
        view.program,
        view.about,
        join(&view.size),
        view.geometry
    );
    let drawn = rows * columns;
    if drawn < plan.geometry.ranks() as i64 {
        let _ = writeln!(
            svg,
            "<text x=\"20\" y=\"52\" fill=\"#666\">{drawn} of {} ranks are drawn, and messages between these</text>",
            plan.geometry.ranks()
        );
    }
    ranks(&mut svg, &sheet, plan);
    for (number, channel) in view.channels.iter().enumerate() {
        arrows(&mut svg, &sheet, plan, channel, number, view.channels.len());
    }
    words(&mut svg, view, legend);
    svg + "</svg>\n"
}

impl Sheet {
    /// The middle of a rank's box, if it is drawn.
    fn place(&self, plan: &Plan, rank: usize) -> Option<(f64, f64)> {
        let at = plan.geometry.coordinates(rank);
        let (row, column, others) = match &at[..] {
            [column] => (0, *column, &[][..]),
            [row, column, others @ ..] => (*row, *column, others),
            [] => (0, 0, &[][..]),
        };
        let is_drawn = row < self.rows && column < self.columns && others.iter().all(|at| *at == 0);
        let left = (WIDTH - self.cell * self.columns as f64) / 2.0;
        is_drawn.then_some((
            left + (column as f64 + 0.5) * self.cell,
            self.top + (row as f64 + 0.5) * self.cell,
        ))
    }
}

fn ranks(svg: &mut String, sheet: &Sheet, plan: &Plan) {
    let side = sheet.cell * 0.52;
    for rank in 0..plan.geometry.ranks() {
        let Some((x, y)) = sheet.place(plan, rank) else {
            continue;
        };
        let at: Vec<String> = plan
            .geometry
            .coordinates(rank)
            .iter()
            .map(i64::to_string)
            .collect();
        let (left, top) = (x - side / 2.0, y - side / 2.0);
        let size = (sheet.cell / 9.0).clamp(8.0, 14.0);
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{side:.1}\" height=\"{side:.1}\" fill=\"#eef3f8\" stroke=\"#444\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"{size:.1}\">{rank}</text>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"{:.1}\" fill=\"#666\">({})</text>",
            y - size * 0.2,
            y + size * 1.0,
            size * 0.8,
            at.join(", ")
        );
    }
}

/// Draws one arrow for each message, next to those of other channels and of the other direction.
fn arrows(
    svg: &mut String,
    sheet: &Sheet,
    plan: &Plan,
    channel: &ChannelView,
    number: usize,
    channels: usize,
) {
    let color = COLORS[number % COLORS.len()];
    let most = channel.pairs.iter().map(|pair| pair.2).max().unwrap_or(1).max(1) as f64;
    for &(from, to, elements) in &channel.pairs {
        let (Some((x0, y0)), Some((x1, y1))) = (sheet.place(plan, from), sheet.place(plan, to)) else {
            continue;
        };
        let (dx, dy) = (x1 - x0, y1 - y0);
        let length = dx.hypot(dy);
        let (ux, uy) = (dx / length, dy / length);
        // From border to border of the boxes, on the right-hand side of the line between them, with channels side by
        // side.
        let border = sheet.cell * 0.27 / ux.abs().max(uy.abs());
        let beside = sheet.cell * (0.05 + 0.16 * (number as f64 + 0.5) / channels as f64);
        let (ox, oy) = (-uy * beside, ux * beside);
        let width = 1.0 + 2.5 * elements as f64 / most;
        let tip = 4.0 + 1.5 * width;
        let (ax, ay) = (x0 + ux * border + ox, y0 + uy * border + oy);
        let (bx, by) = (x1 - ux * border + ox, y1 - uy * border + oy);
        let (cx, cy) = (bx - ux * tip, by - uy * tip);
        let _ = writeln!(
            svg,
            "<g stroke=\"{color}\" fill=\"{color}\"><title>{} {}: {from} to {to}, {elements} elements</title>\
             <line x1=\"{ax:.1}\" y1=\"{ay:.1}\" x2=\"{cx:.1}\" y2=\"{cy:.1}\" stroke-width=\"{width:.1}\"/>\
             <polygon stroke=\"none\" points=\"{bx:.1},{by:.1} {:.1},{:.1} {:.1},{:.1}\"/></g>",
            channel.field,
            channel.when,
            cx - uy * tip * 0.5,
            cy + ux * tip * 0.5,
            cx + uy * tip * 0.5,
            cy - ux * tip * 0.5
        );
    }
}

/// Writes the legend: the meaning of the colours, and the storage.
fn words(svg: &mut String, view: &PlanView, top: f64) {
    let mut y = top;
    let mut line = |text: &str, color: Option<&str>| {
        if let Some(color) = color {
            let _ = writeln!(
                svg,
                "<rect x=\"20\" y=\"{:.1}\" width=\"18\" height=\"4\" fill=\"{color}\"/>",
                y - 7.0
            );
        }
        let _ = writeln!(svg, "<text x=\"46\" y=\"{y:.1}\">{text}</text>");
        y += 24.0;
    };
    for (number, channel) in view.channels.iter().enumerate() {
        let text = format!(
            "{}, {}: {} messages, {} elements, {} B; {} such chunks; {} in a piece",
            channel.field,
            channel.when,
            channel.messages_per_chunk,
            channel.elements_per_chunk,
            channel.bytes_per_chunk,
            channel.chunks,
            (channel.elements_per_piece * 10.0).round() / 10.0
        );
        line(&text, Some(COLORS[number % COLORS.len()]));
    }
    if view.channels.is_empty() {
        line("No messages.", None);
    }
    for remark in view.report.remarks() {
        line(&remark, None);
    }
}
