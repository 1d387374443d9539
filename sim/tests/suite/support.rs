//! Functions of several test files.

use spinneret_sim::prelude::*;
use std::panic::{self, AssertUnwindSafe};

/// Bytes in a beat of the fixtures with AXI4.
pub(crate) const BUS: u64 = 8;

/// The message that a panic ends with.
pub(crate) fn panic_message(action: impl FnOnce()) -> String {
    let payload = panic::catch_unwind(AssertUnwindSafe(action)).expect_err("must panic");
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
}

/// Checks that a message or an error contains this text.
#[track_caller]
pub(crate) fn assert_contains(message: &impl ToString, expected: &str) {
    let message = message.to_string();
    assert!(
        message.contains(expected),
        "{message:?} does not contain {expected:?}"
    );
}

/// Checks that something panics with a message that contains this text.
#[track_caller]
pub(crate) fn panics_with(expected: &str, action: impl FnOnce()) {
    assert_contains(&panic_message(action), expected);
}

/// Frames of random length and content for the fixtures with 4 bytes a beat.
pub(crate) fn random_frames(rng: &mut impl Rng, count: usize, longest: usize) -> Vec<Frame> {
    let frame = |_| {
        let mut bytes = vec![0; rng.random_range(1..=longest)];
        rng.fill_bytes(&mut bytes);
        let user = rng.random::<u128>() >> (128 - 97);
        Frame::new(bytes).with_id(rng.random_range(0..4)).with_user(user)
    };
    (0..count).map(frame).collect()
}

/// A simulation that gives up after that many cycles.
pub(crate) fn limited<M: Model>(cycles: u64) -> Simulation<M> {
    let mut sim = Simulation::new(M::with_seed(0)).expect("every fixture has a clock");
    sim.set_cycle_limit(cycles);
    sim
}

/// A legal burst of any kind in the first 16 KiB.
pub(crate) fn random_burst(rng: &mut ChaCha8Rng) -> Burst {
    let size: u64 = 1 << rng.random_range(0..4);
    let page = 4096 * rng.random_range(0..4);
    let (kind, beats, address) = match rng.random_range(0..4) {
        0 => (
            BurstKind::Fixed,
            rng.random_range(1..=16),
            rng.random_range(0..4096),
        ),
        1 => {
            let beats = 2 << rng.random_range(0..4);
            (
                BurstKind::Wrapping,
                beats,
                size * rng.random_range(0..4096 / size),
            )
        }
        _ => {
            let beats = rng.random_range(1..=20);
            let offset = rng.random_range(0..=4096 - beats * size);
            (BurstKind::Incrementing, beats, offset)
        }
    };
    Burst {
        id: rng.random_range(0..6),
        address: page + address,
        beats,
        size,
        kind,
    }
}

/// Random lanes with random legal strobes.
pub(crate) fn random_write(rng: &mut ChaCha8Rng, burst: Burst) -> WriteRequest {
    let mut beats = Vec::new();
    for number in 0..burst.beats {
        let bytes: [u8; BUS as usize] = rng.random();
        let strobes = rng.random::<u128>() & burst.lanes(number, BUS);
        beats.push((bytes.to_vec(), strobes));
    }
    let request = WriteRequest::new(burst, beats);
    if rng.random_ratio(1, 10) {
        return request.exclusive();
    }
    request
}

/// Applies a write to the expected memory.
pub(crate) fn apply(memory: &mut Memory, write: &WriteRequest) {
    for (number, beat) in (0..).zip(&write.beats) {
        let address = write.burst.beat_address(number);
        memory.write(address - address % BUS, &beat.bytes, beat.strobes);
    }
}
