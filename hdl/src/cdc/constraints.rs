//! Constraints of the crossings in a design for a vendor's tool.
//!
//! A timing analyser compares all edges of both clocks at a crossing and finds paths that no place and route can meet.
//! Less is required instead: pointers reach the other side's first register within the shorter of both
//! periods and with less skew than that, so that it sees one change at most, and no later than the resets
//! of [`LinkReset`](super::LinkReset) count on; data that is read without a clock of its own arrives within a period of
//! the reading side, as it has been still for more than one when it is sampled.

use super::link_reset::LAST_ANSWER;
use spinneret_verilog::{Design, Instance};
use std::fmt::Write as _;
use thiserror::Error;

/// Which block a crossing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CrossingKind {
    /// [`AsyncFifo`](super::AsyncFifo): pointers both ways, resets both ways, and a memory.
    AsyncFifo,
    /// [`BusSync`](super::BusSync): a bit both ways, resets both ways, and a word.
    BusSync,
    /// [`LevelSync`](super::LevelSync): bits from anywhere, at any time.
    LevelSync,
    /// [`ResetSync`](super::ResetSync): a bit from anywhere, at any time.
    ResetSync,
    /// [`LinkReset`](super::LinkReset): a bit both ways.
    LinkReset,
}

impl CrossingKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::AsyncFifo,
        Self::BusSync,
        Self::LevelSync,
        Self::ResetSync,
        Self::LinkReset,
    ];

    /// Name of the block.
    pub fn block(self) -> &'static str {
        self.ports().0
    }

    /// Name of the block, and its ports that are clocks.
    fn ports(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::AsyncFifo => ("async_fifo", &["s_clk", "m_clk"]),
            Self::BusSync => ("bus_sync", &["s_clk", "m_clk"]),
            Self::LevelSync => ("level_sync", &["clk"]),
            Self::ResetSync => ("reset_sync", &["clk"]),
            Self::LinkReset => ("link_reset", &["near_clk", "far_clk"]),
        }
    }
}

/// One instance of a crossing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// Path of the instance, with slashes.
    pub path: String,
    /// Which block it is.
    pub kind: CrossingKind,
    /// Its clocks, as ports of the design's top; two for a block with two sides, that of `s` or the near side first.
    /// One that is made inside of the design is the path of its signal.
    pub clocks: Vec<String>,
}

/// Why constraints cannot be written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "the crossing {path} is clocked by `{clock}`, whose period is not known: give one of {known}, or add it"
)]
pub struct XdcError {
    /// Path of the crossing.
    pub path: String,
    /// The clock.
    pub clock: String,
    /// The clocks with a period.
    pub known: String,
}

/// All crossings below the top of a design, by path; `top_path` is the path of the instance of the top, empty if
/// the design is all there is.
pub fn constraints(design: &Design, top_path: &str) -> Vec<Crossing> {
    let top = top_path.trim_end_matches('/');
    let crossing = |instance: &Instance<'_>| {
        let kind = CrossingKind::ALL
            .into_iter()
            .find(|kind| kind.block() == instance.module.block)?;
        let path = instance.path();
        let clock = |port: &&str| instance.source(port).unwrap_or_else(|| format!("{path}/{port}"));
        Some(Crossing {
            clocks: kind.ports().1.iter().map(clock).collect(),
            path: format!("{top}/{path}").trim_start_matches('/').to_owned(),
            kind,
        })
    };
    let mut found: Vec<Crossing> = design.instances().iter().filter_map(crossing).collect();
    found.sort();
    found
}

/// The constraints of all crossings for Vivado, in their order; periods of the clocks in picoseconds.
///
/// The clocks must not be declared asynchronous to each other by `set_clock_groups`, which would overrule them.
///
/// # Errors
/// If the period of a crossing's clock is not among them.
pub fn xdc(crossings: &[Crossing], periods_ps: &[(&str, u64)]) -> Result<String, XdcError> {
    let mut out = String::from("# Paths between clocks, one block for each crossing.\n");
    let known: Vec<&str> = periods_ps.iter().map(|(name, _)| *name).collect();
    for crossing in crossings {
        let period = |clock: &String| {
            let found = periods_ps.iter().find(|(name, _)| name == clock);
            found.map(|(_, period)| *period).ok_or_else(|| XdcError {
                path: crossing.path.clone(),
                clock: clock.clone(),
                known: known.join(", "),
            })
        };
        let periods: Vec<u64> = crossing.clocks.iter().map(period).collect::<Result<_, _>>()?;
        let clocks: Vec<String> = crossing
            .clocks
            .iter()
            .zip(&periods)
            .map(|(clock, period)| format!("{clock} ({} ns)", nanoseconds(*period)))
            .collect();
        let (kind, path) = (crossing.kind.block(), &crossing.path);
        // Writing to a string does not fail.
        let _ = write!(out, "\n# {kind} {path}: {}\n", clocks.join(", "));
        out.push_str(&commands(crossing, &periods));
    }
    Ok(out)
}

fn commands(crossing: &Crossing, periods: &[u64]) -> String {
    let path = crossing.path.as_str();
    let shorter = periods.iter().copied().min().unwrap_or(0);
    let reading = periods.last().copied().unwrap_or(0);
    let delay = |from: &str, to: &str, period: u64| max_delay(path, from, to, period);
    match crossing.kind {
        CrossingKind::AsyncFifo => [
            pointer(path, "u_write/gray", "u_read/u_far/pointer_stage_0", shorter),
            pointer(path, "u_read/gray", "u_write/u_far/pointer_stage_0", shorter),
            delay("u_write/rests", "u_read/u_far/resting_stage_0", shorter),
            delay("u_read/rests", "u_write/u_far/resting_stage_0", shorter),
            delay("u_memory/memory", "u_read/data", reading),
        ]
        .concat(),
        CrossingKind::BusSync => [
            delay("sent", "u_writer/pointer_stage_0", shorter),
            delay("seen", "u_reader/pointer_stage_0", shorter),
            delay("s_rests", "u_writer/resting_stage_0", shorter),
            delay("m_rests", "u_reader/resting_stage_0", shorter),
            delay("word", "data", reading),
        ]
        .concat(),
        CrossingKind::LinkReset => [
            delay("ask", "ask_stage_0", shorter),
            delay(&format!("answer_{LAST_ANSWER}"), "answer_stage_0", shorter),
        ]
        .concat(),
        CrossingKind::LevelSync | CrossingKind::ResetSync => {
            format!("set_false_path -to {}\n", cells(path, "stage_0"))
        }
    }
}

/// The cells that a register becomes, all bits of it.
fn cells(path: &str, register: &str) -> String {
    format!("[get_cells {{{path}/{register}_reg*}}]")
}

fn max_delay(path: &str, from: &str, to: &str, period_ps: u64) -> String {
    let (from, to, period) = (cells(path, from), cells(path, to), nanoseconds(period_ps));
    format!("set_max_delay -datapath_only -from {from} -to {to} {period}\n")
}

/// A pointer in gray code, of which no two changes may arrive mixed.
fn pointer(path: &str, from: &str, to: &str, period_ps: u64) -> String {
    let delay = max_delay(path, from, to, period_ps);
    let (from, to, period) = (cells(path, from), cells(path, to), nanoseconds(period_ps));
    format!("{delay}set_bus_skew -from {from} -to {to} {period}\n")
}

fn nanoseconds(ps: u64) -> String {
    format!("{}.{:03}", ps / 1000, ps % 1000)
}
