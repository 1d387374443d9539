//! Register slice for ready alone: costs no clock.
//!
//! ```text
//!  s ===+=============================>+\
//!       |  +------------------------+  | >===> m
//!       +=>| spare register, used   |=>+/
//!          | when the output stalls |
//!          +------------------------+
//! ```
//!
//! # Contract
//! - **Latency:** none: an element that comes in while nothing is held is at the output in the same cycle.
//! - **Throughput:** one element per cycle.
//! - **Backpressure:** holds one element, the one that was taken while the output was not ready. `s_ready` is
//!   a register: low while an element is held, and in the first cycle after reset.
//! - **Paths:** from `s` valid and data to `m`; none from `m` ready to `s`.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** discards the element that is held.

use super::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;

/// Makes the ready signal of a stream a register and costs no clock: an element passes straight through,
/// or waits in a spare register if it was taken while the output was not ready.
#[hardware(width: usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ReadySlice {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: discards what is held.
    pub rst: Wire<In, bool>,
    /// Elements in.
    pub s: StreamIn<{ width }>,
    /// Elements out.
    pub m: StreamOut<{ width }>,
    spare: Reg<{ width }>,
    spare_used: Reg<bool, Reset>,
    ready: Reg<bool, Reset>,
    /// Something is at the output and stays there.
    stays: Wire<Local, bool>,
}

impl Logic for ReadySlice {
    #[kernel(parameters(WIDTH = self._width))]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.spare_used, self.ready);
        clocked!(self.clk => self.spare);
        /// Low in the first cycle after reset, when nothing may be taken yet.
        if self.spare_used.q.val() {
            self.m.valid.next = true;
            self.m.data.next = self.spare.q.val();
        } else {
            self.m.valid.next = self.s.valid.val() && self.ready.q.val();
            self.m.data.next = self.s.data.val();
        }
        self.stays.next =
            !self.m.ready.val() && (self.spare_used.q.val() || (self.s.valid.val() && self.ready.q.val()));
        self.spare_used.d.next = self.stays.val();
        self.ready.d.next = !self.stays.val();
        if self.ready.q.val() {
            self.spare.d.next = self.s.data.val();
        }
        self.s.ready.next = self.ready.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::ReadySlice;
    use crate::stream::bench::{self, stream_through};

    #[test]
    fn passes_one_element_per_cycle_in_the_same_cycle() {
        let mut slice = ReadySlice::new(8);
        bench::reset(&mut slice);
        let expected: Vec<_> = (0..20_u64).map(|index| (index, index)).collect();
        assert_eq!(stream_through!(slice, 0..20_u64, 25_u64), expected);
    }

    /// Every pattern of valid and ready over eight cycles, against a queue of one place.
    #[test]
    fn keeps_what_it_has_taken_and_nothing_else() {
        for pattern in 0..1_u32 << 16 {
            let mut slice = ReadySlice::new(8);
            bench::reset(&mut slice);
            let mut held = None;
            for cycle in 0..8_u32 {
                let offered = (pattern >> cycle & 1 == 1).then_some(u64::from(cycle) + 1);
                let ready = pattern >> (8 + cycle) & 1 == 1;
                slice.s.valid.next = offered.is_some();
                slice.s.data.next = offered.unwrap_or(0).into();
                slice.m.ready.next = ready;
                bench::settle(&mut slice);
                assert_eq!(slice.s.ready.val(), held.is_none(), "{pattern:#x}, cycle {cycle}");
                let output = held.or(offered);
                assert_eq!(
                    slice.m.valid.val(),
                    output.is_some(),
                    "{pattern:#x}, cycle {cycle}"
                );
                if let Some(element) = output {
                    assert_eq!(
                        slice.m.data.val().low_u64(),
                        element,
                        "{pattern:#x}, cycle {cycle}"
                    );
                }
                held = output.filter(|_| !ready);
                bench::edge(&mut slice);
            }
        }
    }
}
