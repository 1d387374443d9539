//! Handlers that answer on a simulated NIC: their start, and one request after the other.

use anyhow::{Result, bail};
use spinneret_cluster::{Event, Program};
use spinneret_nic::installed::example;
use spinneret_nic::net::generator::check_reply;
use spinneret_nic::nic::{Nic, NicConfig};
use spinneret_nic::run;
use spinneret_rules::{MatcherParams, RuleFile};

/// Longest that an answer takes.
pub(crate) const PATIENCE_PS: u64 = 1_000_000_000;
/// Bytes before the payload of an echo request or a datagram.
pub(crate) const HEADERS: usize = 42;

/// Builds the handlers of an example.
///
/// # Errors
/// If they cannot be built.
pub(crate) fn program(name: &str, config: &NicConfig) -> Result<Program> {
    Ok(Program::open(&run::program(
        &example(name)?,
        config.cluster.clusters,
    )?)?)
}

/// Starts a NIC with the handlers and the rules of an example.
///
/// # Errors
/// If they cannot be built or started.
pub(crate) fn start(name: &str, config: NicConfig) -> Result<Nic> {
    let program = program(name, &config)?;
    let rules = RuleFile::read(&example(name)?.join("rules.toml"), &MatcherParams::BOARD)?;
    Ok(spinneret_nic::start(config, &program, &rules.rulesets, None)?)
}

/// Sends a request and waits for the answer: the time between, in picoseconds. `step` lets time pass, up to a limit.
///
/// # Errors
/// If the answer is wrong or missing.
pub(crate) fn exchange(
    nic: &mut Nic,
    request: &[u8],
    mut step: impl FnMut(&mut Nic, u64) -> Result<()>,
) -> Result<u64> {
    let sent_ps = nic.now_ps();
    nic.receive(request.to_vec());
    while nic.now_ps() <= sent_ps + PATIENCE_PS {
        if let Some(reply) = nic.take_wire() {
            check_reply(request, &reply.bytes)?;
            return Ok(reply.at_ps - sent_ps);
        }
        step(nic, sent_ps + PATIENCE_PS)?;
    }
    bail!("no answer to {} bytes", request.len())
}

/// Steps of the NIC alone, for [`exchange`].
pub(crate) fn alone(nic: &mut Nic, limit_ps: u64) -> Result<()> {
    Ok(nic.step(limit_ps)?)
}

/// Lets handlers end, and returns what has happened.
///
/// # Errors
/// If the NIC fails.
pub(crate) fn settle(nic: &mut Nic) -> Result<Vec<Event>> {
    nic.run_until_idle(nic.now_ps() + PATIENCE_PS)?;
    Ok(nic.take_events())
}
