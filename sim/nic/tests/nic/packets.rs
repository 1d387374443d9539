//! The whole NIC: generated hardware with real handlers behind it.

use crate::kit::{ok, runtime};
use spinneret_cluster::{Config, Ending, Event, Program};
use spinneret_nic::device::{HOST_BASE, HOST_STRIDE};
use spinneret_nic::nic::{Nic, NicConfig, Out};
use spinneret_nic::run;
use spinneret_packets::udp;
use spinneret_regmap::{egress, host_read, host_write, ingress};
use spinneret_rules::{MatcherParams, RuleFile};

/// Longest that packets are on their way.
const PATIENCE_PS: u64 = 10_000_000_000;

/// A NIC that runs an example with its rules, or with others.
fn start(name: &str, rules: Option<&str>, config: NicConfig) -> Nic {
    let folder = runtime("examples").join(name);
    let program = ok(Program::open(&ok(run::program(&folder, config.cluster.clusters))));
    let params = MatcherParams::BOARD;
    let file = match rules {
        Some(text) => RuleFile::parse("test", text.as_bytes(), &params),
        None => RuleFile::read(&folder.join("rules.toml"), &params),
    };
    ok(spinneret_nic::start(config, &program, &ok(file).rulesets, None))
}

/// Runs until nothing is on its way: what came out to the wire, and to the host.
fn finish(nic: &mut Nic) -> (Vec<Out>, Vec<Out>) {
    let end = nic.now_ps() + PATIENCE_PS;
    assert!(ok(nic.run_until_idle(end)), "packets stay on their way");
    let wire = std::iter::from_fn(|| nic.take_wire()).collect();
    (wire, std::iter::from_fn(|| nic.take_host()).collect())
}

/// Long enough for the cluster's clock, which carries 20 Gb/s, and for handlers.
fn pause(nic: &mut Nic) {
    let later = nic.now_ps() + 2_000_000;
    ok(nic.run_until(later));
}

fn get(nic: &mut Nic, register: Option<u32>) -> u32 {
    let register = register.expect("there is such a register");
    ok(nic.get(register))
}

#[test]
fn handlers_answer_matched_packets_and_the_host_gets_the_others() {
    let mut nic = start("udp_ping", None, NicConfig::default());
    let other = b"\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\x02\x08\x06 who has 10.0.0.1?".to_vec();
    for number in 0..50_u8 {
        nic.receive(udp(1000, &vec![number; 1 + 28 * usize::from(number)]));
        nic.receive(other.clone());
        pause(&mut nic);
    }
    let (wire, host) = finish(&mut nic);
    assert_eq!((wire.len(), host.len()), (50, 50));
    assert!(host.iter().all(|packet| packet.bytes == other));
    for reply in &wire {
        let number = reply.bytes[42];
        assert_eq!(reply.bytes[42..], vec![number; 1 + 28 * usize::from(number)]);
        assert_eq!(
            (&reply.bytes[..6], &reply.bytes[34..36]),
            (&b"\x02\0\0\0\0\x02"[..], &1000_u16.to_be_bytes()[..])
        );
    }
    let counts = ["matched", "bypassed", "hers"].map(|name| get(&mut nic, ingress::offset(name)));
    assert_eq!(counts, [50; 3]);
    assert_eq!(get(&mut nic, egress::offset("frames")), 50);
    assert_eq!(
        get(&mut nic, ingress::offset("large_used")) + get(&mut nic, ingress::offset("small_used")),
        0
    );
}

