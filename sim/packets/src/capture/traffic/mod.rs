//! The captures that are shipped with the project: made here, the same bytes on every machine.
//!
//! Each capture is a scene of several hosts that talk at the same time, so frames of different flows
//! interleave as they do on a real link. Lengths and checksums are right; frames shorter than 60 bytes
//! are padded as Ethernet cards do. Chance comes from a generator with a fixed seed.

mod encode;
mod flows;
mod frames;
mod scenes;
mod shipped;
mod trace;

pub use shipped::{ShippedCapture, TrafficError};

/// Makes all captures that are shipped.
///
/// # Errors
/// If the packet or capture library refuses a packet, which would be a mistake in a scene.
pub fn shipped() -> Result<Vec<ShippedCapture>, TrafficError> {
    scenes::ALL.iter().map(scenes::Scene::play).collect()
}
