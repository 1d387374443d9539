//! Everything that is tried with one example: how long its packets take, and whether all of them are right.

use crate::bench::Handlers;
use crate::figures::{self, Figures, SIZES};
use crate::loads::{Host, Load, Outcome};
use crate::observe::Observe;
use crate::traces::Line;
use anyhow::Result;
use spinneret_nic::Simulated;

/// Packets of all sizes that come one by one; the others come in bursts.
pub(crate) const ALONE: usize = 20;

/// What came of an example.
#[derive(Clone, Debug)]
pub struct Tried {
    /// By size.
    pub figures: Vec<Figures>,
    /// Of the first packets.
    pub trace: Vec<Line>,
    /// Of the packets of all sizes.
    pub outcome: Outcome,
}

/// Tries an example; `mixed` packets of all sizes come after those that are measured.
///
/// # Errors
/// If the handlers cannot be started, the hardware fails, or packets stay on their way.
pub fn attempt<B: Observe + 'static>(
    nic: Simulated<B>,
    handlers: &'static str,
    mixed: [usize; 2],
    tell: &mut dyn FnMut(&str),
) -> Result<Tried> {
    let built = Handlers::build(handlers)?;
    tell("the program is loaded");
    let (mut bench, mut host) = Host::start(handlers, nic, &built)?;
    let (mut figures, mut trace) = (Vec::new(), Vec::new());
    for size in SIZES {
        tell(&format!("packets of {size} bytes"));
        let (measured, lines) = figures::measure(&mut bench, &mut host, handlers, size)?;
        figures.push(measured);
        if size == SIZES[0] {
            trace = lines;
        }
    }
    let [alone, in_bursts] = mixed;
    let load = Load::mixed(handlers, alone, in_bursts);
    let all = alone + in_bursts;
    let outcome = load.run(&mut bench, &mut host, &mut |done| {
        tell(&format!("{done} of {all} packets"))
    })?;
    Ok(Tried {
        figures,
        trace,
        outcome,
    })
}