/// Requests for TCP connections, of which the filter passes some of each source, between frames that match nothing.
#[test]
fn passed_packets_reach_the_host_as_they_came() {
    let mut nic = start("syn_filter", None, NicConfig::default());
    let syn = |source: u8, bytes: usize| {
        let mut frame = udp(1000, &vec![source; bytes]);
        (frame[23], frame[29], frame[47]) = (6, source, 2);
        frame
    };
    // Numbers of the frames that have to reach the host, with their bytes: a source may send 16 requests.
    let mut wanted = Vec::new();
    for number in 1..=200_u64 {
        let source = number as u8 % 8;
        let mut frame = syn(source, 30 + 7 * number as usize);
        if source == 7 {
            // With ACK it is no request.
            frame[47] |= 0x10;
        }
        if source == 7 || number <= 16 * 8 {
            wanted.push((number, frame.clone()));
        }
        nic.receive(frame);
        pause(&mut nic);
    }
    let (wire, host) = finish(&mut nic);
    assert!(wire.is_empty(), "{wire:?}");
    let mut found: Vec<_> = host
        .into_iter()
        .map(|out| (out.received.unwrap_or(0), out.bytes))
        .collect();
    found.sort();
    assert_eq!(found, wanted);
    let unmatched = 200 / 8;
    assert_eq!(get(&mut nic, ingress::offset("bypassed")), unmatched);
    assert_eq!(
        get(&mut nic, egress::offset("passed")),
        wanted.len() as u32 - unmatched
    );
}

#[test]
fn frames_of_the_host_reach_the_wire() {
    let mut nic = start("udp_ping", None, NicConfig::default());
    for number in 0..20_u8 {
        nic.transmit(vec![number; 60 + 70 * usize::from(number)]);
        nic.receive(udp(7, &[number; 10]));
    }
    let (wire, _) = finish(&mut nic);
    let (host, handlers): (Vec<_>, Vec<_>) = wire.iter().partition(|frame| frame.is_host);
    assert_eq!((host.len(), handlers.len()), (20, 20));
    let sent = (0..20_u8).map(|number| vec![number; 60 + 70 * usize::from(number)]);
    assert!(
        host.iter()
            .map(|frame| &frame.bytes)
            .eq(&sent.collect::<Vec<_>>())
    );
}

#[test]
fn skipping_idle_time_changes_only_the_simulated_clocks() {
    let [all, skipped] = [false, true].map(|skips| {
        let mut nic = start(
            "udp_ping",
            None,
            NicConfig {
                skips,
                ..NicConfig::default()
            },
        );
        let mut latencies = Vec::new();
        for size in [10, 100, 1000] {
            for _ in 0..4 {
                let start = nic.now_ps();
                nic.receive(udp(7, &vec![1; size]));
                let (wire, _) = finish(&mut nic);
                latencies.push(wire[0].at_ps - start);
            }
        }
        (latencies, nic.simulated_clocks())
    });
    // The phase of both clocks at the time of arrival is another one, so each way through a crossing may take a clock of
    // the cluster more or less.
    for (all, skipped) in all.0.iter().zip(&skipped.0) {
        assert!(all.abs_diff(*skipped) <= 100_000, "{all} and {skipped} ps");
    }
    assert!(skipped.1 < all.1, "{} and {} clocks", skipped.1, all.1);
}

#[test]
fn handlers_write_to_host_memory_through_the_hardware() {
    let mut nic = start("copy_to_host", None, NicConfig::default());
    let message: Vec<u8> = (0..4000_u32).map(|byte| (byte * 13) as u8).collect();
    let chunks = message.chunks(700).count();
    for (number, chunk) in message.chunks(700).enumerate() {
        let flags: u16 = if number + 1 == chunks { 0x8000 } else { 0 };
        let mut segment = flags.to_be_bytes().to_vec();
        segment.extend(5_u32.to_be_bytes());
        segment.extend((number as u32 * 700).to_be_bytes());
        segment.extend_from_slice(chunk);
        nic.receive(udp(9330, &segment));
    }
    finish(&mut nic);
    assert_eq!(nic.host_memory().read(HOST_BASE + 4096, 4000), message);
    assert_eq!(nic.cluster().refused(), 0);
}

/// Rules that lead packets to UDP port 7000 + n to context n.
const TWO_CONTEXTS: &str = r#"
    [[ruleset]]
    rules = ["ipv4", { ip-proto = 17 }, { udp-dport = 7000 }]
    end-of-message = "never"
    [[ruleset]]
    rules = ["ipv4", { ip-proto = 17 }, { udp-dport = 7001 }]
    end-of-message = "never"
