//! Random packets, and the behaviours that random tests go through.

use super::config::{Behaviour, CONTEXTS, Contexts, Setup};
use super::packet::Packet;
use super::slots::{Class, Release};
use crate::ip_frames::Headers;
use spinneret_sim::prelude::*;

/// Largest random packet in bytes, unless slots are larger.
const MOST_BYTES: u64 = 9600;

/// A random packet: mostly small, some at the borders of beats and slots, few bad, few very large.
pub fn random_packet(rng: &mut ChaCha8Rng, setup: &Setup) -> Packet {
    let mut bytes = vec![0; random_size(rng, setup)];
    rng.fill_bytes(&mut bytes);
    // Bytes that rules look at have few values, so that rules match.
    for byte in bytes.iter_mut().take(setup.inspected_bytes()) {
        *byte &= 3;
    }
    // Without headers no rule relative to the IP payload matches.
    if setup.matcher.ip_relative && rng.random_ratio(3, 4) {
        Headers::random(rng).write(&mut bytes);
    }
    let user = |rng: &mut ChaCha8Rng| rng.random::<u128>() >> (128 - setup.user_bits);
    let packet = Packet {
        id: rng.random_range(0..2),
        dest: rng.random_range(0..256),
        user: user(rng) & !1,
        early_user: user(rng),
        ..Packet::new(setup.beat_bytes, bytes)
    };
    match rng.random_range(0..100) {
        0..3 => packet.marked_bad(),
        3 => odd(rng, setup, packet),
        4 => packet.with_null_last(),
        5..10 if packet.bytes.len().is_multiple_of(setup.beat_bytes) => packet.with_null_last(),
        _ => packet,
    }
}

fn random_size(rng: &mut ChaCha8Rng, setup: &Setup) -> usize {
    let (small, large) = (setup.slots[Class::Small].bytes, setup.slots[Class::Large].bytes);
    let beat = setup.beat_bytes as u64;
    let size = match rng.random_range(0..200) {
        0..2 => rng.random_range(1..=MOST_BYTES.max(large + 200)),
        2..8 => rng.random_range(large - 136..=large + 64),
        8..12 => large - 1 + rng.random_range(0..3),
        12..20 => small - 1 + rng.random_range(0..3),
        20..50 => beat * rng.random_range(1..=4),
        50..60 => beat * rng.random_range(1..=24),
        60..110 => rng.random_range(1..=64),
        _ => rng.random_range(60..=300),
    };
    size as usize
}

/// The packet with an impossible `tkeep` behind the beats that rules look at.
fn odd(rng: &mut ChaCha8Rng, setup: &Setup, mut packet: Packet) -> Packet {
    let inspected = setup.inspected_bytes() / setup.beat_bytes;
    let beats = packet.beats().max(inspected + 1);
    packet.bytes.resize(beats * setup.beat_bytes, 0x5a);
    let lanes = setup.beat_bytes as u32;
    let keep = match rng.random_range(0..4) {
        0 => rng.random(),
        1 => u64::MAX >> (64 - rng.random_range(1..lanes)),
        2 => u64::MAX << rng.random_range(1..lanes),
        _ => 0,
    };
    let beat = rng.random_range(inspected..beats);
    let packet = packet.with_keep(beat, keep);
    if rng.random_bool(0.3) {
        packet.with_null_last()
    } else {
        packet
    }
}

/// Random contexts, of which each may be disabled, context 0 seldom.
pub fn random_contexts(rng: &mut ChaCha8Rng) -> Contexts {
    let enabled: [bool; CONTEXTS] =
        std::array::from_fn(|context| rng.random_bool(if context == 0 { 0.8 } else { 0.6 }));
    Contexts::random(rng, enabled)
}

/// A behaviour with its name.
pub type Named = (&'static str, Behaviour);

/// The behaviours of random tests with a path: calm ones, in which every packet's fate is predicted, and those under
/// pressure.
///
/// With few slots it is only calm while few packets are under way, so line rate without that limit is there as well.
/// A path that waits predicts every packet's fate by itself, and is never calm: small packets take large slots.
pub fn behaviours(setup: &Setup) -> Vec<Named> {
    let certain = setup.certain_packets();
    let mut all = for_many_slots(setup);
    if setup.stall {
        for (_, behaviour) in &mut all {
            behaviour.calm = false;
        }
    } else if certain < MANY_SLOTS {
        for (_, behaviour) in all.iter_mut().filter(|(_, behaviour)| behaviour.calm) {
            behaviour.most_under_way = certain;
        }
        let behaviour = Behaviour {
            calm: false,
            ..Behaviour::default()
        };
        all.push(("line rate without limit", behaviour));
    }
    all
}

/// Slots of a class that are never all out in calm traffic, whose rate alone limits the packets under way.
const MANY_SLOTS: u64 = 200;

/// The behaviours for a path with many slots.
fn for_many_slots(setup: &Setup) -> Vec<Named> {
    let random = |percent| Pause::Random { percent };
    let bursty = |busy, idle| Pause::Bursty { busy, idle };
    let slave = |address, data, least, most, percent| SlaveConfig {
        address,
        data,
        latency: Latency { least, most },
        faults: match percent {
            0 => Faults::Never,
            _ => Faults::Random { percent },
        },
        ..SlaveConfig::default()
    };
    let never = || Pause::Never;
    let free = |percent, most| Release::Random { percent, most };
    vec![
        ("line rate", Behaviour::default()),
        (
            "line rate, late responses, errors",
            Behaviour {
                slave: slave(never(), never(), 1, 30, 3),
                release: free(90, 60),
                bad_frees: 20,
                ..Behaviour::default()
            },
        ),
        (
            "gaps and light pauses",
            Behaviour {
                input: random(60),
                nic: random(20),
                her: random(20),
                slave: slave(random(15), random(15), 1, 12, 5),
                feedback: random(30),
                release: free(50, 60),
                bad_frees: 20,
                ..Behaviour::default()
            },
        ),
        (
            "slow cluster",
            Behaviour {
                calm: false,
                her: random(92),
                slave: slave(never(), never(), 1, 10, 3),
                release: free(30, 100),
                bad_frees: 10,
                ..Behaviour::default()
            },
        ),
        (
            "slow memory",
            Behaviour {
                calm: false,
                nic: random(5),
                slave: slave(bursty(20, 60), bursty(40, 100), 20, 120, 3),
                her: bursty(20, 20),
                feedback: random(20),
                release: free(60, 100),
                bad_frees: 10,
                ..Behaviour::default()
            },
        ),
        (
            "few slots",
            Behaviour {
                calm: false,
                input: bursty(100, 20),
                slave: slave(random(10), random(10), 1, 30, 2),
                release: free(1, most_but(setup.slots.total(), 10) as usize),
                occupied: most_but(setup.slots[Class::Large].count, 6),
                ..Behaviour::default()
            },
        ),
        (
            "everything stalls",
            Behaviour {
                calm: false,
                input: random(20),
                nic: bursty(50, 50),
                her: bursty(10, 80),
                slave: slave(random(50), random(50), 1, 60, 10),
                feedback: bursty(5, 30),
                release: free(20, 400),
                ..Behaviour::default()
            },
        ),
    ]
}

/// So many less than all, but at least three quarters.
fn most_but(all: u64, few: u64) -> u64 {
    all.saturating_sub(few).max(all * 3 / 4)
}
