//! The whole NIC: what is seen at its ports fits to what its cluster and its counters say.

use crate::support::{Shown, build};
use spinneret_nic::nic::{Nic, NicConfig};
use spinneret_nic::report::{End, Occupancy, Options, Recorder};
use spinneret_packets::echo_request;
use spinneret_regmap::{egress, ingress};
use spinneret_rules::{MatcherParams, RuleFile};
use std::path::Path;
use std::time::Instant;

/// An echo request of 98 bytes with a right checksum, or a frame that is none.
fn frame(number: u16) -> Vec<u8> {
    let mut frame = echo_request(number, &[0; 56]);
    if number % 3 == 2 {
        frame[23] = 17;
    }
    frame
}

/// Takes what has come out of the NIC.
fn collect(nic: &mut Nic, recorder: &mut Recorder) {
    let time = nic.cluster_time();
    for event in nic.take_events() {
        recorder.event(&event, time);
    }
    while let Some(out) = nic.take_wire() {
        recorder.sent(out.at_ps, out.bytes.len(), out.is_host);
    }
    while let Some(out) = nic.take_host() {
        recorder.to_host(out.at_ps, &out.bytes);
    }
}

#[test]
fn a_run_of_pings_adds_up() {
    let folder = tempfile::tempdir().unwrap();
    let program = build("runtime/examples/icmp_ping");
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/icmp_ping/rules.toml");
    let rules = RuleFile::read(&rules, &MatcherParams::BOARD).unwrap();
    let mut nic = spinneret_nic::start(NicConfig::default(), &program, &rules.rulesets, None).unwrap();
    nic.enable_profile();
    nic.take_events();
    let shown = Shown::default();
    let options = Options {
        trace: Some(folder.path().join("trace.json")),
        ..shown.options()
    };
    let mut recorder = Recorder::new(options, Some(&program), nic.config()).unwrap();
    let begun = Instant::now();
    let start = End::of(&nic, begun.elapsed());
    for number in 0..30 {
        let bytes = frame(number);
        recorder.received(nic.now_ps(), &bytes, nic.handler_of(&bytes));
        nic.receive(bytes);
        // Longer than the handler takes, so that no packet waits for another one.
        let next_ps = nic.now_ps() + 20_000_000;
        while nic.now_ps() < next_ps {
            nic.step(next_ps).unwrap();
            collect(&mut nic, &mut recorder);
        }
        let cluster = nic.cluster();
        let occupancy = Occupancy {
            busy_hpus: cluster.busy_hpus() as u64,
            queued: cluster.queued() as u64,
            ..Occupancy::default()
        };
        recorder.occupancy(nic.now_ps(), &occupancy);
    }
    while !nic.is_idle() {
        nic.step(u64::MAX).unwrap();
        collect(&mut nic, &mut recorder);
    }
    let end = End::of(&nic, begun.elapsed()).since(&start);
    let mut counters = Vec::new();
    for (group, registers) in [("ingress", ingress::ALL), ("egress", egress::ALL)] {
        for register in registers {
            counters.push((
                format!("{group}.{}", register.name),
                nic.get(register.offset).unwrap().into(),
            ));
        }
    }
    recorder.counters(&counters);
    let finished = recorder.finish(&end, nic.cluster().profile());
    assert!(finished.failures.is_empty() && end.is_idle);
    let summary = finished.summary;
    assert_eq!(summary.unbalanced, Vec::<String>::new());
    assert_eq!(
        (summary.handlers.len(), summary.handlers[0].handler.as_str()),
        (1, "icmp_ping_ph")
    );
    assert_eq!((summary.handlers[0].packets, summary.failures()), (20, 0));
    // One clock of the core is 4 ns, one of the cluster alone 25 ns.
    let clocks_ns = summary.time.core_clocks * 4 + summary.time.cluster_clocks_alone * 25;
    assert!(
        (summary.time.simulated_ns - clocks_ns as f64).abs() < 100.0,
        "{:?}",
        summary.time
    );
    // Every packet is found again, on either way.
    let latencies = summary.latencies;
    assert_eq!(latencies.ingress_ns.map(|latency| latency.count), Some(20));
    assert_eq!(latencies.total_ns.map(|latency| latency.count), Some(20));
    assert_eq!(latencies.bypass_ns.map(|latency| latency.count), Some(10));
    let (cycles, total) = (summary.handlers[0].cycles.unwrap(), latencies.total_ns.unwrap());
    assert!(
        total.min > cycles.min * 25 && total.max < 2 * cycles.max * 25,
        "{total:?} {cycles:?}"
    );
    // What handlers took is what the profile says, but for the instructions between two tasks.
    let profile = summary.profile.unwrap();
    let spent: u64 = profile
        .functions
        .iter()
        .map(|cost| cost.cycles + cost.waited)
        .sum();
    assert!(
        spent > cycles.min * 20
            && profile
                .functions
                .iter()
                .any(|cost| cost.function == "icmp_ping_ph")
    );
    let load: u64 = end.hpu_busy.iter().sum();
    assert!(
        load >= cycles.min * 20 && load <= cycles.max * 20,
        "{load} {cycles:?}"
    );
    let trace = std::fs::read_to_string(folder.path().join("trace.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&trace).unwrap();
    let slices = trace["traceEvents"].as_array().unwrap().iter();
    assert_eq!(
        slices
            .filter(|event| event["args"]["handler"] == "icmp_ping_ph")
            .count(),
        20
    );
    assert_eq!(shown.text(), "");
}
