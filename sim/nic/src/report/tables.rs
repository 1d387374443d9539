//! The summary for people.

use super::summary::{ContextReport, Distribution, HandlerCounter, Summary};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use spinneret_table::{Table, figures};
use std::fmt;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Shows tables of stages, handlers and latencies, and the speed.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.stage_table())?;
        if !self.handlers.is_empty() {
            writeln!(f, "{}\n", self.handler_table())?;
        }
        let is_stopped = |context: &ContextReport| context.budget_ends + context.dropped_bound > 0;
        if self.contexts.len() > 1 || self.contexts.iter().any(is_stopped) {
            writeln!(f, "{}\n", self.context_table())?;
        }
        if !self.handler_counters.is_empty() {
            writeln!(f, "{}\n", self.counter_table())?;
        }
        if let Some(table) = self.latency_table() {
            writeln!(f, "{table}\n")?;
        }
        self.fmt_load(f)?;
        self.fmt_time(f)?;
        self.fmt_trouble(f)?;
        match &self.profile {
            Some(profile) => write!(f, "{profile}"),
            None => Ok(()),
        }
    }
}

impl Summary {
    fn stage_table(&self) -> Table {
        let mut table = figures(["stage", "packets", "bytes", "Gb/s"], &[0]);
        for stage in &self.stages {
            let bytes = stage.bytes.map(|bytes| bytes.to_string());
            table.add_row([
                stage.stage.to_owned(),
                stage.packets.to_string(),
                bytes.unwrap_or_default(),
                rate(stage.gigabits_per_second),
            ]);
        }
        for (cause, packets) in self.drops.iter().filter(|(_, packets)| **packets > 0) {
            let name = format!("dropped: {}", cause.replace('_', " "));
            table.add_row([name, packets.to_string(), String::new(), String::new()]);
        }
        for (handler, packets) in &self.dropped_for {
            let name = format!("dropped, for {handler}");
            table.add_row([name, packets.to_string(), String::new(), String::new()]);
        }
        table
    }

    fn handler_table(&self) -> Table {
        let headings = [
            "handler",
            "packets",
            "failed",
            "cycles p50",
            "p99",
            "max",
            "packets/s",
            "Gb/s",
        ];
        let mut table = figures(headings, &[0]);
        for handler in &self.handlers {
            let cycles = |of: fn(&Distribution) -> u64| {
                handler
                    .cycles
                    .as_ref()
                    .map_or(String::new(), |d| of(d).to_string())
            };
            let per_second = handler.packets_per_second.map(|rate| format!("{rate:.0}"));
            table.add_row([
                handler.handler.clone(),
                handler.packets.to_string(),
                handler.failures.to_string(),
                cycles(|d| d.p50),
                cycles(|d| d.p99),
                cycles(|d| d.max),
                per_second.unwrap_or_default(),
                rate(handler.gigabits_per_second),
            ]);
        }
        table
    }

    fn context_table(&self) -> Table {
        let headings = [
            "context",
            "handlers",
            "failed",
            "over budget",
            "clocks",
            "to host",
            "from host",
            "sent",
            "over slots",
        ];
        let mut table = figures(headings, &[]);
        for context in &self.contexts {
            let ContextReport {
                context,
                handlers,
                failures,
                budget_ends,
                clocks,
                host_written,
                host_read,
                sent,
                dropped_bound,
            } = *context;
            let bytes = [host_written, host_read, sent, dropped_bound];
            let counts = [context.into(), handlers, failures, budget_ends, clocks];
            table.add_row(counts.iter().chain(&bytes).map(u64::to_string));
        }
        table
    }

    fn counter_table(&self) -> Table {
        let mut table = figures(["counter of handlers", "count", "sum", "mean"], &[]);
        for HandlerCounter { index, count, sum } in &self.handler_counters {
            let mean = f64::from(*sum) / f64::from(*count);
            table.add_row([
                index.to_string(),
                count.to_string(),
                sum.to_string(),
                format!("{mean:.1}"),
            ]);
        }
        table
    }

    fn latency_table(&self) -> Option<Table> {
        let mut table = figures(["latency", "packets", "min", "p50", "p99", "max"], &[0]);
        let rows = [
            ("wire to cluster", self.latencies.ingress_ns),
            ("cluster to handler", self.latencies.queue_ns),
            ("wire until free", self.latencies.total_ns),
            ("wire to host", self.latencies.bypass_ns),
        ];
        let known = rows
            .iter()
            .filter_map(|(name, distribution)| Some((name, (*distribution)?)));
        for (name, d) in known.clone() {
            let figures = [d.min, d.p50, d.p99, d.max].map(nanoseconds);
            table.add_row([vec![(*name).to_owned(), d.count.to_string()], figures.to_vec()].concat());
        }
        known.count().gt(&0).then_some(table)
    }

