//! `spinneret share`: the card of this machine for several processes.

use super::serve::{OfContexts, bounds, shares_of};
use crate::net::Interrupt;
use crate::terminal::{Failure, print, tell};
use anyhow::Context as _;
use clap::Args;
use spinneret_host::OpenDevice;
use spinneret_host::device::SHARED;
use spinneret_host::device::socket::Server;
use std::path::PathBuf;

/// Arguments of `spinneret share`.
#[derive(Clone, Debug, Args)]
pub struct ShareArguments {
    /// NIC: card, /dev/spinneret0, vfio:0000:00:03.0 or ether:eth0
    #[arg(value_name = "NIC")]
    nic: String,
    /// Path of the Unix socket; programs open unix:SOCKET, or card at the default path
    #[arg(value_name = "SOCKET", default_value = SHARED)]
    socket: PathBuf,
    /// Bounds on slots of the packet buffer, 0 for none: the processes of contexts can lower them [default: 0,0,0,0]
    #[arg(long, value_name = "BOUNDS", value_parser = bounds)]
    slots: Option<OfContexts>,
}

/// Runs the command until it is interrupted.
///
/// # Errors
/// If there is no such NIC or it is in use, the socket cannot be made, or the NIC is removed.
pub fn share(arguments: &ShareArguments) -> Result<(), Failure> {
    let interrupt = Interrupt::catch().map_err(Failure::usage)?;
    if arguments.nic.starts_with("unix:") {
        return Err(Failure::usage(anyhow::anyhow!(
            "the NIC at {} is shared already: programs open it by that name",
            arguments.nic
        )));
    }
    let mut device = OpenDevice::open_alone(&arguments.nic).map_err(Failure::usage)?;
    let path = &arguments.socket;
    let server = Server::bind(path).with_context(|| format!("cannot listen at {}", path.display()));
    let server = server.map_err(|error| Failure::Usage(anyhow::anyhow!("{error:#}")))?;
    let mut server = server.with_shares(shares_of(None, arguments.slots, None));
    tell(format_args!("the NIC is at unix:{}", path.display()));
    let printed = |line: &spinneret_host::Printed| {
        // Ignore errors: the output of handlers is only informative.
        let _ = print(format!("{line}\n"));
    };
    let served = server.run(&mut device, printed, || interrupt.is_set());
    served.map_err(Failure::work)
}
