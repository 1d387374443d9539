//! First in, first out: decouples a producer from a consumer by up to `depth` elements.
//!
//! ```text
//!             +--------+      +----------------+
//!  s =====+==>| memory |=====>| output register|====> m        FifoOutput::Registered
//!         |   +--------+      +----------------+
//!         |   +--------+
//!         +==>| memory |==============================> m        FifoOutput::Fallthrough
//!             +--------+
//! ```
//!
//! # Contract
//! - **Latency:** an element that is taken in cycle t is valid at the output in cycle t + 2 with a
//!   registered output, in cycle t + 1 with fall-through (if nothing is ahead of it).
//! - **Throughput:** one element per cycle in and out at the same time; a registered output needs a `depth`
//!   of at least 4 for it, as 2 elements pass in 3 cycles through 2 places. A full FIFO takes its next
//!   element in the cycle after one has left it, so a full FIFO that drains leaves no gap either.
//! - **Capacity:** exactly `depth` elements; the output register holds one of them, not one more.
//!   `level` counts them all, and shows in cycle t + 1 what was taken and given in cycle t.
//! - **Backpressure:** `s_ready` is a register: low when full, and in the first cycle after reset.
//!   `almost_full` is a register: high while at most `margin` more elements fit, so that a producer
//!   that looks at it (and not at `s_ready`) may still push `margin` elements after it has risen.
//! - **Paths:** no path from `s` to `m` or back. `m_valid` is a register; `m_data` too if registered,
//!   else it is read from the memory in the same cycle.
//! - **Ordering:** elements leave in the order in which they came.
//! - **Reset:** empties the FIFO; contents of memory and output register stay, unseen.

use super::{FifoConfig, FifoOutput, StreamIn, StreamOut};
use crate::entry::ParameterError;
use spinneret_verilog::prelude::*;

/// First in, first out, for the elements of a stream.
/// # Parameters
/// The depth is a power of two from 2, the margin less than it, and only distributed RAM falls through.
#[hardware(
    config: FifoConfig,
    error = ParameterError,
    _ = config.check()?,
    width = config.width,
    depth = config.depth,
    storage = config.storage,
    pointer = address_width(depth),
    registered = config.output == FifoOutput::Registered,
)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct Fifo {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset, active high: empties the FIFO.
    pub rst: Wire<In, bool>,
    /// Elements in.
    pub s: StreamIn<{ width }>,
    /// Elements out.
    pub m: StreamOut<{ width }>,
    /// Elements inside.
    pub level: Wire<Out, { pointer + 1 }>,
    /// At most the margin's number of elements still fit.
    pub almost_full: Wire<Out, bool>,
    memory: Ram<{ storage }, { depth }, { width }>,
    write_ptr: Reg<{ pointer }, Reset>,
    read_ptr: Reg<{ pointer }, Reset>,
    /// Elements in memory and output register.
    count: Reg<{ pointer + 1 }, Reset>,
    /// Less than the depth is inside.
    not_full: Reg<bool, Reset>,
    nearly_full: Reg<bool, Reset>,
    /// Something is in the memory.
    stored: Reg<bool, Reset>,
    /// The output register holds an element (registered output only).
    held: [Reg<bool, Reset>; usize::from(registered)],
    /// The output register (only where the memory has none of its own).
    held_data: [Reg<{ width }>; usize::from(registered && storage == RamStyle::Distributed)],
    /// An element comes in.
    push: Wire<Local, bool>,
    /// An element leaves the memory.
    fetch: Wire<Local, bool>,
    /// An element leaves the FIFO.
    pop: Wire<Local, bool>,
}

impl Fifo {
    /// The parameters it was made with.
    pub fn config(&self) -> &FifoConfig {
        &self._config
    }
}

