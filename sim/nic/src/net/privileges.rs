//! Privileges that the network needs: whether they are there, and how to get them; a network namespace of one's own, made and
//! removed with `ip netns`.

use super::NetError;
use crate::terminal::tell;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// A named network namespace that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Namespace {
    name: String,
}

impl Namespace {
    /// Makes the namespace.
    pub(super) fn create(name: &str) -> Result<Self, NetError> {
        if file(name).exists() {
            return Err(NetError::Exists {
                what: "network namespace",
                name: name.to_owned(),
                command: format!("sudo ip netns delete {name}"),
            });
        }
        ip(&["netns", "add", name])?;
        let namespace = Self {
            name: name.to_owned(),
        };
        namespace.ip(&["link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// Moves an interface of this process's namespace here.
    pub(super) fn take(&self, interface: &str) -> Result<(), NetError> {
        ip(&["link", "set", "dev", interface, "netns", &self.name])
    }

    /// Runs `ip` in the namespace.
    pub(super) fn ip(&self, arguments: &[&str]) -> Result<(), NetError> {
        ip(&[&["-netns", &self.name], arguments].concat())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Somebody else may have removed it.
        if let Err(error) = ip(&["netns", "delete", &self.name])
            && file(&self.name).exists()
        {
            tell(format_args!(
                "warning: the network namespace {} is left behind: {error}",
                self.name
            ));
        }
    }
}

/// The file by which a namespace has its name.
fn file(name: &str) -> PathBuf {
    Path::new("/run/netns").join(name)
}

/// Runs `ip`.
pub(super) fn ip(arguments: &[&str]) -> Result<(), NetError> {
    let failed = |problem: String| NetError::Command {
        command: format!("ip {}", arguments.join(" ")),
        problem,
    };
    let mut command = Command::new("ip");
    command.args(arguments).stdin(Stdio::null());
    let output = Need::Interfaces
        .lend(|| command.output())
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                failed("there is no such program: install the package iproute2".to_owned())
            }
            _ => failed(error.to_string()),
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    Err(failed(if said.is_empty() {
        output.status.to_string()
    } else {
        said.join("; ")
    }))
}
