//! Tenants: shares of HPU time by weight, and without weights.

use crate::{Cell, Figures};
use anyhow::Result;
use spinneret_tb::tenants::{
    Tenant, Usage, alone, busy, cost_to_others, flooding, jain, looping, measure, mixed, peaceful,
};

/// Clocks of a measurement.
const CLOCKS: u64 = 500_000;

const EXPLANATION: &str = "\
scheduler and drivers of two clusters, 16 HPUs; packets of 64 to 1500 bytes, tenants always have some waiting
mixed: eight tenants, whose handlers take 100 to 10,000 clocks, each others; peaceful: 500 to 2,000 clocks, weight 1
loop: the last tenant's handlers never end, and are stopped after 20,000 clocks; flood: its handlers take 100 clocks, and it
has 200 packets inside; Jain: fairness of HPU time over weight, 1 is the best
others' rate, p99: packets and 99th percentile of the time in the clusters, relative to peaceful: the worst of seven
turns: every task counts the same, as before weights";

/// A scenario: its name, whether it is compared with the peaceful one, and its tenants.
type Scenario = (&'static str, bool, Vec<Tenant>);

/// Measures all scenarios with both ways of scheduling.
pub(crate) fn shares() -> Result<Figures> {
    let scenarios: [Scenario; 6] = [
        ("mixed, weights 1", false, mixed([1; 8])),
        (
            "mixed, weights 8:4:2:1:1:1:1:1",
            false,
            mixed([8, 4, 2, 1, 1, 1, 1, 1]),
        ),
        ("one tenant", false, alone()),
        ("peaceful", false, peaceful()),
        ("loop", true, looping()),
        ("flood", true, flooding()),
    ];
    let mut rows = Vec::new();
    for takes_turns in [false, true] {
        let mut before = Vec::new();
        for (name, is_compared, tenants) in &scenarios {
            let usage = measure(tenants, takes_turns, CLOCKS);
            if *name == "peaceful" {
                before.clone_from(&usage);
            }
            let cost = is_compared.then(|| cost_to_others(&before, &usage));
            rows.push(row(name, takes_turns, tenants, &usage, cost));
        }
    }
    let cycles = CLOCKS * rows.len() as u64;
    Ok(Figures::new("tenants", Some(0), EXPLANATION, rows, cycles))
}

fn row(
    name: &'static str,
    takes_turns: bool,
    tenants: &[Tenant],
    usage: &[Usage],
    cost: Option<[f64; 2]>,
) -> Vec<Cell> {
    let number = |heading, key, value: Option<f64>| {
        let text = value.map_or_else(String::new, |value| format!("{value:.3}"));
        Cell::new(heading, text, key, value)
    };
    vec![
        Cell::plain("tenants", "tenants", name),
        Cell::plain(
            "scheduling",
            "scheduling",
            if takes_turns { "turns" } else { "weights" },
        ),
        number("Jain", "jain", Some(jain(tenants, usage))),
        number("HPUs busy", "hpus_busy", Some(busy(usage, CLOCKS))),
        number("others' rate", "others_rate", cost.map(|[rate, _]| rate)),
        number("others' p99", "others_p99", cost.map(|[_, late]| late)),
    ]
}
