//! A FIFO that costs no clock while it is empty.
//!
//! ```text
//!  s ==+===============================> m     empty: straight through
//!      |   +------+
//!      +==>| FIFO |====+===============> m     without a register: after what waits
//!      |   +------+    |
//!      |               |   +----------+
//!      +===============+==>| register |==> m   with one: the first element that waits
//!                          +----------+
//! ```
//!
//! Block RAM reads into a register of its own. Then the one here holds the first element that must wait, which the FIFO
//! could not show at once, and those after it come from the FIFO's. In front of distributed RAM it holds whatever is
//! the first, so that nothing is read from the memory in the cycle in which it leaves.
//!
//! # Contract
//! - **Latency:** none while nothing waits: what comes in is at the output in the same cycle. An element
//!   that the other side does not take waits inside, and so do those after it.
//! - **Throughput:** one element a clock. With block RAM the one after the first that has waited comes two clocks
//!   after it came in at the earliest, which is the time that the memory takes.
//! - **Capacity:** exactly `depth` elements; with a register that holds the first, `depth` more fit after it.
//! - **Backpressure:** `s_ready` is a register: low when the FIFO is full, and in the first cycle after reset.
//!   `almost_full` is one too: high while at most `margin` more elements fit into the FIFO.
//! - **Paths:** from `s_valid` and `s_data` to `m_valid` and `m_data`, none from `m_ready` to `s`.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** discards what is inside.

use super::{Fifo, FifoConfig, FifoOutput, StreamIn, StreamOut};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// First in, first out, without any latency while it is empty.
#[hardware(
    config: FifoConfig,
    error = ParameterError,
    registers = usize::from(config.output == FifoOutput::Registered),
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct PassFifo {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: empties the FIFO.
    pub rst: Wire<In, bool>,
    /// Elements in.
    pub s: StreamIn<{ config.width }>,
    /// Elements out.
    pub m: StreamOut<{ config.width }>,
    /// At most the margin's number of elements still fit.
    pub almost_full: Wire<Out, bool>,
    fifo: Checked<Fifo<{ config.behind_a_register() }>>,
    /// Something is in the FIFO, also if it is not at its output yet (block RAM only).
    waiting: [Reg<bool, Reset>; usize::from(config.storage == RamStyle::Block)],
    /// The first element that must wait (registered output only).
    first: [Reg<{ config.width }>; registers],
    first_used: [Reg<bool, Reset>; registers],
    /// Something is ahead of the input.
    blocked: Wire<Local, bool>,
    comes: Wire<Local, bool>,
    goes: Wire<Local, bool>,
}

