//! The ping-pong of the paper's Figure 1 on the PULP cluster, and its time on this machine.

use crate::bench::{Bench, Handlers, root};
use crate::recorded;
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use spinneret_nic::Simulated;
use spinneret_nic::net::Recipe;
use spinneret_nic::run::Hpus;
use std::path::Path;
use std::time::Instant;

/// Packets of the figure.
const PINGS: u32 = 32;
/// As of `./dev bench laptop`, which draws the figure.
const REQUEST: &str = "icmp,size=98";
/// Clocks of the cluster within which a packet must be answered.
const PATIENCE: u64 = 100_000;
/// Where that finds the times.
const FILE: &str = "target/bench/ping-pong.json";

/// Runs it on a NIC that `open` starts, and writes the seconds until each packet was answered.
///
/// # Errors
/// If a packet is not answered, or the hardware fails.
pub(crate) fn run(open: impl FnOnce() -> Result<Simulated>, checkout: &Path) -> Result<()> {
    let handlers = Handlers::build("examples/icmp_ping", Hpus::Pspin)?;
    let recipe: Recipe = REQUEST.parse()?;
    let begun = Instant::now();
    let mut bench = Bench::start(open()?, &handlers)?;
    let mut seconds = vec![begun.elapsed().as_secs_f64()];
    for number in 0..PINGS {
        bench.send([recipe.frame(number)]);
        let is_idle = bench.settle(PATIENCE)?;
        ensure!(
            is_idle && bench.wire().len() == 1,
            "packet {number} was not answered"
        );
        seconds.push(begun.elapsed().as_secs_f64());
    }
    let path = root().join(FILE);
    let name = || path.display().to_string();
    std::fs::create_dir_all(root().join("target/bench")).with_context(name)?;
    let text = json!({ "fpspin": recorded::revision(checkout), "seconds": seconds });
    std::fs::write(&path, text.to_string()).with_context(name)?;
    let [first, .., last] = seconds[..] else {
        return Ok(());
    };
    println!(
        "\nping-pong of {PINGS} packets: {last:.1} s, {first:.1} s of it to start; for `./dev bench laptop` in {FILE}"
    );
    Ok(())
}
