//! Plans as text: what ranks send, store, and do while messages are under way.

use spinneret_molly_model::{Executed, Level, Plan, Program, Summary};
use std::fmt;

/// A plan in numbers. As text it has the tables and sentences that `molly plan` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The messages, in the order of the plan's channels.
    pub sent: Vec<Sent>,
    /// The storage of each field.
    pub stored: Vec<Stored>,
    /// Loops in which ranks take turns.
    pub turns: Vec<Turns>,
    /// Copies that are not made: from and to which field.
    pub exchanges: Vec<(String, String)>,
    /// A rank in the middle of the grid, which has neighbours on all sides if any has,
    pub rank: usize,
    /// and what it executes.
    pub executed: Executed,
}

/// The messages of a field at one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The field.
    pub field: String,
    /// When, in words. Loops are counted from the outermost one.
    pub when: String,
    /// Messages and elements.
    pub summary: Summary,
    /// Bytes in the chunk with most elements.
    pub bytes: u64,
}

/// Storage of a field on the rank that stores most of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The field.
    pub field: String,
    /// The rank.
    pub rank: usize,
    /// Elements that it owns,
    pub owned: i64,
    /// and that it stores.
    pub stored: i64,
}

/// A loop in which ranks take turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns {
    /// The fields of which values travel so.
    pub fields: Vec<String>,
    /// After how many rows the next rank takes its turn.
    pub rows: u32,
    /// The line of the first body in the loop.
    pub line: u32,
}

impl Report {
    /// Sums up a plan of a program.
    pub fn new(program: &Program, plan: &Plan) -> Self {
        let name = |field: usize| program.fields[field].clone();
        let sent = |summary: Summary| Sent {
            field: name(summary.field),
            when: when(summary.level),
            bytes: summary
                .busiest
                .1
                .saturating_mul(program.element_bytes[summary.field] as u64),
            summary,
        };
        let stored = |field: usize| {
            let of_rank = |rank: usize| {
                let stored = plan.storage(rank, field).iter().map(|span| span.len).product();
                let (_, owned) = plan.geometry.block(&plan.sizes.shapes[field], rank);
                (stored, rank, owned.into_iter().product())
            };
            let most = (0..plan.geometry.ranks()).map(of_rank).max();
            let (stored, rank, owned): (i64, usize, i64) = most.unwrap_or((0, 0, 0));
            Stored {
                field: name(field),
                rank,
                owned,
                stored,
            }
        };
        let turns = plan.turns.iter().map(|turns| Turns {
            fields: turns.fields.iter().map(|field| name(*field)).collect(),
            rows: turns.rows.get(),
            line: turns.site.line,
        });
        let exchanges = plan.exchanges.iter();
        let middle: Vec<i64> = plan.geometry.extents().iter().map(|ranks| ranks / 2).collect();
        let rank = plan.geometry.rank(&middle);
        Self {
            sent: plan.summaries().into_iter().map(sent).collect(),
            stored: (0..program.fields.len()).map(stored).collect(),
            turns: turns.collect(),
            exchanges: exchanges
                .map(|exchange| (name(exchange.from), name(exchange.to)))
                .collect(),
            rank,
            executed: plan.executed(rank),
        }
    }

    /// The table of messages: figures of the chunk with most elements, and how many chunks there are.
    pub fn messages(&self) -> String {
        if self.sent.is_empty() {
            return "No messages.\n".to_owned();
        }
        let headings = [
            "", "", "chunks", "messages", "elements", "KiB", "a piece", "buffers",
        ];
        let mut table = spinneret_table::figures(headings, &[0, 1]);
        if table.width().is_none() {
            // Where there is no terminal it has the width of most.
            table.set_width(80);
        }
        let (mut messages, mut elements) = (0u64, 0u64);
        for sent in &self.sent {
            let summary = &sent.summary;
            messages += summary.messages;
            elements = elements.saturating_add(summary.elements);
            table.add_row([
                sent.field.clone(),
                sent.when.clone(),
                summary.chunks.to_string(),
                summary.busiest.0.to_string(),
                summary.busiest.1.to_string(),
                format!("{:.1}", sent.bytes as f64 / 1024.0),
                format!("{:.1}", summary.busiest.1 as f64 / summary.pieces.max(1) as f64),
                summary.buffers.to_string(),
            ]);
        }
        format!("{table}\nAll chunks: {messages} messages, {elements} elements\n\n")
    }

    /// Returns all of the report except the messages, as remarks of a line each.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for stored in &self.stored {
            remarks.push(format!(
                "{}: rank {} owns {} elements and stores {} more",
                stored.field,
                stored.rank,
                stored.owned,
                stored.stored - stored.owned
            ));
        }
        for Turns { fields, rows, line } in &self.turns {
            let fields = fields.join(", ");
            remarks.push(format!(
                "Ranks take turns over {fields} (line {line}): each waits for {rows} rows of those before it"
            ));
        }
        for (from, to) in &self.exchanges {
            remarks.push(format!(
                "{from} and {to} exchange what is stored instead of copying to {to}"
            ));
        }
        let Executed { instances, early } = self.executed;
        remarks.push(format!(
            "Rank {} executes {instances} instances, {:.1} % while messages are under way",
            self.rank,
            100.0 * early as f64 / instances.max(1) as f64
        ));
        remarks
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.messages())?;
        self.remarks()
            .iter()
            .try_for_each(|remark| writeln!(f, "{remark}"))
    }
}

/// When a channel's chunks travel, in words. Loops are counted from the outermost one.
pub fn when(level: Level) -> String {
    match level {
        Level::Initial => "at the beginning".to_owned(),
        Level::Final => "at the end".to_owned(),
        Level::Time(0) => "before each nest".to_owned(),
        Level::Time(at) if at % 2 == 1 => format!("each turn of loop {}", at.div_ceil(2)),
        Level::Time(at) => format!("each nest in loop {}", at / 2),
    }
}
