//! Random packets, and the behaviours that random tests go through.

use super::BEAT_BYTES;
use super::behaviour::Behaviour;
use super::contexts::{CONTEXTS, Contexts};
use super::packet::Packet;
use super::release::Release;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use spinneret_sim::axi::{Faults, Latency, SlaveConfig};
use spinneret_sim::stream::Pause;

/// Largest random packet in bytes.
const MOST_BYTES: usize = 9600;

/// Bytes at the start of a packet that random rules look at; they have few values, so that rules match.
const INSPECTED_BYTES: usize = 128;

/// A random packet: mostly small, some at the borders of beats and slots, few bad, few very large.
pub fn random_packet(rng: &mut ChaCha8Rng) -> Packet {
    let mut bytes = vec![0; random_size(rng)];
    rng.fill_bytes(&mut bytes);
    for byte in bytes.iter_mut().take(INSPECTED_BYTES) {
        *byte &= 3;
    }
    let packet = Packet {
        bytes,
        id: rng.random_range(0..2),
        dest: rng.random_range(0..256),
        user: u64::from(rng.random::<u16>() & !1),
        early_user: rng.random::<u16>().into(),
        ..Packet::default()
    };
    match rng.random_range(0..100) {
        0..3 => packet.marked_bad(),
        3 => odd(rng, packet),
        4 => packet.with_null_last(),
        5..10 if packet.bytes.len().is_multiple_of(BEAT_BYTES) => packet.with_null_last(),
        _ => packet,
    }
}

fn random_size(rng: &mut ChaCha8Rng) -> usize {
    match rng.random_range(0..200) {
        0..2 => rng.random_range(1..=MOST_BYTES),
        2..8 => rng.random_range(1400..=1600),
        8..12 => 1535 + rng.random_range(0..3),
        12..20 => 127 + rng.random_range(0..3),
        20..50 => BEAT_BYTES * rng.random_range(1..=4),
        50..60 => BEAT_BYTES * rng.random_range(1..=24),
        60..110 => rng.random_range(1..=64),
        _ => rng.random_range(60..=300),
    }
}

/// The packet with an impossible `tkeep` behind the beats that rules look at.
fn odd(rng: &mut ChaCha8Rng, mut packet: Packet) -> Packet {
    let beats = packet.beats().max(INSPECTED_BYTES / BEAT_BYTES + 1);
    packet.bytes.resize(beats * BEAT_BYTES, 0x5a);
    let keep = match rng.random_range(0..4) {
        0 => rng.random(),
        1 => u64::MAX >> rng.random_range(1..64),
        2 => u64::MAX << rng.random_range(1..64),
        _ => 0,
    };
    let beat = rng.random_range(INSPECTED_BYTES / BEAT_BYTES..beats);
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

/// The behaviours of random tests: calm ones, in which every packet's fate is predicted, and those under pressure.
pub fn behaviours() -> Vec<Named> {
    let random = |percent| Pause::Random { percent };
    let bursty = |busy, idle| Pause::Bursty { busy, idle };
    let slave = |address, data, least, most, percent| SlaveConfig {
        address,
        data,
        latency: Latency { least, most },
        reorder: false,
        faults: match percent {
            0 => Faults::Never,
            _ => Faults::Random { percent },
        },
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
                release: free(1, 1270),
                occupied: 250,
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
