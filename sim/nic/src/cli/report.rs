//! What `spinneret match` says at the end, for people and for programs.

use crate::traffic::Traffic;
use serde::Serialize;
use spinneret_table::{Table, figures};
use std::fmt;

/// Clock of the network card's blocks, in megahertz.
const CLOCK_MHZ: f64 = 250.0;

/// What a ruleset matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleSetReport {
    /// Number of the ruleset, counted from 0.
    pub ruleset: usize,
    /// Its name in the rule file.
    pub name: Option<String>,
    /// What it matched.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Packets that matched the end-of-message rule.
    pub end_of_message: u64,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What decided: the hardware or its model.
    pub engine: &'static str,
    /// Width of the stream.
    pub data_width_bits: usize,
    /// What each ruleset of the file matched.
    pub rulesets: Vec<RuleSetReport>,
    /// What no ruleset matched.
    pub bypassed: Traffic,
    /// Everything that was read.
    pub total: Traffic,
    /// Packets of which the capture holds only the beginning; they are sorted by that.
    pub cut_short: u64,
    /// Clock cycles from the first beat in to the last beat out.
    pub cycles: u64,
    /// Frame bits per second at 250 MHz, in units of 10^9; absent if nothing was read.
    pub gigabits_per_second: Option<f64>,
    /// Why the capture could not be read to its end, if so.
    pub damage: Option<String>,
}

impl Report {
    /// Frame bits per second at 250 MHz, in units of 10^9.
    pub fn rate(bytes: u64, cycles: u64) -> Option<f64> {
        (cycles > 0).then(|| bytes as f64 * 8.0 * CLOCK_MHZ / 1000.0 / cycles as f64)
    }
}

/// Shows a table and the speed.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.table())?;
        let cycles = self.cycles;
        match self.gigabits_per_second {
            Some(rate) => write!(f, "{cycles} cycles, {rate:.1} Gb/s at {CLOCK_MHZ} MHz")?,
            None => write!(f, "nothing was read")?,
        }
        writeln!(f, " ({}, {} bit)", self.engine, self.data_width_bits)?;
        if self.cut_short > 0 {
            let cut_short = self.cut_short;
            writeln!(
                f,
                "{cut_short} packets were cut short by the capture and sorted by what is there"
            )?;
        }
        Ok(())
    }
}

impl Report {
    fn table(&self) -> Table {
        let headings = ["ruleset", "name", "packets", "bytes", "end of message"];
        let mut table = figures(headings, &[0, 1]);
        for set in &self.rulesets {
            let name = set.name.clone().unwrap_or_default();
            table.add_row(row(
                set.ruleset.to_string(),
                name,
                set.traffic,
                set.end_of_message.to_string(),
            ));
        }
        table.add_row(row(
            "bypassed".to_owned(),
            String::new(),
            self.bypassed,
            String::new(),
        ));
        table.add_row(row("total".to_owned(), String::new(), self.total, String::new()));
        table
    }
}

fn row(ruleset: String, name: String, traffic: Traffic, end_of_message: String) -> [String; 5] {
    [
        ruleset,
        name,
        traffic.packets.to_string(),
        traffic.bytes.to_string(),
        end_of_message,
    ]
}
