//! Vivado's reports as text: `report_utilization -hierarchical`, `report_timing_summary` (UG835, UG906), and logs of runs.
//!
//! Nothing in a report is trusted: a line that has another form than the known one is skipped, and a table that is missing is
//! `None`.

use crate::synth::netlist::Resources;
use serde::Serialize;

/// Resources in the columns of Table III.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Used {
    /// LUTs of logic, RAM and shift registers.
    pub lut: u64,
    /// Flip-flops.
    pub ff: u64,
    /// Block RAMs of 36 kbit; one of 18 kbit is a half.
    pub bram: f64,
    /// UltraRAMs.
    pub uram: u64,
    /// DSP slices.
    pub dsp: u64,
}

impl Used {
    /// Returns the rest without a part.
    pub fn without(self, part: Self) -> Self {
        Self {
            lut: self.lut.saturating_sub(part.lut),
            ff: self.ff.saturating_sub(part.ff),
            bram: (self.bram - part.bram).max(0.0),
            uram: self.uram.saturating_sub(part.uram),
            dsp: self.dsp.saturating_sub(part.dsp),
        }
    }
}

impl From<Resources> for Used {
    fn from(resources: Resources) -> Self {
        let sum = |numbers: [u32; 3]| numbers.into_iter().map(u64::from).sum();
        Self {
            lut: sum([resources.lut, resources.lutram, resources.srl]),
            ff: resources.ff.into(),
            bram: f64::from(resources.ramb36) + f64::from(resources.ramb18) / 2.0,
            uram: resources.uram.into(),
            dsp: resources.dsp.into(),
        }
    }
}

/// A row of the hierarchical report.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the instance.
    pub instance: String,
    /// Levels below the top.
    pub depth: usize,
    /// Resources of the instance with all that is in it.
    pub resources: Used,
}

/// The hierarchical report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Utilization {
    /// The part, if the header names it.
    pub device: Option<String>,
    /// Instances, each followed by those in it.
    pub rows: Vec<Row>,
}

/// Columns that are read; a part without one of the last three has none of that resource.
const COLUMNS: [&[&str]; 6] = [
    &["Total LUTs"],
    &["FFs"],
    &["RAMB36"],
    &["RAMB18"],
    &["URAM"],
    &["DSP Blocks", "DSP48 Blocks"],
];

impl Utilization {
    /// Reads a report; `None` if it has no such table.
    pub fn parse(text: &str) -> Option<Self> {
        let mut found = Self::default();
        let mut columns: Option<[Option<usize>; 6]> = None;
        for line in text.lines() {
            if let Some(device) = line
                .strip_prefix("| Device ")
                .and_then(|rest| rest.split_once(':'))
            {
                found.device.get_or_insert_with(|| device.1.trim().to_owned());
                continue;
            }
            let Some(inner) = line
                .trim_end()
                .strip_prefix('|')
                .and_then(|line| line.strip_suffix('|'))
            else {
                continue;
            };
            let cells: Vec<&str> = inner.split('|').collect();
            match columns {
                None if cells[0].trim() == "Instance" => {
                    let place = |names: &[&str]| cells.iter().position(|cell| names.contains(&cell.trim()));
                    columns = Some(COLUMNS.map(place));
                }
                Some(columns) => found.rows.extend(row(&cells, columns)),
                None => {}
            }
        }
        let [lut, ff, ..] = columns?;
        (lut.is_some() && ff.is_some()).then_some(found)
    }
}

/// A row of the table; none if it has no numbers, or is the part of an instance without those in it.
fn row(cells: &[&str], columns: [Option<usize>; 6]) -> Option<Row> {
    let name = cells.first()?.strip_prefix(' ')?;
    let instance = name.trim();
    if instance.is_empty() || instance.starts_with('(') {
        return None;
    }
    // A column that the part lacks is 0; one that is there has a number.
    let number = |column: Option<usize>| match column {
        Some(at) => cells.get(at)?.trim().parse::<u64>().ok(),
        None => Some(0),
    };
    let [lut, ff, ramb36, ramb18, uram, dsp] = columns.map(number);
    Some(Row {
        instance: instance.to_owned(),
        depth: (name.len() - name.trim_start().len()) / 2,
        resources: Used {
            lut: lut?,
            ff: ff?,
            bram: ramb36? as f64 + ramb18? as f64 / 2.0,
            uram: uram?,
            dsp: dsp?,
        },
    })
}

/// The timing of a routed design.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Least slack of setup, in ns; negative if it is missed.
    pub setup_ns: f64,
    /// Least slack of hold, in ns.
    pub hold_ns: f64,
    /// Clocks with paths of their own, in the order of the report.
    pub clocks: Vec<Clock>,
}

/// A clock of a design.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clock {
    /// Its name.
    pub name: String,
    /// Its period in ns.
    pub period_ns: f64,
    /// Least slack of setup of paths from it to itself, in ns.
    pub slack_ns: f64,
}

impl Clock {
    /// The frequency that its slowest path allows, in MHz; none if that takes no time.
    pub fn reachable_mhz(&self) -> Option<f64> {
        let path_ns = self.period_ns - self.slack_ns;
        (path_ns > 0.0).then(|| 1000.0 / path_ns)
    }
}

