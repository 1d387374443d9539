//! Table III for people and programs.

use super::vivado::{Step, Timing, Used};
use crate::report::{number, table};
use serde_json::{Value, json};
use spinneret_bsp::floor_plan::VU9P;
use spinneret_table::{Cell, Row};
use std::fmt::Write as _;

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Reports of an implementation.
    Vivado,
    /// Synthesis of each part alone.
    Yosys,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Self::Vivado => "vivado",
            Self::Yosys => "yosys",
        }
    }
}

/// A part of a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Levels below the whole design, for people.
    pub indent: usize,
    /// Its resources.
    pub used: Used,
}

impl Part {
    /// A part of that name.
    pub fn new(name: impl Into<String>, indent: usize, used: Used) -> Self {
        Self {
            name: name.into(),
            indent,
            used,
        }
    }
}

/// The table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Where its figures come from.
    pub source: Source,
    /// The device, if the report names it.
    pub device: Option<String>,
    /// Parts, each followed by those in it.
    pub parts: Vec<Part>,
    /// The timing, if it was reported.
    pub timing: Option<Timing>,
    /// Steps of the runs that have logs.
    pub steps: Vec<Step>,
}

/// The paper's Table III.
const PAPER: Used = Used {
    lut: 645_000,
    ff: 490_000,
    bram: 1141.0,
    uram: 206,
    dsp: 0,
};
/// The paper's time of an implementation in s.
const PAPER_S: f64 = 6.0 * 3600.0 + 11.0 * 60.0;

impl Table {
    /// For people.
    pub fn text(&self) -> String {
        let mut table = table(["part", "LUT", "FF", "BRAM", "URAM", "DSP"]);
        let mut add = |name: String, used: &Used, dsp: Option<u64>| {
            let bram = format!("{:.1}", used.bram);
            let numbers = [number(Some(used.lut)), number(Some(used.ff)), number(Some(bram))];
            let mut cells = vec![Cell::new(name)];
            cells.extend(numbers);
            cells.extend([number(Some(used.uram)), number(dsp)]);
            table.add_row(Row::from(cells));
        };
        for part in &self.parts {
            let name = format!("{}{}", "  ".repeat(part.indent), part.name);
            add(name, &part.used, Some(part.used.dsp));
        }
        add("paper, whole design".to_owned(), &PAPER, None);
        let mut text = format!("{table}\n{}", self.heading());
        if let Some(share) = self.share() {
            text.push_str(&share);
        }
        if self.source == Source::Vivado {
            text.push_str(&self.timing());
            text.push_str(&self.time());
        }
        text
    }

    fn heading(&self) -> String {
        match self.source {
            Source::Vivado => format!(
                "Vivado's figures after routing, device {}. A block RAM of 18 kbit is a half.\n",
                self.device.as_deref().unwrap_or("unknown")
            ),
            Source::Yosys => "yosys's figures (synth_xilinx -family xcup), not Vivado's: each part alone, without Corundum, placement and \
                              timing; LUTs contain those of RAM and shift registers.\n"
                .to_owned(),
        }
    }

    /// Shares of the VU9P, as in the paper.
    fn share(&self) -> Option<String> {
        let is_vu9p = |device: &&String| device.starts_with("xcvu9p") || device.starts_with("xcu200");
        self.device.as_ref().filter(is_vu9p)?;
        let (all, whole) = (VU9P.resources, self.parts.first()?.used);
        let share = |used: f64, all: u32| format!("{:.1} %", used * 100.0 / f64::from(all));
        Some(format!(
            "Of the device: {} of LUT, {} of FF, {} of BRAM, {} of URAM, {} of DSP (paper: 54.5, 20.7, 52.8, 21.5 %).\n",
            share(whole.lut as f64, all.lut),
            share(whole.ff as f64, all.ff),
            share(whole.bram, all.bram),
            share(whole.uram as f64, all.uram),
            share(whole.dsp as f64, all.dsp),
        ))
    }

    fn timing(&self) -> String {
        let Some(timing) = &self.timing else {
            return "No report of timing: *_timing_summary_routed.rpt is missing.\n".to_owned();
        };
        let is_met = timing.setup_ns >= 0.0 && timing.hold_ns >= 0.0;
        let mut text = format!(
            "Timing {}: slack of setup {:.3} ns, of hold {:.3} ns.",
            if is_met { "met" } else { "MISSED" },
            timing.setup_ns,
            timing.hold_ns
        );
        if let Some(clock) = timing.slowest() {
            let reachable = clock.reachable_mhz().map(|mhz| format!(", reaches {mhz:.1} MHz"));
            let _ = write!(
                text,
                " Clock with the least slack: {}, {:.3} ns, {:.1} MHz{}.",
                clock.name,
                clock.period_ns,
                1000.0 / clock.period_ns,
                reachable.unwrap_or_default()
            );
        }
        text + "\n"
    }

    fn time(&self) -> String {
        if self.steps.is_empty() {
            return "No logs of runs: runme.log of synth_1 and impl_1 are missing.\n".to_owned();
        }
        let each = self
            .steps
            .iter()
            .map(|step| format!("{} {}", step.command, clock(step.elapsed_s)));
        format!(
            "Time {} ({}); paper {}.\n",
            clock(self.seconds()),
            each.collect::<Vec<_>>().join(", "),
            clock(PAPER_S)
        )
    }

    fn seconds(&self) -> f64 {
        self.steps.iter().map(|step| step.elapsed_s).sum()
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let part = |part: &Part| json!({ "name": part.name, "level": part.indent, "used": part.used });
        json!({
            "source": self.source.name(),
            "device": self.device,
            "parts": self.parts.iter().map(part).collect::<Vec<_>>(),
            "timing": self.timing,
            "steps": self.steps,
            "seconds": (!self.steps.is_empty()).then(|| self.seconds()),
            "paper": { "used": PAPER, "seconds": PAPER_S },
        })
    }
}

/// Hours and minutes, or minutes and seconds.
fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole / 3600 {
        0 => format!("{}m:{:02}s", whole / 60, whole % 60),
        hours => format!("{hours}h:{:02}m", whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_yosys_are_labelled_as_such() {
        let table = Table {
            source: Source::Yosys,
            device: None,
            parts: vec![Part::new("clusters", 2, Used::default())],
            timing: None,
            steps: Vec::new(),
        };
        let text = table.text();
        assert!(
            text.contains("yosys's figures (synth_xilinx -family xcup), not Vivado's"),
            "{text}"
        );
        assert!(!text.contains("Timing") && !text.contains("Time "), "{text}");
    }

    #[test]
    fn times_have_two_units() {
        assert_eq!(
            [59.6, 3599.0, 3600.0, PAPER_S].map(clock),
            ["1m:00s", "59m:59s", "1h:00m", "6h:11m"]
        );
    }
}
