//! A network namespace of one's own, made and removed with `ip netns`.

use super::NetError;
use super::privileges::Need;
use crate::terminal::tell;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