    fn fmt_load(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loads = self.hpus.iter().map(|hpu| hpu.load_percent);
        let (least, most) = loads.fold((f64::MAX, 0.0_f64), |(least, most), load| {
            (least.min(load), most.max(load))
        });
        if self.hpus.is_empty() {
            return Ok(());
        }
        let (count, mean) = (self.hpus.len(), self.load_percent());
        writeln!(
            f,
            "HPU load {mean:.1} % ({count} HPUs, {least:.1} % to {most:.1} %)"
        )
    }

    fn fmt_time(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = &self.time;
        let simulated = nanoseconds(time.simulated_ns as u64);
        writeln!(
            f,
            "{simulated} simulated in {:.2} s, {}",
            time.wall_s,
            slower(time.slowdown)
        )?;
        writeln!(
            f,
            "{} clocks of the core ({:.0} a second), {} of the cluster alone; {} instructions ({:.2} MIPS)",
            time.core_clocks, time.core_clocks_per_s, time.cluster_clocks_alone, time.instructions, time.mips
        )
    }

    fn fmt_trouble(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, kinds) in [("failed", &self.faults), ("refused", &self.refusals)] {
            for kind in kinds {
                let place = named(" in ", &kind.place);
                let source = named(", ", &kind.source);
                let handler = named(" of ", &kind.handler);
                writeln!(
                    f,
                    "{what}: {} x {}{place}{source}{handler}",
                    kind.count, kind.cause
                )?;
            }
        }
        if self.cut_short > 0 {
            writeln!(
                f,
                "cut short: {} packets are truncated in the capture and were sent as they are",
                self.cut_short
            )?;
        }
        for hpu in &self.broken {
            writeln!(
                f,
                "HPU {}.{} stopped: {} in {}",
                hpu.cluster, hpu.core, hpu.cause, hpu.place
            )?;
        }
        let of_handlers = self.refusals.iter().map(|kind| kind.count).sum();
        let others = self.refused_commands.saturating_sub(of_handlers);
        if others > 0 {
            writeln!(
                f,
                "refused: {others} x command or copy without memory or without a handler"
            )?;
        }
        if self.left > 0 {
            writeln!(
                f,
                "left: {} packets were still in the cluster at the end of the run",
                self.left
            )?;
        }
        if self.dropped_by_resets > 0 {
            writeln!(
                f,
                "dropped by resets: {} packets were in the NIC during {} resets of it or its cluster",
                self.dropped_by_resets, self.resets
            )?;
        }
        for sum in &self.unbalanced {
            writeln!(f, "does not add up: {sum}")?;
        }
        if !self.unbalanced.is_empty() {
            writeln!(
                f,
                "  the NIC was idle, so the hardware, its model or this program counts incorrectly: please report it"
            )?;
        }
        Ok(())
    }
}

fn rate(rate: Option<f64>) -> String {
    rate.map_or(String::new(), |rate| match rate {
        0.0 => "0".to_owned(),
        small if small < 0.1 => format!("{small:.4}"),
        large => format!("{large:.2}"),
    })
}

/// A time in a suitable unit.
pub(super) fn nanoseconds(ns: u64) -> String {
    let value = ns as f64;
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} µs", value / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.2} s", value / 1e9),
    }
}

/// The speed relative to real time.
pub(super) fn slower(slowdown: f64) -> String {
    match slowdown {
        ..=1.05 => "as fast as real time".to_owned(),
        ..100.0 => format!("{slowdown:.1} times slower than real time"),
        _ => format!("{slowdown:.0} times slower than real time"),
    }
}

/// A name behind what introduces it, if there is one.
fn named(introduction: &str, name: &str) -> String {
    match name {
        "" => String::new(),
        name => format!("{introduction}{name}"),
    }
}

/// Update interval on a terminal.
const TERMINAL: Duration = Duration::from_millis(200);
/// First interval between lines elsewhere; it doubles each time, up to a maximum.
const LINES: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(320);

/// Whether progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShowProgress {
    /// On standard error: a status line on a terminal, elsewhere a line at intervals.
    #[default]
    Yes,
    /// Not at all.
    No,
}

/// Figures of a running simulation that the recorder does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Simulated time.
    pub at_ps: u64,
    /// Clocks in which a handler ran, of all HPUs.
    pub busy_clocks: u64,
    /// Period of the cluster's clock in picoseconds.
    pub cluster_ps: u64,
    /// HPUs.
    pub hpus: usize,
    /// Total number of packets, if known.
    pub total: Option<u64>,
}

/// Packets so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) received: u64,
    pub(crate) handled: u64,
    pub(crate) to_host: u64,
    pub(crate) sent: u64,
    pub(crate) failed: u64,
    /// Cause and number.
    pub(crate) drops: Vec<(String, u64)>,
}

/// Shows progress at intervals.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    every: Option<Duration>,
    begun: Instant,
    shown: Instant,
    before: Live,
    has_total: bool,
}

