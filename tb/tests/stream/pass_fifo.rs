//! `PassFifo` in all its forms.

use crate::fifo::{Shape, fifo_tests};
use crate::reference::{Beside, PassQueue, Pins, Reference};
use spinneret_models as models;

/// The contract of a FIFO that lets elements pass.
pub(crate) struct PassReference {
    margin: Option<u64>,
    queue: PassQueue,
}

impl PassReference {
    pub(crate) fn new(shape: Shape) -> Self {
        let depth = shape.depth - u64::from(shape.beside != Beside::Nothing);
        Self {
            margin: shape.margin,
            queue: PassQueue::new(depth, shape.beside),
        }
    }
}

impl Reference for PassReference {
    fn step(&mut self, pins: Pins<'_>) -> Result<(), String> {
        pins.expect("s_ready", self.queue.ready())?;
        if let Some(margin) = self.margin {
            pins.expect("almost_full", self.queue.almost_full(margin))?;
        }
        let input = pins.fires("s").then(|| pins.value("s_data"));
        let output = self.queue.output(input);
        pins.expect("m_valid", output.is_some())?;
        if let Some(data) = output {
            pins.expect("m_data", data)?;
        }
        self.queue.step(input, pins.high("m_ready"));
        Ok(())
    }

    fn reset(&mut self) {
        self.queue.reset();
    }

    fn inside(&self) -> usize {
        self.queue.inside()
    }
}

// What follows the first element that had to wait comes after the two cycles of a block RAM.
fifo_tests! {
    pass_fifo: models::PassFifo, Shape { depth: 4, latency: 0, margin: Some(1), has_level: false, beside: Beside::Nothing },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_2: models::PassFifo2, Shape { depth: 2, latency: 0, margin: Some(0), has_level: false, beside: Beside::Nothing },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_register: models::PassFifoRegister, Shape { depth: 5, latency: 0, margin: Some(1), has_level: false, beside: Beside::First },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_register_2: models::PassFifoRegister2, Shape { depth: 3, latency: 0, margin: Some(0), has_level: false, beside: Beside::First },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_block: models::PassFifoBlock, Shape { depth: 5, latency: 0, margin: Some(1), has_level: false, beside: Beside::FirstToWait },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
    pass_fifo_block_64: models::PassFifoBlock64, Shape { depth: 65, latency: 0, margin: Some(10), has_level: false, beside: Beside::FirstToWait },
        also [passes_one_element_per_cycle drains_without_a_gap warns_in_time];
}
