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
const CYCLES: u32 = 1000;
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
    for cycle in 0..CYCLES {
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
    println!("after {WARM} cycles {before:?}, after {CYCLES} {after:?} (bytes, descriptors)");
    assert!(
        after.0 < before.0 + (1 << 20),
        "memory grows: {before:?} to {after:?} bytes"
    );
    assert_eq!(after.1, before.1, "descriptors");
}
