//! Which handlers serve which packets, and with what memory.

use crate::nic::HandlerContext;
use spinneret_cluster::map::{HANDLER_BASE, HANDLER_BYTES, L1_BYTES, L1_SCRATCHPADS};
use spinneret_cluster::{Program, ProgramError};
use spinneret_sim::rules::NamedRuleSet;

/// Where the host memory of the first context is; an address above 4 GiB, so that no upper half is forgotten.
pub const HOST_BASE: u64 = 0x1_0000_0000;
/// From one context's host memory to the next one's.
pub const HOST_STRIDE: u64 = 0x100_0000;
/// Host memory of a context.
pub const HOST_BYTES: u32 = 0x100_0000;
/// Memory is given out in units of a line.
const LINE: u32 = 64;

/// A context for each ruleset. A ruleset whose name is that of handlers leads to them, any other to `handler`, or to the
/// only ones that the program has. Memory is divided evenly.
///
/// # Errors
/// If it is not clear which handlers are meant.
pub fn contexts(
    program: &Program,
    rulesets: &[NamedRuleSet],
    handler: Option<&str>,
) -> Result<Vec<HandlerContext>, ProgramError> {
    let count = rulesets.len().max(1) as u32;
    let share = |bytes: u32| bytes / count / LINE * LINE;
    let memory = share(HANDLER_BASE + HANDLER_BYTES - program.free_memory);
    let scratchpad = share(L1_BYTES - L1_SCRATCHPADS);
    (0..)
        .zip(rulesets)
        .map(|(number, ruleset)| {
            let named = ruleset.name.as_deref().map(|name| program.find(name));
            let handlers = match (named, handler) {
                (Some(Ok(handlers)), _) => handlers,
                (_, Some(name)) => program.find(name)?,
                (_, None) => program.find(program.only_name()?)?,
            };
            Ok(HandlerContext {
                handlers,
                memory: [program.free_memory + number * memory, memory],
                scratchpad: [L1_SCRATCHPADS + number * scratchpad, scratchpad],
                host: (HOST_BASE + u64::from(number) * HOST_STRIDE, HOST_BYTES),
            })
        })
        .collect()
}
