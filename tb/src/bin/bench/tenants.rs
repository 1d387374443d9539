//! Tenants: shares of HPU time, host DMA and packets by weight, and without weights.

use crate::{Cell, Figures};
use anyhow::Result;
use spinneret_tb::host_tenants::{self, HostTenant, Path};
use spinneret_tb::tenants::{
    Tenant, alone, busy, cost_to_others, flooding, jain, looping, measure, mixed, peaceful,
};

/// Clocks of a measurement.
const CLOCKS: u64 = 500_000;
/// Clocks of a measurement of bytes.
const BYTES_CLOCKS: u64 = 100_000;

const EXPLANATION: &str = "\
scheduler and drivers of two clusters, 16 HPUs; packets of 64 to 1500 bytes, tenants always have some waiting
mixed: eight tenants, whose handlers take 100 to 10,000 clocks, each others; peaceful: 500 to 2,000 clocks, weight 1
loop: the last tenant's handlers never end, and are stopped after 20,000 clocks; flood: its handlers take 100 clocks, and it
has 200 packets inside; Jain: fairness of HPU time over weight, 1 is the best
others' rate, p99: packets and 99th percentile of the time in the clusters, relative to peaceful: the worst of seven
turns: every task counts the same, as before weights
to host, from host, packets: bytes through the host copier, of tenants with eight commands each; mixed: copies of 1 to 64 KiB,
packets of 64 to 1500 bytes; flood: the last tenant's copies have 64 KiB, its packets 9,600 bytes, peaceful: 1 to 4 KiB, up to 1,500 bytes
one queue: commands are done in the order in which they come, as before weights";

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
            let cost = is_compared.then(|| cost_to_others(&before, &usage, |usage| usage.packets));
            let numbers = [
                Some(jain(tenants.iter().map(|tenant| tenant.weight), &usage)),
                Some(busy(&usage, CLOCKS)),
            ];
            let scheduling = if takes_turns { "turns" } else { "weights" };
            rows.push(row("HPU time", name, scheduling, numbers, cost));
        }
    }
    let mut cycles = CLOCKS * rows.len() as u64;
    for path in Path::ALL {
        for one_queue in [false, true] {
            let of_path = host(path, one_queue);
            cycles += BYTES_CLOCKS * of_path.len() as u64;
            rows.extend(of_path);
        }
    }
    Ok(Figures::new("tenants", Some(0), EXPLANATION, rows, cycles))
}

/// Measures a path of the host copier.
fn host(path: Path, one_queue: bool) -> Vec<Vec<Cell>> {
    let scenarios: [(&str, bool, Vec<HostTenant>); 4] = [
        ("mixed, weights 1", false, host_tenants::mixed(path, [1; 8])),
        (
            "mixed, weights 8:4:2:1:1:1:1:1",
            false,
            host_tenants::mixed(path, [8, 4, 2, 1, 1, 1, 1, 1]),
        ),
        ("peaceful", false, host_tenants::peaceful(path)),
        ("flood", true, host_tenants::flooding(path)),
    ];
    let mut before = Vec::new();
    let mut rows = Vec::new();
    for (name, is_compared, tenants) in scenarios {
        let usage = host_tenants::measure(path, &tenants, one_queue, BYTES_CLOCKS);
        if name == "peaceful" {
            before.clone_from(&usage);
        }
        let cost = is_compared.then(|| cost_to_others(&before, &usage, |usage| usage.got));
        let fairness = jain(tenants.iter().map(|tenant| tenant.weight), &usage);
        let scheduling = if one_queue { "one queue" } else { "weights" };
        rows.push(row(path.name(), name, scheduling, [Some(fairness), None], cost));
    }
    rows
}

fn row(
    shared: &'static str,
    name: &'static str,
    scheduling: &'static str,
    [fairness, busy]: [Option<f64>; 2],
    cost: Option<[f64; 2]>,
) -> Vec<Cell> {
    let number = |heading, key, value: Option<f64>| {
        let text = value.map_or_else(String::new, |value| format!("{value:.3}"));
        Cell::new(heading, text, key, value)
    };
    vec![
        Cell::plain("shared", "shared", shared),
        Cell::plain("tenants", "tenants", name),
        Cell::plain("scheduling", "scheduling", scheduling),
        number("Jain", "jain", fairness),
        number("HPUs busy", "hpus_busy", busy),
        number("others' rate", "others_rate", cost.map(|[rate, _]| rate)),
        number("others' p99", "others_p99", cost.map(|[_, late]| late)),
    ]
}