impl Logic for Fifo {
    #[kernel(
        suffix = self._config.variant(),
        parameters(WIDTH = self._config.width, DEPTH = self._config.depth, MARGIN = self._config.margin),
        numbers(ADDRESS = clog2(DEPTH), COUNT = clog2(DEPTH) + 1, RISE = DEPTH - MARGIN)
    )]
    fn update(&mut self) {
        let depth = self._config.depth as u64;
        let rise = depth - self._config.margin as u64;
        let registered = self._config.output == FifoOutput::Registered;
        let own_register = !self.held_data.is_empty();
        clocked!(self.clk, self.rst => self.write_ptr, self.read_ptr, self.count, self.not_full, self.nearly_full);
        clocked!(self.clk, self.rst => self.stored, self.held);
        clocked!(self.clk => self.memory, self.held_data);

        self.push.next = self.s.valid.val() && self.not_full.q.val();
        if registered {
            self.fetch.next = self.stored.q.val() && (!self.held[0].q.val() || self.m.ready.val());
            self.pop.next = self.held[0].q.val() && self.m.ready.val();
        } else {
            self.fetch.next = self.stored.q.val() && self.m.ready.val();
            self.pop.next = self.stored.q.val() && self.m.ready.val();
        }

        /// The next place is free as long as there is one. Its contents count only when the pointer has moved, so
        /// the memory need not wait for whether something comes.
        self.memory.write_enable.next = self.not_full.q.val();
        self.memory.write_addr.next = self.write_ptr.q.val();
        self.memory.write_data.next = self.s.data.val();
        self.memory.read_addr.next = self.read_ptr.q.val();
        if self._config.storage == RamStyle::Block {
            self.memory.read_enable.next = self.fetch.val();
        }

        if self.push.val() {
            self.write_ptr.d.next = self.write_ptr.q.val() + 1;
        }
        if self.fetch.val() {
            self.read_ptr.d.next = self.read_ptr.q.val() + 1;
            self.stored.d.next = self.read_ptr.q.val() + 1 != self.write_ptr.q.val();
        }
        /// An element that comes in is in the memory in the next cycle, whatever leaves it.
        if self.push.val() {
            self.stored.d.next = true;
        }

        /// The flags follow the level, which changes by one at most.
        if self.push.val() && !self.pop.val() {
            self.count.d.next = self.count.q.val() + 1;
            if self.count.q.val() == depth - 1 {
                self.not_full.d.next = false;
            }
            if self.count.q.val() == rise - 1 {
                self.nearly_full.d.next = true;
            }
        } else if self.pop.val() && !self.push.val() {
            self.count.d.next = self.count.q.val() - 1;
            self.not_full.d.next = true;
            if self.count.q.val() == rise {
                self.nearly_full.d.next = false;
            }
        } else {
            /// Rises after reset.
            self.not_full.d.next = self.count.q.val() != depth;
        }

        if registered {
            if self.fetch.val() {
                self.held[0].d.next = true;
            } else if self.m.ready.val() {
                self.held[0].d.next = false;
            }
            self.m.valid.next = self.held[0].q.val();
        } else {
            self.m.valid.next = self.stored.q.val();
        }
        if own_register {
            if self.fetch.val() {
                self.held_data[0].d.next = self.memory.read_data.val();
            }
            self.m.data.next = self.held_data[0].q.val();
        } else {
            self.m.data.next = self.memory.read_data.val();
        }
        self.s.ready.next = self.not_full.q.val();
        self.level.next = self.count.q.val();
        self.almost_full.next = self.nearly_full.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::{Fifo, FifoConfig, FifoOutput};
    use crate::stream::bench::{self, stream_through};

    fn latency_and_order(config: FifoConfig, latency: u64) {
        let mut fifo = Fifo::new(config).expect("a valid configuration");
        bench::reset(&mut fifo);
        let expected: Vec<_> = (0..20).map(|index| (index + latency, index)).collect();
        assert_eq!(stream_through!(fifo, 0..20_u64, 30_u64), expected, "{config:?}");
        assert_eq!(fifo.level.val(), 0);
    }

    #[test]
    fn passes_one_element_per_cycle_after_its_latency() {
        for depth in [4, 8, 64] {
            latency_and_order(FifoConfig::distributed(8, depth), 1);
            latency_and_order(FifoConfig::distributed(8, depth).registered(), 2);
            latency_and_order(FifoConfig::block(8, depth), 2);
        }
    }

    #[test]
    fn holds_exactly_its_depth() {
        for depth in [2, 4, 16] {
            for config in [
                FifoConfig::distributed(8, depth),
                FifoConfig::block(8, depth).with_margin(1),
            ] {
                let mut fifo = Fifo::new(config).expect("a valid configuration");
                bench::reset(&mut fifo);
                let mut taken = 0;
                for _ in 0..2 * depth {
                    fifo.s.valid.next = true;
                    bench::settle(&mut fifo);
                    assert_eq!(fifo.level.val(), taken);
                    assert_eq!(
                        fifo.almost_full.val(),
                        taken + config.margin as u64 >= depth as u64
                    );
                    taken += u64::from(fifo.s.ready.val());
                    bench::edge(&mut fifo);
                }
                assert_eq!(taken, depth as u64, "{config:?}");
            }
        }
    }

    #[test]
    fn refuses_what_cannot_be_built() {
        let text = |config| Fifo::new(config).map(|_| ()).map_err(|error| error.to_string());
        for (config, expected) in [
            (
                FifoConfig::block(8, 12),
                "fifo: depth = 12 is not possible: it must be a power of two from 2 to 65536",
            ),
            (
                FifoConfig::block(0, 16),
                "fifo: width = 0 is not possible: it must be from 1 to 4096 bits",
            ),
            (
                FifoConfig::distributed(8, 16).with_margin(16),
                "fifo: margin = 16 is not possible: it must be less than the depth, 16",
            ),
            (
                FifoConfig {
                    output: FifoOutput::Fallthrough,
                    ..FifoConfig::block(8, 16)
                },
                "fifo: registered = 0 is not possible: it must be 1 with block RAM, which reads into a register",
            ),
        ] {
            assert_eq!(text(config), Err(expected.to_owned()));
        }
    }
}
