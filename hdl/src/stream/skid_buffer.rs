//! Register slice: cuts every combinational path of a stream, in both directions.
//!
//! ```text
//!          +---------------------------+
//!  s ===+=>|                           |===> output register ===> m
//!       |  | spare register, used when |
//!       +=>| the output stalls         |
//!          +---------------------------+
//! ```
//!
//! # Contract
//! - **Latency:** an element that is taken in cycle t is valid at the output in cycle t + 1.
//! - **Throughput:** one element per cycle.
//! - **Backpressure:** holds two elements. `s_ready` is a register: low while the spare register is
//!   used, and in the first cycle after reset.
//! - **Paths:** none from `s` to `m` or back; all outputs are registers.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** discards both elements.

use super::{StreamIn, StreamOut, limits};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Register slice: cuts every combinational path of a stream, in both directions.
/// # Parameters
/// `width` is 1 to 4096 bits.
#[hardware(width: usize, error = ParameterError, _ = limits::WIDTH.check("skid_buffer", width)?)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SkidBuffer {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high: discards what is held.
    pub rst: Wire<In, bool>,
    /// Elements in.
    pub s: StreamIn<{ width }>,
    /// Elements out.
    pub m: StreamOut<{ width }>,
    data: Reg<{ width }>,
    valid: Reg<bool, Reset>,
    spare: Reg<{ width }>,
    spare_used: Reg<bool, Reset>,
    ready: Reg<bool, Reset>,
    /// An element comes in.
    push: Wire<Local, bool>,
    /// The output register is free, or empties in this cycle.
    free: Wire<Local, bool>,
}

impl Logic for SkidBuffer {
    #[kernel(parameters(WIDTH = self._width))]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.valid, self.spare_used, self.ready);
        clocked!(self.clk => self.data, self.spare);

        self.push.next = self.s.valid.val() && self.ready.q.val();
        self.free.next = !self.valid.q.val() || self.m.ready.val();
        self.ready.d.next = !self.spare_used.q.val();

        if self.free.val() {
            /// The spare register goes first; while it is used, nothing comes in.
            self.valid.d.next = self.spare_used.q.val() || self.push.val();
            if self.spare_used.q.val() {
                self.data.d.next = self.spare.q.val();
            } else {
                self.data.d.next = self.s.data.val();
            }
            self.spare_used.d.next = false;
            self.ready.d.next = true;
        } else if self.push.val() {
            self.spare_used.d.next = true;
            self.ready.d.next = false;
        }
        /// Follows the input until it must keep it.
        if self.ready.q.val() {
            self.spare.d.next = self.s.data.val();
        }

        self.s.ready.next = self.ready.q.val();
        self.m.valid.next = self.valid.q.val();
        self.m.data.next = self.data.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::SkidBuffer;
    use crate::stream::bench::{self, stream_through};

    #[test]
    fn passes_one_element_per_cycle_one_cycle_later() {
        let mut slice = SkidBuffer::new(8).expect("a valid width");
        bench::reset(&mut slice);
        let expected: Vec<_> = (0..20_u64).map(|index| (index + 1, index)).collect();
        assert_eq!(stream_through!(slice, 0..20_u64, 25_u64), expected);
    }

    #[test]
    fn refuses_a_payload_without_bits() {
        let error = SkidBuffer::new(0).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("skid_buffer: width = 0 is not possible: it must be from 1 to 4096 bits".to_owned())
        );
    }
}
