//! Locks and atomic operations with all HPUs at the same words: `runtime/tests/locks`.

use crate::bench::{Bench, root};
use anyhow::{Result, ensure};
use spinneret_host::{Nic, Options, Program, Rule, Ruleset};
use spinneret_nic::Simulated;
use spinneret_nic::nic::ClusterBackend;
use spinneret_packets::udp_from;

/// Packets, each of which is a task, and what each counts.
const TASKS: u16 = 20;
const ROUNDS: u32 = 5;
/// Clocks that all of them may take.
const PATIENCE: u64 = 400_000;

/// What was counted, and what should have been.
///
/// # Errors
/// If the handlers cannot be started, the hardware fails, or packets stay on their way.
pub fn attempt<B: ClusterBackend + 'static>(
    simulated: &Simulated<B>,
) -> Result<Vec<(&'static str, u32, u32)>> {
    let folder = root().join("runtime/tests/locks");
    let program = Program::open(&spinneret_nic::run::program(&folder, crate::top::CLUSTERS)?)?;
    let nic = Nic::new(simulated.clone())?;
    // The public scheduler would join messages of one packet.
    let rules = Ruleset::all()
        .rule(Rule::udp_destination_port(7000, 7000))
        .end_of_message(Rule::NEVER);
    let options = Options {
        handler_bytes: Some(64),
        ..Options::default()
    };
    let context = nic.open_context(&program, "locks", &rules, &options)?;
    let mut bench = Bench {
        nic: simulated.clone(),
    };
    bench.send((0..TASKS).map(|number| udp_from(0x4000 | number, 7000, &[0; 20])));
    ensure!(
        bench.settle(PATIENCE)?,
        "handlers that wait for locks did not end in {PATIENCE} clocks of the cluster"
    );
    let counted = |name| context.variable(name)?.load(0);
    let all = ROUNDS * u32::from(TASKS);
    let left: u32 = counted("left")?;
    Ok(vec![
        ("locked", counted("locked")?, all),
        ("swapped", counted("swapped")?, all),
        ("habit", counted("habit")?, all),
        ("right", counted("right")?, left),
        ("torn", counted("torn")?, 0),
    ])
}
