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
#[module(shape: HerShape)]
pub struct ContextTable {
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
}

#[kernel(ContextTable)]
fn update() {
    if load {
        enabled = ctx_enabled;
        for (n, context) in contexts.iter().enumerate() {
            *context = conf.pack_part(n, shape.contexts);
        }
    }
    /// Contexts that do not exist are disabled.
    let all_enabled = enabled.resize(1 << HerShape::CONTEXT_BITS);
    let wanted_enabled = all_enabled[wanted];
    found = wanted_enabled || enabled[FALLBACK];
    used = wanted & wanted_enabled.repeat(HerShape::CONTEXT_BITS);
    chosen = contexts[FALLBACK];
    for n in 1..shape.contexts {
        if used == n {
            chosen = contexts[n];
        }
    }
}