"#;

/// A packet to the handlers of `runtime/tests/host_access` for a context: what they do, where, and with what.
fn host_access(context: u16, what: u8, address: u64, bytes: &[u8]) -> Vec<u8> {
    let request = [&[what][..], &address.to_le_bytes(), bytes].concat();
    udp(7000 + context, &request)
}

/// Where the host memory of a context is.
fn region(context: u16) -> u64 {
    HOST_BASE + u64::from(context) * HOST_STRIDE
}

#[test]
fn handlers_access_only_the_host_memory_of_their_context() {
    let mut nic = start("../tests/host_access", Some(TWO_CONTEXTS), NicConfig::default());
    for owner in 0..2 {
        nic.host_memory().set(region(owner), &[0x50 + owner as u8; 64]);
    }
    for (asker, owner) in [(0, 0), (1, 0), (0, 1), (1, 1), (1, 0), (0, 0)] {
        let is_own = asker == owner;
        nic.receive(host_access(asker, b'r', region(owner), &[0xaa; 64]));
        let (wire, _) = finish(&mut nic);
        let seen = if is_own { 0x50 + owner as u8 } else { 0 };
        assert_eq!(
            wire[0].bytes[51..],
            [seen; 64],
            "context {asker} reads of {owner}"
        );
        for (what, offset) in [(b'w', 0x1003), (b'd', 0x2000)] {
            let place = region(owner) + offset;
            let before = nic.host_memory().read(place, 8);
            let after = before.iter().map(|byte| !byte).collect::<Vec<_>>();
            nic.receive(host_access(asker, what, place, &after));
            let (wire, _) = finish(&mut nic);
            assert_eq!(wire.len(), 1, "the handler goes on");
            let expected = if is_own { after } else { before };
            assert_eq!(
                nic.host_memory().read(place, 8),
                expected,
                "context {asker} writes to {owner}"
            );
        }
    }
    let outside = [host_write::offset("outside"), host_read::offset("outside")];
    assert_eq!(outside.map(|register| get(&mut nic, register)), [6, 3]);
    assert_eq!(nic.cluster().refused(), 9);
}

/// The command for 8 bytes works at multiples of 64 alone, so the runtime copies them elsewhere: across lines and pages, too.
#[test]
fn eight_bytes_can_be_written_to_any_host_address() {
    let mut nic = start("../tests/host_access", Some(TWO_CONTEXTS), NicConfig::default());
    let room = region(0)..region(0) + 0x1100;
    for offset in [0, 1, 4, 8, 31, 56, 57, 60, 63, 64, 120, 0xff9, 0xffc, 0xfff] {
        nic.host_memory().set(room.start, &[0x77; 0x1100]);
        let word: [u8; 8] = std::array::from_fn(|byte| 0x10 * byte as u8 + 1);
        nic.receive(host_access(0, b'd', room.start + offset, &word));
        let (wire, _) = finish(&mut nic);
        assert_eq!(wire.len(), 1, "offset {offset}");
        let mut expected = vec![0x77; 0x1100];
        expected[offset as usize..][..8].copy_from_slice(&word);
        let written = nic.host_memory().read(room.start, 0x1100);
        assert!(written == expected, "offset {offset}");
    }
    assert_eq!(nic.cluster().refused(), 0);
}

#[test]
fn a_faulty_context_does_not_disturb_another() {
    let mut nic = start("../tests/host_access", Some(TWO_CONTEXTS), NicConfig::default());
    let there = nic.host_memory().read(region(1), 4096);
    for number in 0..40 {
        let place = 64 * u64::from(number);
        nic.receive(host_access(0, b'w', region(0) + place, &[number; 64]));
        nic.receive(host_access(1, b'w', region(0) + place, &[0xff; 100]));
        nic.receive(host_access(0, b'w', region(1) + place, &[0xff; 100]));
        pause(&mut nic);
    }
    let (wire, _) = finish(&mut nic);
    assert_eq!(wire.len(), 120);
    let written: Vec<u8> = (0..40).flat_map(|number| [number; 64]).collect();
    assert_eq!(nic.host_memory().read(region(0), written.len()), written);
    assert_eq!(nic.host_memory().read(region(1), 4096), there);
    assert_eq!(get(&mut nic, host_write::offset("outside")), 80);
}

