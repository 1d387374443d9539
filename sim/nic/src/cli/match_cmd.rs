//! `spinneret match`: sorts the packets of a capture as the matching engine does.

use crate::models::{PspinPktMatch, PspinPktMatchIp, PspinPktMatchIpW64, PspinPktMatchW64};
use crate::report::Traffic;
use crate::terminal::{Failure, Files, print, print_folded};
use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use spinneret_packets::capture::{CaptureError, CaptureReader, CaptureWriter, Packet};
use spinneret_packets::matching::{Checked, Matcher, MatcherError, ModelMatcher, VerilatedMatcher};
use spinneret_packets::reference::matcher::{MatchResult, RuleTable};
use spinneret_rules::{MatcherParams, NamedRuleset, ParamsError, RuleFile};
use spinneret_sim::model::Model;
use spinneret_table::{Table, figures};
use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};

/// Minimum size of a capture in bytes for a progress bar.
const LONG_CAPTURE_BYTES: u64 = 4 << 20;

/// Arguments of `spinneret match`.
#[derive(Clone, Debug, Args)]
pub struct MatchArguments {
    /// Capture to read (pcap or pcapng, Ethernet)
    #[arg(long, value_name = "FILE")]
    pub pcap: PathBuf,
    /// Rule file (TOML, described in docs/rules.md)
    #[arg(long, value_name = "FILE")]
    pub rules: PathBuf,
    /// Write the matched packets to a pcap file
    #[arg(long, value_name = "FILE")]
    pub out_matched: Option<PathBuf>,
    /// Write the unmatched packets to a pcap file
    #[arg(long, value_name = "FILE")]
    pub out_bypassed: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Matcher that sorts the packets
    #[arg(long, value_enum, default_value_t = Engine::Hardware)]
    pub engine: Engine,
    /// Stream width of the matcher in bits: a power of two from 64 to 1024
    #[arg(long, value_name = "BITS", default_value_t = MatcherParams::REFERENCE.data_width_bits)]
    pub width: usize,
    /// Bytes of a packet that the matcher inspects, 4 to 256, rounded up to whole beats
    #[arg(long, value_name = "BYTES", default_value_t = MatcherParams::REFERENCE.inspected_bytes)]
    pub inspected_bytes: usize,
}

/// Runs the command and prints its result.
///
/// # Errors
/// If an argument or input cannot be used, a packet is impossible, the capture is damaged (after everything
/// readable was sorted and written), or the hardware disagrees with its model.
pub fn run(arguments: &MatchArguments) -> Result<(), Failure> {
    let report = sort(arguments)?;
    show(&report, arguments.json).map_err(Failure::Work)?;
    match report.damage {
        Some(damage) => Err(Failure::Work(anyhow!(
            "{damage}; the packets before it were sorted"
        ))),
        None => Ok(()),
    }
}

/// Sorts the capture and writes the outputs.
///
/// # Errors
/// As [`run`], but a damaged capture is part of the report.
pub fn sort(arguments: &MatchArguments) -> Result<Report, Failure> {
    let mut params = MatcherParams {
        data_width_bits: arguments.width,
        inspected_bytes: arguments.inspected_bytes,
        ..MatcherParams::BOARD
    };
    params.validate().map_err(Failure::usage)?;
    Files::of_command()
        .reads("--pcap", Some(&arguments.pcap))
        .reads("--rules", Some(&arguments.rules))
        .writes("--out-matched", arguments.out_matched.as_deref())
        .writes("--out-bypassed", arguments.out_bypassed.as_deref())
        .check()
        .map_err(Failure::Usage)?;
    let rules = RuleFile::read(&arguments.rules, &params).map_err(Failure::usage)?;
    // The matcher of the public design is used if it supports the rules, else one with rules relative to the IP payload.
    params.ip_relative = rules.is_relative();
    let capture = CaptureReader::open(&arguments.pcap).map_err(Failure::usage)?;
    let table = RuleTable::of(&params, &rules).map_err(Failure::usage)?;
    let matcher = arguments
        .engine
        .matcher(&params, &table)
        .map_err(Failure::usage)?;
    let resolution = capture.resolution();
    let output = |path: &Option<PathBuf>| {
        path.as_ref()
            .map(|path| CaptureWriter::create(path, resolution).map_err(Failure::usage))
            .transpose()
    };
    let run = Run {
        matched: output(&arguments.out_matched)?,
        bypassed: output(&arguments.out_bypassed)?,
        inside: VecDeque::new(),
        report: empty_report(&rules, &params, matcher.engine()),
        matcher,
    };
    run.sort(capture, &progress(&arguments.pcap))
}

