//! Store and forward: a frame leaves only when it is complete inside, and then without a pause.
//!
//! ```text
//!          read_ptr      frame_ptr        write_ptr
//!             |              |                |
//!  memory ----[ whole frames ][ frame coming in ]----   frame_ptr follows write_ptr after a frame,
//!             |                                         write_ptr returns to it to drop one
//!             +===> output register ===> m
//! ```
//!
//! # Contract
//! - **Latency:** if the last beat of a frame is taken in cycle t, its first beat is valid at the output in
//!   cycle t + 2 (if nothing is ahead of it).
//! - **Throughput:** one beat per cycle in and out at the same time. Once a frame's first beat is at the
//!   output, the output never waits for the input until the frame's end.
//! - **Capacity:** `depth` beats in the memory, complete or not; a beat frees its place when it moves to the
//!   output register. So a frame of up to `depth` beats fits into the empty FIFO.
//! - **Backpressure:** the input never stalls: `s_ready` is high from the second cycle after reset on.
//! - **Dropping:** a frame is dropped whole if `drop_frame` is high with its last beat, or if one of its beats
//!   comes while the memory is full (a frame longer than the FIFO always ends so). `dropped` is high for
//!   the cycle after its last beat; `dropped_overflow` then tells whether it did not fit.
//! - **Ordering:** frames leave in the order in which they came, unbroken.
//! - **Reset:** discards all frames: `s` must start with a new one.

use super::{FrameIn, FrameOut, limits};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Store and forward: a frame leaves only when it is complete inside, and then without a pause.
/// # Parameters
/// `depth` is a power of two from 2 to 65536, `width` 1 to 4096 bits.
#[hardware(
    width: usize,
    depth: usize,
    error = ParameterError,
    _ = limits::WIDTH.check("frame_fifo", width)?,
    _ = limits::DEPTH.check("frame_fifo", depth)?,
    pointer = address_width(depth) + 1,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameFifo {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high: discards all frames.
    pub rst: Wire<In, bool>,
    /// Frames in; never stalls.
    pub s: FrameIn<{ width }>,
    /// With the last beat: drops the frame.
    pub drop_frame: Wire<In, bool>,
    /// Frames out.
    pub m: FrameOut<{ width }>,
    /// A frame was dropped in the cycle before.
    pub dropped: Wire<Out, bool>,
    /// With `dropped`: the frame did not fit.
    pub dropped_overflow: Wire<Out, bool>,
    memory: Ram<{ RamStyle::Block }, { depth }, { width + 1 }>,
    /// Where the next beat is written; one bit more than an address tells full from empty.
    write_ptr: Reg<{ pointer }, Reset>,
    /// Where the frame that is coming in began.
    frame_ptr: Reg<{ pointer }, Reset>,
    /// Where the next beat is read.
    read_ptr: Reg<{ pointer }, Reset>,
    accepting: Reg<bool, Reset>,
    /// The rest of the frame that is coming in is thrown away.
    overflowed: Reg<bool, Reset>,
    held: Reg<bool, Reset>,
    was_dropped: Reg<bool, Reset>,
    was_overflow: Reg<bool, Reset>,
    /// A beat comes in.
    push: Wire<Local, bool>,
    /// The memory holds as many beats as it can.
    full: Wire<Local, bool>,
    /// The frame that is coming in does not fit.
    overflow: Wire<Local, bool>,
    /// A beat leaves the memory.
    fetch: Wire<Local, bool>,
}

