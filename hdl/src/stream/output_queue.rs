//! A queue whose output is a register and that costs one clock.
//!
//! ```text
//!  s ==+================+==>| register |==> m
//!      |   +------+     |
//!      +==>| FIFO |=====+    while the register is not free, or something is in the FIFO
//!          +------+
//! ```
//!
//! # Contract
//! - **Latency:** an element that is taken in cycle t is at the output in cycle t + 1, if nothing is ahead of it.
//! - **Throughput:** one element per cycle. A full queue takes its next element in the cycle after one has left.
//! - **Capacity:** exactly `depth` elements and the one in the register.
//! - **Backpressure:** `s_ready` is a register: low when full, and in the first cycle after reset.
//!   `almost_full` is one too: high while at most `margin` more elements fit.
//! - **Paths:** none from `s` to `m` or back; all outputs are registers.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** empties the queue; what the register holds stays, unseen.

use super::{Fifo, FifoConfig, StreamIn, StreamOut};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// A FIFO with a register at its output that an element reaches in one clock when nothing is ahead of it.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct OutputQueue {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties the queue.
    pub rst: Wire<In, bool>,
    /// Elements in.
    pub s: StreamIn,
    /// Elements out.
    pub m: StreamOut,
    /// At most the margin's number of elements still fit.
    pub almost_full: Wire<Out, bool>,
    fifo: Fifo,
    data: Reg,
    valid: Reg<bool>,
    /// The register is free, or empties in this cycle.
    free: Wire<Local, bool>,
    /// The input goes straight to the register.
    bypass: Wire<Local, bool>,
}

impl OutputQueue {
    /// A queue for `depth` payloads of `width` bits, with a margin of none.
    ///
    /// # Errors
    /// If the depth is not a power of two from 2, or the width not possible.
    pub fn new(width: usize, depth: usize) -> Result<Self, ParameterError> {
        Self::with_margin(width, depth, 0)
    }

    /// The same, and `almost_full` rises when `margin` payloads still fit.
    ///
    /// # Errors
    /// As those of `new`, and if the margin is not less than the depth.
    pub fn with_margin(width: usize, depth: usize, margin: usize) -> Result<Self, ParameterError> {
        Ok(Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            s: StreamIn::new(width),
            m: StreamOut::new(width),
            almost_full: Wire::bit(),
            fifo: Fifo::new(FifoConfig::distributed(width, depth).with_margin(margin))?,
            data: Reg::word(width),
            valid: Reg::bit_reset(),
            free: Wire::bit(),
            bypass: Wire::bit(),
        })
    }
}

impl Logic for OutputQueue {
    #[kernel(parameters(
        WIDTH = self.data.q.width(),
        DEPTH = self.fifo.config().depth,
        MARGIN = self.fifo.config().margin
    ))]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.fifo, self.valid);
        clocked!(self.clk => self.data);
        self.free.next = !self.valid.q.val() || self.m.ready.val();
        self.bypass.next = self.free.val() && !self.fifo.m.valid.val();
        self.s.ready.next = self.fifo.s.ready.val();
        self.almost_full.next = self.fifo.almost_full.val();
        self.fifo.s.data.next = self.s.data.val();
        self.fifo.s.valid.next = self.s.valid.val() && !self.bypass.val();
        self.fifo.m.ready.next = self.free.val();
        if self.free.val() {
            if self.fifo.m.valid.val() {
                self.valid.d.next = true;
                self.data.d.next = self.fifo.m.data.val();
            } else {
                self.valid.d.next = self.s.valid.val() && self.fifo.s.ready.val();
                self.data.d.next = self.s.data.val();
            }
        }
        self.m.valid.next = self.valid.q.val();
        self.m.data.next = self.data.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::OutputQueue;
    use crate::stream::bench::{self, stream_through};

    fn fresh(depth: usize, margin: usize) -> OutputQueue {
        let mut queue = OutputQueue::with_margin(8, depth, margin).expect("valid parameters");
        bench::reset(&mut queue);
        queue
    }

    #[test]
    fn passes_one_element_per_cycle_after_one_cycle() {
        for depth in [2, 4, 64] {
            let mut queue = fresh(depth, 0);
            let expected: Vec<_> = (0..20_u64).map(|index| (index + 1, index)).collect();
            assert_eq!(
                stream_through!(queue, 0..20_u64, 25_u64),
                expected,
                "depth {depth}"
            );
        }
    }

    #[test]
    fn holds_its_depth_and_one_more() {
        for depth in [2, 4, 16] {
            for margin in [0, 1] {
                let mut queue = fresh(depth, margin);
                let most = depth as u64 + 1;
                let mut taken = 0;
                for _ in 0..2 * depth + 2 {
                    queue.s.valid.next = true;
                    bench::settle(&mut queue);
                    assert_eq!(queue.almost_full.val(), taken + margin as u64 >= most);
                    taken += u64::from(queue.s.ready.val());
                    bench::edge(&mut queue);
                }
                assert_eq!(taken, most, "depth {depth}, margin {margin}");
            }
        }
    }

    #[test]
    fn refuses_what_cannot_be_built() {
        for (width, depth, margin, expected) in [
            (
                8,
                12,
                0,
                "fifo: depth = 12 is not possible: it must be a power of two from 2 to 65536",
            ),
            (
                0,
                16,
                0,
                "fifo: width = 0 is not possible: it must be from 1 to 4096 bits",
            ),
            (
                8,
                16,
                16,
                "fifo: margin = 16 is not possible: it must be less than the depth, 16",
            ),
        ] {
            let built = OutputQueue::with_margin(width, depth, margin).map(|_| ());
            assert_eq!(built.map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
    }
}