/// A capture that passes a matcher.
struct Run {
    matcher: Box<dyn Matcher>,
    matched: Option<CaptureWriter>,
    bypassed: Option<CaptureWriter>,
    /// Packets in the matcher.
    inside: VecDeque<Packet>,
    report: Report,
}

impl Run {
    fn sort(mut self, mut capture: CaptureReader, progress: &ProgressBar) -> Result<Report, Failure> {
        let mut damage = None;
        while let Some(packet) = capture.next() {
            match packet {
                Ok(packet) => self.push(packet).map_err(Failure::Work)?,
                Err(error) => damage = Some(error),
            }
            progress.set_position(capture.bytes_read());
        }
        progress.finish_and_clear();
        if let Some(error @ CaptureError::NotEthernet { .. }) = damage {
            return Err(Failure::usage(error));
        }
        self.matcher.flush().map_err(Failure::work)?;
        self.collect().map_err(Failure::Work)?;
        if !self.inside.is_empty() {
            return Err(Failure::Work(anyhow!(
                "the matcher lost {} packets",
                self.inside.len()
            )));
        }
        for output in [self.matched, self.bypassed].into_iter().flatten() {
            output.finish().map_err(Failure::work)?;
        }
        let mut report = self.report;
        report.cycles = self.matcher.cycles();
        report.gigabits_per_second = Report::rate(report.total.bytes, report.cycles);
        report.damage = damage.map(|error| error.to_string());
        Ok(report)
    }

    fn push(&mut self, packet: Packet) -> anyhow::Result<()> {
        self.matcher.push(&packet.data)?;
        self.report.cut_short += u64::from(packet.is_cut_short());
        self.inside.push_back(packet);
        self.collect()
    }

    /// Takes the results of the matcher.
    fn collect(&mut self) -> anyhow::Result<()> {
        while let Some(outcome) = self.matcher.pop()? {
            let packet = self
                .inside
                .pop_front()
                .context("the matcher returned a packet that it did not receive")?;
            let bytes = outcome.frame.len();
            let packet = Packet {
                data: outcome.frame,
                ..packet
            };
            self.report.total.add(bytes);
            let output = match outcome.result {
                MatchResult::Bypass => {
                    self.report.bypassed.add(bytes);
                    &mut self.bypassed
                }
                MatchResult::Matched { ruleset, eom, .. } => {
                    let set = self.report.rulesets.get_mut(usize::from(ruleset));
                    let set = set.context("the matcher names a ruleset that has no rules")?;
                    set.traffic.add(bytes);
                    set.end_of_message += u64::from(eom);
                    &mut self.matched
                }
            };
            if let Some(output) = output {
                output.write(&packet)?;
            }
        }
        Ok(())
    }
}

fn empty_report(rules: &RuleFile, params: &MatcherParams, engine: &'static str) -> Report {
    let ruleset = |(ruleset, named): (usize, &NamedRuleset)| RuleSetReport {
        ruleset,
        name: named.name.clone(),
        traffic: Traffic::default(),
        end_of_message: 0,
    };
    Report {
        engine,
        data_width_bits: params.data_width_bits,
        rulesets: rules.rulesets.iter().enumerate().map(ruleset).collect(),
        bypassed: Traffic::default(),
        total: Traffic::default(),
        cut_short: 0,
        cycles: 0,
        gigabits_per_second: None,
        damage: None,
    }
}