impl Logic for FrameFifo {
    #[kernel(
        parameters(DEPTH = self._depth, WIDTH = self.s.data.width()),
        numbers(ADDRESS = clog2(DEPTH), POINTER = clog2(DEPTH) + 1)
    )]
    fn update(&mut self) {
        let width = self.s.data.width();
        let address = self.write_ptr.q.width() - 1;
        clocked!(self.clk, self.rst => self.write_ptr, self.frame_ptr, self.read_ptr);
        clocked!(self.clk, self.rst => self.accepting, self.overflowed, self.held, self.was_dropped, self.was_overflow);
        clocked!(self.clk => self.memory);

        self.accepting.d.next = true;
        self.s.ready.next = self.accepting.q.val();
        self.push.next = self.s.valid.val() && self.accepting.q.val();

        /// Pointers that differ in their highest bit alone are a whole memory apart.
        self.full.next = self.write_ptr.q.val() == (self.read_ptr.q.val() ^ self._depth as u64);
        self.overflow.next = self.overflowed.q.val() || self.full.val();

        self.memory.write_enable.next = self.push.val() && !self.overflow.val();
        self.memory.write_addr.next = self.write_ptr.q.val().slice(0, address);
        self.memory.write_data.next = cat!(self.s.last.val(), self.s.data.val());

        self.was_dropped.d.next = false;
        self.was_overflow.d.next = false;
        if self.push.val() {
            self.write_ptr.d.next = self.write_ptr.q.val() + 1;
            if self.overflow.val() || (self.s.last.val() && self.drop_frame.val()) {
                self.write_ptr.d.next = self.frame_ptr.q.val();
                self.was_dropped.d.next = self.s.last.val();
                self.was_overflow.d.next = self.s.last.val() && self.overflow.val();
            } else if self.s.last.val() {
                self.frame_ptr.d.next = self.write_ptr.q.val() + 1;
            }
            self.overflowed.d.next = self.overflow.val() && !self.s.last.val();
        }
        self.dropped.next = self.was_dropped.q.val();
        self.dropped_overflow.next = self.was_overflow.q.val();

        self.fetch.next =
            self.read_ptr.q.val() != self.frame_ptr.q.val() && (!self.held.q.val() || self.m.ready.val());
        self.memory.read_enable.next = self.fetch.val();
        self.memory.read_addr.next = self.read_ptr.q.val().slice(0, address);
        if self.fetch.val() {
            self.read_ptr.d.next = self.read_ptr.q.val() + 1;
            self.held.d.next = true;
        } else if self.m.ready.val() {
            self.held.d.next = false;
        }

        self.m.valid.next = self.held.q.val();
        self.m.data.next = self.memory.read_data.val().slice(0, width);
        self.m.last.next = self.memory.read_data.val().get_bit(width);
    }
}

#[cfg(test)]
mod tests {
    use super::FrameFifo;
    use crate::stream::bench;

    /// Sends frames of the given lengths one after the other, the output always ready; returns the cycle of
    /// each beat at the output and how often a frame was dropped.
    fn send(fifo: &mut FrameFifo, lengths: &[(u64, bool)], cycles: u64) -> (Vec<u64>, Vec<bool>) {
        let beat = |&(length, dropped): &(u64, bool)| (1..=length).map(move |beat| (beat == length, dropped));
        let mut beats = lengths.iter().flat_map(beat);
        let (mut received, mut dropped) = (Vec::new(), Vec::new());
        for cycle in 0..cycles {
            let (last, drop_frame) = beats
                .next()
                .map_or((None, false), |(last, dropped)| (Some(last), dropped));
            fifo.s.valid.next = last.is_some();
            fifo.s.last.next = last.unwrap_or(false);
            fifo.drop_frame.next = drop_frame;
            fifo.m.ready.next = true;
            bench::settle(fifo);
            assert!(fifo.s.ready.val());
            if fifo.m.valid.val() {
                received.push(cycle);
            }
            if fifo.dropped.val() {
                dropped.push(fifo.dropped_overflow.val());
            }
            bench::edge(fifo);
        }
        (received, dropped)
    }

    #[test]
    fn gives_a_frame_two_cycles_after_its_last_beat() {
        let mut fifo = FrameFifo::new(8, 8).expect("valid parameters");
        bench::reset(&mut fifo);
        assert_eq!(
            send(&mut fifo, &[(3, false), (8, false)], 30),
            ([4, 5, 6].into_iter().chain(12..20).collect(), vec![])
        );
    }

    #[test]
    fn drops_frames_whole() {
        let mut fifo = FrameFifo::new(8, 8).expect("valid parameters");
        bench::reset(&mut fifo);
        let frames = [(2, true), (9, false), (20, true), (1, false)];
        assert_eq!(send(&mut fifo, &frames, 60), (vec![33], vec![false, true, true]));
    }

    #[test]
    fn refuses_a_depth_that_is_no_power_of_two() {
        let error = FrameFifo::new(8, 12)
            .map(|_| ())
            .map_err(|error| error.to_string());
        let expected = "frame_fifo: depth = 12 is not possible: it must be a power of two from 2 to 65536";
        assert_eq!(error, Err(expected.to_owned()));
    }
}
