//! What several test files need.

#![allow(dead_code, reason = "every test file uses a part of it")]

use rand::{Rng, RngExt};
use spinneret_sim::simulation::Simulation;
use spinneret_sim::stream::Frame;
use std::panic::{self, AssertUnwindSafe};

/// The message that a panic ends with.
pub(crate) fn panic_message(action: impl FnOnce()) -> String {
    let payload = panic::catch_unwind(AssertUnwindSafe(action)).expect_err("must panic");
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
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
pub(crate) fn limited<M: spinneret_sim::model::Model>(cycles: u64) -> Simulation<M> {
    let mut sim = Simulation::new(M::with_seed(0)).expect("every fixture has a clock");
    sim.set_cycle_limit(cycles);
    sim
}