impl Progress {
    pub(crate) fn new(show: ShowProgress) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = (show == ShowProgress::Yes && is_terminal).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(style("{spinner} {wide_msg}"))
        });
        let now = Instant::now();
        Self {
            bar,
            every: (show == ShowProgress::Yes).then_some(if is_terminal { TERMINAL } else { LINES }),
            begun: now,
            shown: now,
            before: Live::default(),
            has_total: false,
        }
    }

    /// Whether it is time to show something.
    pub(crate) fn is_due(&self) -> bool {
        self.every.is_some_and(|every| self.shown.elapsed() >= every)
    }

    pub(crate) fn show(&mut self, live: &Live, counts: &Counts) {
        let text = line(counts, live, &self.before, self.begun.elapsed());
        self.shown = Instant::now();
        self.before = *live;
        let Some(bar) = &self.bar else {
            // A closed standard error is ignored.
            let _ = writeln!(std::io::stderr(), "{text}");
            self.every = self.every.map(|every| (2 * every).min(LONGEST));
            return;
        };
        if let Some(total) = live.total
            && !std::mem::replace(&mut self.has_total, true)
        {
            bar.set_style(style("{bar:20} {percent} % {wide_msg}"));
            bar.set_length(total);
        }
        bar.set_position(counts.received);
        bar.set_message(text);
        bar.tick();
    }

    /// Clears the status line for other output.
    pub(crate) fn aside(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The status as a line. The load is that since the last line.
fn line(counts: &Counts, live: &Live, before: &Live, wall: Duration) -> String {
    let Counts {
        received,
        handled,
        to_host,
        sent,
        failed,
        ..
    } = counts;
    let mut text = format!("in {received}, handlers {handled}, host {to_host}, sent {sent}");
    if *failed > 0 {
        let _ = write!(text, ", failed {failed}");
    }
    for (cause, packets) in counts.drops.iter().filter(|(_, packets)| *packets > 0) {
        let _ = write!(text, ", dropped {packets} ({})", cause.replace('_', " "));
    }
    let passed = live.at_ps.saturating_sub(before.at_ps) as f64;
    if passed > 0.0 && live.hpus > 0 {
        let busy = live.busy_clocks.saturating_sub(before.busy_clocks) as f64 * live.cluster_ps as f64;
        let _ = write!(
            text,
            ", HPUs {:.0} %",
            (100.0 * busy / passed / live.hpus as f64).min(100.0)
        );
    }
    if live.at_ps > 0 {
        let slowdown = wall.as_secs_f64() / (live.at_ps as f64 / 1e12);
        let _ = write!(text, ", {}", slower(slowdown));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_readable_units() {
        assert_eq!(nanoseconds(9_999), "9999 ns");
        assert_eq!(nanoseconds(12_345), "12.3 µs");
        assert_eq!(nanoseconds(12_345_678), "12.3 ms");
        assert_eq!(nanoseconds(12_345_678_901), "12.35 s");
        assert_eq!(slower(0.2), "as fast as real time");
        assert_eq!(slower(12.34), "12.3 times slower than real time");
        assert_eq!(slower(2500.4), "2500 times slower than real time");
    }

    #[test]
    fn small_rates_are_not_rounded_to_nothing() {
        assert_eq!(rate(Some(0.0123)), "0.0123");
        assert_eq!(rate(Some(9.876)), "9.88");
        assert_eq!(rate(Some(0.0)), "0");
        assert_eq!(rate(None), "");
    }

    #[test]
    fn the_status_line() {
        let counts = Counts {
            received: 1000,
            handled: 900,
            to_host: 40,
            sent: 899,
            failed: 1,
            drops: vec![("no_slot".to_owned(), 60), ("overload".to_owned(), 0)],
        };
        let live = |at_ps, busy_clocks| Live {
            at_ps,
            busy_clocks,
            cluster_ps: 25_000,
            hpus: 16,
            total: None,
        };
        // 320,000 clocks of 25 ns are 8 ms; 16 HPUs had 1 ms each.
        let text = line(
            &counts,
            &live(2_000_000_000, 324_000),
            &live(1_000_000_000, 4_000),
            Duration::from_secs(1),
        );
        assert_eq!(
            text,
            "in 1000, handlers 900, host 40, sent 899, failed 1, dropped 60 (no slot), HPUs 50 %, 500 times slower than real time"
        );
    }

    #[test]
    fn an_empty_run_divides_nothing_by_zero() {
        let text = line(
            &Counts::default(),
            &Live::default(),
            &Live::default(),
            Duration::ZERO,
        );
        assert_eq!(text, "in 0, handlers 0, host 0, sent 0");
    }

    #[test]
    fn progress_is_optional() {
        assert!(!Progress::new(ShowProgress::No).is_due());
    }
}
