//! A thousand lives of a context, in a process of its own, so that no other test opens or allocates anything meanwhile.

#[path = "nic/kit.rs"]
#[allow(dead_code, reason = "other tests need the rest")]
mod kit;

use kit::{contexts, exchange, ok, open, port};
use spinneret_host::Nic;
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicConfig;
use spinneret_packets::udp;
use std::fs;

/// Cycles of opening, loading, running and closing.
fn cycles() -> u32 {
    if spinneret_skip::nightly() { 1000 } else { 300 }
}

/// Allowed growth of memory per cycle, in bytes.
const TOLERANCE_BYTES: u64 = 1200;
/// Cycles after which everything that is kept for later is there.
const WARM: u32 = 100;

/// Memory of this process that is its own, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    1024 * kilobytes.expect("Linux tells")
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("Linux tells").count()
}

#[test]
fn reopening_a_context_leaks_nothing() {
    let program = contexts();
    let simulated = ok(Simulated::new(NicConfig::default()));
    let mut before = (0, 0);
    let cycles = cycles();
    for cycle in 0..cycles {
        if cycle == WARM {
            before = (memory(), descriptors());
        }
        let nic = ok(Nic::new(simulated.clone()));
        let context = open(&nic, &program, "copy", &port(7000));
        assert_eq!(context.number(), 0, "in cycle {cycle}");
        exchange(&simulated, [udp(7000, &cycle.to_le_bytes())]);
        assert_eq!(ok(context.host_memory().load::<u32>(64)), cycle);
        ok(context.close());
        simulated.borrow_mut().take_events();
    }
    let after = (memory(), descriptors());
    println!("after {WARM} cycles {before:?}, after {cycles} {after:?} (bytes, descriptors)");
    assert!(
        after.0 < before.0 + u64::from(cycles - WARM) * TOLERANCE_BYTES,
        "memory grows: {before:?} to {after:?} bytes"
    );
    assert_eq!(after.1, before.1, "descriptors");
}
