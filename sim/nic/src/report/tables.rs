//! The summary for people.

use super::summary::{Distribution, HandlerCounter, Summary};
use spinneret_table::{Table, figures};
use std::fmt;

/// Shows tables of stages, handlers and latencies, and the speed.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.stage_table())?;
        if !self.handlers.is_empty() {
            writeln!(f, "{}\n", self.handler_table())?;
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
                "cut short: {} packets, of which the capture holds the beginning only; they came as they are",
                self.cut_short
            )?;
        }
        for hpu in &self.broken {
            writeln!(
                f,
                "HPU {}.{} stands still: {} in {}",
                hpu.cluster, hpu.core, hpu.cause, hpu.place
            )?;
        }
        let of_handlers = self.refusals.iter().map(|kind| kind.count).sum();
        let others = self.refused_commands.saturating_sub(of_handlers);
        if others > 0 {
            writeln!(
                f,
                "refused: {others} x command or copy that names no memory, or that no handler asked for"
            )?;
        }
        if self.left > 0 {
            writeln!(
                f,
                "left: {} packets were in the cluster when the run ended",
                self.left
            )?;
        }
        if self.dropped_by_resets > 0 {
            writeln!(
                f,
                "dropped by resets: {} packets were in the NIC when it, or its cluster, was reset, which was {} times",
                self.dropped_by_resets, self.resets
            )?;
        }
        for sum in &self.unbalanced {
            writeln!(f, "does not add up: {sum}")?;
        }
        if !self.unbalanced.is_empty() {
            writeln!(
                f,
                "  nothing was on its way any more, so the hardware, its model or this program counts wrong: please report it"
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

/// A time in the unit in which it is read best.
pub(super) fn nanoseconds(ns: u64) -> String {
    let value = ns as f64;
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} µs", value / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.2} s", value / 1e9),
    }
}

/// How the speed compares with real time.
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
}
