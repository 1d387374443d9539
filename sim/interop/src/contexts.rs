//! Four contexts at once, with host memory and standard output, by the library that host programs use.

use crate::bench::{Bench, root};
use crate::workloads::is_compared;
use anyhow::{Result, ensure};
use spinneret_host::{Context, Nic, Options, Program, Rule, Ruleset};
use spinneret_nic::Simulated;
use spinneret_packets::udp_from;

/// Handlers of `runtime/tests/contexts` and their ports.
const HANDLERS: [(&str, u16); 4] = [("count", 7000), ("copy", 7001), ("fetch", 7002), ("stray", 7003)];
/// Packets of a burst, to all contexts in turn.
const BURST: u16 = 32;
/// Byte in host memory that `fetch` reads.
const BYTE: u8 = 0x5a;
/// Handler memory of each context: enough for a counter. The host clears it word by word, which is slow on the PULP
/// cluster.
const HANDLER_BYTES: u32 = 64;
/// Clocks that packets may take.
pub const PATIENCE: u64 = 400_000;

/// Runs four contexts at once; returns results as lines, which are the same on every correct cluster.
///
/// # Errors
/// If a context cannot be opened, the hardware fails, or packets stay on their way.
pub fn four_contexts(simulated: &Simulated) -> Result<Vec<String>> {
    let folder = root().join("runtime/tests/contexts");
    let program = Program::open(&spinneret_nic::run::program(&folder, crate::top::CLUSTERS)?)?;
    let nic = Nic::new(simulated.clone())?;
    let options = Options {
        handler_bytes: Some(HANDLER_BYTES),
        ..Options::default()
    };
    let mut contexts = Vec::new();
    for (name, port) in HANDLERS {
        // The public scheduler would join messages of one packet.
        let rules = Ruleset::all()
            .rule(Rule::udp_destination_port(port, port))
            .end_of_message(Rule::NEVER);
        contexts.push(nic.open_context(&program, name, &rules, &options)?);
    }
    contexts[2].host_memory().write(0, &[BYTE])?;
    let mut bench = Bench {
        nic: simulated.clone(),
    };
    let victim = contexts[1].host_memory().address();
    let packet = |number: u16| {
        let mut payload = vec![number as u8; 24];
        payload[..8].copy_from_slice(&victim.to_le_bytes());
        udp_from(
            0x4000 | number,
            HANDLERS[usize::from(number) % HANDLERS.len()].1,
            &payload,
        )
    };
    // One by one first, so that the host opens the memory of the next context on a used NIC.
    for number in 0..HANDLERS.len() as u16 {
        bench.send([packet(number)]);
        ensure!(bench.settle(PATIENCE)?, "packet {number} stays on its way");
    }
    bench.send((HANDLERS.len() as u16..BURST).map(packet));
    ensure!(bench.settle(PATIENCE)?, "packets of a burst stay on their way");
    let mut lines = results(&nic, &contexts)?;
    let mut replies: Vec<_> = bench
        .wire()
        .iter()
        .map(|out| format!("reply {:02x?}", &out.bytes[42..]))
        .collect();
    replies.sort();
    lines.extend(replies);
    Ok(lines)
}

fn results(nic: &Nic<Simulated>, contexts: &[Context<Simulated>]) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut printed: Vec<_> = nic.stdout().lines()?.into_iter().map(|line| line.line).collect();
    printed.sort();
    lines.extend(printed.into_iter().map(|line| format!("printed {line}")));
    for (context, (name, _)) in contexts.iter().zip(HANDLERS) {
        let counted: u32 = context.handler_memory().load(0)?;
        let mut memory = [0; 96];
        context.host_memory().read(0, &mut memory)?;
        // Which packet of the burst was copied last depends on timing.
        let bytes = memory.iter().filter(|byte| **byte != 0).count();
        lines.push(format!("{name}: counted {counted}, {bytes} bytes in host memory"));
    }
    let counters = nic.counters()?;
    let compared = counters.iter().filter(|(name, _)| is_compared(name));
    lines.extend(compared.map(|(name, value)| format!("{name} {value}")));
    Ok(lines)
}

/// Packets, each of which is a task, and increments of each.
const TASKS: u16 = 20;
const ROUNDS: u32 = 5;

/// Returns the name of each counter, its value and the expected value.
///
/// # Errors
/// If the handlers cannot be started, the hardware fails, or packets stay on their way for `patience` clocks.
pub fn locks(simulated: &Simulated, patience: u64) -> Result<Vec<(&'static str, u32, u32)>> {
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
        bench.settle(patience)?,
        "handlers that wait for locks did not end in {patience} clocks of the cluster"
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
