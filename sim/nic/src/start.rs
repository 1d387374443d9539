//! Handlers on a simulated NIC, one context for each ruleset of a rule file.

use crate::device::Simulated;
use crate::nic::{Behind, Nic, NicConfig, NicError};
use spinneret_cluster::{Program, ProgramError};
use spinneret_host::{Context, Error, Options};
use spinneret_regmap::pspin::{HANDLER_BASE, HANDLER_BYTES, L1_BYTES, L1_SCRATCHPADS};
use spinneret_rules::NamedRuleset;

/// Host memory of a context.
const HOST_BYTES: u32 = 16 << 20;
/// Memory is given out in units of a line.
const LINE: u32 = 64;

/// Why handlers cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It is not clear which handlers are meant.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The NIC cannot be made.
    #[error(transparent)]
    Nic(#[from] NicError),
    /// It does not do what software wants.
    #[error(transparent)]
    Host(#[from] Error),
}

/// A NIC on which handlers wait for packets. A ruleset whose name is that of handlers leads to them, any other to
/// `handler`, or to the only ones that the program has. Memory is divided evenly.
///
/// # Errors
/// If it is not clear which handlers are meant, or the NIC fails.
pub fn start(
    config: NicConfig,
    program: &Program,
    rulesets: &[NamedRuleset],
    handler: Option<&str>,
) -> Result<Nic, StartError> {
    let simulated = Simulated::new(config)?;
    start_on(&simulated, program, rulesets, handler)?;
    Ok(simulated
        .into_nic()
        .unwrap_or_else(|| unreachable!("software has left the NIC")))
}

/// The same on a NIC that is there.
///
/// # Errors
/// As [`start`].
pub fn start_on<B: Behind>(
    simulated: &Simulated<B>,
    program: &Program,
    rulesets: &[NamedRuleset],
    handler: Option<&str>,
) -> Result<(), StartError> {
    for context in contexts_on(simulated, program, rulesets, handler)? {
        context.leave();
    }
    Ok(())
}

/// The same, with the contexts.
///
/// # Errors
/// As [`start`].
pub(crate) fn contexts_on<B: Behind>(
    simulated: &Simulated<B>,
    program: &Program,
    rulesets: &[NamedRuleset],
    handler: Option<&str>,
) -> Result<Vec<Context<Simulated<B>>>, StartError> {
    let names = names(program, rulesets, handler)?;
    let count = rulesets.len().max(1) as u32;
    let share = |bytes: u32| bytes / count / LINE * LINE;
    let options = Options {
        host_bytes: HOST_BYTES,
        handler_bytes: Some(share(HANDLER_BASE + HANDLER_BYTES - program.free_memory)),
        scratchpad_bytes: Some(share(L1_BYTES - L1_SCRATCHPADS)),
    };
    let nic = spinneret_host::Nic::new(simulated.clone())?;
    let opened = names
        .into_iter()
        .zip(rulesets)
        .map(|(name, named)| nic.open_context(program, name, &named.ruleset, &options));
    Ok(opened.collect::<Result<_, Error>>()?)
}

/// The handlers that each ruleset leads to.
///
/// # Errors
/// If it is not clear which handlers are meant.
pub(crate) fn names<'n>(
    program: &'n Program,
    rulesets: &'n [NamedRuleset],
    handler: Option<&'n str>,
) -> Result<Vec<&'n str>, ProgramError> {
    let named = rulesets.iter().map(|ruleset| name(program, ruleset, handler));
    named.collect()
}

fn name<'n>(
    program: &'n Program,
    ruleset: &'n NamedRuleset,
    handler: Option<&'n str>,
) -> Result<&'n str, ProgramError> {
    let named = ruleset.name.as_deref().filter(|name| program.find(name).is_ok());
    match named.or(handler) {
        Some(name) => program.find(name).map(|_| name),
        None => program.only_name(),
    }
}
