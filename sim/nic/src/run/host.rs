//! Programs on the host, beside the NIC in the same process.

use crate::device::Simulated;
use crate::report::Call;
use spinneret_host::{Device as _, DeviceError};
use spinneret_regmap::{CONTEXTS, her, me};
use std::os::fd::BorrowedFd;

/// What a program on the host makes of a look at the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attention {
    /// It has nothing to do until something changes.
    Idle,
    /// It wants to look again at that time at the latest, in picoseconds since the start.
    Until(u64),
    /// It is done, and so is the run.
    Over,
}

/// A program on the host.
pub(super) trait HostProgram {
    /// Looks at the NIC and does what is to be done.
    ///
    /// # Errors
    /// If it cannot go on.
    fn poll(&mut self) -> anyhow::Result<Attention>;

    /// Notes from now on which calls of handlers come and go.
    fn watch(&mut self) {}

    /// Calls that were answered since the last time; times are those of the simulation.
    fn take_calls(&mut self) -> Vec<Call> {
        Vec::new()
    }

    /// Packets may come: from sources that do not depend on time, they do when somebody waits for them.
    fn is_ready(&self) -> bool {
        true
    }

    /// It ends the run, not the end of packets.
    fn stays(&self) -> bool {
        false
    }

    /// What may want its attention from outside.
    fn wakes(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// The run ends.
    ///
    /// # Errors
    /// If something of its work was left undone.
    fn finish(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Whether packets that match are led to a context. Software stops all matching while it opens one.
pub(super) fn is_matching(nic: &mut Simulated) -> Result<bool, DeviceError> {
    if nic.read_register(me::VALID.offset)? != 1 {
        return Ok(false);
    }
    for context in (0..CONTEXTS).filter_map(her::ctx_enabled) {
        if nic.read_register(context)? == 1 {
            return Ok(true);
        }
    }
    Ok(false)
}
