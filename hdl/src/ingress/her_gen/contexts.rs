//! The execution contexts that are in force.

use super::HerShape;
use super::ports::ContextsIn;
use spinneret_verilog::prelude::*;

/// Context that serves packets whose own context is disabled.
const FALLBACK: usize = 0;

/// Holds the execution contexts that are in force, and finds the one that serves a packet.
///
/// All contexts are taken together at the end of a cycle with `load`, and looked up without a clock of
/// latency, so what is looked up in one cycle is of one configuration. After reset no context is enabled.
#[hardware(shape: HerShape)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ContextTable {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: disables all contexts.
    pub rst: Wire<In, bool>,
    /// Takes all contexts from the two ports below.
    pub load: Wire<In, bool>,
    /// The contexts.
    pub conf: ContextsIn<{ shape.contexts }, { shape.host_address }>,
    /// Bit n: context n is enabled.
    pub ctx_enabled: Wire<In, { shape.contexts }>,
    /// Context of the packet, 0 to 3; one that does not exist is disabled.
    pub wanted: Wire<In, { HerShape::CONTEXT_BITS }>,
    /// A context serves the packet.
    pub found: Wire<Out, bool>,
    /// Its number: the wanted one, or 0 if that is disabled.
    pub used: Wire<Out, { HerShape::CONTEXT_BITS }>,
    /// The context of that number, packed.
    pub chosen: Wire<Out, { shape.context_width() }>,
    enabled: Reg<{ shape.contexts }, Reset>,
    contexts: [Reg<{ shape.context_width() }>; shape.contexts],
    all_enabled: Wire<Local, { 1 << HerShape::CONTEXT_BITS }>,
    wanted_enabled: Wire<Local, bool>,
}

impl Logic for ContextTable {
    #[kernel]
    fn update(&mut self) {
        let contexts = self._shape.contexts;
        clocked!(self.clk, self.rst => self.enabled);
        clocked!(self.clk => self.contexts);
        if self.load.val() {
            self.enabled.d.next = self.ctx_enabled.val();
            for n in 0..contexts {
                self.contexts[n].d.next = self.conf.pack_part(n, contexts);
            }
        }
        /// Contexts that do not exist are disabled.
        self.all_enabled.next = self.enabled.q.val().resize(1 << HerShape::CONTEXT_BITS);
        self.wanted_enabled.next = self.all_enabled.val().get_bit(self.wanted.val().index());
        self.found.next = self.wanted_enabled.val() || self.enabled.q.val().get_bit(FALLBACK);
        self.used.next = self.wanted.val() & fill(self.wanted_enabled.val(), HerShape::CONTEXT_BITS);
        self.chosen.next = self.contexts[FALLBACK].q.val();
        for n in 1..contexts {
            if self.used.val() == n as u64 {
                self.chosen.next = self.contexts[n].q.val();
            }
        }
    }
}