#[test]
fn packets_beyond_the_capacity_are_dropped_and_counted() {
    let mut nic = start("udp_ping", None, NicConfig::default());
    for number in 0..3000_u32 {
        nic.receive(udp(7, &number.to_be_bytes()));
    }
    let (wire, host) = finish(&mut nic);
    assert!(host.is_empty());
    let hers = get(&mut nic, ingress::offset("hers"));
    let dropped: u32 = ingress::drops()
        .flat_map(|(_, register)| register.words())
        .map(|word| get(&mut nic, Some(word.offset())))
        .sum();
    assert_eq!(
        (get(&mut nic, ingress::offset("matched")), hers + dropped),
        (3000, 3000)
    );
    assert_eq!(wire.len() as u32, hers);
    let mut numbers: Vec<&[u8]> = wire.iter().map(|reply| &reply.bytes[42..46]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), wire.len(), "each is answered once");
}

/// On the public cluster, too, a burst that is dropped in part has left 173 packets inside: those of a context have 4 queues.
#[test]
fn a_burst_fills_the_cluster_as_far_as_pspin() {
    let mut nic = start("udp_ping", None, NicConfig::default());
    for number in 0..800_u32 {
        // A byte of it is the message, so all four queues get packets.
        nic.receive(udp(7, &[number as u8; 56]));
    }
    let mut most = 0;
    while !nic.is_idle() {
        ok(nic.step(PATIENCE_PS));
        most = most.max(nic.cluster().packets_inside().iter().sum());
    }
    assert_eq!(most, 173);
    let (wire, _) = finish(&mut nic);
    let dropped = ingress::drops().flat_map(|(_, register)| register.words());
    assert_eq!(
        wire.len() as u32
            + dropped
                .map(|word| get(&mut nic, Some(word.offset())))
                .sum::<u32>(),
        800
    );
}

#[test]
fn other_shapes_and_clocks_work() {
    for (clusters, hpus, cluster_ps) in [(1, 2, 4100), (2, 8, 4000), (4, 3, 10_000), (8, 8, 2300)] {
        shape_works(clusters, hpus, cluster_ps);
    }
}

fn shape_works(clusters: usize, hpus: usize, cluster_ps: u64) {
    let config = NicConfig {
        cluster: Config {
            clusters,
            hpus,
            ..Config::default()
        },
        cluster_ps,
        ..NicConfig::default()
    };
    let mut nic = start("udp_ping", None, config);
    for number in 0..40 {
        nic.receive(udp(7, &[number; 200]));
        pause(&mut nic);
    }
    let (wire, _) = finish(&mut nic);
    assert_eq!(wire.len(), 40);
    let ended = nic.take_events().into_iter().filter_map(|event| match event {
        Event::Finished(run) => Some(run),
        _ => None,
    });
    assert!(
        ended
            .into_iter()
            .all(|run| run.ending == Ending::Done && run.hpu.core < hpus && run.hpu.cluster < clusters)
    );
}

#[test]
fn output_of_handlers_passes_the_registers() {
    let mut nic = start("copy_to_host", None, NicConfig::default());
    // An offset beyond the host memory of the context.
    let mut segment = vec![0x80, 0, 0, 0, 0, 1];
    segment.extend(0xf000_0000_u32.to_be_bytes());
    segment.extend([1; 50]);
    nic.receive(udp(9330, &segment));
    finish(&mut nic);
    let words = std::iter::from_fn(|| nic.take_printed());
    let text: String = words.map(|word| char::from(word as u8)).collect();
    assert!(
        text.starts_with("copy_to_host: 50 bytes at offset 4026531840 do not fit"),
        "{text}"
    );
}
