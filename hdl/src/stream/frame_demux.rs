//! Sends every frame to the output that its select element names.
//!
//! ```text
//!                +--------+====> register ====> m[0]
//!  s ===========>|  one   |====> register ====> m[1]
//!  select ======>|  of n  |====> ...
//!                +--------+----> (nowhere, counted by misrouted)
//! ```
//!
//! # Contract
//! - **Latency:** a beat that is taken in cycle t is valid at its output in cycle t + 1.
//! - **Throughput:** one beat per cycle, also from frame to frame and from output to output.
//! - **Select:** one element per frame, the number of the output. No beat is taken before it is
//!   valid; it is taken together with the last beat of its frame.
//! - **Backpressure:** an output that stalls blocks the input only while the current frame goes to it.
//! - **Paths:** `s_ready` depends in the same cycle on `select` and on the `ready` of the selected
//!   output; `select_ready` on `s` as well. All outputs are registers.
//! - **Ordering:** frames to the same output leave in the order in which they came, unbroken.
//! - **Reset:** discards the beats in the output registers. The block remembers nothing about frames, so
//!   `s` and `select` must be reset together.
//! - **Bad input:** a frame whose select element is beyond the last output is taken at one beat per cycle
//!   and discarded; `misrouted` is high in the cycle after its last beat.

use super::{FrameIn, FrameOut, StreamIn, limits};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// Sends every frame to the output that its select element names.
/// # Parameters
/// `ports` are 1 to 64 outputs, `width` 1 to 4096 bits.
#[hardware(
    ports: usize,
    width: usize,
    error = ParameterError,
    _ = limits::PORTS.check("frame_demux", ports)?,
    _ = limits::WIDTH.check("frame_demux", width)?,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct FrameDemux {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high: clears the valid flags.
    pub rst: Wire<In, bool>,
    /// Frames in.
    pub s: FrameIn<{ width }>,
    /// Number of the output, one element per frame.
    pub select: StreamIn<{ address_width(ports) }>,
    /// Frames out.
    pub m: [FrameOut<{ width }>; ports],
    /// A frame was discarded in the cycle before, because no output has its number.
    pub misrouted: Wire<Out, bool>,
    data: [Reg<{ width }>; ports],
    last: [Reg<bool>; ports],
    valid: [Reg<bool, Reset>; ports],
    discarded: Reg<bool, Reset>,
    /// The output that is selected exists.
    exists: Wire<Local, bool>,
    /// The register of the output that is selected is free, or empties in this cycle.
    free: Wire<Local, bool>,
    /// A beat can be taken.
    ready: Wire<Local, bool>,
    /// A beat is taken.
    take: Wire<Local, bool>,
}

impl Logic for FrameDemux {
    #[kernel(suffix = self._ports, parameters(WIDTH = self._width))]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.valid, self.discarded);
        clocked!(self.clk => self.data, self.last);

        self.exists.next = false;
        self.free.next = false;
        for i in 0..self.m.len() {
            if self.select.data.val() == i as u64 {
                self.exists.next = true;
                self.free.next = !self.valid[i].q.val() || self.m[i].ready.val();
            }
        }

        /// A beat without destination is taken at once.
        self.ready.next = self.select.valid.val() && (self.free.val() || !self.exists.val());
        self.take.next = self.s.valid.val() && self.ready.val();
        self.s.ready.next = self.ready.val();
        self.select.ready.next = self.take.val() && self.s.last.val();

        for i in 0..self.m.len() {
            if self.m[i].ready.val() {
                self.valid[i].d.next = false;
            }
            if self.take.val() && self.select.data.val() == i as u64 {
                self.valid[i].d.next = true;
                self.data[i].d.next = self.s.data.val();
                self.last[i].d.next = self.s.last.val();
            }
            self.m[i].data.next = self.data[i].q.val();
            self.m[i].last.next = self.last[i].q.val();
            self.m[i].valid.next = self.valid[i].q.val();
        }

        self.discarded.d.next = self.take.val() && self.s.last.val() && !self.exists.val();
        self.misrouted.next = self.discarded.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::FrameDemux;
    use crate::stream::bench;

    /// Offers one beat and its select element; returns whether it was taken and, a cycle later, at which
    /// outputs a beat is valid.
    fn one_beat(demux: &mut FrameDemux, select: Option<u64>) -> (bool, Vec<bool>) {
        demux.s.valid.next = true;
        demux.s.last.next = true;
        demux.select.valid.next = select.is_some();
        demux.select.data.next = select.unwrap_or(0).into();
        bench::settle(demux);
        let taken = demux.s.ready.val();
        bench::edge(demux);
        demux.s.valid.next = false;
        bench::settle(demux);
        (taken, demux.m.iter().map(|m| m.valid.val()).collect())
    }

    #[test]
    fn sends_a_frame_to_the_output_of_its_number() {
        let mut demux = FrameDemux::new(3, 8).expect("valid parameters");
        bench::reset(&mut demux);
        assert_eq!(one_beat(&mut demux, None), (false, vec![false, false, false]));
        assert_eq!(one_beat(&mut demux, Some(1)), (true, vec![false, true, false]));
        assert_eq!(one_beat(&mut demux, Some(1)), (false, vec![false, true, false]));
        assert_eq!(one_beat(&mut demux, Some(0)), (true, vec![true, true, false]));
        assert!(!demux.misrouted.val());
        assert_eq!(one_beat(&mut demux, Some(3)), (true, vec![true, true, false]));
        assert!(demux.misrouted.val());
    }

    #[test]
    fn refuses_to_have_no_output() {
        let error = FrameDemux::new(0, 8)
            .map(|_| ())
            .map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("frame_demux: ports = 0 is not possible: it must be from 1 to 64".to_owned())
        );
    }
}