/// A progress bar over the bytes of a long capture; it draws on terminals only.
fn progress(path: &Path) -> ProgressBar {
    let bytes = path.metadata().map_or(0, |metadata| metadata.len());
    if bytes < LONG_CAPTURE_BYTES {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(bytes);
    let style = ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {eta} left");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn show(report: &Report, json: bool) -> anyhow::Result<()> {
    match json {
        true => print(serde_json::to_string_pretty(report)? + "\n"),
        false => print_folded(report),
    }
}

/// Clock of the network card's blocks, in megahertz.
const CLOCK_MHZ: f64 = 250.0;

/// Counts of a ruleset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleSetReport {
    /// Number of the ruleset, counted from 0.
    pub ruleset: usize,
    /// Its name in the rule file.
    pub name: Option<String>,
    /// Packets that it matched.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Packets that matched the end-of-message rule.
    pub end_of_message: u64,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The engine: the hardware or its model.
    pub engine: &'static str,
    /// Width of the stream.
    pub data_width_bits: usize,
    /// Counts of each ruleset of the file.
    pub rulesets: Vec<RuleSetReport>,
    /// Unmatched packets.
    pub bypassed: Traffic,
    /// All packets.
    pub total: Traffic,
    /// Packets that are truncated in the capture; they are sorted by the captured bytes.
    pub cut_short: u64,
    /// Clock cycles from the first beat in to the last beat out.
    pub cycles: u64,
    /// Frame bits per second at 250 MHz, in units of 10^9; absent if nothing was read.
    pub gigabits_per_second: Option<f64>,
    /// Why the capture could not be read completely.
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
                "{cut_short} packets are truncated in the capture and were sorted by the bytes that are there"
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

/// Seed of the values that registers without a reset start with.
const SEED: u64 = 1;

/// The engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Generated hardware in Verilator, compared with the reference model packet by packet
    Hardware,
    /// Reference model alone
    Model,
}

impl Engine {
    /// A matcher of these sizes with these rules, and its reference model.
    ///
    /// # Errors
    /// If no such hardware can be generated, or none of these sizes was built in.
    pub fn matcher(
        self,
        params: &MatcherParams,
        rules: &RuleTable,
    ) -> Result<Box<dyn Matcher>, MatcherError> {
        params.validate().map_err(unfit)?;
        match self {
            Self::Model => checked(
                ModelMatcher::new(params, rules.clone()).map_err(unfit)?,
                params,
                rules,
            ),
            Self::Hardware => hardware(params, rules),
        }
    }
}

fn unfit(error: ParamsError) -> MatcherError {
    MatcherError::Unfit(error.to_string())
}

/// The Verilated block of these sizes.
fn hardware(params: &MatcherParams, rules: &RuleTable) -> Result<Box<dyn Matcher>, MatcherError> {
    let data_width_bits = 64;
    let wide = [MatcherParams::REFERENCE, MatcherParams::BOARD];
    let narrow = wide.map(|wide| MatcherParams {
        data_width_bits,
        ..wide
    });
    match *params {
        sizes if sizes == wide[0] => verilated::<PspinPktMatch>(params, rules),
        sizes if sizes == wide[1] => verilated::<PspinPktMatchIp>(params, rules),
        sizes if sizes == narrow[0] => verilated::<PspinPktMatchW64>(params, rules),
        sizes if sizes == narrow[1] => verilated::<PspinPktMatchIpW64>(params, rules),
        _ => Err(MatcherError::NotBuilt {
            data_width_bits: params.data_width_bits,
            inspected_bytes: params.inspected_bytes,
        }),
    }
}

fn verilated<M: Model + 'static>(
    params: &MatcherParams,
    rules: &RuleTable,
) -> Result<Box<dyn Matcher>, MatcherError> {
    checked(
        VerilatedMatcher::new(M::with_seed(SEED), params, rules)?,
        params,
        rules,
    )
}

fn checked<M: Matcher + 'static>(
    matcher: M,
    params: &MatcherParams,
    rules: &RuleTable,
) -> Result<Box<dyn Matcher>, MatcherError> {
    let checked = Checked::new(matcher, params, rules.clone());
    Ok(Box::new(checked.map_err(unfit)?))
}
