//! Compares results and timing of the model with the PULP cluster.

use crate::examples::{ExampleRun, Figures};
use crate::probes::{Answer, Cost, OPERATIONS};
use crate::workloads::Outcome;
use std::ops::Range;

/// Allowed difference of a cost in hundredths of a clock: the effect of alignment and the loop.
const COST_SLACK: u64 = 40;
/// Operations whose cost grows with the number of HPUs because of L1 bank conflicts, which are not modelled.
pub const BANKS: &[&str] = &["L1 load", "L1 store", "L1 atomic"];
/// The same for spinneret's own clusters: HPUs that meet at a bank of L1 or at the driver.
pub const OWN_CONFLICTS: &[&str] = &["L1 atomic", "task register read", "command register write"];

/// Whether the model's cost of an operation is within 10 % of the cluster's; of the named operations only with one HPU.
pub fn cost_fits(real: &Cost, model: &Cost, conflicts: &[&str]) -> bool {
    let name = OPERATIONS[real.operation];
    let near = |(real, model): (&u64, &u64)| real.abs_diff(*model) <= real / 10 + COST_SLACK;
    let crowds = if conflicts.contains(&name) { 1 } else { 3 };
    // An atomic operation keeps the bank busy for one more clock; only the next one on the same word notices.
    let slack = if name == "L1 atomic" { 100 } else { 0 };
    real.hundredths
        .iter()
        .zip(&model.hundredths)
        .take(crowds)
        .all(|pair| near(pair) || pair.0.abs_diff(*pair.1) <= slack)
}

/// Cause of the model's watchdog at an address that never answers.
const HANG: u32 = spinneret_cluster::SILENCE;

/// Returns whether the model answers as the cluster does, or rejects an access that the cluster answers without a
/// guarantee.
///
/// The model may reject such an access, and reports it to the program. It must not return another value, nor a value
/// where the cluster rejects or hangs.
pub fn answers_fit(real: Answer, model: Answer) -> bool {
    match (real, model) {
        (Answer::Value(real), Answer::Value(model)) => real == model,
        (Answer::Hang, Answer::Cause(_)) => true,
        (Answer::Cause(real), Answer::Cause(model)) => real == model,
        (Answer::Value(_), Answer::Cause(cause)) => cause != HANG,
        _ => false,
    }
}

/// Allowed differences in percent: of a warm packet, and of a cold one.
const WARM_PERCENT: u64 = 10;
const COLD_PERCENT: u64 = 20;
/// Allowed difference of a packet in a crowd, in percent.
pub const CROWD_PERCENT: u64 = 15;
/// The same on spinneret's own clusters, where the model lacks much of what HPUs and copies cost each other.
pub const OWN_CROWD_PERCENT: u64 = 35;

fn within(real: u64, model: u64, percent: u64) -> bool {
    real.abs_diff(model) * 100 <= real * percent
}

/// Describes timing differences beyond the allowed ones; `crowd_percent` is that in a crowd.
pub fn figures_differ(
    name: &str,
    size: usize,
    is_first: bool,
    [real, model]: [&Figures; 2],
    crowd_percent: u64,
) -> Option<String> {
    let mut all = Vec::new();
    if is_first && !within(real.cold, model.cold, COLD_PERCENT) {
        all.push(format!("cold {} and {}", real.cold, model.cold));
    }
    if !within(real.warm, model.warm, WARM_PERCENT) {
        all.push(format!("warm {} and {}", real.warm, model.warm));
    }
    if !within(real.crowd_tenths, model.crowd_tenths, crowd_percent) {
        all.push(format!(
            "in a crowd {:.1} and {:.1}",
            real.crowd_tenths as f64 / 10.0,
            model.crowd_tenths as f64 / 10.0
        ));
    }
    (!all.is_empty()).then(|| format!("{name}, {size} B: {} clocks", all.join(", ")))
}

/// Where the identification of an IPv4 packet is in a frame, and the checksum that it is part of.
const IDENTIFICATION: [Range<usize>; 2] = [18..20, 24..26];

/// Removes what depends on timing: the handler that completes a message acknowledges it, with the identification of
/// its own segment.
fn comparable(name: &str, outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    if name.ends_with("/slmp") {
        for reply in &mut outcome.replies {
            for part in IDENTIFICATION {
                if let Some(bytes) = reply.get_mut(part) {
                    bytes.fill(0);
                }
            }
        }
        outcome.replies.sort();
    }
    outcome
}

/// Describes the differences of an example's results; empty if there are none.
pub fn differences(name: &str, real: &ExampleRun, model: &ExampleRun) -> Vec<String> {
    let [one, other] = [real, model].map(|tried| comparable(name, &tried.outcome));
    let mut all = outcomes_differ(&one, &other);
    // Which HPU's page a request of `host_ping` uses, and which slot a message of `slmp`, depends on timing.
    if !name.ends_with("host_ping") && !name.ends_with("slmp") && real.outcome.host != model.outcome.host {
        all.push("host memory differs".to_owned());
    }
    all
}

/// Summarizes the differences in one line.
pub fn summary(faults: &[String]) -> String {
    match faults {
        [] => "all as in the model".to_owned(),
        faults => faults.join("; "),
    }
}

/// Describes differences in replies, messages and counters.
pub fn outcomes_differ(one: &Outcome, other: &Outcome) -> Vec<String> {
    let mut all = Vec::new();
    for (what, one, other) in [
        ("replies", &one.replies, &other.replies),
        ("messages", &one.messages, &other.messages),
    ] {
        if one != other {
            let is_right = |bytes: &&Vec<u8>| other.binary_search(bytes).is_ok();
            let right = one.iter().filter(is_right).count();
            all.push(format!(
                "{right} of {} {what} are right, {} came",
                other.len(),
                one.len()
            ));
        }
    }
    if one.counters != other.counters {
        let differ = one
            .counters
            .iter()
            .zip(&other.counters)
            .filter(|(one, other)| one != other);
        all.extend(differ.map(|(one, other)| format!("{} is {}, not {}", one.0, one.1, other.1)));
    }
    all
}
