//! Holds transfers to the host windows of the execution contexts.

use super::{GuardIn, GuardShape, WINDOW_SIZE_BITS};
use crate::entry::Entry;
use spinneret_verilog::prelude::*;

/// [`HostGuard`], for a proof of its own.
pub(crate) const GUARD_ENTRY: Entry = entry!(part GuardShape::BLOCK, HostGuard(GuardShape):
    "holds transfers to the host windows of the execution contexts");

/// Says whether bytes of host memory lie as a whole in one window that counts: in any, or with `by_context` in that of
/// the context that asks.
///
/// A window is `size` bytes from `base` on; it ends with the address space at the latest. One that is not
/// enabled or has no bytes contains nothing, and a context without a window has nothing; while the guard is open,
/// everything counts as contained. The windows and how they are chosen pass a register, so a change takes effect one
/// clock later; the answer is combinational. `tb/proofs/host_guard.sv` proves all this.
#[module(no_clock, shape: GuardShape, count = shape.windows)]
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
    enabled: Reg<{ count }>,
    starts: [Reg<{ shape.address }>; count],
    ends: [Reg<{ shape.address }>; count],
}

#[kernel(HostGuard { windows, asker, first, last, allowed, open, by_context, enabled, starts, ends, shape })]
fn update() {
    let address = shape.address;
    open = windows.open;
    by_context = windows.by_context;
    for window in 0..shape.windows {
        let base = windows.base.slice(window * address, address);
        let size = windows.size.slice(window * WINDOW_SIZE_BITS, WINDOW_SIZE_BITS);
        let sum = base.resize(address + 1) + (size - 1).resize(address + 1);
        enabled[window] = windows.enabled[window] && size.any();
        starts[window] = base;
        ends[window] = sum.slice(0, address) | sum[address].repeat(address);
    }
    /// Bit n: window n counts. It is known while the addresses are compared, so it costs no level.
    let counts =
        word_of((0..shape.windows).map(|window| enabled[window] && (!by_context || asker == window)));
    let contained = word_of(
        (0..shape.windows).map(|window| counts[window] && first >= starts[window] && last <= ends[window]),
    );
    allowed = contained.any() || open;
}

#[cfg(test)]
mod tests {
    use super::GUARD_ENTRY;
    use crate::entry::Config;
    use spinneret_verilog::generate;

    #[test]
    fn contexts_are_told_apart_by_as_few_bits_as_can_be() {
        for (contexts, bits) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (16, 4)] {
            let values = GUARD_ENTRY.with(Config::Board, &[("contexts", contexts)]);
            let block = (GUARD_ENTRY.build)(&values).expect("a guard");
            let design = generate(&*block, "host_guard").expect("its text");
            let asker = design.ports.iter().find(|port| port.name == "asker");
            assert_eq!(asker.map(|port| port.width), Some(bits), "{contexts} contexts");
        }
    }
}
