//! Holds transfers to the host windows of the execution contexts.

use super::{GuardIn, GuardShape, WINDOW_SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Says whether bytes of host memory lie as a whole in one window that counts: in any, or with `by_context` in that of
/// the context that asks.
///
/// A window is `size` bytes from `base` on; it ends with the address space at the latest. One that is not
/// enabled or has no bytes contains nothing, and a context without a window has nothing; while the guard is open,
/// everything counts as contained. The windows and how they are chosen pass a register, so a change takes effect one
/// clock later; the answer is combinational. `tb/proofs/host_guard.sv` proves all this.
#[hardware(shape: GuardShape, windows = shape.windows)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct HostGuard {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// The windows.
    pub windows: GuardIn<{ shape }>,
    /// The context that asks.
    pub asker: Wire<In, { shape.context() }>,
    /// Address of the first byte.
    pub first: Wire<In, { shape.address }>,
    /// Address of the last byte.
    pub last: Wire<In, { shape.address }>,
    /// They are in one window that counts.
    pub allowed: Wire<Out, bool>,
    open: Reg<bool>,
    by_context: Reg<bool>,
    enabled: Reg<{ windows }>,
    starts: [Reg<{ shape.address }>; windows],
    ends: [Reg<{ shape.address }>; windows],
    sums: [Wire<Local, { shape.address + 1 }>; windows],
    /// Bit n: window n counts. It is known while the addresses are compared, so it costs no level.
    counts: Wire<Local, { windows }>,
    contained: Wire<Local, { windows }>,
}

impl Logic for HostGuard {
    #[kernel]
    fn update(&mut self) {
        let address = self._shape.address;
        clocked!(self.clk => self.open, self.by_context, self.enabled, self.starts, self.ends);
        self.open.d.next = self.windows.open.val();
        self.by_context.d.next = self.windows.by_context.val();
        self.counts.next = 0.into();
        self.contained.next = 0.into();
        for window in 0..self._shape.windows {
            self.sums[window].next = self
                .windows
                .base
                .val()
                .slice(window * address, address)
                .resize(address + 1)
                + (self
                    .windows
                    .size
                    .val()
                    .slice(window * WINDOW_SIZE_BITS, WINDOW_SIZE_BITS)
                    - 1)
                .resize(address + 1);
            self.enabled.d.next.set_bit(
                window,
                self.windows.enabled.val().get_bit(window)
                    && self
                        .windows
                        .size
                        .val()
                        .slice(window * WINDOW_SIZE_BITS, WINDOW_SIZE_BITS)
                        .any(),
            );
            self.starts[window].d.next = self.windows.base.val().slice(window * address, address);
            self.ends[window].d.next = self.sums[window].val().slice(0, address)
                | fill(self.sums[window].val().get_bit(address), address);
            self.counts.next.set_bit(
                window,
                self.enabled.q.val().get_bit(window)
                    && (!self.by_context.q.val() || self.asker.val() == window as u64),
            );
            self.contained.next.set_bit(
                window,
                self.counts.val().get_bit(window)
                    && self.first.val() >= self.starts[window].q.val()
                    && self.last.val() <= self.ends[window].q.val(),
            );
        }
        self.allowed.next = self.contained.val().any() || self.open.q.val();
    }
}
