//! `OutputQueue`: behaves as a FIFO that holds one element more than its depth.

use crate::fifo::{Shape, fifo_tests};
use crate::reference::Beside;
use spinneret_models as models;

fifo_tests! {
    output_queue: models::OutputQueue, Shape { depth: 5, latency: 1, margin: Some(1), has_level: false, beside: Beside::Nothing },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    output_queue_2: models::OutputQueue2, Shape { depth: 3, latency: 1, margin: Some(0), has_level: false, beside: Beside::Nothing },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
}
