//! The execution contexts that are in force.

use super::HerShape;
use super::ports::{ContextsIn, WORD};
use spinneret_verilog::prelude::*;

/// Context that serves packets whose own context is disabled.
const FALLBACK: usize = 0;

/// Holds the execution contexts that are in force, and finds the one that serves a packet.
///
/// All contexts are taken together at the end of a cycle with `load`, and looked up without a clock of
/// latency, so what is looked up in one cycle is of one configuration. After reset no context is enabled.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ContextTable {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset: disables all contexts.
    pub rst: Wire<In, bool>,
    /// Takes all contexts from the two ports below.
    pub load: Wire<In, bool>,
    /// The contexts.
    pub conf: ContextsIn,
    /// Bit n: context n is enabled.
    pub ctx_enabled: Wire<In>,
    /// Context of the packet, 0 to 3; one that does not exist is disabled.
    pub wanted: Wire<In>,
    /// A context serves the packet.
    pub found: Wire<Out, bool>,
    /// Its number: the wanted one, or 0 if that is disabled.
    pub used: Wire<Out>,
    /// The context of that number, packed as `MetaUnpack` takes it.
    pub chosen: Wire<Out>,
    enabled: Reg,
    contexts: Vec<Reg>,
    all_enabled: Wire<Local>,
    wanted_enabled: Wire<Local, bool>,
    _shape: HerShape,
}

impl ContextTable {
    /// A table for the contexts of a HER generator.
    pub fn new(shape: HerShape) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            load: Wire::bit(),
            conf: ContextsIn::new(shape),
            ctx_enabled: Wire::word(shape.contexts),
            wanted: Wire::word(HerShape::CONTEXT_BITS),
            found: Wire::bit(),
            used: Wire::word(HerShape::CONTEXT_BITS),
            chosen: Wire::word(shape.context_width()),
            enabled: Reg::word_reset(shape.contexts),
            contexts: vec![Reg::word(shape.context_width()); shape.contexts],
            all_enabled: Wire::word(1 << HerShape::CONTEXT_BITS),
            wanted_enabled: Wire::bit(),
            _shape: shape,
        }
    }
}

impl Logic for ContextTable {
    #[kernel]
    fn update(&mut self) {
        let host = self._shape.host_address;
        clocked!(self.clk, self.rst => self.enabled);
        clocked!(self.clk => self.contexts);
        if self.load.val() {
            self.enabled.d.next = self.ctx_enabled.val();
            for n in 0..self._shape.contexts {
                self.contexts[n].d.next = cat!(
                    self.conf.host_mem_addr.val().slice(host * n, host),
                    self.conf.scratchpad_3_size.val().slice(WORD * n, WORD),
                    self.conf.scratchpad_3_addr.val().slice(WORD * n, WORD),
                    self.conf.scratchpad_2_size.val().slice(WORD * n, WORD),
                    self.conf.scratchpad_2_addr.val().slice(WORD * n, WORD),
                    self.conf.scratchpad_1_size.val().slice(WORD * n, WORD),
                    self.conf.scratchpad_1_addr.val().slice(WORD * n, WORD),
                    self.conf.scratchpad_0_size.val().slice(WORD * n, WORD),
                    self.conf.scratchpad_0_addr.val().slice(WORD * n, WORD),
                    self.conf.th_size.val().slice(WORD * n, WORD),
                    self.conf.th_addr.val().slice(WORD * n, WORD),
                    self.conf.ph_size.val().slice(WORD * n, WORD),
                    self.conf.ph_addr.val().slice(WORD * n, WORD),
                    self.conf.hh_size.val().slice(WORD * n, WORD),
                    self.conf.hh_addr.val().slice(WORD * n, WORD),
                    self.conf.host_mem_size.val().slice(WORD * n, WORD),
                    self.conf.handler_mem_size.val().slice(WORD * n, WORD),
                    self.conf.handler_mem_addr.val().slice(WORD * n, WORD)
                );
            }
        }
        /// Contexts that do not exist are disabled.
        self.all_enabled.next = self.enabled.q.val().resize(1 << HerShape::CONTEXT_BITS);
        self.wanted_enabled.next = self.all_enabled.val().get_bit(self.wanted.val().index());
        self.found.next = self.wanted_enabled.val() || self.enabled.q.val().get_bit(FALLBACK);
        self.used.next = self.wanted.val() & fill(self.wanted_enabled.val(), HerShape::CONTEXT_BITS);
        self.chosen.next = self.contexts[FALLBACK].q.val();
        for n in 1..self._shape.contexts {
            if self.used.val() == n as u64 {
                self.chosen.next = self.contexts[n].q.val();
            }
        }
    }
}
