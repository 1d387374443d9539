//! `SkidBuffer`: behaves as a FIFO of two elements.

use crate::fifo::{Shape, fifo_tests};
use crate::reference::Beside;
use spinneret_models as models;

fifo_tests! {
    skid_buffer: models::SkidBuffer, Shape { depth: 2, latency: 1, margin: None, has_level: false, beside: Beside::Nothing },
        also [passes_one_element_per_cycle drains_without_a_gap];
}
