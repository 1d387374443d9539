//! Privileges that the network needs: whether they are there, and how to get them.

use super::NetError;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use std::env;

/// What a set of privileges is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Need {
    /// Interfaces and a namespace of one's own.
    Interfaces,
    /// A packet socket.
    PacketSocket,
}

impl Need {
    fn set(self) -> CapabilitySet {
        match self {
            // `ip netns` writes to /run/netns, which belongs to root.
            Self::Interfaces => {
                CapabilitySet::NET_ADMIN | CapabilitySet::SYS_ADMIN | CapabilitySet::DAC_OVERRIDE
            }
            Self::PacketSocket => CapabilitySet::NET_RAW,
        }
    }

    fn names(self) -> &'static str {
        match self {
            Self::Interfaces => "cap_net_admin,cap_sys_admin,cap_dac_override",
            Self::PacketSocket => "cap_net_raw",
        }
    }

    /// Fails if the process does not have them.
    pub(super) fn check(self, wanted: &str) -> Result<(), NetError> {
        let has =
            capabilities(None).map_err(|error| NetError::system("read the process's privileges", error))?;
        if has.effective.contains(self.set()) {
            Ok(())
        } else {
            Err(self.missing(wanted))
        }
    }

    /// They are missing.
    pub(super) fn missing(self, wanted: &str) -> NetError {
        let program = env::current_exe().map_or("spinneret".to_owned(), |path| path.display().to_string());
        NetError::Privileges {
            wanted: wanted.to_owned(),
            command: format!("sudo setcap {}+ep {program}", self.names()),
        }
    }

    /// Does something with child processes that get these privileges as well, which `setcap` alone does not give them.
    pub(super) fn lend<T>(self, work: impl FnOnce() -> T) -> T {
        let before = self.raise();
        let result = work();
        if let Some(before) = before {
            // What is not inheritable any more is not passed on either. If this fails, later children have more than
            // they need, but none of them is started by anybody else.
            let _ = set_capabilities(None, before);
        }
        result
    }

    /// Makes them inheritable, and gives what was before; if that is not possible, children fail and say why.
    fn raise(self) -> Option<CapabilitySets> {
        let before = capabilities(None).ok()?;
        let mut after = before;
        after.inheritable |= self.set() & before.permitted;
        set_capabilities(None, after).ok()?;
        for capability in (self.set() & before.permitted).iter() {
            let _ = configure_capability_in_ambient_set(capability, true);
        }
        Some(before)
    }
}