impl Logic for PassFifo {
    #[kernel(
        suffix = self._config.variant(),
        parameters(WIDTH = self._config.width, DEPTH = self._config.depth, MARGIN = self._config.margin)
    )]
    fn update(&mut self) {
        let registered = !self.first.is_empty();
        let block = !self.waiting.is_empty();
        clocked!(self.clk, self.rst => self.fifo, self.waiting, self.first_used);
        clocked!(self.clk => self.first);
        self.s.ready.next = self.fifo.s.ready.val();
        self.almost_full.next = self.fifo.almost_full.val();
        self.comes.next = self.s.valid.val() && self.fifo.s.ready.val();
        if block {
            self.blocked.next = self.waiting[0].q.val();
        } else {
            self.blocked.next = self.fifo.m.valid.val();
        }
        self.fifo.s.data.next = self.s.data.val();
        if registered && !block {
            self.m.valid.next = self.comes.val();
            self.m.data.next = self.s.data.val();
        } else if self.blocked.val() {
            connect!(self.fifo.m => self.m; valid, data);
        } else {
            self.m.valid.next = self.comes.val();
            self.m.data.next = self.s.data.val();
        }
        if registered {
            /// The element in the register is the first of all.
            if self.first_used[0].q.val() {
                self.m.valid.next = true;
                self.m.data.next = self.first[0].q.val();
            }
        }
        if block {
            self.fifo.m.ready.next = self.m.ready.val() && !self.first_used[0].q.val();
            self.fifo.s.valid.next = self.s.valid.val()
                && (self.blocked.val() || (self.first_used[0].q.val() && !self.m.ready.val()));
            if !self.first_used[0].q.val() || self.m.ready.val() {
                self.first[0].d.next = self.s.data.val();
            }
            /// An element goes there if nothing else is ahead of it and it cannot leave now.
            if self.first_used[0].q.val() && !self.m.ready.val() {
                self.first_used[0].d.next = true;
            } else {
                self.first_used[0].d.next = self.comes.val()
                    && !self.blocked.val()
                    && (self.first_used[0].q.val() || !self.m.ready.val());
            }
        } else if registered {
            /// The register is used whenever something is in the FIFO.
            self.fifo.m.ready.next = self.m.ready.val();
            self.fifo.s.valid.next = self.s.valid.val()
                && self.first_used[0].q.val()
                && (self.blocked.val() || !self.m.ready.val());
            if !self.first_used[0].q.val() || self.m.ready.val() {
                if self.blocked.val() {
                    self.first[0].d.next = self.fifo.m.data.val();
                } else {
                    self.first[0].d.next = self.s.data.val();
                }
            }
            if self.first_used[0].q.val() && !self.m.ready.val() {
                self.first_used[0].d.next = true;
            } else {
                self.first_used[0].d.next = self.blocked.val()
                    || (self.comes.val() && (self.first_used[0].q.val() || !self.m.ready.val()));
            }
        } else {
            self.fifo.m.ready.next = self.m.ready.val();
            self.fifo.s.valid.next = self.s.valid.val() && (self.blocked.val() || !self.m.ready.val());
        }
        self.goes.next = self.fifo.m.valid.val() && self.fifo.m.ready.val();
        if block {
            /// The last element leaves the FIFO when only one is inside and none comes.
            if self.blocked.val() {
                self.waiting[0].d.next = self.comes.val() || !self.goes.val() || self.fifo.level.val() != 1;
            } else {
                self.waiting[0].d.next =
                    self.comes.val() && self.first_used[0].q.val() && !self.m.ready.val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PassFifo;
    use crate::stream::bench::{self, stream_through};
    use crate::stream::{Fifo, FifoConfig};

    fn forms(depth: usize) -> [FifoConfig; 3] {
        [
            FifoConfig::distributed(8, depth),
            FifoConfig::distributed(8, depth).registered(),
            FifoConfig::block(8, depth).with_margin(1),
        ]
    }

    fn fresh(config: FifoConfig) -> PassFifo {
        let mut fifo = PassFifo::new(config).expect("a valid configuration");
        bench::reset(&mut fifo);
        fifo
    }

    #[test]
    fn passes_one_element_per_cycle_in_the_same_cycle() {
        for config in forms(4) {
            let mut fifo = fresh(config);
            let expected: Vec<_> = (0..20_u64).map(|index| (index, index)).collect();
            assert_eq!(stream_through!(fifo, 0..20_u64, 25_u64), expected, "{config:?}");
        }
    }

    #[test]
    fn holds_exactly_its_depth_and_the_first_that_waits() {
        for depth in [2, 4, 16] {
            for config in forms(depth) {
                let mut fifo = fresh(config);
                let beside = u64::from(config.output == super::FifoOutput::Registered);
                let mut taken = 0_u64;
                for _ in 0..2 * depth + 2 {
                    fifo.s.valid.next = true;
                    bench::settle(&mut fifo);
                    assert!(fifo.m.valid.val() || taken > 0, "{config:?}");
                    let stored = taken.saturating_sub(beside);
                    let almost_full = stored + config.margin as u64 >= depth as u64;
                    assert_eq!(fifo.almost_full.val(), almost_full, "{config:?}");
                    taken += u64::from(fifo.s.ready.val());
                    bench::edge(&mut fifo);
                }
                assert_eq!(taken, depth as u64 + beside, "{config:?}");
            }
        }
    }

    /// Every pattern of valid and ready over six cycles: nothing is lost, and what waits stays at the output.
    #[test]
    fn keeps_order_and_what_it_shows() {
        for config in forms(4) {
            let clean = fresh(config);
            for pattern in 0..1_u32 << 12 {
                let mut fifo = clean.clone();
                let (mut sent, mut received, mut shown) = (0, 0, false);
                for cycle in 0..16_u32 {
                    fifo.s.valid.next = cycle < 6 && pattern >> cycle & 1 == 1;
                    fifo.s.data.next = sent.into();
                    fifo.m.ready.next = cycle >= 6 || pattern >> (6 + cycle) & 1 == 1;
                    bench::settle(&mut fifo);
                    let context = format!("{config:?}, {pattern:#x}, cycle {cycle}");
                    sent += u64::from(fifo.s.valid.val() && fifo.s.ready.val());
                    assert!(fifo.m.valid.val() || !shown, "{context}");
                    if fifo.m.valid.val() {
                        assert_eq!(fifo.m.data.val().low_u64(), received, "{context}");
                    }
                    shown = fifo.m.valid.val() && !fifo.m.ready.val();
                    received += u64::from(fifo.m.valid.val() && fifo.m.ready.val());
                    bench::edge(&mut fifo);
                }
                assert_eq!(received, sent, "{config:?}, {pattern:#x}");
            }
        }
    }

    #[test]
    fn refuses_what_a_fifo_refuses() {
        let config = FifoConfig::distributed(8, 12);
        assert_eq!(
            PassFifo::new(config)
                .map(|_| ())
                .map_err(|error| error.to_string()),
            Fifo::new(config).map(|_| ()).map_err(|error| error.to_string())
        );
    }
}
