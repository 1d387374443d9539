//! Joins streams of frames into one, frame by frame, in turn.
//!
//! ```text
//!  s[0] =====>+--------+
//!  s[1] =====>|  pick  |====> register ====> m, source
//!  ...        +--------+
//! ```
//!
//! # Contract
//! - **Latency:** a beat that is taken in cycle t is valid at the output in cycle t + 1.
//! - **Throughput:** one beat per cycle, also from frame to frame: where any input has a frame
//!   waiting, no cycle is lost between frames.
//! - **Fairness:** round robin by frame. After a frame of input i the inputs are asked in the order
//!   i + 1, i + 2, ..., i; so a frame waits for at most one frame of every other input. The turn
//!   starts with input 0 after reset.
//! - **Backpressure:** `m_ready` low holds the beat, and stops the input whose turn it is. An input that
//!   pauses within its frame holds the output: frames are not interleaved.
//! - **Paths:** the `ready` of an input depends in the same cycle on `m_ready` and on the `valid` of all
//!   inputs. All outputs on the side of `m` are registers.
//! - **Ordering:** frames of the same input stay in order.
//! - **Reset:** discards the beat in the output register and the frame that was going through: all inputs
//!   must start with a new frame.

use super::{FrameIn, FrameOut, limits};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Joins streams of frames into one, frame by frame, in turn.
/// # Parameters
/// `ports` are 1 to 64 inputs, `width` 1 to 4096 bits.
#[hardware(
    ports: usize,
    width: usize,
    error = ParameterError,
    _ = limits::PORTS.check("frame_arbiter", ports)?,
    _ = limits::WIDTH.check("frame_arbiter", width)?,
    number = address_width(ports),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameArbiter {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high: clears the valid flag and starts with input 0.
    pub rst: Wire<In, bool>,
    /// Frames in.
    pub s: [FrameIn<{ width }>; ports],
    /// Frames out.
    pub m: FrameOut<{ width }>,
    /// Number of the input that the beat at the output came from; valid and stable as the beat.
    pub source: Wire<Out, { number }>,
    data: Reg<{ width }>,
    last: Reg<bool>,
    valid: Reg<bool, Reset>,
    /// The input that had a beat taken most recently.
    #[new(Reg::reset_to(lit(ports as u64 - 1, number)))]
    owner: Reg,
    /// The owner's frame is not over.
    within_frame: Reg<bool, Reset>,
    /// The input whose turn it is.
    turn: Wire<Local, { number }>,
    /// That input has a beat.
    offered: Wire<Local, bool>,
    offered_data: Wire<Local, { width }>,
    offered_last: Wire<Local, bool>,
    /// The output register is free, or empties in this cycle.
    free: Wire<Local, bool>,
}

impl Logic for FrameArbiter {
    #[kernel(suffix = self.s.len(), parameters(WIDTH = self.data.q.width()))]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.valid, self.owner, self.within_frame);
        clocked!(self.clk => self.data, self.last);

        /// The first that waits; better, the first that waits after the owner; within a frame, the owner.
        self.turn.next = self.owner.q.val();
        for i in (0..self.s.len()).rev() {
            if self.s[i].valid.val() {
                self.turn.next = (i as u64).into();
            }
        }
        for i in (1..self.s.len()).rev() {
            if self.s[i].valid.val() && self.owner.q.val() < i as u64 {
                self.turn.next = (i as u64).into();
            }
        }
        if self.within_frame.q.val() {
            self.turn.next = self.owner.q.val();
        }

        self.offered.next = false;
        self.offered_last.next = self.s[0].last.val();
        self.offered_data.next = self.s[0].data.val();
        for i in 0..self.s.len() {
            if self.turn.val() == i as u64 {
                self.offered.next = self.s[i].valid.val();
                self.offered_last.next = self.s[i].last.val();
                self.offered_data.next = self.s[i].data.val();
            }
        }

        self.free.next = !self.valid.q.val() || self.m.ready.val();
        for i in 0..self.s.len() {
            self.s[i].ready.next = self.free.val() && self.turn.val() == i as u64;
        }

        if self.free.val() {
            self.valid.d.next = self.offered.val();
            self.data.d.next = self.offered_data.val();
            self.last.d.next = self.offered_last.val();
            if self.offered.val() {
                self.owner.d.next = self.turn.val();
                self.within_frame.d.next = !self.offered_last.val();
            }
        }

        self.m.data.next = self.data.q.val();
        self.m.last.next = self.last.q.val();
        self.m.valid.next = self.valid.q.val();
        self.source.next = self.owner.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::FrameArbiter;
    use crate::stream::bench;

    #[test]
    fn takes_turns_without_a_pause() {
        let mut arbiter = FrameArbiter::new(3, 8).expect("valid parameters");
        bench::reset(&mut arbiter);
        let mut sources = Vec::new();
        for cycle in 0..13 {
            // Frames of two beats; input 1 has none.
            for (i, s) in arbiter.s.iter_mut().enumerate() {
                s.valid.next = i != 1;
                s.last.next = cycle % 2 == 1;
            }
            arbiter.m.ready.next = true;
            bench::settle(&mut arbiter);
            if arbiter.m.valid.val() {
                sources.push(arbiter.source.val().low_u64());
            }
            bench::edge(&mut arbiter);
        }
        assert_eq!(sources, [0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2]);
    }

    #[test]
    fn refuses_to_have_no_input() {
        let error = FrameArbiter::new(0, 8)
            .map(|_| ())
            .map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("frame_arbiter: ports = 0 is not possible: it must be from 1 to 64".to_owned())
        );
    }
}