impl Timing {
    /// Reads a report; `None` if it has no summary.
    pub fn parse(text: &str) -> Option<Self> {
        let (mut summary, mut periods, mut clocks) = (None, Vec::new(), Vec::new());
        let mut section = "";
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("| ") {
                // The line below a title underlines it.
                if !title.starts_with('-') {
                    section = title.trim();
                }
                continue;
            }
            match section {
                "Design Timing Summary" if summary.is_none() => summary = slacks(line),
                "Clock Summary" => periods.extend(period(line)),
                "Intra Clock Table" => clocks.extend(own_slack(line)),
                _ => {}
            }
        }
        let [setup_ns, hold_ns] = summary?;
        let clock = |(name, slack_ns): (String, f64)| {
            let (_, period_ns) = periods.iter().find(|(of, _)| *of == name)?;
            Some(Clock {
                name,
                period_ns: *period_ns,
                slack_ns,
            })
        };
        Some(Self {
            setup_ns,
            hold_ns,
            clocks: clocks.into_iter().filter_map(clock).collect(),
        })
    }

    /// The clock with the least slack.
    pub fn slowest(&self) -> Option<&Clock> {
        self.clocks
            .iter()
            .min_by(|one, other| one.slack_ns.total_cmp(&other.slack_ns))
    }
}

/// A finite number of ns.
fn nanoseconds(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Slacks of setup and hold in the summary's line of numbers: WNS and WHS, four columns apart.
fn slacks(line: &str) -> Option<[f64; 2]> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [setup, _, _, _, hold] = words.get(..5)? else {
        return None;
    };
    Some([nanoseconds(setup)?, nanoseconds(hold)?])
}

/// Name and period of a clock: `name  {rise fall}  period  frequency`. A derived clock is indented.
fn period(line: &str) -> Option<(String, f64)> {
    let (name, rest) = line.split_once('{')?;
    let mut numbers = rest.split_once('}')?.1.split_whitespace();
    let name = name.trim();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(())?;
    Some((name.to_owned(), nanoseconds(numbers.next()?)?))
}

/// Name and setup slack of a clock with paths of its own.
fn own_slack(line: &str) -> Option<(String, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // Setup, hold and pulse widths have four columns each; a clock without paths has those of pulse widths only.
    let [name, slack, _, _, _, _, ..] = words[..] else {
        return None;
    };
    Some((name.to_owned(), nanoseconds(slack)?))
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The command.
    pub command: String,
    /// Time that it took, in s.
    pub elapsed_s: f64,
}

/// Commands that take time.
const COMMANDS: [&str; 8] = [
    "synth_design",
    "link_design",
    "opt_design",
    "power_opt_design",
    "place_design",
    "phys_opt_design",
    "route_design",
    "write_bitstream",
];

impl Step {
    /// The steps of a log, in its order.
    pub fn parse_all(log: &str) -> Vec<Self> {
        log.lines().filter_map(Self::parse).collect()
    }

    /// A line `command: Time (s): cpu = HH:MM:SS ; elapsed = HH:MM:SS . Memory ...`.
    fn parse(line: &str) -> Option<Self> {
        let (command, rest) = line.split_once(": Time (s): ")?;
        COMMANDS.contains(&command).then_some(())?;
        let (_, elapsed) = rest.split_once("elapsed = ")?;
        let mut parts = elapsed.split_whitespace().next()?.split(':');
        let mut seconds = 0.0;
        for unit in [3600.0, 60.0] {
            seconds += unit * f64::from(parts.next()?.parse::<u32>().ok()?);
        }
        seconds += nanoseconds(parts.next()?).filter(|part| *part >= 0.0)?;
        parts.next().is_none().then(|| Self {
            command: command.to_owned(),
            elapsed_s: seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_report_or_none(bytes: Vec<u8>) {
            let text = String::from_utf8_lossy(&bytes);
            let _ = (Utilization::parse(&text), Timing::parse(&text), Step::parse_all(&text));
        }

        #[test]
        fn lines_that_look_like_those_of_reports_are_read_or_skipped(
            text in "((\\| ?)?(Instance|Total LUTs|FFs|Device :|Clock Summary|Intra Clock Table|Design Timing Summary|a|\\{0 2\\}|\
                     -?[0-9.]{1,9}|route_design: Time \\(s\\): |elapsed = |:| |é|\\||\n){1,2}){0,40}"
        ) {
            let _ = (Utilization::parse(&text), Timing::parse(&text), Step::parse_all(&text));
        }

        #[test]
        fn elapsed_times_round_trip(hours in 0_u32..200, minutes in 0_u32..60, seconds in 0_u32..60) {
            let line = format!("route_design: Time (s): cpu = 00:00:01 ; elapsed = {hours:02}:{minutes:02}:{seconds:02} . Memory");
            let step = Step::parse_all(&line);
            prop_assert_eq!(step[0].elapsed_s, f64::from(3600 * hours + 60 * minutes + seconds));
        }
    }
}
